/* multiply: x * y with broadcasting (tf.math.multiply).
 *
 * Integers wrap around. Fails in inference where the dtypes differ or the shapes do not broadcast.
 * No state, no locks. */
#include "graph/known.h"
#include "graph/support/math/wide.h"

LEATI_LANES2_INTEGER(multiply, (U)x *(U)y)
LEATI_LANES2_FLOAT_WIDE(multiply, LEATI_WIDE_MULTIPLY, x *y, x *y)

static const leati_lane_function multiply_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(multiply)};

LEATI_ELEMENTWISE_SLOTS(multiply, leati_op_infer_broadcast, 0, NULL)

static leat_status multiply_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_multiply(g, y), x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_multiply(g, x), y);
    return LEAT_OK;
}

leat_value leat_op_multiply(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_multiply, NULL, x, y);
}

static bool product_fits(int64_t x, int64_t y, int64_t *out) {
    return !__builtin_mul_overflow(x, y, out) && *out >= INT32_MIN && *out <= INT32_MAX;
}

static bool multiply_known(const leati_known_call *call, leati_known *out) {
    return leati_known_combined(call, product_fits, out);
}

const leati_tensor_op leati_tensor_op_multiply = {
    .name = "multiply",
    .version = 1,
    .doc = "x * y of equal dtypes, broadcast; integers wrap (tf.math.multiply).",
    .names = "math.multiply multiply",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = multiply_infer,
    .kernel = multiply_kernel,
    .gradient = multiply_gradient,
    .known = multiply_known,
};
