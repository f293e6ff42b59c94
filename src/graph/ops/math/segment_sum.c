/* segment_sum: the sums of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_sum).
 *
 * A segment without slices is 0. Integers wrap. Fails where the numbers fall, are negative, or do
 * not fit the data. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status segment_sum_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_kernel(call, LEATI_COMBINE_SUM, false, err);
}

static leat_status segment_sum_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_segment_spread(call->output_gradients[0], call->inputs[1], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_segment_sum(leat_value data, leat_value segment_ids) {
    return leati_graph_build2(&leati_tensor_op_segment_sum, NULL, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_segment_sum = {
    .name = "segment_sum",
    .version = 1,
    .doc = "The sums of the slices of each segment of a tensor, whose numbers are sorted "
           "(tf.math.segment_sum).",
    .names = "math.segment_sum",
    .inputs = "data segment_ids",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_segment_infer,
    .kernel = segment_sum_kernel,
    .gradient = segment_sum_gradient,
};
