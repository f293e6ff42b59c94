/* csv_dataset: the records of CSV files as tuples of scalars (tf.data.experimental.CsvDataset).
 *
 * A record ends at '\n', '\r' or both; a quoted field may hold delimiters, line ends and doubled
 * quotes. Happy path: a record comes into the window of chunks, fields are unquoted in place,
 * numbers read into columns, strings are views. Failures: a field that is missing, no number or
 * wrongly quoted, and a record of another length, are one INVALID_ARGUMENT, and the next record
 * follows; an open quote takes the rest of its file along. A compressed file cut short is one
 * DATA_LOSS, too long a record one INVALID_ARGUMENT, and the next file follows; other failures come
 * again. No locks. */
#include "base/minmax.h"
#include "core/number.h"
#include "data/plan/argument_rows.h"
#include "data/run/origins.h"
#include "data/source/files.h"
#include "file/chunks.h"
#include <leat/data_ops.h>
#include <string.h>

enum { DEFAULT_BUFFER = 4 << 20, MOST_ROWS = 4096 };

struct csv_args {
    leati_strings filenames;
    leat_element record_defaults;
    char *compression_type;
    int64_t buffer_size;
    bool header;
    char *field_delim;
    bool use_quote_delim;
    char *na_value;
    leati_ints select_cols;
    leati_ints exclude_cols;
};

#define ROW(field) .offset = offsetof(struct csv_args, field)

static const leati_row csv_rows[] = {
    LEATI_ROW_FILENAMES(struct csv_args),
    {.name = "record_defaults",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED,
     ROW(record_defaults),
     .doc = "A tuple with one default for each column of the result; no values: the field must be "
            "there."},
    LEATI_ROW_COMPRESSION(struct csv_args),
    {.name = "buffer_size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(buffer_size),
     .default_number = DEFAULT_BUFFER,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "Bytes read at once, up to 64 MiB; none: 4 MiB."},
    {.name = "header",
     .type = LEATI_ROW_BOOL,
     ROW(header),
     .doc = "Leave out the first record of each file."},
    LEATI_CSV_FIELD_ROWS(struct csv_args),
    {.name = "select_cols",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE,
     ROW(select_cols),
     .doc = "Which fields are taken, ascending; none: all."},
    {.name = "exclude_cols",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE,
     ROW(exclude_cols),
     .doc = "Which fields are left out, ascending; none: none."},
    {0},
};

struct csv_state {
    leati_files files; /* first: the slots of data/source/files.h take it */
    const struct csv_args *args;
    leat_compression compression;
    int num_columns;
};

/* An open file. */
struct csv_reader {
    leati_chunks chunks;
    const struct csv_state *state;
    bool failed; /* the record before the window failed, and that was not told yet */
    leat_error error;
    int64_t failed_at; /* where it starts */
};

/* Where records go: column c's values from buffers[c]'s row `filled` on. */
struct csv_sink {
    leat_buffer **buffers;
    int64_t *origins; /* NULL: not wanted */
    leat_buffer *paths;
    int64_t filled;
};

/* ---- the plan side ---- */

static leat_status check_columns(const leati_ints *columns, const char *name, leat_error *err) {
    for (int i = 0; i < columns->count; i++) {
        int64_t column = columns->values[i];
        if (column < 0 || (i > 0 && column <= columns->values[i - 1])) {
            return leati_refuse(
                err, VALUE, "csv_dataset: %s should be %s indices; found %lld at %d", name,
                column < 0 ? "non-negative" : "strictly increasing", (long long)column, i);
        }
    }
    return LEAT_OK;
}

