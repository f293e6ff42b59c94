/* ones_like: ones (true) of another tensor's shape and dtype (tf.ones_like). The gradient is none.
 * Fails in inference on strings. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE1(ones_like_bool, bool, bool, bool, ((void)x, true))
LEATI_LANES1_SIGNED(ones_like, ((void)x, 1))
LEATI_LANES1_UNSIGNED(ones_like, ((void)x, 1u))
LEATI_LANES1_FLOAT(ones_like, ((void)x, 1.0f), ((void)x, 1.0))

static const leati_lane_function ones_like_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_NUMBER(ones_like), [LEAT_BOOL] = ones_like_bool};

LEATI_ELEMENTWISE_SLOTS(ones_like, leati_op_infer_same, 0, NULL)

leat_value leat_op_ones_like(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_ones_like, NULL, x);
}

const leati_tensor_op leati_tensor_op_ones_like = {
    .name = "ones_like",
    .version = 1,
    .doc = "Ones of another tensor's shape and dtype (tf.ones_like).",
    .names = "ones_like",
    .inputs = "input",
    .signature = "input dtype=null name layout=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = ones_like_infer,
    .kernel = ones_like_kernel,
    .gradient = leati_op_gradient_none,
};
