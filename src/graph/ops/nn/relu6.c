/* relu6: x clipped to [0, 6] (tf.nn.relu6). Fails in inference on what is no number. No
 * state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(relu6, x<0 ? 0 : x> 6 ? 6 : x)
LEATI_LANES1_UNSIGNED(relu6, LEATI_MIN(6, x))
LEATI_LANES1_FLOAT(relu6,
                   x != x  ? x
                   : x < 0 ? 0
                           : LEATI_MIN(6, x),
                   x != x  ? x
                   : x < 0 ? 0
                           : LEATI_MIN(6, x))

static const leati_lane_function relu6_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(relu6)};

LEATI_ELEMENTWISE_SLOTS(relu6, leati_op_infer_same, 0, NULL)

static leat_status relu6_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value six = leati_support_number(x.graph, leat_value_dtype(x), 6);
    leat_value inside =
        leat_op_logical_and(leat_op_greater(x, leat_op_zeros_like(x)), leat_op_less(x, six));
    call->input_gradients[0] = leat_op_select(inside, g, leat_op_zeros_like(g));
    return LEAT_OK;
}

leat_value leat_op_relu6(leat_value features) {
    return leati_graph_build1(&leati_tensor_op_relu6, NULL, features);
}

const leati_tensor_op leati_tensor_op_relu6 = {
    .name = "relu6",
    .version = 1,
    .doc = "x clipped to [0, 6] (tf.nn.relu6).",
    .names = "nn.relu6",
    .inputs = "features",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = relu6_infer,
    .kernel = relu6_kernel,
    .gradient = relu6_gradient,
};