static leat_status check_defaults(const struct csv_args *args, leat_error *err) {
    const leat_element *defaults = &args->record_defaults;
    if (defaults->num_tensors == 0 || leat_spec_get_kind(defaults->spec) != LEAT_SPEC_TUPLE ||
        leat_spec_num_children(defaults->spec) != defaults->num_tensors) {
        return leati_refuse(err, STRUCTURE,
                            "csv_dataset: record_defaults is no tuple of tensors, one by column");
    }
    for (int c = 0; c < defaults->num_tensors; c++) {
        leat_dtype dtype = defaults->tensors[c].dtype;
        if (dtype != LEAT_FLOAT32 && dtype != LEAT_FLOAT64 && dtype != LEAT_INT32 &&
            dtype != LEAT_INT64 && dtype != LEAT_STRING) {
            return leati_refuse(err, DTYPE,
                                "csv_dataset: default %d is of %s; expected a float, int or string",
                                c, leat_dtype_name(dtype));
        }
        if (leat_tensor_count(&defaults->tensors[c]) > 1) {
            return leati_refuse(err, VALUE,
                                "csv_dataset: There should only be 1 default per field but field "
                                "%d has %lld",
                                c, (long long)leat_tensor_count(&defaults->tensors[c]));
        }
        if (defaults->tensors[c].rank > 1)
            return leati_refuse(
                err, SHAPE, "csv_dataset: Each record default should be at most rank 1; field %d",
                c);
    }
    return LEAT_OK;
}

static leat_status csv_check(leat_dataset *dataset, leat_error *err) {
    const struct csv_args *args = dataset->args;
    leat_compression compression;
    leat_error local = {0};
    LEATI_TRY(leati_files_check(dataset, &args->filenames, NULL, err));
    LEATI_TRY(check_defaults(args, err));
    LEATI_TRY(check_columns(&args->select_cols, "select_cols", err));
    LEATI_TRY(check_columns(&args->exclude_cols, "exclude_cols", err));
    if (args->select_cols.values != NULL && args->exclude_cols.values != NULL) {
        return leati_refuse(err, VALUE,
                            "csv_dataset: Either select_cols or exclude_cols should be empty");
    }
    if (args->select_cols.values != NULL &&
        args->select_cols.count != args->record_defaults.num_tensors) {
        return leati_refuse(err, SHAPE,
                            "csv_dataset: select_cols should match output size: it has %d columns, "
                            "record_defaults %d",
                            args->select_cols.count, args->record_defaults.num_tensors);
    }
    if (args->field_delim == NULL || strlen(args->field_delim) != 1) {
        return leati_refuse(err, VALUE,
                            "csv_dataset: field_delim should be only 1 char; found \"%.100s\"",
                            args->field_delim == NULL ? "" : args->field_delim);
    }
    leat_status status = leat_compression_from_name(args->compression_type, &compression, &local);
    return status == LEAT_OK
               ? LEAT_OK
               : leati_fail(err, status, "csv_dataset: compression_type: %s", local.text);
}

