/* bitwise_and: the bits that both integers have, broadcast (tf.bitwise.bitwise_and). Fails in
 * inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_INTEGER(bitwise_and, (U)x &(U)y)

static const leati_lane_function bitwise_and_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_INTEGER(bitwise_and)};

LEATI_ELEMENTWISE_SLOTS(bitwise_and, leati_op_infer_broadcast, 0, NULL)

leat_value leat_op_bitwise_and(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_bitwise_and, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_bitwise_and = {
    .name = "bitwise_and",
    .version = 1,
    .doc = "The bits that both integers have, broadcast (tf.bitwise.bitwise_and).",
    .names = "bitwise.bitwise_and",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = bitwise_and_infer,
    .kernel = bitwise_and_kernel,
};
