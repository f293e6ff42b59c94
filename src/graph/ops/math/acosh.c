/* acosh: the inverse hyperbolic cosine (tf.math.acosh). Fails in inference on other dtypes
 * than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(acosh, acoshf(x), acosh(x))

static const leati_lane_function acosh_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(acosh)};

LEATI_ELEMENTWISE_SLOTS(acosh, leati_op_infer_same, 0, NULL)

static leat_status acosh_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    (void)err;
    call->input_gradients[0] = leat_op_divide(g, leat_op_sinh(call->outputs[0]));
    (void)x;
    return LEAT_OK;
}

leat_value leat_op_acosh(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_acosh, NULL, x);
}

const leati_tensor_op leati_tensor_op_acosh = {
    .name = "acosh",
    .version = 1,
    .doc = "The inverse hyperbolic cosine (tf.math.acosh).",
    .names = "math.acosh acosh",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = acosh_infer,
    .kernel = acosh_kernel,
    .gradient = acosh_gradient,
};
