/* acos: the inverse cosine, in radians (tf.math.acos). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(acos, acosf(x), acos(x))

static const leati_lane_function acos_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(acos)};

LEATI_ELEMENTWISE_SLOTS(acos, leati_op_infer_same, 0, NULL)

static leat_status acos_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    leat_value rest = leat_op_subtract(one, leat_op_square(x));
    call->input_gradients[0] = leat_op_negate(leat_op_divide(g, leat_op_sqrt(rest)));
    return LEAT_OK;
}

leat_value leat_op_acos(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_acos, NULL, x);
}

const leati_tensor_op leati_tensor_op_acos = {
    .name = "acos",
    .version = 1,
    .doc = "The inverse cosine, in radians (tf.math.acos).",
    .names = "math.acos acos",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = acos_infer,
    .kernel = acos_kernel,
    .gradient = acos_gradient,
};
