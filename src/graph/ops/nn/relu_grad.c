/* relu_grad: the gradient where the features are positive, else 0 (tf.raw_ops.ReluGrad).
 *
 * The features may be relu's input or its output. Fails in inference where the dtypes differ or
 * the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_FLOAT(relu_grad, y > 0 ? x : (T)0, y > 0 ? x : (T)0)

static const leati_lane_function relu_grad_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(relu_grad)};

LEATI_ELEMENTWISE_SLOTS(relu_grad, leati_op_infer_broadcast, 0, NULL)

static leat_status relu_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0];
    call->input_gradients[0] = leat_op_relu_grad(g, call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_op_relu_grad(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_relu_grad, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_relu_grad = {
    .name = "relu_grad",
    .version = 1,
    .doc = "Gradient x where feature y is positive, else 0 (tf.raw_ops.ReluGrad).",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = relu_grad_infer,
    .kernel = relu_grad_kernel,
    .gradient = relu_grad_gradient,
};
