/* digamma: the derivative of lgamma (tf.math.digamma). Fails in inference on other dtypes
 * than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/special.h"

LEATI_LANES1_FLOAT(digamma, (float)leati_special_digamma(x), leati_special_digamma(x))

static const leati_lane_function digamma_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(digamma)};

LEATI_ELEMENTWISE_SLOTS(digamma, leati_op_infer_same, 0, NULL)

static leat_status digamma_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0], g = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(x);
    leat_dtype wide = dtype == LEAT_FLOAT64 ? LEAT_FLOAT64 : LEAT_FLOAT32;
    (void)err;
    leat_value slope =
        leat_op_polygamma(leati_support_number(call->graph, wide, 1), leat_op_cast(x, wide));
    call->input_gradients[0] = leat_op_multiply(g, leat_op_cast(slope, dtype));
    return LEAT_OK;
}

leat_value leat_op_digamma(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_digamma, NULL, x);
}

const leati_tensor_op leati_tensor_op_digamma = {
    .name = "digamma",
    .version = 1,
    .doc = "The derivative of lgamma (tf.math.digamma).",
    .names = "math.digamma",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = digamma_infer,
    .kernel = digamma_kernel,
    .gradient = digamma_gradient,
};
