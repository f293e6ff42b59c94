/* erfc: one minus the error function (tf.math.erfc). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(erfc, erfcf(x), erfc(x))

static const leati_lane_function erfc_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(erfc)};

LEATI_ELEMENTWISE_SLOTS(erfc, leati_op_infer_same, 0, NULL)

static leat_status erfc_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value slope =
        leati_support_times(leat_op_exp(leat_op_negate(leat_op_square(x))), -1.1283791670955126);
    call->input_gradients[0] = leat_op_multiply(g, slope);
    return LEAT_OK;
}

leat_value leat_op_erfc(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_erfc, NULL, x);
}

const leati_tensor_op leati_tensor_op_erfc = {
    .name = "erfc",
    .version = 1,
    .doc = "One minus the error function (tf.math.erfc).",
    .names = "math.erfc",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = erfc_infer,
    .kernel = erfc_kernel,
    .gradient = erfc_gradient,
};
