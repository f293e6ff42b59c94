/* log: the natural logarithm of x (tf.math.log).
 *
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(log, logf(x), log(x))

static const leati_lane_function log_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(log)};

LEATI_ELEMENTWISE_SLOTS(log, leati_op_infer_same, 0, NULL)

static leat_status log_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_divide(g, x);
    return LEAT_OK;
}

leat_value leat_op_log(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_log, NULL, x);
}

const leati_tensor_op leati_tensor_op_log = {
    .name = "log",
    .version = 1,
    .doc = "The natural logarithm of x (tf.math.log).",
    .names = "math.log",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = log_infer,
    .kernel = log_kernel,
    .gradient = log_gradient,
};
