/* sigmoid: 1 / (1 + exp(-x)) (tf.math.sigmoid).
 *
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(sigmoid, 1.0f / (1.0f + expf(-x)), 1.0 / (1.0 + exp(-x)))

static const leati_lane_function sigmoid_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(sigmoid)};

LEATI_ELEMENTWISE_SLOTS(sigmoid, leati_op_infer_same, 0, NULL)

static leat_status sigmoid_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    leat_value slope = leat_op_subtract(y, leat_op_square(y));
    call->input_gradients[0] = leat_op_multiply(g, slope);
    return LEAT_OK;
}

leat_value leat_op_sigmoid(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_sigmoid, NULL, x);
}

const leati_tensor_op leati_tensor_op_sigmoid = {
    .name = "sigmoid",
    .version = 1,
    .doc = "1 / (1 + exp(-x)) (tf.math.sigmoid).",
    .names = "math.sigmoid sigmoid nn.sigmoid",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = sigmoid_infer,
    .kernel = sigmoid_kernel,
    .gradient = sigmoid_gradient,
};
