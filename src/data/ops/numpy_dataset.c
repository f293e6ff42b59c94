/* numpy_dataset: the rows of .npy files, the slices of each array along its first dimension.
 *
 * Not in tf.data. The element's dtype and shape are those of the first file, read when the dataset
 * is made, unless output_signature gives them. Happy path: as many rows as lie in the chunk that
 * was read are one view of it, without work per row; rows whose bytes are in the other order, that
 * are booleans or stand askew in memory are copied. Which file comes next, data/source/files.h
 * says.
 *
 * Failures: a file of another dtype or shape, or in Fortran order, is one INVALID_ARGUMENT, an
 * array of what leat has no dtype for one UNIMPLEMENTED; a damaged header is one DATA_LOSS with its
 * byte; a file that is cut gives its whole rows, then DATA_LOSS, and so does one that goes on
 * behind the last row. A file that cannot be opened is its error at every call. No locks. */
#include "base/minmax.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "data/source/files.h"
#include "file/chunks.h"
#include "file/npy.h"
#include <leat/data_ops.h>
#include <string.h>

/* Rows without bytes are bounded by their number alone. A header mostly has 128 bytes. */
enum { MOST_ROWS = 65536, HEADER_CHUNK = 4096 };

struct numpy_args {
    leati_strings filenames;
    leat_spec *output_signature;
    char *compression_type;
    int64_t buffer_size;
};

#define ROW(field) .offset = offsetof(struct numpy_args, field)

static const leati_row numpy_rows[] = {
    LEATI_ROW_FILENAMES(struct numpy_args),
    {.name = "output_signature",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_NONE,
     ROW(output_signature),
     .doc = "Dtype and shape of a row; none: those of the first file, which is read for it."},
    LEATI_ROW_COMPRESSION(struct numpy_args),
    LEATI_ROW_BUFFER_SIZE(struct numpy_args),
    {0},
};

struct numpy_state {
    leati_files files; /* first: the slots of data/source/files.h take it */
    leat_compression compression;
    leat_dtype dtype;
    leat_shape shape; /* of a row */
    size_t row_bytes;
};

/* An open file. */
struct numpy_reader {
    leati_chunks chunks;
    const struct numpy_state *state;
    int64_t row, rows; /* the next one; of the file */
    bool swapped;
};

/* Where rows go. */
struct numpy_sink {
    leati_column column;
    leati_pools *pools;
};

/* ---- the header ---- */

/* Reads the header at the window's start and passes it. */
static leat_status read_header(leati_chunks *chunks, const char *path, leati_npy *header,
                               leat_error *err) {
    size_t need = 1;
    leat_status status = LEAT_OK;
    /* leati_npy_read says how many bytes it lacks, more of them as it learns the header's
     * length. */
    while (need > 0 && status == LEAT_OK) {
        status = leati_chunks_need(chunks, need, err);
        size_t have = chunks->end - chunks->begin;
        if (status == LEAT_OK && have < need) {
            return leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                                      "ends at byte %zu, in the .npy header; expected %zu bytes",
                                      have, need);
        }
        if (status == LEAT_OK) {
            status = leati_npy_read(chunks->data + chunks->begin, have, &need, header, err);
            if (status != LEAT_OK)
                leati_error_at_file(err, path, strlen(path), -1, false);
        }
    }
    if (status != LEAT_OK)
        return status;
    leati_chunks_take(chunks, header->size);
    if (header->shape.rank == 0) {
        return leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, path, -1, false,
                                  "a scalar has no rows; expected an array");
    }
    /* Vectors lie in memory alike in both orders. */
    if (header->fortran && header->shape.rank > 1) {
        return leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, path, -1, false,
                                  "in Fortran order, where rows do not lie together; save "
                                  "numpy.ascontiguousarray of the array");
    }
    int64_t count = leati_shape_count(&header->shape);
    size_t bytes = 0;
    /* Half of int64, so that adding the header's size cannot overflow. */
    if (count < 0 || !leati_mul_size((size_t)count, leat_dtype_size(header->dtype), &bytes) ||
        bytes > INT64_MAX / 2) {
        char text[128];
        return leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                                  "an array of shape %s is too large",
                                  leati_shape_text(&header->shape, text));
    }
    return LEAT_OK;
}

static leat_shape row_shape(const leat_shape *shape) {
    leat_shape row = {.rank = shape->rank - 1};
    memcpy(row.dims, shape->dims + 1, (size_t)row.rank * sizeof(row.dims[0]));
    return row;
}

/* ---- the plan side ---- */

