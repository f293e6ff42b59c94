/* unsorted_segment_min: the minima of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_min).
 *
 * A segment without slices is the highest number; a negative number leaves its slice out. Fails
 * where a number is no segment. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status unsorted_segment_min_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_unsorted_kernel(call, LEATI_COMBINE_MINIMUM, err);
}

static leat_status unsorted_segment_min_gradient(leati_gradient_call *call, leat_error *err) {
    return leati_segment_extreme_gradient(call, &leati_tensor_op_unsorted_segment_sum, err);
}

leat_value leat_op_unsorted_segment_min(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    struct leati_segment_args args = {.num_segments = num_segments};
    return leati_graph_build2(&leati_tensor_op_unsorted_segment_min, &args, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_unsorted_segment_min = {
    .name = "unsorted_segment_min",
    .version = 1,
    .doc = "The minima of the slices of each of num_segments segments of a tensor "
           "(tf.math.unsorted_segment_min).",
    .names = "math.unsorted_segment_min",
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
    .kernel = unsorted_segment_min_kernel,
    .gradient = unsorted_segment_min_gradient,
};
