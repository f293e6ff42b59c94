/* right_shift: x shifted right by y bits, with its sign, broadcast (tf.bitwise.right_shift). A
 * shift outside the width of the dtype is the nearest inside. Fails in inference where the
 * dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

LEATI_LANES2_INTEGER(right_shift, x >> (y < 1 ? 0 : LEATI_MIN(y, (T)(8 * sizeof(T) - 1))))

static const leati_lane_function right_shift_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_INTEGER(right_shift)};

LEATI_ELEMENTWISE_SLOTS(right_shift, leati_op_infer_broadcast, 0, NULL)

leat_value leat_op_right_shift(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_right_shift, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_right_shift = {
    .name = "right_shift",
    .version = 1,
    .doc = "X shifted right by y bits, with its sign, broadcast (tf.bitwise.right_shift).",
    .names = "bitwise.right_shift",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = right_shift_infer,
    .kernel = right_shift_kernel,
};
