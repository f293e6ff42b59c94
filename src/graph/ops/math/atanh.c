/* atanh: the inverse hyperbolic tangent (tf.math.atanh). Fails in inference on other dtypes
 * than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(atanh, atanhf(x), atanh(x))

static const leati_lane_function atanh_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(atanh)};

LEATI_ELEMENTWISE_SLOTS(atanh, leati_op_infer_same, 0, NULL)

static leat_status atanh_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    (void)err;
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    call->input_gradients[0] = leat_op_divide(g, leat_op_subtract(one, leat_op_square(x)));
    return LEAT_OK;
}

leat_value leat_op_atanh(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_atanh, NULL, x);
}

const leati_tensor_op leati_tensor_op_atanh = {
    .name = "atanh",
    .version = 1,
    .doc = "The inverse hyperbolic tangent (tf.math.atanh).",
    .names = "math.atanh atanh",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = atanh_infer,
    .kernel = atanh_kernel,
    .gradient = atanh_gradient,
};
