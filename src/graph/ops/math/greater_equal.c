/* greater_equal: x >= y of numbers with broadcasting (tf.math.greater_equal).
 *
 * False where one is NaN. Fails in inference where the dtypes differ or the shapes do not
 * broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_COMPARE(greater_equal, x >= y)

static const leati_lane_function greater_equal_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_NUMBER(greater_equal)};

LEATI_ELEMENTWISE_SLOTS(greater_equal, leati_op_infer_compare, 0, NULL)

leat_value leat_op_greater_equal(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_greater_equal, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_greater_equal = {
    .name = "greater_equal",
    .version = 1,
    .doc = "x >= y of numbers, broadcast, as bool (tf.math.greater_equal).",
    .names = "math.greater_equal greater_equal",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = greater_equal_infer,
    .kernel = greater_equal_kernel,
};
