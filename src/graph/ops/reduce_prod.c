/* reduce_prod: the product over the named dimensions, or all (tf.math.reduce_prod).
 *
 * Integers wrap; the product of no values is 1. No gradient. Fails where an axis is outside the
 * input. No state, no locks. */
#include "graph/ops/reduce.h"

static leat_status reduce_prod_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_reduce_kernel(call, LEATI_REDUCE_PROD, err);
}

leat_value leat_reduce_prod(leat_value x, const int64_t *axes, int num_axes, bool keepdims) {
    return leati_reduce_build(&leati_tensor_op_reduce_prod, x, axes, num_axes, keepdims);
}

const leati_tensor_op leati_tensor_op_reduce_prod = {
    .name = "reduce_prod",
    .version = 1,
    .doc = "The product over the named dimensions, or all (tf.math.reduce_prod).",
    .names = "math.reduce_prod reduce_prod",
    .inputs = "input_tensor",
    .rows = leati_reduce_rows,
    .args_size = sizeof(struct leati_reduce_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_reduce_infer,
    .kernel = reduce_prod_kernel,
};
