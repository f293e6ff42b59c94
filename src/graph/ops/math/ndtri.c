/* ndtri: the inverse of the normal distribution's share (tf.math.ndtri). Fails in inference on
 * other dtypes than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/special.h"

LEATI_LANES1_FLOAT(ndtri, (float)leati_special_ndtri(x), leati_special_ndtri(x))

static const leati_lane_function ndtri_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(ndtri)};

LEATI_ELEMENTWISE_SLOTS(ndtri, leati_op_infer_same, 0, NULL)

static leat_status ndtri_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    (void)err;
    leat_value root =
        leati_support_number(x.graph, leat_value_dtype(x), 2.50662827463100050242); /* of 2 pi */
    leat_value half = leati_support_times(leat_op_square(call->outputs[0]), 0.5);
    call->input_gradients[0] = leat_op_multiply(g, leat_op_multiply(root, leat_op_exp(half)));
    return LEAT_OK;
}

leat_value leat_op_ndtri(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_ndtri, NULL, x);
}

const leati_tensor_op leati_tensor_op_ndtri = {
    .name = "ndtri",
    .version = 1,
    .doc = "The inverse of the normal distribution's share (tf.math.ndtri).",
    .names = "math.ndtri",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = ndtri_infer,
    .kernel = ndtri_kernel,
    .gradient = ndtri_gradient,
};
