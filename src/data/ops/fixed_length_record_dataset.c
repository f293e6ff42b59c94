/* fixed_length_record_dataset: records of equal size as string scalars
 * (tf.data.FixedLengthRecordDataset).
 *
 * A file is a header, records of record_bytes, and a footer; header and footer are left out. Happy
 * path: records are views into the chunks that were read. Which file comes next,
 * data/source/files.h says. Failures, as in TensorFlow: arguments out of range are one
 * INVALID_ARGUMENT per file; a plain file whose records do not come out even is INVALID_ARGUMENT at
 * every call, a compressed one DATA_LOSS once, after its whole records; a file shorter than its
 * header and footer is INTERNAL once; a file that cannot be opened is its error at every call. No
 * locks. */
#include "data/source/files.h"
#include "file/chunks.h"
#include <leat/data_ops.h>

struct fixed_args {
    leati_strings filenames;
    int64_t record_bytes, header_bytes, footer_bytes;
    int64_t buffer_size;
    char *compression_type;
    int64_t num_parallel_reads;
};

#define ROW(field) .offset = offsetof(struct fixed_args, field)

static const leati_row fixed_rows[] = {
    LEATI_ROW_FILENAMES(struct fixed_args),
    {.name = "record_bytes",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     ROW(record_bytes),
     .doc = "Bytes of a record, at least 1."},
    {.name = "header_bytes",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(header_bytes),
     .doc = "Bytes before the first record; none: 0."},
    {.name = "footer_bytes",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(footer_bytes),
     .doc = "Bytes after the last record; none: 0."},
    LEATI_ROW_BUFFER_SIZE(struct fixed_args),
    LEATI_ROW_COMPRESSION(struct fixed_args),
    LEATI_ROW_PARALLEL_READS(struct fixed_args),
    {0},
};

struct fixed_state {
    leati_files files; /* first: the slots of data/source/files.h take it */
    const struct fixed_args *args;
};

/* An open file. */
struct fixed_reader {
    leati_chunks chunks;
    size_t record_bytes, footer_bytes;
};

static leat_status fixed_check(leat_dataset *dataset, leat_error *err) {
    struct fixed_args *args = dataset->args;
    return leati_files_check(dataset, &args->filenames, &args->num_parallel_reads, err);
}

/* ---- the format ---- */

/* Sizes beyond what a memory holds are refused here too, so that sums cannot overflow. */
static leat_status check_sizes(const struct fixed_args *args, leat_compression *compression,
                               leat_error *err) {
    const struct {
        const char *name;
        int64_t value, least;
    } sizes[] = {{"record_bytes", args->record_bytes, 1},
                 {"header_bytes", args->header_bytes, 0},
                 {"footer_bytes", args->footer_bytes, 0},
                 {"buffer_size", args->buffer_size, 0}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i].value < sizes[i].least || sizes[i].value > INT64_MAX / 4) {
            return leati_refuse(err, VALUE, "%s is %lld; expected %lld to %lld", sizes[i].name,
                                (long long)sizes[i].value, (long long)sizes[i].least,
                                (long long)(INT64_MAX / 4));
        }
    }
    return leat_compression_from_name(args->compression_type, compression, err);
}

/* Does the size of a plain file fit? Unknown sizes are found out at the file's end. */
static leati_file_outcome check_file(const struct fixed_args *args, const leati_chunks *chunks,
                                     const char *path, leat_error *err) {
    /* check_sizes has bounded both numbers, so that their sum cannot overflow. */
    int64_t left = leati_stream_left(&chunks->stream), around = args->header_bytes;
    around += args->footer_bytes;
    if (left < 0)
        return LEATI_FILE_MORE;
    /* Both are counted from the file's start. */
    int64_t size = left + chunks->position;
    if (size < around) {
        leati_fail_in_file(err, LEAT_INTERNAL, path, -1, false,
                           "%lld bytes; expected at least the header of %lld bytes and the footer "
                           "of %lld",
                           (long long)size, (long long)args->header_bytes,
                           (long long)args->footer_bytes);
        return LEATI_FILE_LOST;
    }
    if ((size - around) % args->record_bytes != 0) {
        leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, path, -1, false,
                           "Excluding the header (%lld bytes) and footer (%lld bytes), input file "
                           "\"%s\" has body length %lld bytes, which is not an exact multiple of "
                           "the record length (%lld bytes).",
                           (long long)args->header_bytes, (long long)args->footer_bytes, path,
                           (long long)(size - around), (long long)args->record_bytes);
        return LEATI_FILE_ERROR;
    }
    return LEATI_FILE_MORE;
}

