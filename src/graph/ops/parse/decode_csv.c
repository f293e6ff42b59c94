/* decode_csv: the fields of records of comma-separated text, one output per column
 * (tf.io.decode_csv).
 *
 * Input 0 are the records, the others the columns' defaults: a scalar or a vector of one value, or
 * of none where a field must be there. Quoting is RFC 4180's, within one record; ends of lines
 * before a field are passed over, and nothing behind the last selected column is looked at. Happy
 * path: one walk along each record writes its fields; strings are views of the record unless a
 * quote within was doubled. Fails at the first record that has another number of fields, a field
 * that is no number of its column's dtype, or wrong quotes, with its number. No gradient, no locks.
 */
#include "base/minmax.h"
#include "core/number.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct decode_csv_args {
    char *field_delim;
    bool use_quote_delim;
    char *na_value;
    leati_ints select_cols;
};

#define ROW(field) .offset = offsetof(struct decode_csv_args, field)

static const leati_row decode_csv_rows[] = {
    {.name = "field_delim",
     .type = LEATI_ROW_STRING,
     ROW(field_delim),
     .default_text = ",",
     .doc = "The byte between two fields."},
    {.name = "use_quote_delim",
     .type = LEATI_ROW_BOOL,
     ROW(use_quote_delim),
     .default_number = 1,
     .doc = "Quotes stand around fields; else they are bytes like others."},
    {.name = "na_value",
     .type = LEATI_ROW_STRING,
     ROW(na_value),
     .default_text = "",
     .doc = "A field of this text has the default, as an empty one has."},
    {.name = "select_cols",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE,
     ROW(select_cols),
     .doc = "The columns that are read, rising; none: all."},
    {0},
};

static leat_status check_columns(const struct decode_csv_args *args, int columns, leat_error *err) {
    const leati_ints *selected = &args->select_cols;
    if (columns == 0)
        return leati_refuse(err, VALUE, "no defaults; expected one for each column that is read");
    if (selected->count > 0 && selected->count != columns)
        return leati_refuse(err, SHAPE, "select_cols has %d columns for %d defaults",
                            (int)selected->count, columns);
    for (int32_t i = 0; i < selected->count; i++)
        /* Records are walked once from the left, so columns must come in that order. */
        if (selected->values[i] < 0 || (i > 0 && selected->values[i] <= selected->values[i - 1]))
            return leati_refuse(err, VALUE, "select_cols is not strictly rising from 0 on");
    return LEAT_OK;
}

static leat_status decode_csv_infer(leati_infer_call *call, leat_error *err) {
    const struct decode_csv_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the records", err));
    if (args->field_delim == NULL || strlen(args->field_delim) != 1 ||
        /* These bytes have a meaning of their own within a record. */
        strchr("\"\n\r", args->field_delim[0]) != NULL)
        return leati_refuse(
            err, VALUE,
            "field_delim is \"%.20s\"; expected one byte that is no quote and ends no "
            "line",
            args->field_delim == NULL ? "" : args->field_delim);
    LEATI_TRY(check_columns(args, call->num_inputs - 1, err));
    for (int i = 1; i < call->num_inputs; i++) {
        leat_dtype dtype = call->inputs[i].dtype;
        const leat_shape *shape = &call->inputs[i].shape;
        if (dtype != LEAT_FLOAT32 && dtype != LEAT_FLOAT64 && dtype != LEAT_INT32 &&
            dtype != LEAT_INT64 && dtype != LEAT_STRING)
            return leati_refuse(err, DTYPE,
                                "the default of field %d is %s; expected float32, float64, int32, "
                                "int64 or string",
                                i - 1, leat_dtype_name(dtype));
        /* An empty vector passes: it says that the field must be there. */
        if (shape->rank > 1 || (shape->rank == 1 && shape->dims[0] > 1))
            return leati_refuse(err, SHAPE,
                                "there should only be 1 default per field, but field %d has more",
                                i - 1);
        LEATI_TRY(leati_op_infer_output(call, dtype, &call->inputs[0].shape, NULL, err));
    }
    return LEAT_OK;
}

