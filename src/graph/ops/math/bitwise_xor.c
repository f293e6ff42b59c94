/* bitwise_xor: the bits that one of two integers has, broadcast (tf.bitwise.bitwise_xor). Fails
 * in inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANES2_INTEGER(bitwise_xor, (U)x ^ (U)y)

static const leati_lane_function bitwise_xor_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_INTEGER(bitwise_xor)};

LEATI_ELEMENTWISE_SLOTS(bitwise_xor, leati_op_infer_broadcast, 0, NULL)

leat_value leat_op_bitwise_xor(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_bitwise_xor, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_bitwise_xor = {
    .name = "bitwise_xor",
    .version = 1,
    .doc = "The bits that one of two integers has, broadcast (tf.bitwise.bitwise_xor).",
    .names = "bitwise.bitwise_xor",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = bitwise_xor_infer,
    .kernel = bitwise_xor_kernel,
};
