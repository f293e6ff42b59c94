/* relu, relu6, elu, sigmoid, softplus: x where it is positive, else 0; clipped to [0, 6]; where it
 * is not positive exp(x) - 1; 1 / (1 + exp(-x)); log(1 + exp(x)), without overflow (tf.nn.relu and
 * its like). relu_grad: the gradient where the features are positive, else 0 (tf.raw_ops.ReluGrad);
 * they may be relu's input or its output.
 *
 * A NaN stays NaN; the gradient of relu at 0 is 0. Fails in inference on other dtypes, and in
 * relu_grad where dtypes differ or shapes do not broadcast. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"
#include "graph/support/math/functions_wide.h"

LEATI_LANES1_SIGNED(relu, LEATI_MAX(x, 0))
LEATI_LANES1_UNSIGNED(relu, x)
/* A comparison with NaN is false, so of `x < 0 ? 0 : x` a NaN comes through. */
LEATI_LANES1_FLOAT(relu, x < 0 ? (T)0 : x, x < 0 ? (T)0 : x)
LEATI_ELEMENTWISE_TABLE(relu, leati_op_infer_same, NULL, LEATI_TABLE_NUMBER(relu))

LEATI_LANES1_SIGNED(relu6, x<0 ? 0 : x> 6 ? 6 : x)
LEATI_LANES1_UNSIGNED(relu6, LEATI_MIN(6, x))
/* LEATI_MIN(6, NaN) is NaN in this order of operands alone; NaN is asked for first to be sure. */
LEATI_LANES1_FLOAT(relu6,
                   x != x  ? x
                   : x < 0 ? 0
                           : LEATI_MIN(6, x),
                   x != x  ? x
                   : x < 0 ? 0
                           : LEATI_MIN(6, x))
LEATI_ELEMENTWISE_TABLE(relu6, leati_op_infer_same, NULL, LEATI_TABLE_NUMBER(relu6))

/* expm1 keeps the digits of a small x, which exp(x) - 1 would cancel. */
#define ELU_HALF (x < 0 ? LEATI_R(leati_math_exp(x)) - 1 : x)
LEATI_FLOATS1_STEPS(elu, ELU_HALF, ELU_HALF, x < 0 ? leati_math_expm1(x) : x,
                    x < 0 ? leati_math_wide_expm1(x) : x)
#define SIGMOID leati_math_sigmoid(x)
#define SIGMOID_HALF                                                                               \
    (leati_math_exp(x) > 65504.0f                                                                  \
         ? 1                                                                                       \
         : LEATI_R(leati_math_exp(x)) / LEATI_R(1 + LEATI_R(leati_math_exp(x))))
LEATI_LANES1_STEPS(sigmoid, SIGMOID_HALF, SIGMOID, SIGMOID, leati_math_wide_sigmoid(x))
LEATI_LANES1_COMPLEX(sigmoid, 1.0f / (1.0f + cexpf(-x)), 1.0 / (1.0 + cexp(-x)))
LEATI_ELEMENTWISE_TABLE(sigmoid, leati_op_infer_same, NULL, LEATI_TABLE_FLOAT(sigmoid),
                        LEATI_TABLE_COMPLEX(sigmoid))
/* log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)): no exponential is above 1. */
#define SOFTPLUS leati_math_softplus(x)
/* Where float16 cannot tell the difference it is x or exp(x). */
#define SOFTPLUS_HALF                                                                              \
    (x > SOFTPLUS_FAR    ? x                                                                       \
     : x < -SOFTPLUS_FAR ? leati_math_exp(x)                                                       \
                         : leati_math_log1p(LEATI_R(leati_math_exp(x))))
#define SOFTPLUS_FAR 4.93f
LEATI_FLOATS1_STEPS(softplus, SOFTPLUS_HALF, SOFTPLUS, SOFTPLUS, leati_math_wide_softplus(x))
LEATI_FLOATS2(relu_grad, y > 0 ? x : (T)0, y > 0 ? x : (T)0)

/* The gradient where x is between 0 and 6. */
static leat_value inside_six(leat_value g, leat_value x) {
    leat_value six = leati_support_number(x.graph, leat_value_dtype(x), 6);
    leat_value inside =
        leat_op_logical_and(leat_op_greater(x, leat_op_zeros_like(x)), leat_op_less(x, six));
    return leat_op_select(inside, g, leat_op_zeros_like(g));
}

LEATI_GRADIENT1(relu, leat_op_relu_grad(g, x))
LEATI_GRADIENT1(relu6, inside_six(g, x))
LEATI_GRADIENT1(elu, leat_op_select(leat_op_less(y, leat_op_zeros_like(y)),
                                    leat_op_multiply(leat_op_add(y, leat_op_ones_like(y)), g), g))
LEATI_GRADIENT1(sigmoid,
                leat_op_multiply(leat_op_multiply(g, y), leat_op_subtract(leat_op_ones_like(y), y)))
LEATI_GRADIENT1(softplus, leat_op_multiply(g, leat_op_sigmoid(x)))
/* Linear in the gradient: what flows back is masked by the same features. Those get nothing. */
LEATI_GRADIENT1(relu_grad, leat_op_relu_grad(g, call->inputs[1]))

/* The builder and the descriptor of an operation on features. */
#define ACTIVATION_OP(OP, ...)                                                                     \
    LEATI_ELEMENTWISE_OP(OP, 1, .inputs = "features", .outputs = "output", .types = "T",           \
                         .halves = LEATI_HALVES_OWN, .gradient = OP##_gradient, __VA_ARGS__)
ACTIVATION_OP(relu, .doc = "x where it is positive, else 0; a NaN stays (tf.nn.relu).",
              .names = "nn.relu")
ACTIVATION_OP(relu6, .doc = "x clipped to [0, 6] (tf.nn.relu6).", .names = "nn.relu6")
ACTIVATION_OP(elu, .doc = "x where it is positive, else exp(x) - 1 (tf.nn.elu).", .names = "nn.elu")
ACTIVATION_OP(softplus, .doc = "log(1 + exp(x)) (tf.math.softplus).",
              .names = "math.softplus nn.softplus")
LEATI_NUMBER_OP1(sigmoid, .doc = "1 / (1 + exp(-x)) (tf.math.sigmoid).",
                 .names = "math.sigmoid sigmoid nn.sigmoid")

const leati_tensor_op leati_tensor_op_relu_grad = {
    .name = "relu_grad",
    .version = 1,
    .doc = "Gradient x where feature y is positive, else 0 (tf.raw_ops.ReluGrad).",
    .inputs = "gradients features",
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
