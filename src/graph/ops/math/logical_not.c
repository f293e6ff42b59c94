/* logical_not: !x of booleans (tf.math.logical_not).
 *
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE1(logical_not_bool, bool, bool, bool, !x)

static const leati_lane_function logical_not_lanes[LEAT_NUM_DTYPES] = {[LEAT_BOOL] =
                                                                           logical_not_bool};

LEATI_ELEMENTWISE_SLOTS(logical_not, leati_op_infer_same, 0, NULL)

leat_value leat_op_logical_not(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_logical_not, NULL, x);
}

const leati_tensor_op leati_tensor_op_logical_not = {
    .name = "logical_not",
    .version = 1,
    .doc = "!x of booleans (tf.math.logical_not).",
    .names = "math.logical_not logical_not",
    .inputs = "x",
    .types = "bool",
    .outputs = "y",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = logical_not_infer,
    .kernel = logical_not_kernel,
};
