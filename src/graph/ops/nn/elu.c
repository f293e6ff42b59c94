/* elu: x where it is positive, else exp(x) - 1 (tf.nn.elu). Fails in inference on other dtypes
 * than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(elu, x < 0 ? expm1f(x) : x, x < 0 ? expm1(x) : x)

static const leati_lane_function elu_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(elu)};

LEATI_ELEMENTWISE_SLOTS(elu, leati_op_infer_same, 0, NULL)

static leat_status elu_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value slope = leat_op_minimum(leat_op_exp(x), leat_op_ones_like(x));
    call->input_gradients[0] = leat_op_multiply(g, slope);
    return LEAT_OK;
}

leat_value leat_op_elu(leat_value features) {
    return leati_graph_build1(&leati_tensor_op_elu, NULL, features);
}

const leati_tensor_op leati_tensor_op_elu = {
    .name = "elu",
    .version = 1,
    .doc = "x where it is positive, else exp(x) - 1 (tf.nn.elu).",
    .names = "nn.elu",
    .inputs = "features",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = elu_infer,
    .kernel = elu_kernel,
    .gradient = elu_gradient,
};
