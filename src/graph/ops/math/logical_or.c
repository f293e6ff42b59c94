/* logical_or: x || y of booleans with broadcasting (tf.math.logical_or).
 *
 * Fails in inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE2(logical_or_bool, bool, bool, bool, x | y)

static const leati_lane_function logical_or_lanes[LEAT_NUM_DTYPES] = {[LEAT_BOOL] =
                                                                          logical_or_bool};

LEATI_ELEMENTWISE_SLOTS(logical_or, leati_op_infer_compare, 0, NULL)

leat_value leat_op_logical_or(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_logical_or, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_logical_or = {
    .name = "logical_or",
    .version = 1,
    .doc = "x || y of booleans, broadcast (tf.math.logical_or).",
    .names = "math.logical_or logical_or",
    .inputs = "x y",
    .types = "bool bool",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = logical_or_infer,
    .kernel = logical_or_kernel,
};
