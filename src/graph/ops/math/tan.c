/* tan: the tangent of x in radians (tf.math.tan). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(tan, tanf(x), tan(x))

static const leati_lane_function tan_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(tan)};

LEATI_ELEMENTWISE_SLOTS(tan, leati_op_infer_same, 0, NULL)

static leat_status tan_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_divide(g, leat_op_square(leat_op_cos(x)));
    return LEAT_OK;
}

leat_value leat_op_tan(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_tan, NULL, x);
}

const leati_tensor_op leati_tensor_op_tan = {
    .name = "tan",
    .version = 1,
    .doc = "The tangent of x in radians (tf.math.tan).",
    .names = "math.tan tan",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = tan_infer,
    .kernel = tan_kernel,
    .gradient = tan_gradient,
};