/* ---- one record ---- */

typedef struct field {
    leat_string text; /* within its quotes */
    bool doubled;     /* has quotes that stand for one */
} field;

/* Takes a field in quotes; NULL and the reason where they are wrong. */
static const char *take_quoted(const char *at, const char *end, char delimiter, field *out,
                               const char **reason) {
    const char *begin = ++at;
    /* The reason if the record ends within the quotes. */
    *reason = "a quoted field has to end with a quote followed by the delimiter or the end";
    for (; at < end; at++) {
        if (*at != '"')
            continue;
        if (at + 1 < end && at[1] == '"') {
            out->doubled = true;
            at++; /* both quotes are passed over; undouble drops one */
            continue;
        }
        out->text = (leat_string){.data = begin, .size = (size_t)(at - begin)};
        /* Returned is the delimiter's place, as take_field does. */
        if (at + 1 == end || at[1] == delimiter)
            return at + 1;
        *reason = "a quote inside a field has to be escaped by another quote";
        return NULL;
    }
    return NULL;
}

/* Takes one field at `at`; returns the delimiter behind it or the end, NULL where it is wrong. */
static const char *take_field(const struct decode_csv_args *args, const char *at, const char *end,
                              field *out, const char **reason) {
    const char *begin = at;
    *out = (field){.doubled = false};
    if (args->use_quote_delim && at < end && *at == '"')
        return take_quoted(at, end, args->field_delim[0], out, reason);
    for (; at < end && *at != args->field_delim[0]; at++) {
        if ((args->use_quote_delim && *at == '"') || *at == '\n' || *at == '\r') {
            *reason = "unquoted fields cannot have quotes or ends of lines inside";
            return NULL;
        }
    }
    out->text = (leat_string){.data = begin, .size = (size_t)(at - begin)};
    return at;
}

/* A text without the first of two quotes. */
static leat_status undouble(leati_kernel_call *call, int output, leat_string *text,
                            leat_error *err) {
    /* The result is never longer than the text. A column of numbers has such memory, too. */
    char *to = leati_op_kernel_text(call, output, text->size, err), *at = to;
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < text->size; i++) {
        *at++ = text->data[i];
        /* take_quoted let quotes come in pairs only. */
        i += text->data[i] == '"';
    }
    *text = (leat_string){.data = to, .size = (size_t)(at - to)};
    return LEAT_OK;
}

/* One record's place. */
typedef struct place {
    int64_t row, index;
} place;

static leat_status put_default(leati_kernel_call *call, int column, place p, char *to,
                               leat_error *err) {
    const leati_operand *given = &call->inputs[column + 1];
    if (given->count == 0)
        return leati_refuse(err, VALUE, "field %d is required but missing in record %lld", column,
                            (long long)p.index);
    memcpy(to, leati_support_row_of(given, p.row), leat_dtype_size(given->dtype));
    return LEAT_OK;
}

static leat_status put_field(leati_kernel_call *call, int column, place p, field *f,
                             leat_error *err) {
    const struct decode_csv_args *args = call->args;
    const leati_operand *out = &call->outputs[column];
    const char *na = args->na_value == NULL ? "" : args->na_value;
    char *to = leati_support_row_of(out, p.row) + (size_t)p.index * leat_dtype_size(out->dtype);
    if (f->doubled)
        LEATI_TRY(undouble(call, column, &f->text, err));
    /* An empty field is a missing one, also in quotes, and also where na_value is a text. */
    if (f->text.size == 0 ||
        (f->text.size == strlen(na) && memcmp(f->text.data, na, f->text.size) == 0))
        return put_default(call, column, p, to, err);
    if (out->dtype == LEAT_STRING) {
        *(leat_string *)(void *)to = f->text;
        return LEAT_OK;
    }
    if (leati_number_parse(f->text, out->dtype, to))
        return LEAT_OK;
    return leati_refuse(err, VALUE, "field %d in record %lld is not a valid %s: %.*s", column,
                        (long long)p.index, leat_dtype_name(out->dtype),
                        (int)LEATI_MIN(f->text.size, 60), f->text.data);
}