/* The spec of a row of the file. Owned. */
static leat_spec *spec_of_file(const char *path, leat_compression compression, leat_error *err) {
    leati_pools pools = {0};
    leati_chunks chunks = {0};
    leati_npy header;
    leat_spec *spec = NULL;
    if (leati_chunks_open(&chunks, path, compression, 0, HEADER_CHUNK, &pools, err) == LEAT_OK) {
        if (read_header(&chunks, path, &header, err) == LEAT_OK)
            spec = leat_spec_tensor(header.dtype, row_shape(&header.shape), err);
        leati_chunks_close(&chunks);
    }
    leati_pools_close(&pools);
    return spec;
}

static leat_status check_signature(const leat_spec *spec, leat_error *err) {
    char text[200];
    bool fits = leat_spec_get_kind(spec) == LEAT_SPEC_TENSOR;
    if (fits) {
        leat_shape shape = leat_spec_shape(spec);
        leat_dtype dtype = leat_spec_dtype(spec);
        size_t bytes = 0;
        fits = dtype != LEAT_STRING && dtype != LEAT_OBJECT && leati_shape_count(&shape) >= 0 &&
               shape.rank < LEAT_MAX_RANK &&
               leati_mul_size((size_t)leati_shape_count(&shape), leat_dtype_size(dtype), &bytes);
    }
    leat_spec_print(spec, text, sizeof(text));
    return fits
               ? LEAT_OK
               : leati_refuse(err, SHAPE,
                              "numpy_dataset: output_signature is %s; expected a tensor of numbers "
                              "with a known shape",
                              text);
}

static leat_status numpy_check(leat_dataset *dataset, leat_error *err) {
    struct numpy_args *args = dataset->args;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    leat_status status = leati_files_check(dataset, &args->filenames, 0, err);
    if (status == LEAT_OK) {
        status = leat_compression_from_name(args->compression_type, &compression, err);
        status = status == LEAT_OK ? status : leati_prefix(err, "numpy_dataset");
    }
    if (status != LEAT_OK)
        return status;
    /* A copy of a node and a plan that was written have it: the file is read once. */
    if (args->output_signature != NULL)
        return check_signature(args->output_signature, err);
    if (args->filenames.count == 0) {
        return leati_refuse(err, VALUE,
                            "numpy_dataset: no file is known yet whose header says what a row is; "
                            "give output_signature");
    }
    leat_error local = {0};
    args->output_signature = spec_of_file(args->filenames.values[0].data, compression, &local);
    if (args->output_signature == NULL)
        return leati_fail(err, local.code, "numpy_dataset: %s", local.text);
    return LEAT_OK;
}

static leat_spec *numpy_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_spec_ref(((const struct numpy_args *)dataset->args)->output_signature);
}

/* ---- the format ---- */

static leati_file_outcome begin_file(struct numpy_reader *r, const char *path, leat_error *err) {
    const struct numpy_state *s = r->state;
    leati_npy header;
    leat_error local = {0};
    if (read_header(&r->chunks, path, &header, &local) != LEAT_OK) {
        *err = local;
        /* Want of memory says nothing about the file, which is asked again. */
        return local.code == LEAT_RESOURCE_EXHAUSTED ? LEATI_FILE_ERROR : LEATI_FILE_LOST;
    }
    leat_shape shape = row_shape(&header.shape);
    if (header.dtype != s->dtype || !leati_shape_equal(&shape, &s->shape)) {
        char found[128], expected[128];
        leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, path, -1, false,
                           "rows of %s%s; expected %s%s as in output_signature or the first file",
                           leat_dtype_name(header.dtype), leati_shape_text(&shape, found),
                           leat_dtype_name(s->dtype), leati_shape_text(&s->shape, expected));
        return LEATI_FILE_LOST;
    }
    r->rows = header.shape.dims[0];
    r->swapped = header.swapped;
    return LEATI_FILE_MORE;
}

/* `position` is the number of a row: rows may have no bytes. */
static leati_file_outcome open_numpy(const leati_files *files, leati_pools *pools, const char *path,
                                     int64_t position, void **reader, leat_error *err) {
    const struct numpy_state *s = (const struct numpy_state *)files;
    struct numpy_reader *r = leati_alloc_zero(1, sizeof(*r));
    *reader = r;
    if (r == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    r->state = s;
    /* From the start, whatever the position: the header is read first. */
    if (leati_chunks_open(&r->chunks, path, s->compression, 0, files->chunk_size, pools, err) !=
        LEAT_OK)
        return LEATI_FILE_ERROR;
    leati_file_outcome outcome = begin_file(r, path, err);
    if (outcome != LEATI_FILE_MORE || position == 0)
        return outcome;
    if (position > r->rows) {
        leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                           "%lld rows, and reading stood at row %lld; restore with the same files",
                           (long long)r->rows, (long long)position);
        return LEATI_FILE_LOST;
    }
    /* Opened a second time at the row's byte: the header had to say first where rows begin. */
    int64_t byte = r->chunks.position + position * (int64_t)s->row_bytes;
    leati_chunks_close(&r->chunks);
    r->row = position;
    return leati_chunks_open(&r->chunks, path, s->compression, byte, files->chunk_size, pools,
                             err) == LEAT_OK
               ? LEATI_FILE_MORE
               : LEATI_FILE_ERROR;
}

