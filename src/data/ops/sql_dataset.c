/* sql_dataset: the rows of a query as tuples of scalars (tf.data.experimental.SqlDataset).
 *
 * The database is SQLite. Happy path: the query runs when the first row is asked for, and rows are
 * read one by one; values are converted as SQLite converts them, NULL is 0 or "". Failures: a row
 * with an integer that its dtype cannot hold is one DATA_LOSS; at every call a query that SQLite
 * refuses is UNKNOWN, another number of columns INVALID_ARGUMENT. A missing database is made,
 * empty, as in TensorFlow. In a library without SQLite the construction is UNIMPLEMENTED. Saved as
 * the number of rows; restoring runs the query again and passes over them. No locks. */
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <string.h>
#ifdef LEATI_HAVE_SQLITE
#include <sqlite3.h>
#endif

struct sql_args {
    char *driver_name;
    char *data_source_name;
    char *query;
    leati_strings output_types;
};

#define ROW(field) .offset = offsetof(struct sql_args, field)

static const leati_row sql_rows[] = {
    {.name = "driver_name",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(driver_name),
     .doc = "\"sqlite\"."},
    {.name = "data_source_name",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(data_source_name),
     .doc = "Path of the database."},
    {.name = "query",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(query),
     .doc = "The statement whose rows are read."},
    {.name = "output_types",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_REQUIRED,
     ROW(output_types),
     .doc = "A dtype for each column: string, int8 to int64, uint8, uint16, bool or float64."},
    {0},
};

/* ---- the plan side ---- */

static leat_dtype column_dtype(const struct sql_args *args, int column) {
    return leat_dtype_from_name(args->output_types.values[column].data);
}

static bool is_allowed(leat_dtype dtype) {
    static const leat_dtype allowed[] = {LEAT_STRING, LEAT_INT8,  LEAT_INT16,
                                         LEAT_INT32,  LEAT_INT64, LEAT_UINT8,
                                         LEAT_UINT16, LEAT_BOOL,  LEAT_FLOAT64};
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (allowed[i] == dtype)
            return true;
    return false;
}

static leat_status sql_check(leat_dataset *dataset, leat_error *err) {
    const struct sql_args *args = dataset->args;
    if (args->driver_name == NULL || strcmp(args->driver_name, "sqlite") != 0) {
        return leati_refuse(err, VALUE,
                            "sql_dataset: driver_name is \"%.100s\"; expected \"sqlite\"",
                            args->driver_name == NULL ? "" : args->driver_name);
    }
    if (args->data_source_name == NULL || args->query == NULL || args->output_types.count == 0) {
        return leati_refuse(err, VALUE,
                            "sql_dataset: data_source_name, query or output_types is missing");
    }
    for (int c = 0; c < args->output_types.count; c++) {
        if (!is_allowed(column_dtype(args, c))) {
            return leati_refuse(
                err, VALUE,
                "sql_dataset: output_types has %.100s at place %d; expected string, "
                "int8, int16, int32, int64, uint8, uint16, bool or float64",
                args->output_types.values[c].data, c);
        }
    }
#ifdef LEATI_HAVE_SQLITE
    return LEAT_OK;
#else
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "sql_dataset: this library was built without SQLite; install "
                      "libsqlite3-dev and build again");
#endif
}

