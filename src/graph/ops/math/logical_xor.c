/* logical_xor: whether one of two booleans holds, with broadcasting (tf.math.logical_xor). Fails
 * in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE2(logical_xor_bool, bool, bool, bool, x != y)

static const leati_lane_function logical_xor_lanes[LEAT_NUM_DTYPES] = {[LEAT_BOOL] =
                                                                           logical_xor_bool};

LEATI_ELEMENTWISE_SLOTS(logical_xor, leati_op_infer_broadcast, 0, NULL)

leat_value leat_op_logical_xor(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_logical_xor, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_logical_xor = {
    .name = "logical_xor",
    .version = 1,
    .doc = "Whether one of two booleans holds, broadcast (tf.math.logical_xor).",
    .names = "math.logical_xor",
    .inputs = "x y",
    .types = "bool bool",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = logical_xor_infer,
    .kernel = logical_xor_kernel,
};
