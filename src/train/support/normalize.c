/* What the normalising layers share.
 *
 * Synchronised moments add up sums, sums of squares and counts of all replicas, and keep the
 * variance from falling below 0. Failures: INVALID_ARGUMENT for axes that are not there or whose
 * sizes are unknown. No state, no locks. */
#include "train/support/normalize.h"
#include "base/error.h"
#include "graph/support/support.h"

static leati_moments of_all_replicas(leat_value x, const int64_t *axes, int count, bool keepdims) {
    leat_value ones = leat_op_ones_like(x), sums[3];
    /* Counted and not multiplied out: sizes may be unknown, and replicas' batches differ. */
    const leat_value parts[3] = {leat_op_reduce_sum(x, axes, count, keepdims),
                                 leat_op_reduce_sum(leat_op_square(x), axes, count, keepdims),
                                 leat_op_reduce_sum(ones, axes, count, keepdims)};
    leat_op_all_reduce(parts, 3, LEAT_AGGREGATION_SUM, sums);
    /* A replica may be without rows; all of them without any give 0. */
    leat_value mean = leat_op_divide_no_nan(sums[0], sums[2]);
    leat_value squares = leat_op_divide_no_nan(sums[1], sums[2]);
    leat_value variance = leat_op_subtract(squares, leat_op_square(mean));
    /* E(x^2) - E(x)^2 can be a little negative by rounding. */
    return (leati_moments){mean, leat_op_maximum(variance, leat_op_zeros_like(variance))};
}

leati_moments leati_normalize_moments(leat_value x, const int64_t *axes, int count, bool keepdims,
                                      bool synchronized) {
    if (synchronized)
        return of_all_replicas(x, axes, count, keepdims);
    /* Kept here in any case, so that it broadcasts against x below. */
    leat_value mean = leat_op_reduce_mean(x, axes, count, true);
    /* The gradient through the mean is 0 in sum: sum(x - mean) is. */
    leat_value apart = leat_op_squared_difference(x, leat_op_stop_gradient(mean));
    leat_value variance = leat_op_reduce_mean(apart, axes, count, keepdims);
    return (leati_moments){keepdims ? mean : leat_op_squeeze(mean, axes, count), variance};
}

/* A vector along dimension `axis` of `rank`. */
static leat_value along(leat_value vector, int32_t axis, int32_t rank) {
    int64_t dims[LEAT_MAX_RANK];
    /* Where it is last, or -1, broadcasting does it. */
    if (axis < 0 || axis == rank - 1)
        return vector;
    for (int32_t d = 0; d < rank; d++)
        dims[d] = d == axis ? -1 : 1;
    return leat_op_reshape(vector, dims, rank);
}

leat_value leati_normalize(leat_value x, leati_moments moments, const leati_affine *affine,
                           double epsilon) {
    int32_t rank = leat_value_shape(x).rank;
    leat_value variance = moments.variance;
    if (leati_support_value_failed(variance))
        return variance;
    leat_value least = leati_support_number(x.graph, leat_value_dtype(variance), epsilon);
    /* x * factor + (beta - mean * factor) needs one pass over x, as tf.nn.batch_normalization does
     * it. */
    leat_value factor = leat_op_rsqrt(leat_op_add(variance, least));
    if (affine->gamma != NULL)
        factor = leat_op_multiply(factor, *affine->gamma);
    leat_value offset = leat_op_negate(leat_op_multiply(moments.mean, factor));
    if (affine->beta != NULL)
        offset = leat_op_add(offset, *affine->beta);
    leat_value scaled = leat_op_multiply(x, along(factor, affine->axis, rank));
    return leat_op_add(scaled, along(offset, affine->axis, rank));
}

leat_status leati_normalize_axes(const leati_ints *axes, int32_t rank, bool *mask,
                                 leat_error *err) {
    for (int32_t d = 0; d < rank; d++)
        mask[d] = axes->count == 0 && d == rank - 1;
    return axes->count == 0 ? LEAT_OK : leati_support_mark_axes(axes, rank, mask, err);
}

leat_status leati_normalize_shape(const leati_ints *axes, const leat_shape *input, leat_shape *out,
                                  leat_error *err) {
    bool mask[LEAT_MAX_RANK] = {false};
    LEATI_TRY(leati_normalize_axes(axes, input->rank, mask, err));
    *out = (leat_shape){.rank = 0};
    for (int32_t d = 0; d < input->rank; d++) {
        if (mask[d] && input->dims[d] < 0) {
            char text[128];
            return leati_refuse(
                err, SHAPE,
                "Axis %d of input tensor should have a defined dimension but the layer "
                "received an input with shape %s",
                (int)d, leati_shape_text(input, text));
        }
        if (mask[d])
            out->dims[out->rank++] = input->dims[d];
    }
    return LEAT_OK;
}

void leati_normalize_weights(const char *gamma, const char *beta, const leat_shape *shape,
                             leati_weights *out) {
    const char *const initializers[2] = {gamma, beta};
    static const char *const names[2] = {"gamma", "beta"};
    out->count = 0;
    for (int i = 0; i < 2; i++)
        if (initializers[i] != NULL)
            out->list[out->count++] =
                (leati_weight){.name = names[i], .shape = *shape, .initializer = initializers[i]};
}
