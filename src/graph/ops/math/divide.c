/* divide: x / y of floats with broadcasting (tf.math.divide of floats).
 *
 * Division by zero follows IEEE 754. Integers are divided by floordiv, or cast first. Fails in
 * inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/wide.h"

LEATI_LANES2_FLOAT_WIDE(divide, LEATI_WIDE_DIVIDE, x / y, x / y)

static const leati_lane_function divide_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(divide)};

LEATI_ELEMENTWISE_SLOTS(divide, leati_op_infer_broadcast, 0, NULL)

static leat_status divide_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_divide(g, y), x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(
        leat_op_negate(leat_op_multiply(g, leat_op_divide(leat_op_divide(x, y), y))), y);
    return LEAT_OK;
}

leat_value leat_op_divide(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_divide, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_divide = {
    .name = "divide",
    .version = 1,
    .doc = "x / y of equal float dtypes, broadcast, by IEEE 754 (tf.math.divide).",
    .names = "math.divide divide math.truediv truediv",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .quotient = true,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = divide_infer,
    .kernel = divide_kernel,
    .gradient = divide_gradient,
};
