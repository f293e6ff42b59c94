/* round: the nearest integer, the even one of two; integers are themselves (tf.math.round).
 * Fails in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(round, x)
LEATI_LANES1_UNSIGNED(round, x)
LEATI_LANES1_FLOAT(round, rintf(x), rint(x))

static const leati_lane_function round_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(round)};

LEATI_ELEMENTWISE_SLOTS(round, leati_op_infer_same, 0, NULL)

leat_value leat_op_round(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_round, NULL, x);
}

const leati_tensor_op leati_tensor_op_round = {
    .name = "round",
    .version = 1,
    .doc = "The nearest integer, the even one of two (tf.math.round).",
    .names = "math.round round",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = round_infer,
    .kernel = round_kernel,
    .gradient = leati_op_gradient_none,
};
