/* rint: the nearest integer, the even one of two (tf.math.rint). Fails in inference on other
 * dtypes than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_FLOAT(rint, rintf(x), rint(x))

static const leati_lane_function rint_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(rint)};

LEATI_ELEMENTWISE_SLOTS(rint, leati_op_infer_same, 0, NULL)

leat_value leat_op_rint(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_rint, NULL, x);
}

const leati_tensor_op leati_tensor_op_rint = {
    .name = "rint",
    .version = 1,
    .doc = "The nearest integer, the even one of two (tf.math.rint).",
    .names = "math.rint",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = rint_infer,
    .kernel = rint_kernel,
    .gradient = leati_op_gradient_none,
};
