/* relu, relu6, elu, sigmoid, softplus: x where it is positive, else 0; clipped to [0, 6]; where it
 * is not positive exp(x) - 1; 1 / (1 + exp(-x)); log(1 + exp(x)), without overflow (tf.nn.relu and
 * its like). relu_grad: the gradient where the features are positive, else 0 (tf.raw_ops.ReluGrad);
 * they may be relu's input or its output.
 *
 * A NaN stays NaN; the gradient of relu at 0 is 0. Fails in inference on other dtypes, and in
 * relu_grad where dtypes differ or shapes do not broadcast. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

LEATI_LANES1_SIGNED(relu, LEATI_MAX(x, 0))
LEATI_LANES1_UNSIGNED(relu, x)
LEATI_LANES1_FLOAT(relu, x < 0 ? (T)0 : x, x < 0 ? (T)0 : x)

static const leati_lane_function relu_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(relu)};

LEATI_ELEMENTWISE_SLOTS(relu, leati_op_infer_same, 0, NULL)

static leat_status relu_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_relu_grad(g, x);
    return LEAT_OK;
}

leat_value leat_op_relu(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_relu, NULL, x);
}

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

LEATI_LANES1_FLOAT(elu, x < 0 ? expm1f(x) : x, x < 0 ? expm1(x) : x)

static const leati_lane_function elu_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(elu)};

LEATI_ELEMENTWISE_SLOTS(elu, leati_op_infer_same, 0, NULL)

static leat_status elu_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    leat_value slope = leat_op_minimum(leat_op_exp(x), leat_op_ones_like(x));
    call->input_gradients[0] = leat_op_multiply(g, slope);
    return LEAT_OK;
}

leat_value leat_op_elu(leat_value features) {
    return leati_graph_build1(&leati_tensor_op_elu, NULL, features);
}

LEATI_LANES1_FLOAT(sigmoid, 1.0f / (1.0f + expf(-x)), 1.0 / (1.0 + exp(-x)))

static const leati_lane_function sigmoid_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(sigmoid)};

LEATI_ELEMENTWISE_SLOTS(sigmoid, leati_op_infer_same, 0, NULL)

static leat_status sigmoid_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    leat_value slope = leat_op_subtract(y, leat_op_square(y));
    call->input_gradients[0] = leat_op_multiply(g, slope);
    return LEAT_OK;
}

leat_value leat_op_sigmoid(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_sigmoid, NULL, x);
}

LEATI_LANES1_FLOAT(softplus, LEATI_MAX(x, 0) + log1pf(expf(-fabsf(x))),
                   LEATI_MAX(x, 0) + log1p(exp(-fabs(x))))

static const leati_lane_function softplus_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(softplus)};

LEATI_ELEMENTWISE_SLOTS(softplus, leati_op_infer_same, 0, NULL)

static leat_status softplus_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0];
    call->input_gradients[0] = leat_op_multiply(g, leat_op_sigmoid(x));
    return LEAT_OK;
}

leat_value leat_op_softplus(leat_value features) {
    return leati_graph_build1(&leati_tensor_op_softplus, NULL, features);
}

LEATI_LANES2_FLOAT(relu_grad, y > 0 ? x : (T)0, y > 0 ? x : (T)0)

static const leati_lane_function relu_grad_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_FLOAT(relu_grad)};

LEATI_ELEMENTWISE_SLOTS(relu_grad, leati_op_infer_broadcast, 0, NULL)

static leat_status relu_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0];
    call->input_gradients[0] = leat_op_relu_grad(g, call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_op_relu_grad(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_relu_grad, NULL, x, y);
}

/* The descriptor of one operation. */
#define ACTIVATION_OP(NAME, DOC, ...)                                                              \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .types = "T",                                                                              \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .flags = LEATI_ELEMENTWISE,                                                                \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
ACTIVATION_OP(relu, "x where it is positive, else 0; a NaN stays (tf.nn.relu).", .names = "nn.relu",
              .inputs = "features", .outputs = "output")
ACTIVATION_OP(relu6, "x clipped to [0, 6] (tf.nn.relu6).", .names = "nn.relu6",
              .inputs = "features", .outputs = "output")
ACTIVATION_OP(elu, "x where it is positive, else exp(x) - 1 (tf.nn.elu).", .names = "nn.elu",
              .inputs = "features", .outputs = "output")
ACTIVATION_OP(sigmoid, "1 / (1 + exp(-x)) (tf.math.sigmoid).",
              .names = "math.sigmoid sigmoid nn.sigmoid", .inputs = "x", .outputs = "y")
ACTIVATION_OP(softplus, "log(1 + exp(x)) (tf.math.softplus).", .names = "math.softplus nn.softplus",
              .inputs = "features", .outputs = "output")

const leati_tensor_op leati_tensor_op_relu_grad = {
    .name = "relu_grad",
    .version = 1,
    .doc = "Gradient x where feature y is positive, else 0 (tf.raw_ops.ReluGrad).",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = relu_grad_infer,
    .kernel = relu_grad_kernel,
    .gradient = relu_grad_gradient,
};
