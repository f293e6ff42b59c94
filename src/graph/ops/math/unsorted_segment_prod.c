/* unsorted_segment_prod: the products of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_prod).
 *
 * A segment without slices is 1; a negative number leaves its slice out. Fails where a
 * number is no segment. No state, no locks. */
#include "graph/support/math/segment.h"

static leat_status unsorted_segment_prod_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_segment_unsorted_kernel(call, LEATI_COMBINE_PRODUCT, err);
}

static leat_status unsorted_segment_prod_gradient(leati_gradient_call *call, leat_error *err) {
    return leati_segment_product_gradient(call, &leati_tensor_op_unsorted_segment_sum,
                                          &leati_tensor_op_unsorted_segment_prod, err);
}

leat_value leat_op_unsorted_segment_prod(leat_value data, leat_value segment_ids,
                                         int64_t num_segments) {
    struct leati_segment_args args = {.num_segments = num_segments};
    return leati_graph_build2(&leati_tensor_op_unsorted_segment_prod, &args, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_unsorted_segment_prod = {
    .name = "unsorted_segment_prod",
    .version = 1,
    .doc = "The products of the slices of each of num_segments segments of a tensor "
           "(tf.math.unsorted_segment_prod).",
    .names = "math.unsorted_segment_prod",
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
    .kernel = unsorted_segment_prod_kernel,
    .gradient = unsorted_segment_prod_gradient,
};
