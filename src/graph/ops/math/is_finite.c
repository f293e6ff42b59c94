/* is_finite: whether x is neither infinite nor NaN, as bool (tf.math.is_finite). Fails in
 * inference on other dtypes than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE1(is_finite_float16, uint16_t, uint16_t, bool, (x & 0x7c00) != 0x7c00)
LEATI_LANE1(is_finite_bfloat16, uint16_t, uint16_t, bool, (x & 0x7f80) != 0x7f80)
LEATI_LANE1(is_finite_float32, float, float, bool, isfinite(x) != 0)
LEATI_LANE1(is_finite_float64, double, double, bool, isfinite(x) != 0)

static const leati_lane_function is_finite_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(is_finite)};

LEATI_ELEMENTWISE_SLOTS(is_finite, leati_op_infer_compare, 0, NULL)

leat_value leat_op_is_finite(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_is_finite, NULL, x);
}

const leati_tensor_op leati_tensor_op_is_finite = {
    .name = "is_finite",
    .version = 1,
    .doc = "Whether x is neither infinite nor NaN, as bool (tf.math.is_finite).",
    .names = "math.is_finite",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = is_finite_infer,
    .kernel = is_finite_kernel,
};
