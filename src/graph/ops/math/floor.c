/* floor: the largest integer not above x (tf.math.floor). Fails in inference on other dtypes
 * than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(floor, floorf(x), floor(x))

static const leati_lane_function floor_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(floor)};

LEATI_ELEMENTWISE_SLOTS(floor, leati_op_infer_same, 0, NULL)

leat_value leat_op_floor(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_floor, NULL, x);
}

const leati_tensor_op leati_tensor_op_floor = {
    .name = "floor",
    .version = 1,
    .doc = "The largest integer not above x (tf.math.floor).",
    .names = "math.floor floor",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = floor_infer,
    .kernel = floor_kernel,
    .gradient = leati_op_gradient_none,
};
