/* acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan, tanh: circular and
 * hyperbolic functions and their inverses, of floats and, but for atan2, complex numbers; angles
 * are in radians (tf.math.acos and so on). atan2 broadcasts. They fail in inference on other
 * dtypes, and where dtypes differ or shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/functions_special.h"

LEATI_FLOATS1_COMPLEX(acos, leati_math_acos(x), acos(x), cacosf(x), cacos(x))
LEATI_FLOATS1_COMPLEX(acosh, leati_math_acosh(x), acosh(x), cacoshf(x), cacosh(x))
LEATI_FLOATS1_COMPLEX(asin, leati_math_asin(x), asin(x), casinf(x), casin(x))
LEATI_FLOATS1_COMPLEX(asinh, leati_math_asinh(x), asinh(x), casinhf(x), casinh(x))
LEATI_FLOATS1_COMPLEX(atan, leati_math_atan(x), leati_math_wide_atan(x), catanf(x), catan(x))
LEATI_FLOATS2(atan2, leati_math_atan2(x, y), leati_math_wide_atan2(x, y))
LEATI_FLOATS1_COMPLEX(atanh, leati_math_atanh(x), atanh(x), catanhf(x), catanh(x))
LEATI_FLOATS1_COMPLEX(cosh, leati_math_cosh(x), cosh(x), ccoshf(x), ccosh(x))
LEATI_FLOATS1_COMPLEX(sinh, leati_math_sinh(x), sinh(x), csinhf(x), csinh(x))
LEATI_FLOATS1_COMPLEX(tanh, leati_math_tanh(x), leati_math_wide_tanh(x), ctanhf(x), ctanh(x))

/* Whether no value of a lane is too far from 0 for the fast functions; NaN is not. */
#define IS_NEAR(TYPE, ABS, MOST)                                                                   \
    static bool TYPE##_is_near(const leati_lane *lane) {                                           \
        bool near = true;                                                                          \
        for (int64_t i = 0; i < lane->n; i++)                                                      \
            near &= !(ABS(*(const TYPE *)(lane->in[0] + i * lane->in_step[0])) > MOST);            \
        return near;                                                                               \
    }
IS_NEAR(float, fabsf, LEATI_MATH_CIRCULAR_MOST)
IS_NEAR(double, fabs, LEATI_MATH_WIDE_CIRCULAR_MOST)

/* A value has the same bits whatever lies beside it. */
#define CIRCULAR_LANE(NAME, TYPE, FAST, FAR, IS_FAR)                                               \
    LEATI_LANE1(NAME##_near, TYPE, TYPE, TYPE, FAST(x))                                            \
    LEATI_LANE1_RARE(NAME##_far, TYPE, TYPE, TYPE, IS_FAR ? FAR(x) : FAST(x))                      \
    static void NAME(leati_lane *lane) {                                                           \
        if (TYPE##_is_near(lane))                                                                  \
            NAME##_near(lane);                                                                     \
        else                                                                                       \
            NAME##_far(lane);                                                                      \
    }
#define CIRCULAR(OP, COMPLEX64, COMPLEX128)                                                        \
    CIRCULAR_LANE(OP##_float32, float, leati_math_##OP, OP##f,                                     \
                  fabsf(x) > LEATI_MATH_CIRCULAR_MOST)                                             \
    LEATI_LANES_OF_HALVES(OP, 1, sizeof(uint16_t))                                                 \
    LEATI_LANES1_COMPLEX(OP, COMPLEX64(x), COMPLEX128(x))                                          \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_same, NULL, LEATI_TABLE_FLOAT(OP),                  \
                            LEATI_TABLE_COMPLEX(OP))
#define WIDE_CIRCULAR(OP)                                                                          \
    CIRCULAR_LANE(OP##_float64, double, leati_math_wide_##OP, OP,                                  \
                  fabs(x) > LEATI_MATH_WIDE_CIRCULAR_MOST)
WIDE_CIRCULAR(cos)
WIDE_CIRCULAR(sin)
LEATI_LANE1_RARE(tan_float64, double, double, double, tan(x))
CIRCULAR(cos, ccosf, ccos)
CIRCULAR(sin, csinf, csin)
CIRCULAR(tan, ctanf, ctan)

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
