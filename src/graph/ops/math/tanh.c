/* tanh: the hyperbolic tangent of x (tf.math.tanh).
 *
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(tanh, tanhf(x), tanh(x))

static const leati_lane_function tanh_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(tanh)};

LEATI_ELEMENTWISE_SLOTS(tanh, leati_op_infer_same, 0, NULL)

static leat_status tanh_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    call->input_gradients[0] = leat_op_subtract(g, leat_op_multiply(g, leat_op_square(y)));
    return LEAT_OK;
}

leat_value leat_op_tanh(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_tanh, NULL, x);
}

const leati_tensor_op leati_tensor_op_tanh = {
    .name = "tanh",
    .version = 1,
    .doc = "The hyperbolic tangent of x (tf.math.tanh).",
    .names = "math.tanh tanh nn.tanh",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = tanh_infer,
    .kernel = tanh_kernel,
    .gradient = tanh_gradient,
};
