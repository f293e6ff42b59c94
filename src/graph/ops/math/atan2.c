/* atan2: the angle of the point (x, y), in radians from -pi to pi, broadcast (tf.math.atan2).
 * Fails in inference where the dtypes differ or the shapes do not broadcast. No state, no locks.
 * */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_FLOAT(atan2, atan2f(x, y), atan2(x, y))

static const leati_lane_function atan2_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(atan2)};

LEATI_ELEMENTWISE_SLOTS(atan2, leati_op_infer_broadcast, 0, NULL)

static leat_status atan2_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->inputs[0], x = call->inputs[1];
    leat_value part = leat_op_divide(g, leat_op_add(leat_op_square(x), leat_op_square(y)));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_multiply(x, part), y);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_negate(leat_op_multiply(y, part)), x);
    return LEAT_OK;
}

leat_value leat_op_atan2(leat_value y, leat_value x) {
    return leati_graph_build2(&leati_tensor_op_atan2, NULL, y, x);
}

const leati_tensor_op leati_tensor_op_atan2 = {
    .name = "atan2",
    .version = 1,
    .doc = "The angle of the point (x, y), in radians from -pi to pi, broadcast (tf.math.atan2).",
    .names = "math.atan2 atan2",
    .inputs = "y x",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = atan2_infer,
    .kernel = atan2_kernel,
    .gradient = atan2_gradient,
};
