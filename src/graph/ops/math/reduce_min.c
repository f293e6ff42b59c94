/* reduce_min: the minimum over the named dimensions, or all (tf.math.reduce_min).
 *
 * A NaN wins; the minimum of no values is the dtype's highest. Values that tie share the gradient.
 * Fails where an axis is outside the input. No state, no locks. */
#include "graph/support/math/reduce.h"

static leat_status reduce_min_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_reduce_kernel(call, LEATI_REDUCE_MIN, err);
}

leat_value leat_op_reduce_min(leat_value x, const int64_t *axes, int num_axes, bool keepdims) {
    return leati_reduce_build(&leati_tensor_op_reduce_min, x, axes, num_axes, keepdims);
}

const leati_tensor_op leati_tensor_op_reduce_min = {
    .name = "reduce_min",
    .version = 1,
    .doc = "The minimum over the named dimensions, or all (tf.math.reduce_min).",
    .names = "math.reduce_min reduce_min",
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
    .kernel = reduce_min_kernel,
    .gradient = leati_reduce_extreme_gradient,
};
