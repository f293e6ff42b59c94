/* nextafter: the next number after x1 in the direction of x2 (tf.math.nextafter). Fails in
 * inference on other dtypes than float32 and float64. The whole gradient goes to x1. No state, no
 * locks. */
#include "graph/support/math/elementwise.h"

LEATI_LANE2(nextafter_float32, float, float, float, nextafterf(x, y))
LEATI_LANE2(nextafter_float64, double, double, double, nextafter(x, y))

static const leati_lane_function nextafter_lanes[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = nextafter_float32, [LEAT_FLOAT64] = nextafter_float64};

LEATI_ELEMENTWISE_SLOTS(nextafter, leati_op_infer_broadcast, 0, NULL)

static leat_status nextafter_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0];
    call->input_gradients[0] = leati_op_gradient_unbroadcast(g, call->inputs[0]);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_zeros_like(g), call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_op_nextafter(leat_value x1, leat_value x2) {
    return leati_graph_build2(&leati_tensor_op_nextafter, NULL, x1, x2);
}

const leati_tensor_op leati_tensor_op_nextafter = {
    .name = "nextafter",
    .version = 1,
    .doc = "The next number after x1 in the direction of x2 (tf.math.nextafter).",
    .names = "math.nextafter",
    .inputs = "x1 x2",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = nextafter_infer,
    .kernel = nextafter_kernel,
    .gradient = nextafter_gradient,
};
