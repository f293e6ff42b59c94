/* cosh: the hyperbolic cosine (tf.math.cosh). Fails in inference on other dtypes than floats. No
 * state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(cosh, coshf(x), cosh(x))

static const leati_lane_function cosh_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(cosh)};

LEATI_ELEMENTWISE_SLOTS(cosh, leati_op_infer_same, 0, NULL)

static leat_status cosh_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leat_op_sinh(x));
    return LEAT_OK;
}

leat_value leat_op_cosh(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_cosh, NULL, x);
}

const leati_tensor_op leati_tensor_op_cosh = {
    .name = "cosh",
    .version = 1,
    .doc = "The hyperbolic cosine (tf.math.cosh).",
    .names = "math.cosh cosh",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = cosh_infer,
    .kernel = cosh_kernel,
    .gradient = cosh_gradient,
};
