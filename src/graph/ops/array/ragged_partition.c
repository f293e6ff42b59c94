/* ragged_partition: where the rows begin that a feature's values are cut into by another feature,
 * for a batch of records (what the partitions of tf.io.RaggedFeature are made of).
 *
 * Inputs are the row splits of the values by record and, but for rows of one length, the numbers of
 * the other feature and their row splits. Outputs are the row splits of the rows, and those of rows
 * by record, of input 0's dtype. How many rows there are is data, so rows run one at a time. Fails
 * where a record's rows do not begin with its first value, end with its last and follow each other.
 * No gradient, no locks. */
#include "graph/support/support.h"

#include <string.h>

struct ragged_partition_args {
    char *kind;
    int64_t length;
};

static const leati_row ragged_partition_rows[] = {
    {.name = "kind",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct ragged_partition_args, kind),
     .doc = "row_splits, row_lengths, row_starts, row_limits, value_rowids or uniform."},
    {.name = "length",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct ragged_partition_args, length),
     .default_number = 1,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "Of each row where they are uniform."},
    {0},
};

/* In the order of the enumeration below. */
static const char *const kinds[] = {"row_splits", "row_lengths",  "row_starts",
                                    "row_limits", "value_rowids", "uniform"};
enum kind { SPLITS, LENGTHS, STARTS, LIMITS, ROWIDS, UNIFORM, NONE };

static enum kind kind_of(const struct ragged_partition_args *args) {
    int kind = 0;
    while (kind < NONE && (args->kind == NULL || strcmp(args->kind, kinds[kind]) != 0))
        kind++;
    return (enum kind)kind;
}

static leat_status ragged_partition_infer(leati_infer_call *call, leat_error *err) {
    const struct ragged_partition_args *args = call->args;
    leat_shape unknown = LEAT_SHAPE(LEAT_UNKNOWN_DIM), same = unknown;
    enum kind kind = kind_of(args);
    if (kind == NONE || (kind == UNIFORM) != (call->num_inputs == 1) || call->num_inputs == 2)
        return leati_refuse(
            err, VALUE,
            "kind \"%.40s\" with %d inputs; expected uniform with one, or one of "
            "row_splits, row_lengths, row_starts, row_limits and value_rowids with 3",
            args->kind == NULL ? "" : args->kind, call->num_inputs);
    for (int i = 0; i < call->num_inputs; i++) {
        LEATI_TRY(leati_support_want_index(call, i, "the partition", err));
        LEATI_TRY(leati_support_want_rank(call, i, 1, "the partition", err));
    }
    if (call->inputs[0].shape.rank == 1)
        /* The outer splits have one number for each record and one more, as input 0. */
        same = call->inputs[0].shape;
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &unknown, NULL, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &same, NULL, err);
}

/* One record's part. */
typedef struct part {
    const leati_operand *given; /* the other feature's numbers; NULL: uniform */
    int64_t from, count;        /* its numbers of this record */
    int64_t length;             /* uniform: of each row */
    int64_t values;             /* of this record */
    enum kind kind;
} part;

static int64_t number(const part *p, int64_t i) {
    return leati_support_index_at(p->given, 0, p->from + i);
}

/* The number of rows; negative where there is no such number. */
static int64_t rows_of(const part *p) {
    /* A record without splits or row ids has no rows; of ids the last one is the largest, or
     * put_ends refuses them. */
    switch (p->kind) {
    case SPLITS: return p->count > 0 ? p->count - 1 : 0;
    case ROWIDS:
        if (p->count > 0 && number(p, p->count - 1) >= INT32_MAX)
            return -1; /* each row takes memory, also one without values */
        return p->count > 0 ? number(p, p->count - 1) + 1 : 0;
    case UNIFORM: return p->values % p->length == 0 ? p->values / p->length : -1;
    default: return p->count;
    }
}

/* The end of row `row`, given the end of the row before; `at` is the next row id that was not
 * counted. */
static int64_t end_of(const part *p, int64_t row, int64_t before, int64_t *at) {
    switch (p->kind) {
    case SPLITS: return number(p, row + 1);
    case LENGTHS: {
        int64_t length = number(p, row);
        /* Refused here already, so that the sum cannot overflow. */
        return length < 0 || length > p->values ? -1 : before + length;
    }
    case STARTS: return row + 1 < p->count ? number(p, row + 1) : p->values;
    case LIMITS: return number(p, row);
    case UNIFORM: return before + p->length;
    default: break;
    }
    /* Ids that fall are not counted, which put_ends notices at the end. */
    while (*at < p->count && number(p, *at) == row)
        ++*at;
    return *at;
}

static void put_number(leati_operand *out, int64_t place, int64_t value) {
    if (out->dtype == LEAT_INT32)
        ((int32_t *)(void *)out->data)[place] = (int32_t)value;
    else
        ((int64_t *)(void *)out->data)[place] = value;
}

