/* sqrt: the square root of x, NaN below zero (tf.math.sqrt).
 *
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(sqrt, sqrtf(x), sqrt(x))

static const leati_lane_function sqrt_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(sqrt)};

LEATI_ELEMENTWISE_SLOTS(sqrt, leati_op_infer_same, 0, NULL)

static leat_status sqrt_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    call->input_gradients[0] = leat_op_divide(leati_support_times(g, 0.5), y);
    return LEAT_OK;
}

leat_value leat_op_sqrt(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_sqrt, NULL, x);
}

const leati_tensor_op leati_tensor_op_sqrt = {
    .name = "sqrt",
    .version = 1,
    .doc = "The square root of x; NaN below zero (tf.math.sqrt).",
    .names = "math.sqrt sqrt",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = sqrt_infer,
    .kernel = sqrt_kernel,
    .gradient = sqrt_gradient,
};
