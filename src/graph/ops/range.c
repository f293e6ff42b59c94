/* range: the numbers start, start + delta, ... before the limit (tf.range).
 *
 * Value i is start + i * delta. The length is data, so rows run one at a time. Fails where delta is
 * 0 or leads away from the limit. No state, no locks. */
#include "graph/ops/support.h"

#include <math.h>

static leat_status range_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape shape = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_want_same_dtypes(call, err));
    for (int i = 0; i < 3; i++)
        LEATI_TRY(leati_want_rank(call, i, 0, "a bound", err));
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64 && dtype != LEAT_FLOAT32 &&
        dtype != LEAT_FLOAT64)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "the bounds are %s; expected int32, int64, float32 or float64",
                          leat_dtype_name(dtype));
    return leati_infer_output(call, dtype, &shape, NULL, err);
}

static double bound(const leati_operand *operand) {
    return operand->dtype == LEAT_FLOAT32 ? (double)*(const float *)operand->data
                                          : *(const double *)operand->data;
}

static leat_status check_bounds(double start, double limit, double delta, leat_error *err) {
    if (delta == 0 || delta != delta || start != start || limit != limit)
        return leati_fail(
            err, LEAT_INVALID_ARGUMENT,
            "start %g, limit %g, delta %g; expected numbers and a delta that is not 0", start,
            limit, delta);
    if (delta > 0 ? start > limit : start < limit)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "from %g to %g in steps of %g never arrives; expected a %s limit", start,
                          limit, delta, delta > 0 ? "greater" : "smaller");
    return LEAT_OK;
}

static leat_status integer_length(const leati_operand *in, uint64_t *length, leat_error *err) {
    int64_t start = leati_index_at(&in[0], 0, 0), limit = leati_index_at(&in[1], 0, 0);
    int64_t delta = leati_index_at(&in[2], 0, 0);
    LEATI_TRY(check_bounds((double)start, (double)limit, (double)delta, err));
    uint64_t way =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    *length = limit == start ? 0 : (way - 1) / step + 1;
    return LEAT_OK;
}

static leat_status float_length(const leati_operand *in, uint64_t *length, leat_error *err) {
    double start = bound(&in[0]), limit = bound(&in[1]), delta = bound(&in[2]);
    LEATI_TRY(check_bounds(start, limit, delta, err));
    double count = ceil(fabs((limit - start) / delta));
    *length = count < 9e18 ? (uint64_t)count : UINT64_MAX;
    return LEAT_OK;
}

static void write_numbers(const leati_operand *in, const leati_operand *out) {
    int64_t n = out->count;
    if (out->dtype == LEAT_INT32) {
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

static leat_status range_kernel(leati_kernel_call *call, leat_error *err) {
    uint64_t length = 0;
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype == LEAT_INT32 || dtype == LEAT_INT64)
        LEATI_TRY(integer_length(call->inputs, &length, err));
    else
        LEATI_TRY(float_length(call->inputs, &length, err));
    if (length > INT64_MAX / 8)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "a range of %llu numbers is too long",
                          (unsigned long long)length);
    leat_shape shape = LEAT_SHAPE((int64_t)length);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    write_numbers(call->inputs, &call->outputs[0]);
    return LEAT_OK;
}

leat_value leat_range_tensor(leat_value start, leat_value limit, leat_value delta) {
    return leati_op3(&leati_tensor_op_range, NULL, start, limit, delta);
}

const leati_tensor_op leati_tensor_op_range = {
    .name = "range",
    .version = 1,
    .doc = "The numbers start, start + delta, ... before the limit (tf.range).",
    .names = "range",
    .inputs = "start limit delta",
    .signature = "start limit=null delta=1 dtype=null",
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = range_infer,
    .kernel = range_kernel,
};
