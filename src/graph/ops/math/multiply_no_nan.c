/* multiply_no_nan: x * y of floats, 0 where y is 0 whatever x is, broadcast
 * (tf.math.multiply_no_nan). Fails in inference where the dtypes differ or the shapes do not
 * broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_FLOAT(multiply_no_nan, y == 0 ? 0 : x * y, y == 0 ? 0 : x * y)

static const leati_lane_function multiply_no_nan_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_FLOAT(multiply_no_nan)};

LEATI_ELEMENTWISE_SLOTS(multiply_no_nan, leati_op_infer_broadcast, 0, NULL)

static leat_status multiply_no_nan_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_multiply_no_nan(g, y), x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_multiply_no_nan(x, g), y);
    return LEAT_OK;
}

leat_value leat_op_multiply_no_nan(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_multiply_no_nan, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_multiply_no_nan = {
    .name = "multiply_no_nan",
    .version = 1,
    .doc = "X * y of floats, 0 where y is 0 whatever x is, broadcast (tf.math.multiply_no_nan).",
    .names = "math.multiply_no_nan",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = multiply_no_nan_infer,
    .kernel = multiply_no_nan_kernel,
    .gradient = multiply_no_nan_gradient,
};
