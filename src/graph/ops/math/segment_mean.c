/* segment_mean: the means of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_mean).
 *
 * A segment without slices is 0. Means of integers are rounded towards zero. Fails where the
 * numbers fall, are negative, or do not fit the data. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status segment_mean_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_kernel(call, LEATI_COMBINE_SUM, true, err);
}

static leat_status segment_mean_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value ids = call->inputs[1], x = call->inputs[0], g = call->output_gradients[0];
    (void)err;
    leat_value counts = leat_op_segment_sum(leat_op_ones_like(x), ids);
    call->input_gradients[0] = leati_segment_spread(leat_op_divide_no_nan(g, counts), ids, x);
    return LEAT_OK;
}

leat_value leat_op_segment_mean(leat_value data, leat_value segment_ids) {
    return leati_graph_build2(&leati_tensor_op_segment_mean, NULL, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_segment_mean = {
    .name = "segment_mean",
    .version = 1,
    .doc = "The means of the slices of each segment of a tensor, whose numbers are sorted "
           "(tf.math.segment_mean).",
    .names = "math.segment_mean",
    .inputs = "data segment_ids",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_segment_infer,
    .kernel = segment_mean_kernel,
    .gradient = segment_mean_gradient,
};
