/* atan: the inverse tangent, in radians (tf.math.atan). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(atan, atanf(x), atan(x))

static const leati_lane_function atan_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(atan)};

LEATI_ELEMENTWISE_SLOTS(atan, leati_op_infer_same, 0, NULL)

static leat_status atan_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    call->input_gradients[0] = leat_op_divide(g, leat_op_add(one, leat_op_square(x)));
    return LEAT_OK;
}

leat_value leat_op_atan(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_atan, NULL, x);
}

const leati_tensor_op leati_tensor_op_atan = {
    .name = "atan",
    .version = 1,
    .doc = "The inverse tangent, in radians (tf.math.atan).",
    .names = "math.atan atan",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = atan_infer,
    .kernel = atan_kernel,
    .gradient = atan_gradient,
};
