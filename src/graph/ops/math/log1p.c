/* log1p: the natural logarithm of 1 + x (tf.math.log1p). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(log1p, log1pf(x), log1p(x))

static const leati_lane_function log1p_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(log1p)};

LEATI_ELEMENTWISE_SLOTS(log1p, leati_op_infer_same, 0, NULL)

static leat_status log1p_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    call->input_gradients[0] = leat_op_divide(g, leat_op_add(one, x));
    return LEAT_OK;
}

leat_value leat_op_log1p(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_log1p, NULL, x);
}

const leati_tensor_op leati_tensor_op_log1p = {
    .name = "log1p",
    .version = 1,
    .doc = "The natural logarithm of 1 + x (tf.math.log1p).",
    .names = "math.log1p",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = log1p_infer,
    .kernel = log1p_kernel,
    .gradient = log1p_gradient,
};
