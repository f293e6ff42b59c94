/* text_line_dataset: the lines of text files as string scalars (tf.data.TextLineDataset).
 *
 * Lines end at '\n', which is left out; every '\r' in a line is taken out too, as in TensorFlow. A
 * last line without '\n' counts if anything is left of it. Happy path: lines are views into the
 * chunks that were read; '\r' is squeezed out in place. Which file comes next, data/source/files.h
 * says. Failures: an unknown compression_type or a negative buffer_size is one INVALID_ARGUMENT per
 * file; any error of the file itself comes again at every call, and the files behind it are not
 * reached. A compressed file that is cut short is one DATA_LOSS, instead of the line that was cut,
 * and a line beyond the process's limit (leat_limits_set_reading) one INVALID_ARGUMENT; the next
 * file follows. No locks. */
#include "data/source/files.h"
#include "file/chunks.h"
#include <leat/data_ops.h>
#include <string.h>

struct text_args {
    leati_strings filenames;
    char *compression_type;
    int64_t buffer_size;
    int64_t num_parallel_reads;
};

static const leati_row text_rows[] = {
    LEATI_ROW_FILENAMES(struct text_args),
    LEATI_ROW_COMPRESSION(struct text_args),
    LEATI_ROW_BUFFER_SIZE(struct text_args),
    LEATI_ROW_PARALLEL_READS(struct text_args),
    {0},
};

struct text_state {
    leati_files files; /* first: the slots of data/source/files.h take it */
    const struct text_args *args;
};

static leat_status text_check(leat_dataset *dataset, leat_error *err) {
    struct text_args *args = dataset->args;
    return leati_files_check(dataset, &args->filenames, &args->num_parallel_reads, err);
}

/* ---- the format ---- */

