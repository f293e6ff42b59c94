/* sign: -1, 0 or 1 (tf.math.sign).
 *
 * The sign of NaN is NaN; the gradient is zero. Fails in inference on other dtypes. No state, no
 * locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(sign, (x > 0) - (x < 0))
LEATI_LANES1_FLOAT(sign, x > 0 ? (T)1 : x < 0 ? (T)-1 : x, x > 0 ? (T)1 : x < 0 ? (T)-1 : x)

static const leati_lane_function sign_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_SIGNED(sign),
                                                                LEATI_TABLE_FLOAT(sign)};

LEATI_ELEMENTWISE_SLOTS(sign, leati_op_infer_same, 0, NULL)

static leat_status sign_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value x = call->inputs[0];
    call->input_gradients[0] = leat_op_zeros_like(x);
    return LEAT_OK;
}

leat_value leat_op_sign(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_sign, NULL, x);
}

const leati_tensor_op leati_tensor_op_sign = {
    .name = "sign",
    .version = 1,
    .doc = "-1, 0 or 1 as x is negative, zero or positive (tf.math.sign).",
    .names = "math.sign sign",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = sign_infer,
    .kernel = sign_kernel,
    .gradient = sign_gradient,
};
