/* zeta: the sum of (q + k)^-x over k = 0, 1, ... (tf.math.zeta).
 *
 * Computed in double. The gradient goes to the second input alone, as in TensorFlow. Fails in
 * inference on other dtypes than float32 and float64. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/special.h"

LEATI_LANE2(zeta_float32, float, float, float, (float)leati_special_zeta((double)x, (double)y))
LEATI_LANE2(zeta_float64, double, double, double, leati_special_zeta(x, y))

static const leati_lane_function zeta_lanes[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = zeta_float32, [LEAT_FLOAT64] = zeta_float64};

LEATI_ELEMENTWISE_SLOTS(zeta, leati_op_infer_broadcast, 0, NULL)

static leat_status zeta_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0], q = call->inputs[1];
    leat_value one = leati_support_number(call->graph, leat_value_dtype(x), 1);
    leat_value slope = leat_op_negate(leat_op_multiply(x, leat_op_zeta(leat_op_add(x, one), q)));
    (void)err;
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_multiply(call->output_gradients[0], slope), q);
    return LEAT_OK;
}

leat_value leat_op_zeta(leat_value x, leat_value q) {
    return leati_graph_build2(&leati_tensor_op_zeta, NULL, x, q);
}

const leati_tensor_op leati_tensor_op_zeta = {
    .name = "zeta",
    .version = 1,
    .doc = "The sum of (q + k)^-x over k = 0, 1, ... (tf.math.zeta).",
    .names = "math.zeta",
    .inputs = "x q",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = zeta_infer,
    .kernel = zeta_kernel,
    .gradient = zeta_gradient,
};
