/* truncatediv: the quotient rounded towards zero, with broadcasting
 * (tf.truncatediv). Fails in a run on an integer divisor of zero, in inference where dtypes differ
 * or shapes do not broadcast. No state, no locks. */
#include "graph/support/math/division.h"
#include "graph/support/math/elementwise.h"

LEATI_DIVISION_LANES(truncatediv, x / (__typeof__(x))(UINT64_C(1) << shift), q, q)
LEATI_LANES2_FLOAT(truncatediv, truncf(x / y), trunc(x / y))

static const leati_lane_function truncatediv_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_NUMBER(truncatediv)};

LEATI_ELEMENTWISE_SLOTS(truncatediv, leati_op_infer_broadcast, 0,
                        "division by zero: an integer has no quotient; guard it with select")

leat_value leat_op_truncatediv(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_truncatediv, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_truncatediv = {
    .name = "truncatediv",
    .version = 1,
    .doc = "The quotient rounded towards zero, broadcast (tf.truncatediv).",
    .names = "truncatediv",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = truncatediv_infer,
    .kernel = truncatediv_kernel,
};