/* Writes the ends of the record's rows behind `begin`; false where they are no partition. */
static bool put_ends(const part *p, int64_t rows, int64_t begin, leati_operand *out,
                     int64_t place) {
    int64_t end = 0, at = 0;
    /* The first number is not the end of a row, so nothing else looks at it. */
    if ((p->kind == SPLITS || p->kind == STARTS) && p->count > 0 && number(p, 0) != 0)
        return false;
    for (int64_t row = 0; row < rows; row++) {
        int64_t next = end_of(p, row, end, &at);
        if (next < end || next > p->values)
            return false;
        end = next;
        put_number(out, place + row, begin + end);
    }
    /* All values are in rows and, of row ids, all were counted. */
    return end == p->values && (p->kind != ROWIDS || at == p->count);
}

static part part_of(const leati_kernel_call *call, int64_t record) {
    const struct ragged_partition_args *args = call->args;
    const leati_operand *in = call->inputs;
    part p = {.kind = kind_of(args), .length = args->length};
    p.values =
        leati_support_index_at(&in[0], 0, record + 1) - leati_support_index_at(&in[0], 0, record);
    if (p.kind == UNIFORM)
        return p;
    p.given = &in[1];
    p.from = leati_support_index_at(&in[2], 0, record);
    p.count = leati_support_index_at(&in[2], 0, record + 1) - p.from;
    return p;
}

static leat_status refuse(const leati_kernel_call *call, int64_t record, leat_error *err) {
    const struct ragged_partition_args *args = call->args;
    part p = part_of(call, record);
    if (p.kind == UNIFORM)
        return leati_refuse(
            err, VALUE,
            "record %lld has %lld values; expected a multiple of %lld, the length of "
            "its rows",
            (long long)record, (long long)p.values, (long long)p.length);
    return leati_refuse(
        err, VALUE,
        "the %s of record %lld do not form rows of its %lld values; expected rows that "
        "follow each other from the first value to the last",
        args->kind, (long long)record, (long long)p.values);
}

/* Row splits that lead outside of what they split would be read out of bounds. */
static leat_status check_splits(const leati_operand *splits, int64_t values, leat_error *err) {
    bool good = splits->rank == 1 && splits->count > 0 && leati_support_index_at(splits, 0, 0) == 0;
    for (int64_t i = 1; good && i < splits->count; i++)
        good = leati_support_index_at(splits, 0, i - 1) <= leati_support_index_at(splits, 0, i);
    if (good && (values < 0 || leati_support_index_at(splits, 0, splits->count - 1) == values))
        return LEAT_OK;
    return leati_refuse(err, VALUE, "row splits that do not rise from 0 to the number of values");
}

static leat_status ragged_partition_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = call->inputs;
    int64_t records = in[0].count - 1, total = 0, place = 0;
    /* The values are no input: how many there are is not known here. */
    LEATI_TRY(check_splits(&in[0], -1, err));
    if (call->num_inputs == 3) {
        if (in[1].rank != 1)
            return leati_refuse(err, SHAPE, "%s has rank %d; expected a vector",
                                ((const struct ragged_partition_args *)call->args)->kind,
                                (int)in[1].rank);
        LEATI_TRY(check_splits(&in[2], in[1].count, err));
        if (in[2].count != in[0].count)
            return leati_refuse(err, SHAPE, "partitions of %lld records for values of %lld",
                                (long long)in[2].count - 1, (long long)records);
    }
    leat_shape by_record = LEAT_SHAPE(records + 1), by_row;
    LEATI_TRY(leati_support_output_like(call, 1, &by_record, err));
    put_number(&call->outputs[1], 0, 0);
    /* The rows are counted first, because the output's shape needs their number. */
    for (int64_t r = 0; r < records; r++) {
        part p = part_of(call, r);
        int64_t rows = rows_of(&p);
        /* So neither the sum nor the bytes of the row splits overflow. */
        if (rows < 0 || rows > INT64_MAX / 16 - total)
            return refuse(call, r, err);
        total += rows;
        if (call->outputs[1].dtype == LEAT_INT32 && total > INT32_MAX)
            return leati_refuse(err, VALUE, "%lld rows do not fit row splits of int32; use int64",
                                (long long)total);
        put_number(&call->outputs[1], r + 1, total);
    }
    by_row = LEAT_SHAPE(total + 1);
    LEATI_TRY(leati_support_output_like(call, 0, &by_row, err));
    put_number(&call->outputs[0], 0, 0);
    /* The second pass checks and writes; what it wrote before a failure is dropped
     * with the output. */
    for (int64_t r = 0; r < records; r++) {
        part p = part_of(call, r);
        int64_t rows = rows_of(&p);
        if (!put_ends(&p, rows, leati_support_index_at(&in[0], 0, r), &call->outputs[0], place + 1))
            return refuse(call, r, err);
        place += rows;
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_ragged_partition = {
    .name = "ragged_partition",
    .version = 1,
    .doc = "Where the rows begin that a feature's values are cut into by another one (what "
           "tf.io.RaggedFeature's partitions are made of).",
    .types = "T U V",
    .outputs = "row_splits outer_splits",
    .halves = LEATI_HALVES_NONE,
    .rows = ragged_partition_rows,
    .args_size = sizeof(struct ragged_partition_args),
    .min_inputs = 1,
    .max_inputs = 3,
    .infer = ragged_partition_infer,
    .kernel = ragged_partition_kernel,
};