/* Passes over the header of a file that is read from its start. */
static leati_file_outcome pass_header(const struct fixed_args *args, leati_chunks *chunks,
                                      const char *path, leat_error *err) {
    /* In parts: a header may be longer than a chunk. */
    for (int64_t left = args->header_bytes; left > 0;) {
        if (leati_chunks_need(chunks, 1, err) != LEAT_OK)
            return LEATI_FILE_ERROR;
        size_t have = chunks->end - chunks->begin;
        if (have == 0) {
            leati_fail_in_file(err, LEAT_INTERNAL, path, -1, false,
                               "shorter than the header of %lld bytes",
                               (long long)args->header_bytes);
            return LEATI_FILE_LOST;
        }
        size_t n = have < (uint64_t)left ? have : (size_t)left;
        leati_chunks_take(chunks, n);
        left -= (int64_t)n;
    }
    return LEATI_FILE_MORE;
}

static leati_file_outcome open_fixed(const leati_files *files, leati_pools *pools, const char *path,
                                     int64_t position, void **reader, leat_error *err) {
    const struct fixed_state *s = (const struct fixed_state *)files;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    if (check_sizes(s->args, &compression, err) != LEAT_OK)
        return LEATI_FILE_LOST;
    struct fixed_reader *r = leati_alloc_zero(1, sizeof(*r));
    *reader = r;
    if (r == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    r->record_bytes = (size_t)s->args->record_bytes;
    r->footer_bytes = (size_t)s->args->footer_bytes;
    if (leati_chunks_open(&r->chunks, path, compression, position, files->chunk_size, pools, err) !=
        LEAT_OK)
        return LEATI_FILE_ERROR;
    /* A saved position lies behind the header, unless nothing was read. */
    leati_file_outcome outcome = check_file(s->args, &r->chunks, path, err);
    return outcome == LEATI_FILE_MORE && position == 0 ? pass_header(s->args, &r->chunks, path, err)
                                                       : outcome;
}

/* What stands where no whole record is left. */
static leati_file_outcome finish(const struct fixed_reader *r, size_t window, leat_error *err) {
    if (leati_chunks_whole(&r->chunks, err) != LEAT_OK)
        return LEATI_FILE_LOST;
    if (window == r->footer_bytes)
        return LEATI_FILE_END;
    leati_fail_in_file(err, LEAT_DATA_LOSS, r->chunks.stream.file->path, -1, false,
                       "%zu bytes after the last whole record; expected a footer of %zu, and "
                       "records of %zu",
                       window, r->footer_bytes, r->record_bytes);
    return LEATI_FILE_LOST;
}

static leati_file_outcome read_fixed(void *reader, const leati_file_request *request, int64_t *n,
                                     leat_error *err) {
    struct fixed_reader *r = reader;
    leati_chunks *chunks = &r->chunks;
    /* Only what has a footer's bytes behind it is a record: of a compressed file nobody knows
     * before where it ends. */
    size_t need = r->record_bytes + r->footer_bytes, bytes = 0;
    while (*n < request->want && (request->bytes == 0 || bytes < request->bytes)) {
        leat_error local = {0};
        leat_status status = leati_chunks_need(chunks, need, &local);
        size_t window = chunks->end - chunks->begin;
        leati_file_outcome outcome = status != LEAT_OK ? LEATI_FILE_ERROR : LEATI_FILE_MORE;
        if (status == LEAT_OK && window < need)
            outcome = finish(r, window, &local);
        else if (status == LEAT_OK && request->records != NULL &&
                 leati_chunks_share(chunks, request->owner, &local) != LEAT_OK)
            outcome = LEATI_FILE_ERROR;
        if (outcome != LEATI_FILE_MORE) {
            /* Records that were read go first; the next call comes to the same end or error. */
            *err = *n > 0 ? *err : local;
            return *n > 0 ? LEATI_FILE_MORE : outcome;
        }
        if (request->records != NULL) {
            request->records[*n] = (leat_string){.data = (const char *)chunks->data + chunks->begin,
                                                 .size = r->record_bytes};
        }
        leati_chunks_take(chunks, r->record_bytes);
        bytes += r->record_bytes;
        ++*n;
    }
    return LEATI_FILE_MORE;
}

static int64_t fixed_position(const void *reader) {
    return ((const struct fixed_reader *)reader)->chunks.position;
}

static void close_fixed(void *reader) {
    struct fixed_reader *r = reader;
    if (r != NULL)
        leati_chunks_close(&r->chunks);
    leati_free(r);
}

static const leati_file_format format = {.op = "fixed_length_record_dataset",
                                         .passes = true,
                                         .open = open_fixed,
                                         .read = read_fixed,
                                         .position = fixed_position,
                                         .close = close_fixed};

/* ---- the protocol ---- */

static leat_status fixed_open(leati_node_state *node, void *state, leat_error *err) {
    struct fixed_state *s = state;
    s->args = node->dataset->args;
    return leati_files_open(&s->files, node, &format, &s->args->filenames,
                            s->args->num_parallel_reads, s->args->buffer_size, err);
}

const leati_dataset_op leati_op_fixed_length_record_dataset = {
    .name = "fixed_length_record_dataset",
    .version = 1,
    .doc = "Records of equal size. Saved as the place in the list of files and a byte offset for "
           "each open one; restoring costs a seek (of a compressed file: reading up to there).",
    .names = "FixedLengthRecordDataset",
    .signature = "filenames record_bytes header_bytes=null footer_bytes=null "
                 "buffer_size=null compression_type=null num_parallel_reads=null",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_READER,
    .files = "filenames",
    .splits = LEATI_SPLITS_FILES,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_READS_FILES,
    .args_size = sizeof(struct fixed_args),
    .rows = fixed_rows,
    .check = fixed_check,
    .spec = leati_files_spec,
    .state_size = sizeof(struct fixed_state),
    .open = fixed_open,
    .pull = leati_files_pull,
    .advance = leati_files_advance,
    .save = leati_files_save,
    .restore = leati_files_restore,
    .reset = leati_files_reset,
    .close = leati_files_close,
};

/* Texts lose their const only until the constructor has copied them. */
static struct fixed_args args_of(int64_t record_bytes,
                                 const leat_dataset_fixed_length_record_options *o) {
    return (struct fixed_args){.record_bytes = record_bytes,
                               .header_bytes = o->header_bytes,
                               .footer_bytes = o->footer_bytes,
                               .buffer_size = o->buffer_size,
                               .compression_type = (char *)(uintptr_t)o->compression_type,
                               .num_parallel_reads = o->num_parallel_reads};
}

leat_dataset *leat_dataset_fixed_length_record(
    const char *const *filenames, int num_filenames, int64_t record_bytes,
    const leat_dataset_fixed_length_record_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_fixed_length_record_options o = {LEAT_DATASET_FIXED_LENGTH_RECORD_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_fixed_length_record_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct fixed_args args = args_of(record_bytes, &o);
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("fixed_length_record_dataset", filenames, num_filenames,
                               &args.filenames, err) == LEAT_OK)
        dataset = leati_dataset_new(&leati_op_fixed_length_record_dataset, &args, NULL, 0, err);
    leati_free(args.filenames.values);
    return dataset;
}

leat_dataset *
leat_dataset_fixed_length_record_of(leat_dataset *filenames, int64_t record_bytes,
                                    const leat_dataset_fixed_length_record_options *options,
                                    leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_fixed_length_record_options o = {LEAT_DATASET_FIXED_LENGTH_RECORD_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_fixed_length_record_options, &o, options, &filenames, 1,
                               err))
        return NULL;
    struct fixed_args args = args_of(record_bytes, &o);
    return leati_dataset_new(&leati_op_fixed_length_record_dataset, &args, &filenames, 1, err);
}
