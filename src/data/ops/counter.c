/* counter: start, start + step, ... without end (tf.data.Dataset.counter).
 *
 * Integers wrap around in their dtype, so a position is arithmetic; floating-point numbers are
 * added up one by one and rounded each time, as TensorFlow's scan does, so their state holds the
 * sum. Failures: start or step outside of the dtype (INVALID_ARGUMENT at the call). No locks. */
#include "base/minmax.h"
#include "core/half.h"
#include "core/pools.h"
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <math.h>
#include <string.h>

struct counter_args {
    double start, step;
    leat_dtype dtype;
};

#define ROW(field) .offset = offsetof(struct counter_args, field)

static const leati_row counter_rows[] = {
    {.name = "start",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_NONE,
     ROW(start),
     .doc = "The first number; for integers at most 2^53 in magnitude."},
    {.name = "step",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_NONE,
     ROW(step),
     .default_number = 1,
     .doc = "The difference of two numbers."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_NONE,
     ROW(dtype),
     .default_number = LEAT_INT64,
     .doc = "The dtype of the elements."},
    {0},
};

struct counter_state {
    int64_t given; /* elements */
    double sum;    /* the next element, of floating-point dtypes */
    leati_pools pools;
};

/* The least and the greatest number of an integer dtype that a double tells apart from its
 * neighbours; false for other dtypes. */
static bool integer_range(leat_dtype dtype, double *least, double *greatest) {
    switch (dtype) {
    case LEAT_INT8: *least = INT8_MIN, *greatest = INT8_MAX; return true;
    case LEAT_INT16: *least = INT16_MIN, *greatest = INT16_MAX; return true;
    case LEAT_INT32: *least = INT32_MIN, *greatest = INT32_MAX; return true;
    case LEAT_INT64: *least = -0x1p53, *greatest = 0x1p53; return true;
    case LEAT_UINT8: *least = 0, *greatest = UINT8_MAX; return true;
    case LEAT_UINT16: *least = 0, *greatest = UINT16_MAX; return true;
    case LEAT_UINT32: *least = 0, *greatest = UINT32_MAX; return true;
    case LEAT_UINT64: *least = 0, *greatest = 0x1p53; return true;
    default: return false;
    }
}

static bool is_real(leat_dtype dtype) {
    return dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16 || dtype == LEAT_FLOAT32 ||
           dtype == LEAT_FLOAT64;
}

static leat_status check_number(const char *name, double value, leat_dtype dtype, leat_error *err) {
    double least = 0, greatest = 0;
    /* Floating-point dtypes take any number; of integers NaN and the infinities fail these
     * tests. */
    if (!integer_range(dtype, &least, &greatest) ||
        (value == floor(value) && value >= least && value <= greatest))
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "counter: %s is %g; expected a whole number from %.0f to %.0f for dtype %s",
                        name, value, least, greatest, leat_dtype_name(dtype));
}

static leat_status counter_check(leat_dataset *dataset, leat_error *err) {
    const struct counter_args *args = dataset->args;
    double least = 0, greatest = 0;
    if (!is_real(args->dtype) && !integer_range(args->dtype, &least, &greatest)) {
        return leati_refuse(err, DTYPE, "counter: dtype is %s; expected a numeric dtype",
                            leat_dtype_name(args->dtype));
    }
    leat_status status = check_number("start", args->start, args->dtype, err);
    return status == LEAT_OK ? check_number("step", args->step, args->dtype, err) : status;
}

static leat_spec *counter_spec(const leat_dataset *dataset, leat_error *err) {
    return leat_spec_tensor(((const struct counter_args *)dataset->args)->dtype, LEAT_SCALAR, err);
}

static int64_t counter_cardinality(const leat_dataset *dataset) {
    (void)dataset;
    return LEAT_INFINITE_CARDINALITY;
}

/* `value` as the dtype has it. */
static double rounded(leat_dtype dtype, double value) {
    switch (dtype) {
    case LEAT_FLOAT16: return leati_float_of_half(leati_half_of_float((float)value));
    case LEAT_BFLOAT16: return leati_float_of_bfloat16(leati_bfloat16_of_float((float)value));
    case LEAT_FLOAT32: return (float)value;
    default: return value;
    }
}

/* A sum of two floats in double, rounded to float, is their float sum. */
static double following(const struct counter_args *args, double sum) {
    return rounded(args->dtype, sum + rounded(args->dtype, args->step));
}

static void counter_start(leati_node_state *node, void *state) {
    const struct counter_args *args = node->dataset->args;
    struct counter_state *s = state;
    s->given = 0;
    s->sum = rounded(args->dtype, args->start);
}

/* A whole case: the semicolon at its use ends the `return`, so that none falls through. */
#define FILL(type)                                                                                 \
    for (int64_t i = 0; i < n; i++)                                                                \
        ((type *)data)[i] = (type)(first + (uint64_t)i * step);                                    \
    return

