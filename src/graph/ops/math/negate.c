/* negate: -x (tf.math.negative).
 *
 * The smallest integer stays itself. Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(negate, (U)0 - (U)x)
LEATI_LANES1_FLOAT(negate, -x, -x)

static const leati_lane_function negate_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_SIGNED(negate),
                                                                  LEATI_TABLE_FLOAT(negate)};

LEATI_ELEMENTWISE_SLOTS(negate, leati_op_infer_same, 0, NULL)

static leat_status negate_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_negate(call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_negate(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_negate, NULL, x);
}

const leati_tensor_op leati_tensor_op_negate = {
    .name = "negate",
    .version = 1,
    .doc = "-x of signed numbers (tf.math.negative).",
    .names = "math.negative negative",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = negate_infer,
    .kernel = negate_kernel,
    .gradient = negate_gradient,
};
