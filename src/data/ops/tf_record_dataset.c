/* tf_record_dataset: the records of TFRecord files as string scalars (tf.data.TFRecordDataset).
 *
 * Happy path: a block is one column of views into the chunks that the reader took from a pool; the
 * column's buffer comes from a pool too, so that nothing is allocated for a record. Which file
 * comes next, data/source/files.h says.
 * Failures: a damaged record is one DATA_LOSS, and the rest of its file is lost; a file that cannot
 * be opened is its error at every call, and the files behind it are not reached; a name that the
 * dataset of names failed to give is one error. Skipped elements are not read: their checksums are
 * not looked at, as in TensorFlow.
 * With an index (data/source/record_index.h) the cardinality is known, skipping is a seek, and
 * records are found by number. Saved as the place in the list of files and a byte offset for each
 * open file. No locks. */
#include "base/log.h"
#include "data/plan/dataset.h"
#include "data/source/record_index.h"
#include "file/tfrecord.h"
#include <leat/data_ops.h>
#include <string.h>

enum {
    LEAST_BUFFER = 4096,
    DEFAULT_BUFFER = 256 << 10,
    LEAST_SKIP =
        64 /* records that are passed over by their headers at no more cost than by index */
};

struct record_args {
    leati_strings filenames;
    char *compression_type;
    int64_t buffer_size;
    int64_t num_parallel_reads;
    char *index;
};

#define ROW(field) .offset = offsetof(struct record_args, field)

static const leati_row record_rows[] = {
    LEATI_ROW_FILENAMES(struct record_args),
    LEATI_ROW_COMPRESSION(struct record_args),
    {.name = "buffer_size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(buffer_size),
     .default_number = DEFAULT_BUFFER,
     .doc = "Bytes read at once, from 4 KiB to 64 MiB; none: 256 KiB."},
    LEATI_ROW_PARALLEL_READS(struct record_args),
    LEATI_ROW_INDEX(struct record_args),
    {0},
};

struct record_state {
    leati_files files; /* first: the slots of data/source/files.h take it */
    leat_compression compression;
};

/* ---- the plan side ---- */

/* An unknown name means none, as in TensorFlow; record_check warns of it. */
static leat_compression compression_of(const struct record_args *args) {
    leat_compression compression = LEAT_COMPRESSION_NONE;
    return leat_compression_from_name(args->compression_type, &compression, NULL) == LEAT_OK
               ? compression
               : LEAT_COMPRESSION_NONE;
}

static bool may_have_index(const leat_dataset *dataset) {
    const struct record_args *args = dataset->args;
    /* Records of files read in turns have no number that an index could tell. */
    return dataset->num_inputs == 0 && compression_of(args) == LEAT_COMPRESSION_NONE &&
           (args->num_parallel_reads <= 1 || args->filenames.count <= 1);
}

static leat_status record_check(leat_dataset *dataset, leat_error *err) {
    static int logged;
    struct record_args *args = dataset->args;
    leat_compression compression;
    leat_error local = {0};
    leat_status status =
        leati_files_check(dataset, &args->filenames, &args->num_parallel_reads, err);
    if (status != LEAT_OK)
        return status;
    /* A name that is unknown is no failure, so its error must not stand in err. */
    status = leat_compression_from_name(args->compression_type, &compression, &local);
    if (status == LEAT_INVALID_ARGUMENT) {
        leati_log_once(&logged, LEAT_LOG_WARNING,
                       "tf_record_dataset: compression_type \"%s\" is unknown; the files are read "
                       "as they are",
                       args->compression_type);
    } else if (status != LEAT_OK) {
        return leati_fail(err, status, "tf_record_dataset: compression_type: %s", local.text);
    }
    return leati_record_index_check(dataset, args->index, may_have_index(dataset), err);
}

static void *record_share(const leat_dataset *dataset, leat_error *err) {
    const struct record_args *args = dataset->args;
    return leati_record_index_new(LEATI_INDEX_TFRECORD, &args->filenames, args->index, err);
}

