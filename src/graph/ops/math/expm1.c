/* expm1: e to the power of x, minus 1 (tf.math.expm1). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(expm1, expm1f(x), expm1(x))

static const leati_lane_function expm1_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(expm1)};

LEATI_ELEMENTWISE_SLOTS(expm1, leati_op_infer_same, 0, NULL)

static leat_status expm1_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leat_op_exp(x));
    return LEAT_OK;
}

leat_value leat_op_expm1(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_expm1, NULL, x);
}

const leati_tensor_op leati_tensor_op_expm1 = {
    .name = "expm1",
    .version = 1,
    .doc = "E to the power of x, minus 1 (tf.math.expm1).",
    .names = "math.expm1",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = expm1_infer,
    .kernel = expm1_kernel,
    .gradient = expm1_gradient,
};