/* What stands where no whole row is in the window. */
static leati_file_outcome finish(const struct numpy_reader *r, leat_error *err) {
    const leati_chunks *chunks = &r->chunks;
    size_t window = chunks->end - chunks->begin;
    if (leati_chunks_whole(chunks, err) != LEAT_OK)
        return LEATI_FILE_LOST;
    if (r->row == r->rows && window == 0)
        return LEATI_FILE_END;
    if (r->row == r->rows) {
        leati_fail_in_file(err, LEAT_DATA_LOSS, chunks->stream.file->path, -1, false,
                           "goes on at byte %lld, behind the last of %lld rows; one file holds one "
                           "array",
                           (long long)chunks->position, (long long)r->rows);
    } else {
        leati_fail_in_file(err, LEAT_DATA_LOSS, chunks->stream.file->path, -1, false,
                           "ends at byte %lld, in row %lld of %lld; was it cut short?",
                           (long long)(chunks->position + (int64_t)window), (long long)r->row,
                           (long long)r->rows);
    }
    return LEATI_FILE_LOST;
}

/* Reverses the bytes of each of `count` values. */
static void swap_values(uint8_t *values, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++, values += size) {
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            uint8_t byte = values[a];
            values[a] = values[b];
            values[b] = byte;
        }
    }
}

/* A copy of `n` rows as this machine reads them; any byte but 0 is true. */
static leat_status copy_rows(const struct numpy_reader *r, int64_t n, struct numpy_sink *sink,
                             leat_error *err) {
    const struct numpy_state *s = r->state;
    size_t bytes = (size_t)n * s->row_bytes, size = leat_dtype_size(leati_dtype_part(s->dtype));
    leat_buffer *buffer = leati_pools_take(sink->pools, bytes, err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    uint8_t *to = leat_buffer_data(buffer);
    memcpy(to, r->chunks.data + r->chunks.begin, bytes);
    if (r->swapped)
        swap_values(to, bytes / size, size);
    for (size_t i = 0; s->dtype == LEAT_BOOL && i < bytes; i++)
        to[i] = to[i] != 0;
    leati_column_strided(&sink->column, s->dtype, &s->shape, to, (int64_t)s->row_bytes, buffer);
    return LEAT_OK;
}

static leat_status show_rows(struct numpy_reader *r, int64_t n, struct numpy_sink *sink,
                             leat_error *err) {
    const struct numpy_state *s = r->state;
    static char nothing;
    /* Rows without bytes need an address all the same. */
    if (s->row_bytes == 0) {
        leati_column_strided(&sink->column, s->dtype, &s->shape, &nothing, 0, NULL);
        return LEAT_OK;
    }
    uint8_t *data = r->chunks.data + r->chunks.begin;
    /* Values may be read only at addresses that their size divides, and a header may end
     * anywhere. */
    bool askew = (uintptr_t)data % leat_dtype_size(s->dtype) != 0;
    if (r->swapped || askew || s->dtype == LEAT_BOOL)
        return copy_rows(r, n, sink, err);
    leati_column_strided(&sink->column, s->dtype, &s->shape, data, (int64_t)s->row_bytes,
                         leati_chunks_ref(&r->chunks));
    return LEAT_OK;
}

static leati_file_outcome read_numpy(void *reader, const leati_file_request *request, int64_t *n,
                                     leat_error *err) {
    struct numpy_reader *r = reader;
    leati_chunks *chunks = &r->chunks;
    size_t row_bytes = r->state->row_bytes;
    int64_t left = r->rows - r->row, rows = LEATI_MIN(request->want, left);
    /* Behind the last row a byte is asked for that must not be there. */
    if (leati_chunks_need(chunks, left == 0 || row_bytes == 0 ? 1 : row_bytes, err) != LEAT_OK)
        return LEATI_FILE_ERROR;
    size_t window = chunks->end - chunks->begin;
    /* The end of the rows, or of the file. */
    if (left == 0 || window < row_bytes)
        return finish(r, err);
    if (row_bytes > 0) {
        size_t have = window / row_bytes, some = request->bytes / row_bytes;
        rows = have < (uint64_t)rows ? (int64_t)have : rows;
        /* At least one row, however large. */
        if (request->bytes > 0 && some < (uint64_t)rows)
            rows = some > 0 ? (int64_t)some : 1;
    }
    if (request->sink != NULL && show_rows(r, rows, request->sink, err) != LEAT_OK)
        return LEATI_FILE_ERROR;
    leati_chunks_take(chunks, (size_t)rows * row_bytes);
    r->row += rows;
    *n = rows;
    return LEATI_FILE_MORE;
}

static int64_t numpy_position(const void *reader) {
    return ((const struct numpy_reader *)reader)->row;
}

static void close_numpy(void *reader) {
    struct numpy_reader *r = reader;
    if (r != NULL)
        leati_chunks_close(&r->chunks);
    leati_free(r);
}

static const leati_file_format format = {.op = "numpy_dataset",
                                         .open = open_numpy,
                                         .read = read_numpy,
                                         .position = numpy_position,
                                         .close = close_numpy};

/* ---- the protocol ---- */

static leat_status numpy_open(leati_node_state *node, void *state, leat_error *err) {
    struct numpy_state *s = state;
    const struct numpy_args *args = node->dataset->args;
    s->dtype = leat_spec_dtype(node->dataset->spec);
    s->shape = leat_spec_shape(node->dataset->spec);
    s->row_bytes = (size_t)leati_shape_count(&s->shape) * leat_dtype_size(s->dtype);
    leat_status status = leat_compression_from_name(args->compression_type, &s->compression, err);
    return status != LEAT_OK ? status
                             : leati_files_open(&s->files, node, &format, &args->filenames, 0,
                                                args->buffer_size, err);
}

static leati_tail numpy_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    (void)node;
    struct numpy_state *s = state;
    struct numpy_sink sink = {.pools = &s->files.pools};
    int64_t n = 0;
    if (leati_block_prepare(out, 1, err) != LEAT_OK)
        return LEATI_ERROR;
    leati_file_request request = {.want = LEATI_MIN(want, MOST_ROWS),
                                  .bytes =
                                      out->byte_target > 0 ? out->byte_target : LEATI_BYTE_TARGET,
                                  .sink = &sink};
    leati_tail tail = leati_files_next(&s->files, &request, &n, err);
    if (n > 0)
        out->columns[0] = sink.column;
    else
        leati_block_clear(out);
    out->n = n;
    return tail;
}