static void record_unshare(void *shared) {
    leati_record_index_free(shared);
}

/* The index of the files; NULL: there is none. */
static const leati_record_index *index_of(const leat_dataset *dataset) {
    const struct record_args *args = dataset->args;
    return leati_record_index_of(dataset, args->index, may_have_index(dataset));
}

static int64_t record_cardinality(const leat_dataset *dataset) {
    return leati_record_index_cardinality(index_of(dataset));
}

/* ---- the format ---- */

/* Without memory the file stays where it is; any other error costs the rest of it. */
static leati_file_outcome lost(leat_status status) {
    return status == LEAT_RESOURCE_EXHAUSTED ? LEATI_FILE_ERROR : LEATI_FILE_LOST;
}

/* A file that got shorter meanwhile is DATA_LOSS; one that cannot be opened is tried again. */
static leati_file_outcome open_file(const leati_files *files, leati_pools *pools, const char *path,
                                    int64_t position, void **reader, leat_error *err) {
    const struct record_state *s = (const struct record_state *)files;
    leati_tfrecord_options options = {.compression = s->compression,
                                      .strict_tail = true,
                                      .chunk_size = files->chunk_size,
                                      .pools = pools};
    leat_status status = leati_tfrecord_open(path, &options, (leati_tfrecord **)reader, err);
    if (status == LEAT_OK && position > 0)
        status = leati_tfrecord_seek(*reader, position, err);
    if (status == LEAT_OUT_OF_RANGE) {
        status = leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                                    "the file is shorter than byte %lld, where reading stood; "
                                    "restore with the same files",
                                    (long long)position);
    }
    return status == LEAT_OK          ? LEATI_FILE_MORE
           : status == LEAT_DATA_LOSS ? LEATI_FILE_LOST
                                      : LEATI_FILE_ERROR;
}

static leati_file_outcome read_file(void *reader, const leati_file_request *request, int64_t *n,
                                    leat_error *err) {
    leati_record_outcome outcome =
        request->records != NULL ? leati_tfrecord_read(reader, request->want, request->bytes,
                                                       request->records, request->owner, n, err)
                                 : leati_tfrecord_skip(reader, request->want, n, err);
    if (*n > 0)
        return LEATI_FILE_MORE; /* what stopped it comes again */
    return outcome == LEATI_RECORD_END ? LEATI_FILE_END : lost(err->code);
}

static int64_t file_position(const void *reader) {
    return leati_tfrecord_position(reader);
}

static void close_file(void *reader) {
    leati_tfrecord_close(reader);
}

static const leati_file_format format = {.op = "tf_record_dataset",
                                         .passes = true,
                                         .open = open_file,
                                         .read = read_file,
                                         .position = file_position,
                                         .close = close_file};

/* ---- the protocol ---- */

static leat_status record_open(leati_node_state *node, void *state, leat_error *err) {
    struct record_state *s = state;
    const struct record_args *args = node->dataset->args;
    int64_t size = args->buffer_size;
    s->compression = compression_of(args);
    /* A buffer that is too small is enlarged; 0 or less means the default. */
    return leati_files_open(&s->files, node, &format, &args->filenames, args->num_parallel_reads,
                            size > 0 && size < LEAST_BUFFER ? LEAST_BUFFER : size, err);
}

/* TensorFlow's files in turns are skipped by reading them. */
static leati_tail record_skip(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                              leat_error *err) {
    const struct record_args *args = node->dataset->args;
    const leati_record_index *index = n >= LEAST_SKIP ? index_of(node->dataset) : NULL;
    if (index != NULL)
        return leati_record_index_skip(index, state, n, skipped, err);
    if (args->num_parallel_reads == 0)
        return leati_files_advance(node, state, n, skipped, err);
    /* Read and dropped, so that a damaged record is met. */
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    leati_tail tail = LEATI_MORE;
    while (*skipped < n && tail == LEATI_MORE) {
        tail = leati_files_pull(node, state, n - *skipped, &block, err);
        *skipped += block.n;
    }
    leati_block_fini(&block);
    /* All were passed: the end is met by the next call. */
    return tail == LEATI_END && *skipped == n ? LEATI_MORE : tail;
}

