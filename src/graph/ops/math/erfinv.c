/* erfinv: the inverse of erf (tf.math.erfinv). Fails in inference on other dtypes
 * than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/special.h"

LEATI_LANES1_FLOAT(erfinv, (float)leati_special_erfinv(x), leati_special_erfinv(x))

static const leati_lane_function erfinv_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(erfinv)};

LEATI_ELEMENTWISE_SLOTS(erfinv, leati_op_infer_same, 0, NULL)

static leat_status erfinv_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    (void)err;
    leat_value half_root =
        leati_support_number(x.graph, leat_value_dtype(x), 0.88622692545275801365); /* of pi */
    leat_value slope = leat_op_exp(leat_op_square(call->outputs[0]));
    call->input_gradients[0] = leat_op_multiply(g, leat_op_multiply(half_root, slope));
    return LEAT_OK;
}

leat_value leat_op_erfinv(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_erfinv, NULL, x);
}

const leati_tensor_op leati_tensor_op_erfinv = {
    .name = "erfinv",
    .version = 1,
    .doc = "The inverse of erf (tf.math.erfinv).",
    .names = "math.erfinv",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = erfinv_infer,
    .kernel = erfinv_kernel,
    .gradient = erfinv_gradient,
};
