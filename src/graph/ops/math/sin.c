/* sin: the sine of x in radians (tf.math.sin). Fails in inference on other dtypes than floats.
 * No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(sin, sinf(x), sin(x))

static const leati_lane_function sin_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(sin)};

LEATI_ELEMENTWISE_SLOTS(sin, leati_op_infer_same, 0, NULL)

static leat_status sin_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leat_op_cos(x));
    return LEAT_OK;
}

leat_value leat_op_sin(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_sin, NULL, x);
}

const leati_tensor_op leati_tensor_op_sin = {
    .name = "sin",
    .version = 1,
    .doc = "The sine of x in radians (tf.math.sin).",
    .names = "math.sin sin",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = sin_infer,
    .kernel = sin_kernel,
    .gradient = sin_gradient,
};
