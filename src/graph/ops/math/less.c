/* less: x < y of numbers with broadcasting (tf.math.less).
 *
 * False where one is NaN. Fails in inference where the dtypes differ or the shapes do not
 * broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_COMPARE(less, x < y)

static const leati_lane_function less_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(less)};

LEATI_ELEMENTWISE_SLOTS(less, leati_op_infer_compare, 0, NULL)

leat_value leat_op_less(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_less, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_less = {
    .name = "less",
    .version = 1,
    .doc = "x < y of numbers, broadcast, as bool (tf.math.less).",
    .names = "math.less less",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = less_infer,
    .kernel = less_kernel,
};
