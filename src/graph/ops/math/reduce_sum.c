/* reduce_sum: the sum over the named dimensions, or all (tf.math.reduce_sum).
 *
 * Integers wrap, floats are summed in double. Fails where an axis is outside the input. No state,
 * no locks. */
#include "graph/support/math/reduce.h"

static leat_status reduce_sum_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_reduce_kernel(call, LEATI_REDUCE_SUM, err);
}

static leat_status reduce_sum_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g;
    LEATI_TRY(leati_reduce_expand(call, call->output_gradients[0], &g, err));
    call->input_gradients[0] = leat_op_broadcast_like(g, call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_reduce_sum(leat_value x, const int64_t *axes, int num_axes, bool keepdims) {
    return leati_reduce_build(&leati_tensor_op_reduce_sum, x, axes, num_axes, keepdims);
}

const leati_tensor_op leati_tensor_op_reduce_sum = {
    .name = "reduce_sum",
    .version = 1,
    .doc = "The sum over the named dimensions, or all (tf.math.reduce_sum).",
    .names = "math.reduce_sum reduce_sum",
    .inputs = "input_tensor",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_reduce_rows,
    .args_size = sizeof(struct leati_reduce_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_reduce_infer,
    .kernel = reduce_sum_kernel,
    .gradient = reduce_sum_gradient,
};
