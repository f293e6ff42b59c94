/* erf: the error function (tf.math.erf). Fails in inference on other dtypes than floats. No
 * state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(erf, erff(x), erf(x))

static const leati_lane_function erf_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(erf)};

LEATI_ELEMENTWISE_SLOTS(erf, leati_op_infer_same, 0, NULL)

static leat_status erf_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value slope =
        leati_support_times(leat_op_exp(leat_op_negate(leat_op_square(x))), 1.1283791670955126);
    call->input_gradients[0] = leat_op_multiply(g, slope);
    return LEAT_OK;
}

leat_value leat_op_erf(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_erf, NULL, x);
}

const leati_tensor_op leati_tensor_op_erf = {
    .name = "erf",
    .version = 1,
    .doc = "The error function (tf.math.erf).",
    .names = "math.erf",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = erf_infer,
    .kernel = erf_kernel,
    .gradient = erf_gradient,
};
