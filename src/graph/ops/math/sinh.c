/* sinh: the hyperbolic sine (tf.math.sinh). Fails in inference on other dtypes than floats. No
 * state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(sinh, sinhf(x), sinh(x))

static const leati_lane_function sinh_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(sinh)};

LEATI_ELEMENTWISE_SLOTS(sinh, leati_op_infer_same, 0, NULL)

static leat_status sinh_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leat_op_cosh(x));
    return LEAT_OK;
}

leat_value leat_op_sinh(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_sinh, NULL, x);
}

const leati_tensor_op leati_tensor_op_sinh = {
    .name = "sinh",
    .version = 1,
    .doc = "The hyperbolic sine (tf.math.sinh).",
    .names = "math.sinh sinh",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = sinh_infer,
    .kernel = sinh_kernel,
    .gradient = sinh_gradient,
};
