/* truncatemod: the remainder that has the sign of x, with broadcasting (tf.truncatemod). Fails
 * in a run where an integer is divided by zero, in inference where dtypes differ or shapes do
 * not broadcast. No state, no locks. */
#include "graph/support/math/division.h"
#include "graph/support/math/elementwise.h"

LEATI_DIVISION_LANES(truncatemod, x % (__typeof__(x))(UINT64_C(1) << shift), r, r)
LEATI_LANES2_FLOAT(truncatemod, fmodf(x, y), fmod(x, y))

static const leati_lane_function truncatemod_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_NUMBER(truncatemod)};

LEATI_ELEMENTWISE_SLOTS(truncatemod, leati_op_infer_broadcast, 0,
                        "division by zero: an integer has no quotient; guard it with select")

leat_value leat_op_truncatemod(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_truncatemod, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_truncatemod = {
    .name = "truncatemod",
    .version = 1,
    .doc = "The remainder that has the sign of x, broadcast (tf.truncatemod).",
    .names = "truncatemod",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = truncatemod_infer,
    .kernel = truncatemod_kernel,
};
