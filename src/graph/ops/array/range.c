/* range: the numbers start, start + delta, ... before the limit (tf.range).
 *
 * One input is the limit, two are limit and delta: calls that leave the start out. Value i is start
 * + i * delta. The length is data, so rows run one at a time; inference knows it where the bounds
 * are constants. Fails where delta is 0 or leads away from the limit. No state, no locks. */
#include "graph/known.h"
#include "graph/support/support.h"

#include <math.h>

struct range_args {
    leat_dtype dtype;
};

static const leati_row range_rows[] = {
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_NONE,
     .offset = offsetof(struct range_args, dtype),
     .doc = "The dtype of the numbers; none: that of the bounds."},
    {0},
};

static double bound(const leati_operand *operand) {
    return operand->dtype == LEAT_FLOAT32 ? (double)*(const float *)operand->data
                                          : *(const double *)operand->data;
}

/* `arrives`: the limit does not lie behind the start. */
static leat_status check_bounds(double start, double limit, double delta, bool arrives,
                                leat_error *err) {
    if (delta == 0 || delta != delta || start != start || limit != limit)
        return leati_refuse(
            err, VALUE, "start %g, limit %g, delta %g; expected numbers and a delta that is not 0",
            start, limit, delta);
    if (!arrives)
        return leati_refuse(err, VALUE,
                            "from %g to %g in steps of %g never arrives; expected a %s limit",
                            start, limit, delta, delta > 0 ? "greater" : "smaller");
    return LEAT_OK;
}

static leat_status integer_length(const leati_operand *in, uint64_t *length, leat_error *err) {
    int64_t start = leati_support_index_at(&in[0], 0, 0),
            limit = leati_support_index_at(&in[1], 0, 0);
    int64_t delta = leati_support_index_at(&in[2], 0, 0);
    /* Compared as integers: two large ones may be one double. */
    bool arrives = delta > 0 ? start <= limit : start >= limit;
    LEATI_TRY(check_bounds((double)start, (double)limit, (double)delta, arrives, err));
    /* Unsigned, because the way from INT64_MIN to INT64_MAX is longer than an int64 holds, and
     * INT64_MIN as a step has no positive counterpart. */
    uint64_t way =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    /* The quotient rounded up, without a sum that could overflow. */
    *length = limit == start ? 0 : (way - 1) / step + 1;
    return LEAT_OK;
}

/* TensorFlow computes in the dtype of the bounds: from 0.1 to 1.1 in steps of 0.1 are 10 of them in
 * float32. */
static leat_status float_length(const leati_operand *in, uint64_t *length, leat_error *err) {
    double start = bound(&in[0]), limit = bound(&in[1]), delta = bound(&in[2]);
    LEATI_TRY(check_bounds(start, limit, delta, delta > 0 ? start <= limit : start >= limit, err));
    double steps = (limit - start) / delta;
    if (in->dtype == LEAT_FLOAT32) {
        float way = (float)limit - (float)start;
        steps = (double)(way / (float)delta);
    }
    double count = ceil(fabs(steps));
    /* A double beyond 64 bits must not be cast; so long a range is refused anyway. */
    *length = count < 9e18 ? (uint64_t)count : UINT64_MAX;
    return LEAT_OK;
}

static void write_numbers(const leati_operand *in, const leati_operand *out) {
    int64_t n = out->count;
    if (out->dtype == LEAT_INT32) {
        /* Each number fits, but the product on the way to it may wrap: unsigned
         * numbers may do so. */
        uint32_t start = *(const uint32_t *)in[0].data, delta = *(const uint32_t *)in[2].data;
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)out->data)[i] = start + (uint32_t)i * delta;
    } else if (out->dtype == LEAT_INT64) {
        uint64_t start = *(const uint64_t *)in[0].data, delta = *(const uint64_t *)in[2].data;
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)out->data)[i] = start + (uint64_t)i * delta;
    } else if (out->dtype == LEAT_FLOAT32) {
        float start = *(const float *)in[0].data, delta = *(const float *)in[2].data;
        for (int64_t i = 0; i < n; i++)
            ((float *)out->data)[i] = start + (float)i * delta;
    } else {
        double start = *(const double *)in[0].data, delta = *(const double *)in[2].data;
        for (int64_t i = 0; i < n; i++)
            ((double *)out->data)[i] = start + (double)i * delta;
    }
}

static leat_status length_of(const leati_operand *in, int64_t *out, leat_error *err) {
    uint64_t length = 0;
    if (in->dtype == LEAT_INT32 || in->dtype == LEAT_INT64)
        LEATI_TRY(integer_length(in, &length, err));
    else
        LEATI_TRY(float_length(in, &length, err));
    /* 8 bytes each are all that an int64 can count. */
    if (length > INT64_MAX / 8)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "a range of %llu numbers is too long",
                          (unsigned long long)length);
    *out = (int64_t)length;
    return LEAT_OK;
}

