/* polygamma: derivative a of digamma at x (tf.math.polygamma).
 *
 * Computed in double. The gradient goes to the second input alone, as in TensorFlow. Fails in
 * inference on other dtypes than float32 and float64. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/special.h"

LEATI_LANE2(polygamma_float32, float, float, float,
            (float)leati_special_polygamma((double)x, (double)y))
LEATI_LANE2(polygamma_float64, double, double, double, leati_special_polygamma(x, y))

static const leati_lane_function polygamma_lanes[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = polygamma_float32, [LEAT_FLOAT64] = polygamma_float64};

LEATI_ELEMENTWISE_SLOTS(polygamma, leati_op_infer_broadcast, 0, NULL)

static leat_status polygamma_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value a = call->inputs[0], x = call->inputs[1];
    leat_value one = leati_support_number(call->graph, leat_value_dtype(a), 1);
    leat_value slope = leat_op_polygamma(leat_op_add(a, one), x);
    (void)err;
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_multiply(call->output_gradients[0], slope), x);
    return LEAT_OK;
}

leat_value leat_op_polygamma(leat_value a, leat_value x) {
    return leati_graph_build2(&leati_tensor_op_polygamma, NULL, a, x);
}

const leati_tensor_op leati_tensor_op_polygamma = {
    .name = "polygamma",
    .version = 1,
    .doc = "Derivative a of digamma at x (tf.math.polygamma).",
    .names = "math.polygamma",
    .inputs = "a x",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = polygamma_infer,
    .kernel = polygamma_kernel,
    .gradient = polygamma_gradient,
};
