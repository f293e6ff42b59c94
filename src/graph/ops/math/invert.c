/* invert: all bits of integers turned (tf.bitwise.invert). Fails in inference on other dtypes.
 * No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(invert, ~x)
LEATI_LANES1_UNSIGNED(invert, ~x)

static const leati_lane_function invert_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_INTEGER(invert)};

LEATI_ELEMENTWISE_SLOTS(invert, leati_op_infer_same, 0, NULL)

leat_value leat_op_invert(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_invert, NULL, x);
}

const leati_tensor_op leati_tensor_op_invert = {
    .name = "invert",
    .version = 1,
    .doc = "All bits of integers turned (tf.bitwise.invert).",
    .names = "bitwise.invert",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = invert_infer,
    .kernel = invert_kernel,
};
