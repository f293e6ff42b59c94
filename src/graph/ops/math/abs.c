/* abs: the magnitude of x (tf.math.abs).
 *
 * The smallest integer stays itself; the gradient at 0 is 0. Fails in inference on other dtypes.
 * No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(abs, x < 0 ? (U)0 - (U)x : (U)x)
LEATI_LANES1_FLOAT(abs, fabsf(x), fabs(x))

static const leati_lane_function abs_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_SIGNED(abs),
                                                               LEATI_TABLE_FLOAT(abs)};

LEATI_ELEMENTWISE_SLOTS(abs, leati_op_infer_same, 0, NULL)

static leat_status abs_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leat_op_sign(x));
    return LEAT_OK;
}

leat_value leat_op_abs(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_abs, NULL, x);
}

const leati_tensor_op leati_tensor_op_abs = {
    .name = "abs",
    .version = 1,
    .doc = "The magnitude of x (tf.math.abs).",
    .names = "math.abs abs",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = abs_infer,
    .kernel = abs_kernel,
    .gradient = abs_gradient,
};
