/* subtract: x - y with broadcasting (tf.math.subtract).
 *
 * Integers wrap around. Fails in inference where the dtypes differ or the shapes do not broadcast.
 * No state, no locks. */
#include "graph/known.h"
#include "graph/support/math/wide.h"

LEATI_LANES2_INTEGER(subtract, (U)x - (U)y)
LEATI_LANES2_FLOAT_WIDE(subtract, LEATI_WIDE_SUBTRACT, x - y, x - y)

static const leati_lane_function subtract_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(subtract)};

LEATI_ELEMENTWISE_SLOTS(subtract, leati_op_infer_broadcast, 0, NULL)

static leat_status subtract_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0];
    call->input_gradients[0] = leati_op_gradient_unbroadcast(g, call->inputs[0]);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_negate(g), call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_op_subtract(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_subtract, NULL, x, y);
}

static bool difference_fits(int64_t x, int64_t y, int64_t *out) {
    return !__builtin_sub_overflow(x, y, out) && *out >= INT32_MIN && *out <= INT32_MAX;
}

static bool subtract_known(const leati_known_call *call, leati_known *out) {
    return leati_known_combined(call, difference_fits, out);
}

const leati_tensor_op leati_tensor_op_subtract = {
    .name = "subtract",
    .version = 1,
    .doc = "x - y of equal dtypes, broadcast; integers wrap (tf.math.subtract).",
    .names = "math.subtract subtract",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = subtract_infer,
    .kernel = subtract_kernel,
    .gradient = subtract_gradient,
    .known = subtract_known,
};
