/* not_equal: x != y of numbers, booleans or strings with broadcasting (tf.math.not_equal).
 *
 * Fails in inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

/* Strings are equal if their bytes are. */
static bool same_bytes(const leat_string *x, const leat_string *y) {
    return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
}

static void not_equal_string(leati_lane *lane) {
    for (int64_t i = 0; i < lane->n; i++) {
        const leat_string *x = (const leat_string *)(lane->in[0] + i * lane->in_step[0]);
        const leat_string *y = (const leat_string *)(lane->in[1] + i * lane->in_step[1]);
        *(bool *)(lane->out + i * lane->out_step) = !same_bytes(x, y);
    }
}

LEATI_LANES2_COMPARE(not_equal, x != y)
LEATI_LANE2(not_equal_bool, bool, bool, bool, x != y)

static const leati_lane_function not_equal_lanes[LEAT_NUM_DTYPES] = {
    LEATI_TABLE_NUMBER(not_equal), [LEAT_BOOL] = not_equal_bool, [LEAT_STRING] = not_equal_string};

LEATI_ELEMENTWISE_SLOTS(not_equal, leati_op_infer_compare, 0, NULL)

leat_value leat_op_not_equal(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_not_equal, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_not_equal = {
    .name = "not_equal",
    .version = 1,
    .doc = "x != y of numbers, booleans or strings, broadcast, as bool "
           "(tf.math.not_equal).",
    .names = "math.not_equal not_equal",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = not_equal_infer,
    .kernel = not_equal_kernel,
};
