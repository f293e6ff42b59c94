/* greater: x > y of numbers with broadcasting (tf.math.greater).
 *
 * False where one is NaN. Fails in inference where the dtypes differ or the shapes do not
 * broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_COMPARE(greater, x > y)

static const leati_lane_function greater_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(greater)};

LEATI_ELEMENTWISE_SLOTS(greater, leati_op_infer_compare, 0, NULL)

leat_value leat_op_greater(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_greater, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_greater = {
    .name = "greater",
    .version = 1,
    .doc = "x > y of numbers, broadcast, as bool (tf.math.greater).",
    .names = "math.greater greater",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = greater_infer,
    .kernel = greater_kernel,
};
