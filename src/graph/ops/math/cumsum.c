/* cumsum: the running total along a dimension (tf.math.cumsum).
 *
 * Integers wrap. Fails where the axis is outside the input. No state, no locks. */
#include "graph/support/math/cumulate.h"

static leat_status cumsum_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_cumulate_kernel(call, false, err);
}

static leat_status cumsum_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_cumulate_args *args = call->args;
    (void)err;
    call->input_gradients[0] =
        leat_op_cumsum(call->output_gradients[0], args->axis, args->exclusive, !args->reverse);
    return LEAT_OK;
}

leat_value leat_op_cumsum(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    return leati_cumulate_build(&leati_tensor_op_cumsum, x, axis, exclusive, reverse);
}

const leati_tensor_op leati_tensor_op_cumsum = {
    .name = "cumsum",
    .version = 1,
    .doc = "The running total along a dimension (tf.math.cumsum).",
    .names = "math.cumsum cumsum",
    .inputs = "x",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_cumulate_rows,
    .args_size = sizeof(struct leati_cumulate_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_cumulate_infer,
    .kernel = cumsum_kernel,
    .gradient = cumsum_gradient,
};
