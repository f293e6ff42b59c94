/* relu: x where it is positive, else 0 (tf.nn.relu).
 *
 * A NaN stays NaN; the gradient at 0 is 0. Fails in inference on other dtypes. No state, no locks.
 */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(relu, LEATI_MAX(x, 0))
LEATI_LANES1_UNSIGNED(relu, x)
LEATI_LANES1_FLOAT(relu, x < 0 ? (T)0 : x, x < 0 ? (T)0 : x)

static const leati_lane_function relu_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(relu)};

LEATI_ELEMENTWISE_SLOTS(relu, leati_op_infer_same, 0, NULL)

static leat_status relu_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_relu_grad(g, x);
    return LEAT_OK;
}

leat_value leat_op_relu(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_relu, NULL, x);
}

const leati_tensor_op leati_tensor_op_relu = {
    .name = "relu",
    .version = 1,
    .doc = "x where it is positive, else 0; a NaN stays (tf.nn.relu).",
    .names = "nn.relu",
    .inputs = "features",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = relu_infer,
    .kernel = relu_kernel,
    .gradient = relu_gradient,
};
