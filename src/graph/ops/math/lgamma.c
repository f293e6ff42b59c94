/* lgamma: the logarithm of the absolute value of gamma (tf.math.lgamma). Fails in inference on
 * other dtypes than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/special.h"

LEATI_LANES1_FLOAT(lgamma, (float)leati_special_lgamma(x), leati_special_lgamma(x))

static const leati_lane_function lgamma_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(lgamma)};

LEATI_ELEMENTWISE_SLOTS(lgamma, leati_op_infer_same, 0, NULL)

static leat_status lgamma_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    (void)err;
    call->input_gradients[0] = leat_op_multiply(g, leat_op_digamma(x));
    return LEAT_OK;
}

leat_value leat_op_lgamma(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_lgamma, NULL, x);
}

const leati_tensor_op leati_tensor_op_lgamma = {
    .name = "lgamma",
    .version = 1,
    .doc = "The logarithm of the absolute value of gamma (tf.math.lgamma).",
    .names = "math.lgamma",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = lgamma_infer,
    .kernel = lgamma_kernel,
    .gradient = lgamma_gradient,
};
