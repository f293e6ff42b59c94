/* segment_max: the maxima of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_max).
 *
 * A segment without slices is 0. Slices that tie share the gradient. Fails where the
 * numbers fall, are negative, or do not fit the data. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status segment_max_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_kernel(call, LEATI_COMBINE_MAXIMUM, false, err);
}

static leat_status segment_max_gradient(leati_gradient_call *call, leat_error *err) {
    return leati_segment_extreme_gradient(call, &leati_tensor_op_segment_sum, err);
}

leat_value leat_op_segment_max(leat_value data, leat_value segment_ids) {
    return leati_graph_build2(&leati_tensor_op_segment_max, NULL, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_segment_max = {
    .name = "segment_max",
    .version = 1,
    .doc = "The maxima of the slices of each segment of a tensor, whose numbers are sorted "
           "(tf.math.segment_max).",
    .names = "math.segment_max",
    .inputs = "data segment_ids",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_segment_infer,
    .kernel = segment_max_kernel,
    .gradient = segment_max_gradient,
};
