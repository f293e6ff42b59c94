/* cumprod: the running product along a dimension (tf.math.cumprod).
 *
 * Integers wrap. Fails where the axis is outside the input. No gradient. No state, no locks. */
#include "graph/ops/cumulate.h"

static leat_status cumprod_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_cumulate_kernel(call, true, err);
}

leat_value leat_cumprod(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    return leati_cumulate_build(&leati_tensor_op_cumprod, x, axis, exclusive, reverse);
}

const leati_tensor_op leati_tensor_op_cumprod = {
    .name = "cumprod",
    .version = 1,
    .doc = "The running product along a dimension (tf.math.cumprod).",
    .names = "math.cumprod",
    .inputs = "x",
    .rows = leati_cumulate_rows,
    .args_size = sizeof(struct leati_cumulate_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_cumulate_infer,
    .kernel = cumprod_kernel,
};