static leat_spec *sql_spec(const leat_dataset *dataset, leat_error *err) {
    const struct sql_args *args = dataset->args;
    int count = args->output_types.count, made = 0;
    leat_spec **children = leati_alloc_zero((size_t)count, sizeof(*children)), *spec = NULL;
    if (children == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    for (; made < count; made++) {
        children[made] = leat_spec_tensor(column_dtype(args, made), LEAT_SCALAR, err);
        if (children[made] == NULL)
            break;
    }
    if (made == count)
        spec = leat_spec_tuple(children, count, err);
    else
        while (made > 0)
            leat_spec_unref(children[--made]);
    leati_free(children);
    return spec;
}

/* ---- the run side ---- */

#ifdef LEATI_HAVE_SQLITE

struct sql_state {
    sqlite3 *database;
    sqlite3_stmt *statement; /* NULL: the query was not begun */
    int64_t rows;            /* given out */
    int64_t to_pass;         /* rows to pass over when the query begins */
};

static void stop(struct sql_state *s) {
    /* The statement first: SQLite closes no database that has one. */
    sqlite3_finalize(s->statement);
    sqlite3_close(s->database);
    s->statement = NULL;
    s->database = NULL;
}

/* The error of the last call on the database; the query begins anew at the next pull. */
static leat_status fail_sql(struct sql_state *s, const struct sql_args *args, int code,
                            leat_error *err) {
    leat_status status =
        leati_fail(err, code == SQLITE_NOMEM ? LEAT_RESOURCE_EXHAUSTED : LEAT_UNKNOWN,
                   "%.150s: %.250s", args->data_source_name,
                   s->database != NULL ? sqlite3_errmsg(s->database) : sqlite3_errstr(code));
    s->to_pass = s->rows;
    stop(s);
    return status;
}

/* Runs the query, unless it runs, and passes the rows that were given out before. */
static leat_status begin(struct sql_state *s, const struct sql_args *args, leat_error *err) {
    if (s->statement != NULL)
        return LEAT_OK;
    int code = sqlite3_open(args->data_source_name, &s->database);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(s->database, args->query, -1, &s->statement, NULL);
    if (code != SQLITE_OK)
        return fail_sql(s, args, code, err);
    int columns = sqlite3_column_count(s->statement);
    if (columns != args->output_types.count) {
        stop(s);
        return leati_refuse(err, SHAPE,
                            "the query gives %d columns, output_types has %d; expected as many",
                            columns, args->output_types.count);
    }
    for (; s->to_pass > 0; s->to_pass--) {
        code = sqlite3_step(s->statement);
        /* A step after the end would begin the query anew. */
        if (code == SQLITE_DONE) {
            stop(s);
            return leati_fail(err, LEAT_DATA_LOSS,
                              "%.150s: the query has fewer rows than the %lld that were given out "
                              "before; the table must stay as it is between saving and restoring",
                              args->data_source_name, (long long)s->rows);
        }
        if (code != SQLITE_ROW)
            return fail_sql(s, args, code, err);
    }
    return LEAT_OK;
}

/* Narrower integers of a column have their limits here. */
static leat_status check_range(int c, leat_dtype dtype, int64_t value, leat_error *err) {
    const size_t bits = 8 * leat_dtype_size(dtype);
    const bool is_signed = dtype == LEAT_INT8 || dtype == LEAT_INT16 || dtype == LEAT_INT32;
    /* An int64 holds every integer of SQLite's, and a bool asks only whether it is 0. */
    if (!is_signed && dtype != LEAT_UINT8 && dtype != LEAT_UINT16)
        return LEAT_OK;
    const int64_t least = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    const int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    if (value >= least && value <= most)
        return LEAT_OK;
    return leati_fail(err, LEAT_DATA_LOSS,
                      "column %d has %lld, which %s cannot hold; expected %lld to %lld, or a wider "
                      "type in output_types",
                      c, (long long)value, leat_dtype_name(dtype), (long long)least,
                      (long long)most);
}

/* Column `c` of the present row as a tensor. */
static leat_status read_value(struct sql_state *s, int c, leat_dtype dtype, leat_tensor *out,
                              leat_error *err) {
    union {
        int8_t int8;
        int16_t int16;
        int32_t int32;
        int64_t int64;
        uint8_t uint8;
        uint16_t uint16;
        bool boolean;
        double float64;
        leat_string string;
    } value = {0};
    /* Text and floating-point numbers are read by calls of their own below. */
    int64_t integer =
        dtype == LEAT_STRING || dtype == LEAT_FLOAT64 ? 0 : sqlite3_column_int64(s->statement, c);
    LEATI_TRY(check_range(c, dtype, integer, err));
    switch (dtype) {
    case LEAT_STRING:
        /* The text first: it may have to be converted, and its bytes are counted then. */
        value.string.data = (const char *)sqlite3_column_text(s->statement, c);
        value.string.size = (size_t)sqlite3_column_bytes(s->statement, c);
        break;
    case LEAT_FLOAT64: value.float64 = sqlite3_column_double(s->statement, c); break;
    case LEAT_BOOL: value.boolean = integer != 0; break;
    case LEAT_INT8: value.int8 = (int8_t)integer; break;
    case LEAT_INT16: value.int16 = (int16_t)integer; break;
    case LEAT_INT32: value.int32 = (int32_t)integer; break;
    case LEAT_UINT8: value.uint8 = (uint8_t)integer; break;
    case LEAT_UINT16: value.uint16 = (uint16_t)integer; break;
    default: value.int64 = integer; break;
    }
    /* A copy, because SQLite's memory is good until the next step only. */
    return leat_tensor_copy_of(dtype, LEAT_SCALAR, &value, out, err);
}

/* `out` becomes the present row. */
static leat_status read_row(struct sql_state *s, const struct sql_args *args, leati_block *out,
                            leat_error *err) {
    leat_status status = leati_block_prepare(out, args->output_types.count, err);
    for (int c = 0; c < args->output_types.count && status == LEAT_OK; c++) {
        leat_tensor tensor = {0};
        status = read_value(s, c, column_dtype(args, c), &tensor, err);
        if (status == LEAT_OK)
            leati_column_constant(&out->columns[c], &tensor);
        leat_tensor_unref(&tensor);
    }
    out->n = status == LEAT_OK ? 1 : 0;
    return status;
}

static leati_tail sql_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                           leat_error *err) {
    (void)want;
    struct sql_state *s = state;
    const struct sql_args *args = node->dataset->args;
    leati_block_clear(out);
    /* A source has no input that would look. */
    if (leati_cancel_fired(node->iteration->cancel)) {
        leati_fail(err, LEAT_CANCELLED, "the iterator was cancelled");
        return LEATI_ERROR;
    }
    if (begin(s, args, err) != LEAT_OK)
        return LEATI_ERROR;
    int code = sqlite3_step(s->statement);
    if (code == SQLITE_DONE)
        return LEATI_END;
    if (code != SQLITE_ROW) {
        fail_sql(s, args, code, err);
        return LEATI_ERROR;
    }
    leat_status status = read_row(s, args, out, err);
    /* A value out of range is an outcome, and the next row follows. */
    if (status == LEAT_OK || status == LEAT_DATA_LOSS) {
        s->rows++;
    } else { /* Without memory the row stays to be read: the query begins anew. */
        s->to_pass = s->rows;
        stop(s);
    }
    if (status != LEAT_OK)
        leati_block_clear(out);
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static leat_status sql_save(leati_node_state *node, void *state, leati_writer *out,
                            leati_save_cost *cost, leat_error *err) {
    (void)node;
    (void)err;
    struct sql_state *s = state;
    leati_put_int(out, s->rows);
    cost->replay_elements += s->rows;
    return LEAT_OK;
}

static leat_status sql_restored(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct sql_state *s = state;
    /* The query runs anew, whatever this iterator has read so far. */
    stop(s);
    s->to_pass = s->rows;
    return s->rows >= 0 ? LEAT_OK
                        : leati_fail(err, LEAT_DATA_LOSS, "sql_dataset: a saved count of %lld rows",
                                     (long long)s->rows);
}

static void sql_start(leati_node_state *node, void *state) {
    (void)node;
    struct sql_state *s = state;
    /* Before the first opening there is nothing to stop; SQLite takes NULL. */
    stop(s);
    s->to_pass = 0;
}

static void sql_close(leati_node_state *node, void *state) {
    (void)node;
    stop(state);
}

#endif

const leati_dataset_op leati_op_sql_dataset = {
    .name = "sql_dataset",
    .version = 1,
    .doc = "The rows of a query to an SQLite database. Saved as the number of rows; restoring runs "
           "the query again and passes over them.",
    .names = "experimental.SqlDataset",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_WHOLE,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct sql_args),
    .rows = sql_rows,
    .check = sql_check,
    .spec = sql_spec,
#ifdef LEATI_HAVE_SQLITE
    .state_size = sizeof(struct sql_state),
    .saved = {LEATI_SAVED(struct sql_state, rows)},
    .start = sql_start,
    .restored = sql_restored,
    .pull = sql_pull,
    .save = sql_save,
    .close = sql_close,
#endif
};

leat_dataset *leat_dataset_sql(const char *driver_name, const char *data_source_name,
                               const char *query, const leat_dtype *output_types, int num_columns,
                               leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct sql_args args = {.driver_name = (char *)(uintptr_t)driver_name, /* texts are copied */
                            .data_source_name = (char *)(uintptr_t)data_source_name,
                            .query = (char *)(uintptr_t)query};
    size_t count = output_types == NULL || num_columns < 0 ? 0 : (size_t)num_columns;
    leat_string *names = leati_alloc_zero(count + 1, sizeof(*names));
    if (names == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    for (size_t c = 0; c < count; c++) {
        const char *name = leat_dtype_name(output_types[c]);
        names[c] = (leat_string){.data = name, .size = strlen(name)};
    }
    args.output_types = (leati_strings){.values = names, .count = (int32_t)count};
    leat_dataset *dataset = leati_dataset_new(&leati_op_sql_dataset, &args, NULL, 0, err);
    leati_free(names);
    return dataset;
}