static leat_status put_record(leati_kernel_call *call, place p, leat_error *err) {
    const struct decode_csv_args *args = call->args;
    leat_string record = leati_text_strings_of(&call->inputs[0], p.row)[p.index];
    const char *at = record.size > 0 ? record.data : "", *end = at + record.size, *reason = "";
    bool all = args->select_cols.count == 0;
    int columns = call->num_outputs, column = 0;
    int64_t count = 0; /* fields passed, selected or not; column: outputs written */
    for (; at <= end && (all || column < columns); count++) {
        field f = {.doubled = false};
        while (at < end && (*at == '\n' || *at == '\r'))
            at++;
        /* At the end only a delimiter has one more field behind it, an empty one. */
        if (at == end && (record.size == 0 || end[-1] != args->field_delim[0]))
            break;
        at = take_field(args, at, end, &f, &reason);
        if (at == NULL)
            return leati_refuse(err, VALUE, "field %lld in record %lld: %s", (long long)count,
                                (long long)p.index, reason);
        at++; /* beyond the end: nothing follows */
        if (column < columns && (all || args->select_cols.values[column] == count)) {
            LEATI_TRY(put_field(call, column, p, &f, err));
            column++;
        }
    }
    if (all ? count != columns : column != columns)
        return leati_refuse(err, VALUE, "expected %d fields but found %lld in record %lld", columns,
                            (long long)(all ? count : column), (long long)p.index);
    return LEAT_OK;
}

static leat_status decode_csv_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    for (int i = 0; i < call->num_outputs; i++) {
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
        if (call->inputs[i + 1].count > 1)
            return leati_refuse(
                err, SHAPE, "there should only be 1 default per field, but field %d has more", i);
    }
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        for (int64_t i = 0; i < call->inputs[0].count &&
                            !leati_stop_look_after(LEATI_TEXT_WORK * call->num_outputs, &done);
             i++)
            LEATI_TRY(put_record(call, (place){row, i}, err));
    }
    /* What fails from here on is no row's fault. */
    call->failed_row = 0;
    for (int i = 0; i < call->num_outputs && call->n > 0; i++) {
        if (call->outputs[i].dtype != LEAT_STRING)
            continue;
        /* A string may be a view of a record or of the column's default. */
        LEATI_TRY(leati_op_kernel_hold(call, i, 0, err));
        LEATI_TRY(leati_op_kernel_hold(call, i, i + 1, err));
    }
    return LEAT_OK;
}

int leat_op_decode_csv(leat_value records, const leat_value *defaults, int num_defaults,
                       leat_value *outputs) {
    char comma[] = ",";
    struct decode_csv_args args = {.field_delim = comma, .use_quote_delim = true};
    leat_value inputs[LEAT_MAX_OUTPUTS + 1] = {records};
    if (num_defaults < 0 || num_defaults > LEAT_MAX_OUTPUTS) {
        /* The graph keeps the error; without a graph there is nobody to tell. */
        (void)leati_support_build_error(records.graph, LEAT_REASON_VALUE,
                                        "decode_csv: too many columns for one operation");
        return -1;
    }
    for (int i = 0; i < num_defaults; i++)
        inputs[i + 1] = defaults[i];
    leat_value first =
        leati_graph_build_many(&leati_tensor_op_decode_csv, &args, inputs, num_defaults + 1);
    if (leati_support_value_failed(first))
        return -1;
    for (int i = 0; i < num_defaults; i++)
        outputs[i] = (leat_value){.graph = first.graph, .id = first.id + i};
    return num_defaults;
}

const leati_tensor_op leati_tensor_op_decode_csv = {
    .name = "decode_csv",
    .version = 1,
    .doc = "The fields of records of comma-separated text, one output per column "
           "(tf.io.decode_csv).",
    .types = "*",
    .outputs = "*output",
    .halves = LEATI_HALVES_NONE,
    .rows = decode_csv_rows,
    .args_size = sizeof(struct decode_csv_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = decode_csv_infer,
    .kernel = decode_csv_kernel,
};
