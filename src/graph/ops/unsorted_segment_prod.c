/* unsorted_segment_prod: the products of the slices of each of num_segments segments of a tensor
 * (tf.math.unsorted_segment_prod).
 *
 * A segment without slices is 1; a negative number leaves its slice out. Fails where a
 * number is no segment. No state, no locks. */
#include "graph/ops/segment.h"

static leat_status unsorted_segment_prod_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_unsorted_kernel(call, LEATI_COMBINE_PRODUCT, err);
}

static leat_status unsorted_segment_prod_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0], ids = call->inputs[1], g = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(x);
    (void)err;
    leat_value zero = leat_equal(x, leat_zeros_like(x)), one = leat_ones_like(x);
    leat_value others = leat_select(zero, one, x); /* the data with ones in place of zeros */
    leat_value zeros =
        leati_op2(&leati_tensor_op_unsorted_segment_sum, call->args, leat_cast(zero, dtype), ids);
    leat_value rest = leati_op2(&leati_tensor_op_unsorted_segment_prod, call->args, others, ids);
    leat_value many = leati_segment_spread(zeros, ids, x);
    leat_value left = leat_subtract(many, leat_cast(zero, dtype)); /* zeros among the others */
    leat_value slope = leat_divide(leati_segment_spread(rest, ids, x), others);
    slope = leat_select(leat_equal(left, leat_zeros_like(x)), slope, leat_zeros_like(x));
    call->input_gradients[0] = leat_multiply(leati_segment_spread(g, ids, x), slope);
    return LEAT_OK;
}

leat_value leat_unsorted_segment_prod(leat_value data, leat_value segment_ids,
                                      int64_t num_segments) {
    struct leati_segment_args args = {.num_segments = num_segments};
    return leati_op2(&leati_tensor_op_unsorted_segment_prod, &args, data, segment_ids);
}

const leati_tensor_op leati_tensor_op_unsorted_segment_prod = {
    .name = "unsorted_segment_prod",
    .version = 1,
    .doc = "The products of the slices of each of num_segments segments of a tensor "
           "(tf.math.unsorted_segment_prod).",
    .names = "math.unsorted_segment_prod",
    .inputs = "data segment_ids",
    .rows = leati_segment_rows,
    .args_size = sizeof(struct leati_segment_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_unsorted_infer,
    .kernel = unsorted_segment_prod_kernel,
    .gradient = unsorted_segment_prod_gradient,
};
