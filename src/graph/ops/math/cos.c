/* cos: the cosine of x in radians (tf.math.cos). Fails in inference on other dtypes than floats.
 * No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(cos, cosf(x), cos(x))

static const leati_lane_function cos_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(cos)};

LEATI_ELEMENTWISE_SLOTS(cos, leati_op_infer_same, 0, NULL)

static leat_status cos_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_negate(leat_op_multiply(g, leat_op_sin(x)));
    return LEAT_OK;
}

leat_value leat_op_cos(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_cos, NULL, x);
}

const leati_tensor_op leati_tensor_op_cos = {
    .name = "cos",
    .version = 1,
    .doc = "The cosine of x in radians (tf.math.cos).",
    .names = "math.cos cos",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = cos_infer,
    .kernel = cos_kernel,
    .gradient = cos_gradient,
};
