/* ceil: the smallest integer not below x (tf.math.ceil). Fails in inference on other dtypes than
 * floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(ceil, ceilf(x), ceil(x))

static const leati_lane_function ceil_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(ceil)};

LEATI_ELEMENTWISE_SLOTS(ceil, leati_op_infer_same, 0, NULL)

leat_value leat_op_ceil(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_ceil, NULL, x);
}

const leati_tensor_op leati_tensor_op_ceil = {
    .name = "ceil",
    .version = 1,
    .doc = "The smallest integer not below x (tf.math.ceil).",
    .names = "math.ceil",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = ceil_infer,
    .kernel = ceil_kernel,
    .gradient = leati_op_gradient_none,
};
