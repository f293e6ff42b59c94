/* asinh: the inverse hyperbolic sine (tf.math.asinh). Fails in inference on other dtypes
 * than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(asinh, asinhf(x), asinh(x))

static const leati_lane_function asinh_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(asinh)};

LEATI_ELEMENTWISE_SLOTS(asinh, leati_op_infer_same, 0, NULL)

static leat_status asinh_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    (void)err;
    call->input_gradients[0] = leat_op_divide(g, leat_op_cosh(call->outputs[0]));
    (void)x;
    return LEAT_OK;
}

leat_value leat_op_asinh(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_asinh, NULL, x);
}

const leati_tensor_op leati_tensor_op_asinh = {
    .name = "asinh",
    .version = 1,
    .doc = "The inverse hyperbolic sine (tf.math.asinh).",
    .names = "math.asinh asinh",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = asinh_infer,
    .kernel = asinh_kernel,
    .gradient = asinh_gradient,
};