/* ---- random access ---- */

static const char *const without_index =
    "tf_record_dataset finds records by number only where all files have an index: run `leat "
    "index` on them and pass index=\"required\"";

static leat_status record_at(leati_access *access, const int64_t *indices, int64_t n,
                             leati_block *out, leat_error *err) {
    const leati_record_index *index = index_of(access->node.dataset);
    if (index == NULL)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%s", without_index);
    n = leati_access_checked(access, indices, n, err);
    return n == 0 ? err->code : leati_record_reader_get(access->state, index, indices, n, out, err);
}

static void record_access_close(leati_access *access) {
    leati_record_reader_close(access->state);
}

static leat_status record_indexable(const leat_dataset *dataset, leat_error *err) {
    return index_of(dataset) != NULL
               ? LEAT_OK
               : leati_fail(err, LEAT_FAILED_PRECONDITION, "%s", without_index);
}

const leati_dataset_op leati_op_tf_record_dataset = {
    .name = "tf_record_dataset",
    .version = 1,
    .doc = "The records of TFRecord files. Saved as the place in the list of files and a byte "
           "offset for each open one; restoring costs a seek (of a compressed file: reading up to "
           "there).",
    .names = "TFRecordDataset",
    .signature = "filenames compression_type=null buffer_size=null "
                 "num_parallel_reads=null index=\"none\"",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_READER,
    .files = "filenames",
    .splits = LEATI_SPLITS_FILES,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_READS_FILES,
    .args_size = sizeof(struct record_args),
    .rows = record_rows,
    .check = record_check,
    .spec = leati_files_spec,
    .cardinality = record_cardinality,
    .share = record_share,
    .unshare = record_unshare,
    .state_size = sizeof(struct record_state),
    .open = record_open,
    .pull = leati_files_pull,
    .advance = leati_files_advance,
    .skip = record_skip,
    .save = leati_files_save,
    .restore = leati_files_restore,
    .reset = leati_files_reset,
    .close = leati_files_close,
    .access_size = sizeof(leati_record_reader),
    .at = record_at,
    .access_close = record_access_close,
    .indexable = record_indexable,
};

/* Texts lose their const only until the constructor has copied them. */
static struct record_args args_of(const leat_dataset_tf_record_options *o) {
    return (struct record_args){.compression_type = (char *)(uintptr_t)o->compression_type,
                                .buffer_size = o->buffer_size,
                                .num_parallel_reads = o->num_parallel_reads,
                                .index = (char *)(uintptr_t)leati_record_index_use_text(o->index)};
}

leat_dataset *leat_dataset_tf_record(const char *const *filenames, int num_filenames,
                                     const leat_dataset_tf_record_options *options,
                                     leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_tf_record_options o = {LEAT_DATASET_TF_RECORD_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_tf_record_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct record_args args = args_of(&o);
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("tf_record_dataset", filenames, num_filenames, &args.filenames,
                               err) == LEAT_OK)
        dataset = leati_dataset_new(&leati_op_tf_record_dataset, &args, NULL, 0, err);
    leati_free(args.filenames.values);
    return dataset;
}

leat_dataset *leat_dataset_tf_record_of(leat_dataset *filenames,
                                        const leat_dataset_tf_record_options *options,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_tf_record_options o = {LEAT_DATASET_TF_RECORD_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_tf_record_options, &o, options, &filenames, 1, err))
        return NULL;
    struct record_args args = args_of(&o);
    return leati_dataset_new(&leati_op_tf_record_dataset, &args, &filenames, 1, err);
}
