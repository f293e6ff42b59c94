/* softplus: log(1 + exp(x)), without overflow (tf.math.softplus). Fails in inference on other
 * dtypes than floats. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(softplus, LEATI_MAX(x, 0) + log1pf(expf(-fabsf(x))),
                   LEATI_MAX(x, 0) + log1p(exp(-fabs(x))))

static const leati_lane_function softplus_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(softplus)};

LEATI_ELEMENTWISE_SLOTS(softplus, leati_op_infer_same, 0, NULL)

static leat_status softplus_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leat_op_sigmoid(x));
    return LEAT_OK;
}

leat_value leat_op_softplus(leat_value features) {
    return leati_graph_build1(&leati_tensor_op_softplus, NULL, features);
}

const leati_tensor_op leati_tensor_op_softplus = {
    .name = "softplus",
    .version = 1,
    .doc = "log(1 + exp(x)) (tf.math.softplus).",
    .names = "math.softplus nn.softplus",
    .inputs = "features",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = softplus_infer,
    .kernel = softplus_kernel,
    .gradient = softplus_gradient,
};
