/* is_nan: whether x is not a number, as bool (tf.math.is_nan). Fails in inference on other
 * dtypes than floats. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE1(is_nan_float16, uint16_t, uint16_t, bool, (x & 0x7fff) > 0x7c00)
LEATI_LANE1(is_nan_bfloat16, uint16_t, uint16_t, bool, (x & 0x7fff) > 0x7f80)
LEATI_LANE1(is_nan_float32, float, float, bool, isnan(x) != 0)
LEATI_LANE1(is_nan_float64, double, double, bool, isnan(x) != 0)

static const leati_lane_function is_nan_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(is_nan)};

LEATI_ELEMENTWISE_SLOTS(is_nan, leati_op_infer_compare, 0, NULL)

leat_value leat_op_is_nan(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_is_nan, NULL, x);
}

const leati_tensor_op leati_tensor_op_is_nan = {
    .name = "is_nan",
    .version = 1,
    .doc = "Whether x is not a number, as bool (tf.math.is_nan).",
    .names = "math.is_nan",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = is_nan_infer,
    .kernel = is_nan_kernel,
};
