/* rsqrt: one over the square root of x (tf.math.rsqrt).
 *
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x))

static const leati_lane_function rsqrt_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(rsqrt)};

LEATI_ELEMENTWISE_SLOTS(rsqrt, leati_op_infer_same, 0, NULL)

static leat_status rsqrt_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    call->input_gradients[0] =
        leat_op_multiply(leati_support_times(g, -0.5), leat_op_multiply(y, leat_op_square(y)));
    return LEAT_OK;
}

leat_value leat_op_rsqrt(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_rsqrt, NULL, x);
}

const leati_tensor_op leati_tensor_op_rsqrt = {
    .name = "rsqrt",
    .version = 1,
    .doc = "1 / sqrt(x) (tf.math.rsqrt).",
    .names = "math.rsqrt",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = rsqrt_infer,
    .kernel = rsqrt_kernel,
    .gradient = rsqrt_gradient,
};
