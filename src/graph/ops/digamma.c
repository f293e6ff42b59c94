/* digamma: the derivative of lgamma (tf.math.digamma). Fails in inference on other dtypes
 * than floats. No gradient, no state, no locks. */
#include "graph/ops/elementwise.h"
#include "graph/ops/special.h"

LEATI_LANES1_FLOAT(digamma, (float)leati_digamma(x), leati_digamma(x))

static const leati_lane_function digamma_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(digamma)};

LEATI_ELEMENTWISE_SLOTS(digamma, leati_infer_same, 0, NULL)

leat_value leat_digamma(leat_value x) {
    return leati_op1(&leati_tensor_op_digamma, NULL, x);
}

const leati_tensor_op leati_tensor_op_digamma = {
    .name = "digamma",
    .version = 1,
    .doc = "The derivative of lgamma (tf.math.digamma).",
    .names = "math.digamma",
    .inputs = "x",
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = digamma_infer,
    .kernel = digamma_kernel,
};
