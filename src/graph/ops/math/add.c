/* add: x + y with broadcasting (tf.math.add).
 *
 * Integers wrap around. Fails in inference where the dtypes differ or the shapes do not broadcast.
 * No state, no locks. */
#include "graph/known.h"
#include "graph/support/math/wide.h"

LEATI_LANES2_INTEGER(add, (U)x + (U)y)
LEATI_LANES2_FLOAT_WIDE(add, LEATI_WIDE_ADD, x + y, x + y)

static const leati_lane_function add_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(add)};

LEATI_ELEMENTWISE_SLOTS(add, leati_op_infer_broadcast, 0, NULL)

static leat_status add_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0];
    call->input_gradients[0] = leati_op_gradient_unbroadcast(g, call->inputs[0]);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(g, call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_op_add(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_add, NULL, x, y);
}

static bool sum_fits(int64_t x, int64_t y, int64_t *out) {
    return !__builtin_add_overflow(x, y, out) && *out >= INT32_MIN && *out <= INT32_MAX;
}

static bool add_known(const leati_known_call *call, leati_known *out) {
    return leati_known_combined(call, sum_fits, out);
}

const leati_tensor_op leati_tensor_op_add = {
    .name = "add",
    .version = 1,
    .doc = "x + y of equal dtypes, broadcast; integers wrap (tf.math.add).",
    .names = "math.add add",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .of_strings = "string_join",
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = add_infer,
    .kernel = add_kernel,
    .gradient = add_gradient,
    .known = add_known,
};
