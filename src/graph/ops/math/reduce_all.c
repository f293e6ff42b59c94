/* reduce_all: whether all booleans hold over the named dimensions, or all (tf.math.reduce_all).
 *
 * Of no values it is true. No gradient. Fails where an axis is outside the input. No state, no
 * locks. */
#include "graph/support/math/reduce.h"

static leat_status reduce_all_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_reduce_kernel(call, LEATI_REDUCE_MIN, err);
}

leat_value leat_op_reduce_all(leat_value x, const int64_t *axes, int num_axes, bool keepdims) {
    return leati_reduce_build(&leati_tensor_op_reduce_all, x, axes, num_axes, keepdims);
}

const leati_tensor_op leati_tensor_op_reduce_all = {
    .name = "reduce_all",
    .version = 1,
    .doc = "Whether all booleans hold over the named dimensions, or all (tf.math.reduce_all).",
    .names = "math.reduce_all reduce_all",
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
    .kernel = reduce_all_kernel,
};
