/* square: x * x (tf.math.square).
 *
 * Integers wrap around. Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(square, (U)x *(U)x)
LEATI_LANES1_UNSIGNED(square, (U)x *(U)x)
LEATI_LANES1_FLOAT(square, x *x, x *x)

static const leati_lane_function square_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(square)};

LEATI_ELEMENTWISE_SLOTS(square, leati_op_infer_same, 0, NULL)

static leat_status square_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leati_support_times(x, 2));
    return LEAT_OK;
}

leat_value leat_op_square(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_square, NULL, x);
}

const leati_tensor_op leati_tensor_op_square = {
    .name = "square",
    .version = 1,
    .doc = "x * x; integers wrap (tf.math.square).",
    .names = "math.square square",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = square_infer,
    .kernel = square_kernel,
    .gradient = square_gradient,
};
