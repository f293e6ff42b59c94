/* segment_min: the minima of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_min).
 *
 * A segment without slices is 0. Slices that tie share the gradient. Fails where the
 * numbers fall, are negative, or do not fit the data. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status segment_min_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_kernel(call, LEATI_COMBINE_MINIMUM, false, err);
}

static leat_status segment_min_gradient(leati_gradient_call *call, leat_error *err) {
    return leati_segment_extreme_gradient(call, &leati_tensor_op_segment_sum, err);
}

leat_value leat_op_segment_min(leat_value data, leat_value segment_ids) {
    return leati_graph_build2(&leati_tensor_op_segment_min, NULL, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_segment_min = {
    .name = "segment_min",
    .version = 1,
    .doc = "The minima of the slices of each segment of a tensor, whose numbers are sorted "
           "(tf.math.segment_min).",
    .names = "math.segment_min",
    .inputs = "data segment_ids",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_segment_infer,
    .kernel = segment_min_kernel,
    .gradient = segment_min_gradient,
};
