/* unsorted_segment_sum: the sums of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_sum).
 *
 * A segment without slices is 0; a negative number leaves its slice out. Fails where a
 * number is no segment. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status unsorted_segment_sum_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_unsorted_kernel(call, LEATI_COMBINE_SUM, err);
}

static leat_status unsorted_segment_sum_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_segment_spread(call->output_gradients[0], call->inputs[1], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_unsorted_segment_sum(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    struct leati_segment_args args = {.num_segments = num_segments};
    return leati_graph_build2(&leati_tensor_op_unsorted_segment_sum, &args, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_unsorted_segment_sum = {
    .name = "unsorted_segment_sum",
    .version = 1,
    .doc = "The sums of the slices of each of num_segments segments of a tensor "
           "(tf.math.unsorted_segment_sum).",
    .names = "math.unsorted_segment_sum",
    .inputs = "data segment_ids",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_segment_rows,
    .args_size = sizeof(struct leati_segment_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_segment_unsorted_infer,
    .kernel = unsorted_segment_sum_kernel,
    .gradient = unsorted_segment_sum_gradient,
};