static leat_spec *csv_spec(const leat_dataset *dataset, leat_error *err) {
    const leat_element *defaults = &((const struct csv_args *)dataset->args)->record_defaults;
    size_t count = (size_t)defaults->num_tensors;
    leat_spec **children = leati_alloc_zero(count, sizeof(*children)), *spec = NULL;
    size_t made = 0;
    if (children == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    for (; made < count; made++) {
        children[made] = leat_spec_tensor(defaults->tensors[made].dtype, LEAT_SCALAR, err);
        if (children[made] == NULL)
            break;
    }
    if (made == count)
        spec = leat_spec_tuple(children, (int)count, err);
    else
        while (made > 0)
            leat_spec_unref(children[--made]);
    leati_free(children);
    return spec;
}

/* ---- one record ---- */

/* Where a byte stands in a record. */
enum place { FIELD_START, PLAIN, QUOTED, AFTER_QUOTE };

static enum place next_place(enum place place, char byte, char delimiter, bool quotes) {
    switch (place) {
    case FIELD_START:
        return quotes && byte == '"' ? QUOTED : byte == delimiter ? FIELD_START : PLAIN;
    case PLAIN: return byte == delimiter ? FIELD_START : PLAIN;
    case QUOTED: return byte == '"' ? AFTER_QUOTE : QUOTED;
    default: /* a second quote; anything else is a mistake, and the line's end ends the record */
        return byte == delimiter ? FIELD_START : byte == '"' ? QUOTED : PLAIN;
    }
}

/* Brings the next record into the window: its size without and with its end. END: no byte left. */
static leati_file_outcome find_record(struct csv_reader *r, size_t *size, size_t *taken,
                                      leat_error *err) {
    const struct csv_args *args = r->state->args;
    leati_chunks *chunks = &r->chunks;
    enum place place = FIELD_START;
    for (size_t at = 0;; at++) {
        if (chunks->end - chunks->begin == at && leati_chunks_need(chunks, at + 1, err) != LEAT_OK)
            return leati_files_stopped(err);
        if (chunks->end - chunks->begin == at) {
            if (leati_chunks_whole(chunks, err) != LEAT_OK)
                return LEATI_FILE_LOST; /* with what there is of the record */
            *size = *taken = at;
            return at > 0 ? LEATI_FILE_MORE : LEATI_FILE_END;
        }
        char byte = (char)chunks->data[chunks->begin + at];
        if (place != QUOTED && (byte == '\n' || byte == '\r')) {
            /* Is there a '\n' behind it? It may not be in the window yet. */
            if (byte == '\r' && leati_chunks_need(chunks, at + 2, err) != LEAT_OK)
                return leati_files_stopped(err);
            bool both = byte == '\r' && chunks->end - chunks->begin > at + 1 &&
                        chunks->data[chunks->begin + at + 1] == '\n';
            *size = at;
            *taken = at + 1 + both;
            return leati_chunks_fits(chunks, at, err) ? LEATI_FILE_MORE : LEATI_FILE_LOST;
        }
        place = next_place(place, byte, args->field_delim[0], args->use_quote_delim);
    }
}

/* The text of a quoted field, whose first quote stands at *at; moves *at to the delimiter behind it
 * or to the end. */
static leat_string quoted_field(char *record, size_t size, size_t *at, char delimiter,
                                const char **mistake) {
    char *to = record + *at, *text = to;
    for (size_t i = *at + 1;; i++) {
        if (i >= size) {
            *mistake = "Reached end of file without closing quoted field in record";
            *at = size;
            break;
        }
        if (record[i] != '"') {
            *to++ = record[i];
        } else if (i + 1 == size || record[i + 1] == delimiter) {
            *at = i + 1;
            break;
        } else if (record[i + 1] == '"') {
            *to++ = '"';
            i++;
        } else {
            *mistake = "Quote inside a string has to be escaped by another quote";
            *at = size;
            break;
        }
    }
    return (leat_string){.data = text, .size = (size_t)(to - text)};
}

static leat_string plain_field(const char *record, size_t size, size_t *at, char delimiter,
                               bool quotes, const char **mistake) {
    const char *text = record + *at;
    const char *end = size > *at ? memchr(text, delimiter, size - *at) : NULL;
    size_t length = end == NULL ? size - *at : (size_t)(end - text);
    if (quotes && length > 0 && memchr(text, '"', length) != NULL)
        *mistake = "Unquoted fields cannot have quotes inside; quote the whole field";
    *at += length;
    return (leat_string){.data = text, .size = length};
}

/* Is field number `field` taken? `taken` fields before it were. */
static bool is_taken(const struct csv_args *args, int64_t field, int64_t taken) {
    if (args->select_cols.values != NULL)
        return taken < args->select_cols.count && args->select_cols.values[taken] == field;
    for (int i = 0; i < args->exclude_cols.count; i++)
        if (args->exclude_cols.values[i] == field)
            return false;
    return true;
}

/* Writes a field to its column. */
static leat_status put_field(const struct csv_args *args, const struct csv_sink *sink, int64_t row,
                             int64_t column, leat_string text, leat_error *err) {
    const leat_tensor *fallback = &args->record_defaults.tensors[column];
    size_t size = leat_dtype_size(fallback->dtype), na = strlen(args->na_value);
    char *to = (char *)leat_buffer_data(sink->buffers[column]) + (size_t)row * size;
    /* An empty field is missing, whatever na_value is. */
    if (text.size == 0 || (text.size == na && memcmp(text.data, args->na_value, na) == 0)) {
        if (leat_tensor_count(fallback) == 0) {
            return leati_refuse(err, VALUE,
                                "Field %lld is required but missing in record! Give a default, or "
                                "use ignore_errors",
                                (long long)column);
        }
        memcpy(to, fallback->data, size);
    } else if (fallback->dtype == LEAT_STRING) {
        memcpy(to, &text, sizeof(text));
    } else if (!leati_number_parse(text, fallback->dtype, to)) {
        return leati_refuse(err, VALUE, "Field %lld in record is not a valid %s: %.*s",
                            (long long)column, leat_dtype_name(fallback->dtype),
                            (int)LEATI_MIN(text.size, 60), text.data);
    }
    return LEAT_OK;
}

/* Cuts a record into fields, in place, and writes them to row `row`; the first mistake is what the
 * error says. */
static leat_status parse_record(const struct csv_args *args, char *record, size_t size,
                                const struct csv_sink *sink, int64_t row, leat_error *err) {
    int64_t field = 0, taken = 0, columns = args->record_defaults.num_tensors;
    char delimiter = args->field_delim[0];
    leat_status status = LEAT_OK;
    for (size_t at = 0;; at++, field++) {
        const char *mistake = NULL;
        leat_string text =
            args->use_quote_delim && at < size && record[at] == '"'
                ? quoted_field(record, size, &at, delimiter, &mistake)
                : plain_field(record, size, &at, delimiter, args->use_quote_delim, &mistake);
        if (status == LEAT_OK && mistake != NULL)
            status = leati_refuse(err, VALUE, "field %lld: %s", (long long)field, mistake);
        if (is_taken(args, field, taken)) {
            if (status == LEAT_OK && taken < columns)
                status = put_field(args, sink, row, taken, text, err);
            taken++; /* beyond the columns, too, for the message */
        }
        if (at >= size)
            break; /* no delimiter behind the field */
    }
    if (status != LEAT_OK || taken == columns)
        return status;
    const char *const found = taken > columns ? "Expect %lld fields but have more in record: %lld"
                                              : "Expect %lld fields but have %lld in record";
    return leati_refuse(err, SHAPE, found, (long long)columns, (long long)taken);
}

/* The first quoting mistake in a record, or NULL. */
static const char *quoting_mistake(const struct csv_args *args, char *record, size_t size) {
    const char *mistake = NULL;
    char delimiter = args->field_delim[0];
    for (size_t at = 0; mistake == NULL && args->use_quote_delim && at < size; at++)
        if (record[at] == '"')
            quoted_field(record, size, &at, delimiter, &mistake);
        else
            plain_field(record, size, &at, delimiter, true, &mistake);
    return mistake;
}

/* ---- the format ---- */

/* Passes the header. One that is wrongly quoted is an error of its own, as in TensorFlow; a file
 * without one is lost. */
static leati_file_outcome pass_header(struct csv_reader *r, leat_error *err) {
    size_t size = 0, taken = 0;
    leati_file_outcome outcome = find_record(r, &size, &taken, err);
    if (outcome == LEATI_FILE_END) {
        leati_refuse(err, VALUE, "%.200s is empty; expected a header, or pass header=false",
                     r->chunks.stream.file->path);
        return LEATI_FILE_LOST;
    }
    if (outcome != LEATI_FILE_MORE)
        return outcome;
    const char *mistake =
        quoting_mistake(r->state->args, (char *)r->chunks.data + r->chunks.begin, size);
    if (mistake != NULL) {
        leati_refuse(&r->error, VALUE, "the header of %.200s: %s", r->chunks.stream.file->path,
                     mistake);
        r->failed = true;
        r->failed_at = 0; /* a state from here meets the header again */
    }
    leati_chunks_take(&r->chunks, taken);
    return LEATI_FILE_MORE;
}

static leati_file_outcome open_csv(const leati_files *files, leati_pools *pools, const char *path,
                                   int64_t position, void **reader, leat_error *err) {
    const struct csv_state *s = (const struct csv_state *)files;
    struct csv_reader *r = leati_alloc_zero(1, sizeof(*r));
    *reader = r;
    if (r == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    r->state = s;
    if (leati_chunks_open_lines(&r->chunks, path, s->compression, position, files->chunk_size,
                                pools, err) != LEAT_OK)
        return LEATI_FILE_ERROR;
    if (position == 0 && s->args->header)
        return pass_header(r, err);
    return LEATI_FILE_MORE;
}

/* The columns of strings keep the window's chunk alive. */
static leat_status share_window(struct csv_reader *r, const struct csv_sink *sink,
                                leat_error *err) {
    const leat_element *defaults = &r->state->args->record_defaults;
    leat_status status = LEAT_OK;
    for (int c = 0; c < defaults->num_tensors && status == LEAT_OK; c++)
        if (defaults->tensors[c].dtype == LEAT_STRING)
            status = leati_chunks_share(&r->chunks, sink->buffers[c], err);
    return status;
}

static leati_file_outcome read_csv(void *reader, const leati_file_request *request, int64_t *n,
                                   leat_error *err) {
    struct csv_reader *r = reader;
    struct csv_sink *sink = request->sink;
    size_t bytes = 0;
    int64_t number =
        sink->origins == NULL ? 0 : leati_origins_number(sink->paths, r->chunks.stream.path);
    while (*n < request->want && (request->bytes == 0 || bytes < request->bytes)) {
        size_t size = 0, taken = 0;
        leat_error local = {0};
        leati_file_outcome outcome = LEATI_FILE_ERROR;
        if (r->failed) {
            local = r->error;
            r->failed = *n > 0; /* rows before it go first; it is told by the next call */
        } else {
            outcome = find_record(r, &size, &taken, &local);
            if (outcome == LEATI_FILE_MORE && share_window(r, sink, &local) != LEAT_OK)
                outcome = LEATI_FILE_ERROR;
        }
        if (outcome != LEATI_FILE_MORE) {
            *err = *n > 0 ? *err : local;
            return *n > 0 ? LEATI_FILE_MORE : outcome;
        }
        int64_t at = r->chunks.position;
        char *record = (char *)r->chunks.data + r->chunks.begin;
        leat_status status = parse_record(r->state->args, record, size, sink, sink->filled, &local);
        leati_chunks_take(&r->chunks, taken);
        if (status == LEAT_OK) {
            if (sink->origins != NULL)
                sink->origins[sink->filled] = leati_origin_at(number, at);
            sink->filled++;
            ++*n;
        } else {
            const char *path = r->chunks.stream.file->path;
            leati_error_at_file(&local, path, strlen(path), at, false);
            r->failed = true;
            r->error = local;
            r->failed_at = at;
        }
        bytes += taken; /* bad records count too, so that a call reads about so much */
    }
    return LEATI_FILE_MORE;
}

static int64_t csv_position(const void *reader) {
    const struct csv_reader *r = reader;
    return r->failed ? r->failed_at : r->chunks.position;
}

static void close_csv(void *reader) {
    struct csv_reader *r = reader;
    if (r != NULL)
        leati_chunks_close(&r->chunks);
    leati_free(r);
}

static const leati_file_format format = {.op = "csv_dataset",
                                         .open = open_csv,
                                         .read = read_csv,
                                         .position = csv_position,
                                         .close = close_csv};

/* ---- the protocol ---- */

static leat_status csv_open(leati_node_state *node, void *state, leat_error *err) {
    struct csv_state *s = state;
    s->args = node->dataset->args;
    s->num_columns = s->args->record_defaults.num_tensors;
    leat_status status =
        leat_compression_from_name(s->args->compression_type, &s->compression, err);
    if (status != LEAT_OK)
        return status;
    return leati_files_open(&s->files, node, &format, &s->args->filenames, 0, s->args->buffer_size,
                            err);
}

/* A buffer of `want` values for each column; string columns keep the defaults alive. */
static leat_status take_buffers(struct csv_state *s, int64_t want, leat_buffer **buffers,
                                leat_error *err) {
    leat_status status = LEAT_OK;
    for (int c = 0; c < s->num_columns && status == LEAT_OK; c++) {
        const leat_tensor *fallback = &s->args->record_defaults.tensors[c];
        buffers[c] =
            leati_pools_take(&s->files.pools, (size_t)want * leat_dtype_size(fallback->dtype), err);
        status = buffers[c] == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
        if (status == LEAT_OK && fallback->dtype == LEAT_STRING && fallback->owner != NULL)
            status = leati_buffer_hold(buffers[c], fallback->owner, err);
    }
    return status;
}

static leati_tail csv_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                           leat_error *err) {
    struct csv_state *s = state;
    leat_shape scalar = LEAT_SCALAR;
    leati_tail tail = LEATI_MORE;
    int64_t n = 0;
    leati_block_clear(out);
    want = LEATI_MIN(want, MOST_ROWS);
    struct csv_sink sink = {.buffers =
                                leati_alloc_zero((size_t)s->num_columns, sizeof(*sink.buffers))};
    if (sink.buffers == NULL) {
        leati_no_memory(err);
        return LEATI_ERROR;
    }
    if (take_buffers(s, want, sink.buffers, err) != LEAT_OK ||
        leati_block_prepare(out, s->num_columns, err) != LEAT_OK) {
        tail = LEATI_ERROR;
    } else {
        sink.origins = node->gives_origins ? leati_origins_begin(node, want, out) : NULL;
        sink.paths = node->iteration->origins;
        leati_file_request request = {.want = want,
                                      .bytes = out->byte_target > 0 ? out->byte_target
                                                                    : LEATI_BYTE_TARGET,
                                      .sink = &sink};
        /* A file whose only records here are bad ones gives none, and its error next. */
        do {
            tail = leati_files_next(&s->files, &request, &n, err);
        } while (tail == LEATI_MORE && n == 0);
    }
    for (int c = 0; c < s->num_columns; c++) {
        leat_dtype dtype = s->args->record_defaults.tensors[c].dtype;
        if (n > 0) {
            leati_column_strided(&out->columns[c], dtype, &scalar,
                                 leat_buffer_data(sink.buffers[c]), (int64_t)leat_dtype_size(dtype),
                                 sink.buffers[c]);
        } else {
            leat_buffer_unref(sink.buffers[c]);
        }
    }
    leati_free(sink.buffers);
    if (n == 0)
        leati_block_clear(out);
    out->n = n;
    return tail;
}

const leati_dataset_op leati_op_csv_dataset = {
    .name = "csv_dataset",
    .version = 1,
    .doc = "The records of CSV files. Saved as the place in the list of files and a byte offset; "
           "restoring costs a seek (of a compressed file: reading up to there).",
    .names = "experimental.CsvDataset",
    .signature = "filenames record_defaults compression_type=null buffer_size=null "
                 "header=false field_delim=\",\" use_quote_delim=true na_value=\"\" "
                 "select_cols=null exclude_cols=null",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_READER,
    .files = "filenames",
    .splits = LEATI_SPLITS_FILES,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_READS_FILES,
    .args_size = sizeof(struct csv_args),
    .rows = csv_rows,
    .check = csv_check,
    .spec = csv_spec,
    .state_size = sizeof(struct csv_state),
    .open = csv_open,
    .pull = csv_pull,
    .save = leati_files_save,
    .restore = leati_files_restore,
    .reset = leati_files_reset,
    .close = leati_files_close,
};

leat_dataset *leat_dataset_csv(const char *const *filenames, int num_filenames,
                               const leat_element *record_defaults,
                               const leat_dataset_csv_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_csv_options o = {LEAT_DATASET_CSV_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_csv_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct csv_args args = {
        .compression_type = (char *)(uintptr_t)o.compression_type, /* texts are copied */
        .buffer_size = o.buffer_size,
        .header = o.header,
        .field_delim = (char *)(uintptr_t)o.field_delim,
        .use_quote_delim = o.use_quote_delim,
        .na_value = (char *)(uintptr_t)(o.na_value != NULL ? o.na_value : ""),
        .select_cols = {.values = (int64_t *)o.select_cols, .count = o.num_select_cols},
        .exclude_cols = {.values = (int64_t *)o.exclude_cols, .count = o.num_exclude_cols}};
    leat_dataset *dataset = NULL;
    if (record_defaults == NULL) {
        leati_refuse(err, VALUE, "csv_dataset: record_defaults is NULL");
    } else if (leati_files_view_names("csv_dataset", filenames, num_filenames, &args.filenames,
                                      err) == LEAT_OK) {
        args.record_defaults = *record_defaults;
        dataset = leati_dataset_new(&leati_op_csv_dataset, &args, NULL, 0, err);
    }
    leati_free(args.filenames.values);
    return dataset;
}
