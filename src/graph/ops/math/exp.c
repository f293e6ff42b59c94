/* exp: e to the power of x (tf.math.exp).
 *
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(exp, expf(x), exp(x))

static const leati_lane_function exp_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(exp)};

LEATI_ELEMENTWISE_SLOTS(exp, leati_op_infer_same, 0, NULL)

static leat_status exp_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    call->input_gradients[0] = leat_op_multiply(g, y);
    return LEAT_OK;
}

leat_value leat_op_exp(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_exp, NULL, x);
}

const leati_tensor_op leati_tensor_op_exp = {
    .name = "exp",
    .version = 1,
    .doc = "e to the power of x (tf.math.exp).",
    .names = "math.exp exp",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = exp_infer,
    .kernel = exp_kernel,
    .gradient = exp_gradient,
};