/* Start, limit and delta from the bounds that were given; `memory` has room for two values. */
static void complete_bounds(const leati_operand *given, int num, leati_operand out[3],
                            char memory[16]) {
    leati_operand zero = given[0], one = given[0];
    zero.data = memory;
    one.data = memory + 8;
    zero.row_stride = one.row_stride = 0;
    (void)leati_support_store_number(given[0].dtype, 0, zero.data);
    (void)leati_support_store_number(given[0].dtype, 1, one.data);
    out[0] = num > 2 ? given[0] : zero;
    out[1] = num > 2 ? given[1] : given[0];
    /* Two inputs are limit and delta, one is the limit. */
    out[2] = num > 2 ? given[2] : num > 1 ? given[1] : one;
}

/* A bound that is a constant of the result's dtype, or follows from shapes: `number` is memory for
 * the latter. False: it is left to the run, as bounds are that are cast first. */
static bool known_bound(const leati_infer_call *call, int index, leat_dtype dtype, int64_t *number,
                        leati_operand *out) {
    const leat_tensor *tensor = leati_op_infer_constant(call, index);
    leati_known known;
    *out = (leati_operand){.data = (char *)number, .dtype = dtype, .count = 1};
    if (tensor != NULL) {
        out->data = tensor->data;
        return tensor->dtype == dtype && tensor->rank == 0;
    }
    if (call->inputs[index].dtype != dtype || !leati_op_infer_known(call, index, &known) ||
        known.rank != 0 || known.values[0] == LEATI_UNKNOWN_NUMBER)
        return false;
    if (dtype == LEAT_INT32)
        *(int32_t *)number = (int32_t)known.values[0];
    else
        *number = known.values[0];
    return true;
}

/* The length where all bounds are known; -1: unknown, or the run fails. */
static int64_t known_length(const leati_infer_call *call, leat_dtype dtype) {
    leati_operand given[3], bounds[3];
    _Alignas(8) char memory[16];
    int64_t length = LEAT_UNKNOWN_DIM, numbers[3];
    leat_error ignored = {0};
    for (int i = 0; i < call->num_inputs; i++)
        if (!known_bound(call, i, dtype, &numbers[i], &given[i]))
            return LEAT_UNKNOWN_DIM;
    complete_bounds(given, call->num_inputs, bounds, memory);
    return length_of(bounds, &length, &ignored) == LEAT_OK ? length : LEAT_UNKNOWN_DIM;
}

static leat_status range_infer(leati_infer_call *call, leat_error *err) {
    const struct range_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    for (int i = 0; i < call->num_inputs; i++)
        LEATI_TRY(leati_support_want_rank(call, i, 0, "a bound", err));
    /* The kernel casts numbers, and leaves other bounds to the refusal below. */
    if (args->dtype != LEAT_INVALID && dtype > LEAT_BOOL && dtype <= LEAT_FLOAT64)
        dtype = args->dtype;
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64 && dtype != LEAT_FLOAT32 &&
        dtype != LEAT_FLOAT64)
        return leati_refuse(err, DTYPE,
                            "the bounds are %s; expected int32, int64, float32 or float64",
                            leat_dtype_name(dtype));
    leat_shape shape = LEAT_SHAPE(known_length(call, dtype));
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

static leat_status range_kernel(leati_kernel_call *call, leat_error *err) {
    const struct range_args *args = call->args;
    leati_operand given[3], bounds[3];
    _Alignas(8) char memory[16];
    int64_t length = 0;
    for (int i = 0; i < call->num_inputs; i++) {
        given[i] = call->inputs[i];
        if (args->dtype != LEAT_INVALID && given[i].dtype != args->dtype)
            LEATI_TRY(
                leati_support_inner_cast(call, &call->inputs[i], args->dtype, &given[i], err));
    }
    for (int64_t row = 0; row < call->n; row++) {
        leati_operand at[3], out;
        for (int i = 0; i < call->num_inputs; i++) {
            at[i] = given[i];
            at[i].data = leati_support_row_of(&given[i], row);
        }
        /* For whatever fails below; 0 again at the end. */
        call->failed_row = row;
        complete_bounds(at, call->num_inputs, bounds, memory);
        LEATI_TRY(length_of(bounds, &length, err));
        /* Where several rows run, inference knew the length: bounds are constants, and all rows
         * have one. */
        leat_shape shape = LEAT_SHAPE(length);
        LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
        out = call->outputs[0];
        out.data = leati_support_row_of(&out, row);
        write_numbers(bounds, &out);
    }
    call->failed_row = 0;
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_range = {
    .name = "range",
    .version = 1,
    .doc = "The numbers start, start + delta, ... before the limit (tf.range).",
    .names = "range",
    .inputs = "start limit delta",
    .signature = "start limit=null delta=1 dtype",
    .types = "dtype dtype dtype",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .counts_from_zero = true,
    .rows = range_rows,
    .args_size = sizeof(struct range_args),
    .min_inputs = 1,
    .max_inputs = 3,
    .infer = range_infer,
    .kernel = range_kernel,
    .gradient = leati_op_gradient_none,
};