const leati_dataset_op leati_op_numpy_dataset = {
    .name = "numpy_dataset",
    .version = 1,
    .doc = "The rows of .npy files, along the arrays' first dimension. Saved as the place in the "
           "list of files and a row; restoring costs a seek (of a compressed file: reading up to "
           "there).",
    .names = "experimental.numpy_dataset",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_READER,
    .files = "filenames",
    .splits = LEATI_SPLITS_FILES,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_READS_FILES,
    .args_size = sizeof(struct numpy_args),
    .rows = numpy_rows,
    .check = numpy_check,
    .spec = numpy_spec,
    .state_size = sizeof(struct numpy_state),
    .open = numpy_open,
    .pull = numpy_pull,
    .advance = leati_files_advance,
    .save = leati_files_save,
    .restore = leati_files_restore,
    .reset = leati_files_reset,
    .close = leati_files_close,
};

/* What loses its const here the constructor copies. */
static struct numpy_args args_of(const leat_dataset_numpy_options *o) {
    return (struct numpy_args){.output_signature = (leat_spec *)(uintptr_t)o->output_signature,
                               .compression_type = (char *)(uintptr_t)o->compression_type,
                               .buffer_size = o->buffer_size};
}

leat_dataset *leat_dataset_numpy(const char *const *filenames, int num_filenames,
                                 const leat_dataset_numpy_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_numpy_options o = {LEAT_DATASET_NUMPY_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_numpy_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct numpy_args args = args_of(&o);
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("numpy_dataset", filenames, num_filenames, &args.filenames, err) ==
        LEAT_OK)
        dataset = leati_dataset_new(&leati_op_numpy_dataset, &args, NULL, 0, err);
    leati_free(args.filenames.values);
    return dataset;
}

leat_dataset *leat_dataset_numpy_of(leat_dataset *filenames,
                                    const leat_dataset_numpy_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_numpy_options o = {LEAT_DATASET_NUMPY_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_numpy_options, &o, options, &filenames, 1, err))
        return NULL;
    struct numpy_args args = args_of(&o);
    return leati_dataset_new(&leati_op_numpy_dataset, &args, &filenames, 1, err);
}
