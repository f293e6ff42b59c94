/* segment_prod: the products of the slices of each segment of a tensor, whose numbers are sorted
 * (tf.math.segment_prod).
 *
 * A segment without slices is 1. Fails where the numbers fall, are negative, or do not fit the
 * data. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status segment_prod_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_kernel(call, LEATI_COMBINE_PRODUCT, false, err);
}

static leat_status segment_prod_gradient(leati_gradient_call *call, leat_error *err) {
    return leati_segment_product_gradient(call, &leati_tensor_op_segment_sum,
                                          &leati_tensor_op_segment_prod, err);
}

leat_value leat_op_segment_prod(leat_value data, leat_value segment_ids) {
    return leati_graph_build2(&leati_tensor_op_segment_prod, NULL, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_segment_prod = {
    .name = "segment_prod",
    .version = 1,
    .doc = "The products of the slices of each segment of a tensor, whose numbers are sorted "
           "(tf.math.segment_prod).",
    .names = "math.segment_prod",
    .inputs = "data segment_ids",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_segment_infer,
    .kernel = segment_prod_kernel,
    .gradient = segment_prod_gradient,
};
