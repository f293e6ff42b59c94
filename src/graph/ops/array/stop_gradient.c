/* stop_gradient: the input unchanged, through which no gradient flows (tf.stop_gradient). No state,
 * no locks. */
#include "graph/support/support.h"

static leat_status stop_gradient_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    return leati_support_view_as(call, &shape, err);
}

leat_value leat_op_stop_gradient(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_stop_gradient, NULL, x);
}

const leati_tensor_op leati_tensor_op_stop_gradient = {
    .name = "stop_gradient",
    .version = 1,
    .doc = "The input unchanged; no gradient flows through it (tf.stop_gradient).",
    .names = "stop_gradient",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_op_infer_same,
    .kernel = stop_gradient_kernel,
    .gradient = leati_op_gradient_none,
};
