/* cumprod: the running product along a dimension (tf.math.cumprod).
 *
 * Integers wrap. Fails where the axis is outside the input. No state, no locks. */
#include "graph/support/math/cumulate.h"

static leat_status cumprod_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_cumulate_kernel(call, true, err);
}

/* As TensorFlow's: NaN where the input is 0. */
static leat_status cumprod_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_cumulate_args *args = call->args;
    leat_value x = call->inputs[0];
    (void)err;
    leat_value weighted = leat_op_multiply(call->outputs[0], call->output_gradients[0]);
    leat_value sum = leat_op_cumsum(weighted, args->axis, args->exclusive, !args->reverse);
    call->input_gradients[0] = leat_op_divide(sum, x);
    return LEAT_OK;
}

leat_value leat_op_cumprod(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    return leati_cumulate_build(&leati_tensor_op_cumprod, x, axis, exclusive, reverse);
}

const leati_tensor_op leati_tensor_op_cumprod = {
    .name = "cumprod",
    .version = 1,
    .doc = "The running product along a dimension (tf.math.cumprod).",
    .names = "math.cumprod",
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
    .kernel = cumprod_kernel,
    .gradient = cumprod_gradient,
};
