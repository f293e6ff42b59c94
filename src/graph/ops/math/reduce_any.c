/* reduce_any: whether any boolean holds over the named dimensions, or all (tf.math.reduce_any).
 *
 * Of no values it is false. No gradient. Fails where an axis is outside the input. No state, no
 * locks. */
#include "graph/support/math/reduce.h"

static leat_status reduce_any_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_reduce_kernel(call, LEATI_REDUCE_MAX, err);
}

leat_value leat_op_reduce_any(leat_value x, const int64_t *axes, int num_axes, bool keepdims) {
    return leati_reduce_build(&leati_tensor_op_reduce_any, x, axes, num_axes, keepdims);
}

const leati_tensor_op leati_tensor_op_reduce_any = {
    .name = "reduce_any",
    .version = 1,
    .doc = "Whether any boolean holds over the named dimensions, or all (tf.math.reduce_any).",
    .names = "math.reduce_any reduce_any",
    .inputs = "input_tensor",
    .types = "bool",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_reduce_rows,
    .args_size = sizeof(struct leati_reduce_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_reduce_infer_bool,
    .kernel = reduce_any_kernel,
};