/* Sums modulo 2^64, cut to a narrower dtype, are sums modulo its size: one arithmetic for all. */
static void fill_integers(leat_dtype dtype, uint64_t first, uint64_t step, int64_t n, void *data) {
    switch (dtype) {
    case LEAT_INT8: FILL(int8_t);
    case LEAT_INT16: FILL(int16_t);
    case LEAT_INT32: FILL(int32_t);
    case LEAT_INT64: FILL(int64_t);
    case LEAT_UINT8: FILL(uint8_t);
    case LEAT_UINT16: FILL(uint16_t);
    case LEAT_UINT32: FILL(uint32_t);
    default: FILL(uint64_t);
    }
}

static void put_real(leat_dtype dtype, double value, void *data, int64_t i) {
    switch (dtype) {
    case LEAT_FLOAT16: ((uint16_t *)data)[i] = leati_half_of_float((float)value); break;
    case LEAT_BFLOAT16: ((uint16_t *)data)[i] = leati_bfloat16_of_float((float)value); break;
    case LEAT_FLOAT32: ((float *)data)[i] = (float)value; break;
    default: ((double *)data)[i] = value; break;
    }
}

/* Writes the next n numbers and moves the position behind them. */
static void fill(const struct counter_args *args, struct counter_state *s, int64_t n, void *data) {
    if (is_real(args->dtype)) {
        for (int64_t i = 0; i < n; i++) {
            put_real(args->dtype, s->sum, data, i);
            s->sum = following(args, s->sum);
        }
    } else {
        /* By way of int64_t: converting a negative double to uint64_t is undefined. */
        uint64_t step = (uint64_t)(int64_t)args->step;
        uint64_t first = (uint64_t)(int64_t)args->start + (uint64_t)s->given * step;
        fill_integers(args->dtype, first, step, n, data);
    }
    s->given += n;
}

static leati_tail counter_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    struct counter_state *s = state;
    const struct counter_args *args = node->dataset->args;
    size_t size = leat_dtype_size(args->dtype);
    size_t target = out->byte_target > size ? out->byte_target : LEATI_BYTE_TARGET;
    int64_t most = (int64_t)(target / size);
    int64_t n = LEATI_MIN(want, most);
    leat_buffer *buffer = leati_pools_take(&s->pools, (size_t)n * size, err);
    if (buffer == NULL || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_buffer_unref(buffer);
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    fill(args, s, n, leat_buffer_data(buffer));
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&out->columns[0], args->dtype, &scalar, leat_buffer_data(buffer),
                         (int64_t)size, buffer);
    out->n = n;
    return LEATI_MORE;
}

static leati_tail counter_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                  leat_error *err) {
    (void)err;
    struct counter_state *s = state;
    const struct counter_args *args = node->dataset->args;
    /* Rounded sums cannot be jumped over: each depends on the one before. */
    for (int64_t i = 0; i < n && is_real(args->dtype); i++)
        s->sum = following(args, s->sum);
    s->given += n;
    *passed = n;
    return LEATI_MORE;
}

static leat_status counter_save(leati_node_state *node, void *state, leati_writer *out,
                                leati_save_cost *cost, leat_error *err) {
    (void)node;
    (void)cost;
    (void)err;
    struct counter_state *s = state;
    /* The sum as its bits: it must come back exactly. */
    uint64_t bits = 0;
    memcpy(&bits, &s->sum, sizeof(bits));
    leati_put_int(out, s->given);
    leati_put_fixed64(out, bits);
    return LEAT_OK;
}

static leat_status counter_restore(leati_node_state *node, void *state, leati_reader *in,
                                   leat_error *err) {
    (void)node;
    struct counter_state *s = state;
    uint64_t bits = 0;
    /* Any number is a position: there is no end, and integers wrap around. */
    leat_status status = leati_get_int(in, &s->given, err);
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &bits, err);
    memcpy(&s->sum, &bits, sizeof(bits));
    return status;
}

static void counter_close(leati_node_state *node, void *state) {
    (void)node;
    leati_pools_close(&((struct counter_state *)state)->pools);
}

const leati_dataset_op leati_op_counter = {
    .name = "counter",
    .version = 1,
    .doc = "The numbers start, start + step, ... without end. Saved as one position; restoring "
           "costs nothing.",
    .names = "Dataset.counter experimental.Counter",
    .signature = "start=0 step=1 dtype=\"int64\"",
    .shown = "Scan",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_LOCAL,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct counter_args),
    .rows = counter_rows,
    .check = counter_check,
    .spec = counter_spec,
    .cardinality = counter_cardinality,
    .state_size = sizeof(struct counter_state),
    .start = counter_start,
    .pull = counter_pull,
    .advance = counter_advance,
    .save = counter_save,
    .restore = counter_restore,
    .close = counter_close,
};

leat_dataset *leat_dataset_counter(double start, double step,
                                   const leat_dataset_counter_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_counter_options o = {LEAT_DATASET_COUNTER_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_counter_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct counter_args args = {.start = start, .step = step, .dtype = o.dtype};
    return leati_dataset_new(&leati_op_counter, &args, NULL, 0, err);
}
