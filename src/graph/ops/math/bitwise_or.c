/* bitwise_or: the bits that either integer has, broadcast (tf.bitwise.bitwise_or). Fails in
 * inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_INTEGER(bitwise_or, (U)x | (U)y)

static const leati_lane_function bitwise_or_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_INTEGER(bitwise_or)};

LEATI_ELEMENTWISE_SLOTS(bitwise_or, leati_op_infer_broadcast, 0, NULL)

leat_value leat_op_bitwise_or(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_bitwise_or, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_bitwise_or = {
    .name = "bitwise_or",
    .version = 1,
    .doc = "The bits that either integer has, broadcast (tf.bitwise.bitwise_or).",
    .names = "bitwise.bitwise_or",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = bitwise_or_infer,
    .kernel = bitwise_or_kernel,
};
