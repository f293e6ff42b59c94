/* logical_and: x && y of booleans with broadcasting (tf.math.logical_and).
 *
 * Fails in inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE2(logical_and_bool, bool, bool, bool, x &y)

static const leati_lane_function logical_and_lanes[LEAT_NUM_DTYPES] = {[LEAT_BOOL] =
                                                                           logical_and_bool};

LEATI_ELEMENTWISE_SLOTS(logical_and, leati_op_infer_compare, 0, NULL)

leat_value leat_op_logical_and(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_logical_and, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_logical_and = {
    .name = "logical_and",
    .version = 1,
    .doc = "x && y of booleans, broadcast (tf.math.logical_and).",
    .names = "math.logical_and logical_and",
    .inputs = "x y",
    .types = "bool bool",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = logical_and_infer,
    .kernel = logical_and_kernel,
};