static leati_file_outcome open_text(const leati_files *files, leati_pools *pools, const char *path,
                                    int64_t position, void **reader, leat_error *err) {
    const struct text_state *s = (const struct text_state *)files;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    if (s->args->buffer_size < 0) {
        leati_refuse(err, VALUE, "buffer_size is %lld; expected at least 0, which means 256 KiB",
                     (long long)s->args->buffer_size);
        return LEATI_FILE_LOST;
    }
    if (leat_compression_from_name(s->args->compression_type, &compression, err) != LEAT_OK)
        return LEATI_FILE_LOST;
    leati_chunks *chunks = leati_alloc_zero(1, sizeof(*chunks));
    *reader = chunks;
    if (chunks == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    return leati_chunks_open_lines(chunks, path, compression, position, files->chunk_size, pools,
                                   err) == LEAT_OK
               ? LEATI_FILE_MORE
               : LEATI_FILE_ERROR;
}

/* Takes every '\r' out of a line, in place; returns what is left. */
static size_t squeeze(uint8_t *line, size_t size) {
    uint8_t *first = size == 0 ? NULL : memchr(line, '\r', size);
    if (first == NULL)
        return size;
    uint8_t *to = first;
    for (const uint8_t *from = first; from < line + size; from++)
        if (*from != '\r')
            *to++ = *from;
    return (size_t)(to - line);
}

/* The window's first line, without its end: LEATI_FILE_MORE, with the bytes that it takes. */
static leati_file_outcome find_line(leati_chunks *chunks, size_t *size, size_t *taken,
                                    leat_error *err) {
    size_t looked = 0;
    for (;;) {
        size_t window = chunks->end - chunks->begin;
        /* Before the first chunk there is no memory to point into. */
        const uint8_t *from = looked == window ? NULL : chunks->data + chunks->begin;
        const uint8_t *end = from == NULL ? NULL : memchr(from + looked, '\n', window - looked);
        if (end != NULL) {
            *size = (size_t)(end - from);
            *taken = *size + 1;
            return leati_chunks_fits(chunks, *size, err) ? LEATI_FILE_MORE : LEATI_FILE_LOST;
        }
        if (chunks->ended) {
            if (leati_chunks_whole(chunks, err) != LEAT_OK)
                return LEATI_FILE_LOST; /* with what there is of the line */
            *size = *taken = window;
            return window > 0 ? LEATI_FILE_MORE : LEATI_FILE_END;
        }
        /* What was looked through has no line's end. */
        looked = window;
        if (leati_chunks_more(chunks, err) != LEAT_OK)
            return leati_files_stopped(err);
    }
}

static leati_file_outcome read_text(void *reader, const leati_file_request *request, int64_t *n,
                                    leat_error *err) {
    leati_chunks *chunks = reader;
    size_t bytes = 0;
    while (*n < request->want && (request->bytes == 0 || bytes < request->bytes)) {
        size_t size = 0, taken = 0;
        leat_error local = {0};
        leati_file_outcome outcome = find_line(chunks, &size, &taken, &local);
        bool last = taken == size; /* no '\n' */
        if (outcome == LEATI_FILE_MORE && request->records != NULL &&
            leati_chunks_share(chunks, request->owner, &local) != LEAT_OK)
            outcome = LEATI_FILE_ERROR;
        if (outcome != LEATI_FILE_MORE) {
            /* Lines that were read go first; the next call meets this again. */
            *err = *n > 0 ? *err : local;
            return *n > 0 ? LEATI_FILE_MORE : outcome;
        }
        uint8_t *line = chunks->data + chunks->begin;
        size = squeeze(line, size);
        leati_chunks_take(chunks, taken);
        if (last && size == 0)
            continue; /* the next look finds the end */
        if (request->records != NULL)
            request->records[*n] = (leat_string){.data = (const char *)line, .size = size};
        bytes += size;
        ++*n;
    }
    return LEATI_FILE_MORE;
}

static int64_t text_position(const void *reader) {
    return ((const leati_chunks *)reader)->position;
}

static void close_text(void *reader) {
    if (reader != NULL)
        leati_chunks_close(reader);
    leati_free(reader);
}

static const leati_file_format format = {.op = "text_line_dataset",
                                         .passes = true,
                                         .open = open_text,
                                         .read = read_text,
                                         .position = text_position,
                                         .close = close_text};

/* ---- the protocol ---- */

static leat_status text_open(leati_node_state *node, void *state, leat_error *err) {
    struct text_state *s = state;
    s->args = node->dataset->args;
    return leati_files_open(&s->files, node, &format, &s->args->filenames,
                            s->args->num_parallel_reads, s->args->buffer_size, err);
}

const leati_dataset_op leati_op_text_line_dataset = {
    .name = "text_line_dataset",
    .version = 1,
    .doc = "The lines of text files. Saved as the place in the list of files and a byte offset for "
           "each open one; restoring costs a seek (of a compressed file: reading up to there).",
    .names = "TextLineDataset",
    .signature = "filenames compression_type=null buffer_size=null "
                 "num_parallel_reads=null",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_READER,
    .files = "filenames",
    .splits = LEATI_SPLITS_FILES,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_READS_FILES,
    .args_size = sizeof(struct text_args),
    .rows = text_rows,
    .check = text_check,
    .spec = leati_files_spec,
    .state_size = sizeof(struct text_state),
    .open = text_open,
    .pull = leati_files_pull,
    .advance = leati_files_advance,
    .save = leati_files_save,
    .restore = leati_files_restore,
    .reset = leati_files_reset,
    .close = leati_files_close,
};

/* Texts lose their const only until the constructor has copied them. */
static struct text_args args_of(const leat_dataset_text_line_options *o) {
    return (struct text_args){.compression_type = (char *)(uintptr_t)o->compression_type,
                              .buffer_size = o->buffer_size,
                              .num_parallel_reads = o->num_parallel_reads};
}

leat_dataset *leat_dataset_text_line(const char *const *filenames, int num_filenames,
                                     const leat_dataset_text_line_options *options,
                                     leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_text_line_options o = {LEAT_DATASET_TEXT_LINE_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_text_line_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct text_args args = args_of(&o);
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("text_line_dataset", filenames, num_filenames, &args.filenames,
                               err) == LEAT_OK)
        dataset = leati_dataset_new(&leati_op_text_line_dataset, &args, NULL, 0, err);
    leati_free(args.filenames.values);
    return dataset;
}

leat_dataset *leat_dataset_text_line_of(leat_dataset *filenames,
                                        const leat_dataset_text_line_options *options,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_text_line_options o = {LEAT_DATASET_TEXT_LINE_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_text_line_options, &o, options, &filenames, 1, err))
        return NULL;
    struct text_args args = args_of(&o);
    return leati_dataset_new(&leati_op_text_line_dataset, &args, &filenames, 1, err);
}
