/* squared_difference: (x - y) squared, broadcast (tf.math.squared_difference). Fails in
 * inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_INTEGER(squared_difference, ((U)x - (U)y) * ((U)x - (U)y))
LEATI_LANES2_FLOAT(squared_difference, (x - y) * (x - y), (x - y) * (x - y))

static const leati_lane_function squared_difference_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_NUMBER(squared_difference)};

LEATI_ELEMENTWISE_SLOTS(squared_difference, leati_op_infer_broadcast, 0, NULL)

static leat_status squared_difference_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    leat_value slope = leat_op_multiply(g, leati_support_times(leat_op_subtract(x, y), 2));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(slope, x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_negate(slope), y);
    return LEAT_OK;
}

leat_value leat_op_squared_difference(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_squared_difference, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_squared_difference = {
    .name = "squared_difference",
    .version = 1,
    .doc = "(x - y) squared, broadcast (tf.math.squared_difference).",
    .names = "math.squared_difference",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = squared_difference_infer,
    .kernel = squared_difference_kernel,
    .gradient = squared_difference_gradient,
};
