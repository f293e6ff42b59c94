/* reciprocal: 1 / x (tf.math.reciprocal). Fails in inference on other dtypes than floats. No
 * state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(reciprocal, 1.0f / x, 1.0 / x)

static const leati_lane_function reciprocal_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_FLOAT(reciprocal)};

LEATI_ELEMENTWISE_SLOTS(reciprocal, leati_op_infer_same, 0, NULL)

static leat_status reciprocal_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    call->input_gradients[0] = leat_op_negate(leat_op_multiply(g, leat_op_square(y)));
    return LEAT_OK;
}

leat_value leat_op_reciprocal(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_reciprocal, NULL, x);
}

const leati_tensor_op leati_tensor_op_reciprocal = {
    .name = "reciprocal",
    .version = 1,
    .doc = "1 / x (tf.math.reciprocal).",
    .names = "math.reciprocal",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = reciprocal_infer,
    .kernel = reciprocal_kernel,
    .gradient = reciprocal_gradient,
};
