/* asin: the inverse sine, in radians (tf.math.asin). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(asin, asinf(x), asin(x))

static const leati_lane_function asin_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(asin)};

LEATI_ELEMENTWISE_SLOTS(asin, leati_op_infer_same, 0, NULL)

static leat_status asin_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    leat_value rest = leat_op_subtract(one, leat_op_square(x));
    call->input_gradients[0] = leat_op_divide(g, leat_op_sqrt(rest));
    return LEAT_OK;
}

leat_value leat_op_asin(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_asin, NULL, x);
}

const leati_tensor_op leati_tensor_op_asin = {
    .name = "asin",
    .version = 1,
    .doc = "The inverse sine, in radians (tf.math.asin).",
    .names = "math.asin asin",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = asin_infer,
    .kernel = asin_kernel,
    .gradient = asin_gradient,
};
