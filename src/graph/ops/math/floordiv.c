/* floordiv: x / y rounded down, with broadcasting (tf.math.floordiv, Python's //).
 *
 * Integers divide exactly and wrap; floats follow IEEE 754. Fails in inference where the dtypes
 * differ or the shapes do not broadcast, and in a run where an integer divisor is 0. No state, no
 * locks. */
#include "graph/known.h"
#include "graph/support/math/division.h"

LEATI_DIVISION_LANES(floordiv, x >> shift, LEATI_ROUNDED_UP ? (U)q - 1 : (U)q, q)
LEATI_LANES2_FLOAT(floordiv, floorf(x / y), floor(x / y))

static const leati_lane_function floordiv_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(floordiv)};

LEATI_ELEMENTWISE_SLOTS(floordiv, leati_op_infer_broadcast, 0,
                        "integer division by zero: a divisor is 0")

static bool quotient_fits(int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || (b == -1 && a == INT64_MIN))
        return false;
    *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

static bool floordiv_known(const leati_known_call *call, leati_known *out) {
    return leati_known_combined(call, quotient_fits, out);
}

leat_value leat_op_floordiv(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_floordiv, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_floordiv = {
    .name = "floordiv",
    .version = 1,
    .doc = "x / y rounded down, broadcast; Python's // (tf.math.floordiv).",
    .names = "math.floordiv",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = floordiv_infer,
    .kernel = floordiv_kernel,
    .gradient = leati_op_gradient_none,
    .known = floordiv_known,
};
