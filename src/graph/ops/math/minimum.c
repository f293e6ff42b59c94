/* minimum: the smaller of x and y with broadcasting (tf.math.minimum).
 *
 * A NaN on either side gives NaN. The gradient goes to x where x <= y, else to y. Fails in
 * inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

LEATI_LANES2_INTEGER(minimum, LEATI_MIN(x, y))
LEATI_LANES2_FLOAT(minimum, (x < y || x != x) ? x : y, (x < y || x != x) ? x : y)

static const leati_lane_function minimum_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(minimum)};

LEATI_ELEMENTWISE_SLOTS(minimum, leati_op_infer_broadcast, 0, NULL)

static leat_status minimum_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    leat_value mask = leat_op_less_equal(x, y), none = leat_op_zeros_like(g);
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_select(mask, g, none), x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_select(mask, none, g), y);
    return LEAT_OK;
}

leat_value leat_op_minimum(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_minimum, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_minimum = {
    .name = "minimum",
    .version = 1,
    .doc = "The smaller of x and y, broadcast; a NaN wins (tf.math.minimum).",
    .names = "math.minimum minimum",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = minimum_infer,
    .kernel = minimum_kernel,
    .gradient = minimum_gradient,
};
