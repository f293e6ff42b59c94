/* acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan, tanh: circular and
 * hyperbolic functions and their inverses, of floats; angles are in radians (tf.math.acos and so
 * on). atan2 broadcasts. They fail in inference on other dtypes, and where dtypes differ or shapes
 * do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

LEATI_FLOATS1(acos, acosf(x), acos(x))
LEATI_FLOATS1(acosh, acoshf(x), acosh(x))
LEATI_FLOATS1(asin, asinf(x), asin(x))
LEATI_FLOATS1(asinh, asinhf(x), asinh(x))
LEATI_FLOATS1(atan, atanf(x), atan(x))
LEATI_FLOATS2(atan2, atan2f(x, y), atan2(x, y))
LEATI_FLOATS1(atanh, atanhf(x), atanh(x))
LEATI_FLOATS1(cos, cosf(x), cos(x))
LEATI_FLOATS1(cosh, coshf(x), cosh(x))
LEATI_FLOATS1(sin, sinf(x), sin(x))
LEATI_FLOATS1(sinh, sinhf(x), sinh(x))
LEATI_FLOATS1(tan, tanf(x), tan(x))
LEATI_FLOATS1(tanh, tanhf(x), tanh(x))

/* 1 + x * x, or 1 - x * x. */
static leat_value one_with_square(leat_value x, leat_value (*join)(leat_value, leat_value)) {
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    return join(one, leat_op_square(x));
}

static leat_value asin_slope(leat_value g, leat_value x) {
    return leat_op_divide(g, leat_op_sqrt(one_with_square(x, leat_op_subtract)));
}

LEATI_GRADIENT1(acos, leat_op_negate(asin_slope(g, x)))
/* sqrt(x * x - 1) is sinh(y), and that of asinh is cosh(y): by y nothing cancels. */
LEATI_GRADIENT1(acosh, leat_op_divide(g, leat_op_sinh(y)))
LEATI_GRADIENT1(asin, asin_slope(g, x))
LEATI_GRADIENT1(asinh, leat_op_divide(g, leat_op_cosh(y)))
LEATI_GRADIENT1(atan, leat_op_divide(g, one_with_square(x, leat_op_add)))
LEATI_GRADIENT1(atanh, leat_op_divide(g, one_with_square(x, leat_op_subtract)))
LEATI_GRADIENT1(cos, leat_op_negate(leat_op_multiply(g, leat_op_sin(x))))
LEATI_GRADIENT1(cosh, leat_op_multiply(g, leat_op_sinh(x)))
LEATI_GRADIENT1(sin, leat_op_multiply(g, leat_op_cos(x)))
LEATI_GRADIENT1(sinh, leat_op_multiply(g, leat_op_cosh(x)))
LEATI_GRADIENT1(tan, leat_op_multiply(leat_op_square(leat_op_reciprocal(leat_op_cos(x))), g))
LEATI_GRADIENT1(tanh, leat_op_subtract(g, leat_op_multiply(g, leat_op_square(y))))

static leat_status atan2_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->inputs[0], x = call->inputs[1];
    leat_value part = leat_op_divide(g, leat_op_add(leat_op_square(x), leat_op_square(y)));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_multiply(x, part), y);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_negate(leat_op_multiply(y, part)), x);
    return LEAT_OK;
}

LEATI_NUMBER_OP1(acos, .doc = "The inverse cosine, in radians (tf.math.acos).",
                 .names = "math.acos acos")
LEATI_NUMBER_OP1(acosh, .doc = "The inverse hyperbolic cosine (tf.math.acosh).",
                 .names = "math.acosh acosh")
LEATI_NUMBER_OP1(asin, .doc = "The inverse sine, in radians (tf.math.asin).",
                 .names = "math.asin asin")
LEATI_NUMBER_OP1(asinh, .doc = "The inverse hyperbolic sine (tf.math.asinh).",
                 .names = "math.asinh asinh")
LEATI_NUMBER_OP1(atan, .doc = "The inverse tangent, in radians (tf.math.atan).",
                 .names = "math.atan atan")
LEATI_ELEMENTWISE_OP2(
    atan2,
    .doc = "The angle of the point (x, y), in radians from -pi to pi, broadcast (tf.math.atan2).",
    .names = "math.atan2 atan2", .inputs = "y x", .types = "T T", .outputs = "z",
    .halves = LEATI_HALVES_OWN, .gradient = atan2_gradient)
LEATI_NUMBER_OP1(atanh, .doc = "The inverse hyperbolic tangent (tf.math.atanh).",
                 .names = "math.atanh atanh")
LEATI_NUMBER_OP1(cos, .doc = "The cosine of x in radians (tf.math.cos).", .names = "math.cos cos")
LEATI_NUMBER_OP1(cosh, .doc = "The hyperbolic cosine (tf.math.cosh).", .names = "math.cosh cosh")
LEATI_NUMBER_OP1(sin, .doc = "The sine of x in radians (tf.math.sin).", .names = "math.sin sin")
LEATI_NUMBER_OP1(sinh, .doc = "The hyperbolic sine (tf.math.sinh).", .names = "math.sinh sinh")
LEATI_NUMBER_OP1(tan, .doc = "The tangent of x in radians (tf.math.tan).", .names = "math.tan tan")
LEATI_NUMBER_OP1(tanh, .doc = "The hyperbolic tangent of x (tf.math.tanh).",
                 .names = "math.tanh tanh nn.tanh")
