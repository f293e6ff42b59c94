/* xdivy: x / y, and 0 where x is 0, elementwise (tf.math.xdivy). Fails in inference on other
 * dtypes than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_FLOAT(xdivy, x == 0 ? 0 : x / y, x == 0 ? 0 : x / y)

static const leati_lane_function xdivy_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(xdivy)};

LEATI_ELEMENTWISE_SLOTS(xdivy, leati_op_infer_broadcast, 0, NULL)

/* Where x is 0 nothing flows to y. */
static leat_status xdivy_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    leat_value zero = leati_support_number(x.graph, leat_value_dtype(x), 0);
    (void)err;
    leat_value some = leat_op_cast(leat_op_not_equal(x, zero), leat_value_dtype(x));
    leat_value by_x = leat_op_xdivy(some, y);
    leat_value by_y = leat_op_negate(leat_op_xdivy(x, leat_op_square(y)));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_multiply(g, by_x), x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_multiply(g, by_y), y);
    return LEAT_OK;
}

leat_value leat_op_xdivy(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_xdivy, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_xdivy = {
    .name = "xdivy",
    .version = 1,
    .doc = "x / y, and 0 where x is 0 (tf.math.xdivy).",
    .names = "math.xdivy",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = xdivy_infer,
    .kernel = xdivy_kernel,
    .gradient = xdivy_gradient,
};
