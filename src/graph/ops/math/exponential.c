/* exp, expm1, log, log1p, pow, rsqrt, sqrt, and xdivy, xlog1py, xlogy, which are 0 where x is 0
 * (tf.math.exp and so on): of floats; pow is of signed integers too, which wrap. Those of two
 * operands broadcast. They fail in inference on other dtypes, and where dtypes differ or shapes do
 * not broadcast; pow in a run on a negative power of an integer. No state, no locks. */
#include "graph/support/math/elementwise.h"
#include "graph/support/math/functions_special.h"

LEATI_FLOATS1_COMPLEX(exp, leati_math_exp(x), leati_math_wide_exp(x), cexpf(x), cexp(x))
LEATI_FLOATS1_COMPLEX(expm1, leati_math_expm1(x), leati_math_wide_expm1(x), leati_complex_fexpm1(x),
                      leati_complex_dexpm1(x))
LEATI_FLOATS1_COMPLEX(log, leati_math_log(x), leati_math_wide_log(x), clogf(x), clog(x))
LEATI_FLOATS1_COMPLEX(log1p, leati_math_log1p(x), leati_math_wide_log1p(x), leati_complex_flog1p(x),
                      leati_complex_dlog1p(x))
LEATI_FLOATS1_COMPLEX(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x), 1.0f / csqrtf(x), 1.0 / csqrt(x))
LEATI_FLOATS1_COMPLEX(sqrt, sqrtf(x), sqrt(x), csqrtf(x), csqrt(x))
#define XDIVY (x == 0 ? 0 : x / y)
LEATI_FLOATS2_COMPLEX(xdivy, XDIVY, XDIVY, XDIVY, XDIVY)
LEATI_FLOATS2_STEPS(xlog1py, x == 0 ? 0 : x * LEATI_R(leati_math_log1p(y)),
                    x == 0 ? 0 : x * leati_math_log1p(y), x == 0 ? 0 : x * leati_math_wide_log1p(y))
LEATI_FLOATS2_STEPS(xlogy, x == 0 ? 0 : x * LEATI_R(leati_math_log(y)),
                    x == 0 ? 0 : x * leati_math_log(y), x == 0 ? 0 : x * leati_math_wide_log(y))

/* The square and the cube of everything, where a number is the exponent. */
LEATI_LANES1_SIGNED(square_of, (U)x *(U)x)
LEATI_LANE1(square_of_float32, float, float, float, x *x)
LEATI_LANE1(square_of_float64, double, double, double, x *x)
LEATI_LANE1(cube_of_float32, float, float, float, (double)x *(double)x *(double)x)

/* The exponent of all values, or 0: there is none. */
#define EXPONENT(TYPE, lane)                                                                       \
    ((lane)->n > 1 && (lane)->in_step[1] == 0 ? *(const TYPE *)(lane)->in[1] : 0)

/* Integers by squaring, wrapping around; a negative exponent refuses the value. */
#define POW_LANE(KIND, TYPE, UTYPE)                                                                \
    static void pow_##KIND(leati_lane *lane) {                                                     \
        if (EXPONENT(TYPE, lane) == 2) {                                                           \
            square_of_##KIND(lane);                                                                \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            TYPE y = *(const TYPE *)(lane->in[1] + i * lane->in_step[1]);                          \
            UTYPE base = (UTYPE) * (const TYPE *)(lane->in[0] + i * lane->in_step[0]), result = 1; \
            if (y < 0) {                                                                           \
                lane->failed = i;                                                                  \
                return;                                                                            \
            }                                                                                      \
            for (; y > 0; y = (TYPE)(y >> 1)) {                                                    \
                result = (UTYPE)(y & 1 ? result * base : result);                                  \
                base = (UTYPE)(base * base);                                                       \
            }                                                                                      \
            *(TYPE *)(lane->out + i * lane->out_step) = (TYPE)result;                              \
        }                                                                                          \
    }

POW_LANE(int8, int8_t, uint32_t)
POW_LANE(int16, int16_t, uint32_t)
POW_LANE(int32, int32_t, uint32_t)
POW_LANE(int64, int64_t, uint64_t)
LEATI_LANE2(any_pow_float32, float, float, float, leati_math_pow(x, y))
LEATI_LANE2(any_pow_float64, double, double, double, y == 2 ? x * x : pow(x, y))

static void pow_float32(leati_lane *lane) {
    float exponent = EXPONENT(float, lane);
    (exponent == 2 ? square_of_float32 : exponent == 3 ? cube_of_float32 : any_pow_float32)(lane);
}

static void pow_float64(leati_lane *lane) {
    (EXPONENT(double, lane) == 2 ? square_of_float64 : any_pow_float64)(lane);
}
LEATI_LANES_OF_HALVES(pow, 2, sizeof(uint16_t))
LEATI_LANES2_COMPLEX(pow, cpowf(x, y), cpow(x, y))
LEATI_ELEMENTWISE_TABLE(pow, leati_op_infer_broadcast,
                        "a negative power of an integer is no integer; cast to floats first",
                        LEATI_TABLE_SIGNED(pow), LEATI_TABLE_FLOAT(pow), LEATI_TABLE_COMPLEX(pow))

static leat_value one_of(leat_value x) {
    return leati_support_number(x.graph, leat_value_dtype(x), 1);
}

/* 0 where x is 0, else 1: where x is 0 nothing flows to y. */
static leat_value some(leat_value x) {
    leat_value zero = leati_support_number(x.graph, leat_value_dtype(x), 0);
    return leat_op_cast(leat_op_not_equal(x, zero), leat_value_dtype(x));
}

LEATI_GRADIENT1(exp, leat_op_multiply(g, y))
LEATI_GRADIENT1(expm1, leat_op_multiply(g, leat_op_exp(x)))
LEATI_GRADIENT1(log, leat_op_divide(g, x))
LEATI_GRADIENT1(log1p, leat_op_divide(g, leat_op_add(one_of(x), x)))
LEATI_GRADIENT1(rsqrt, leat_op_multiply(leati_support_times(leat_op_multiply(g, y), -0.5),
                                        leat_op_square(y)))
LEATI_GRADIENT1(sqrt, leat_op_divide(leati_support_times(g, 0.5), y))
LEATI_GRADIENT2(xdivy, leat_op_multiply(g, leat_op_xdivy(some(x), y)),
                leat_op_multiply(g, leat_op_negate(leat_op_xdivy(x, leat_op_square(y)))))
LEATI_GRADIENT2(xlog1py, leat_op_multiply(g, leat_op_xlog1py(some(x), y)),
                leat_op_multiply(g, leat_op_xdivy(x, leat_op_add(y, one_of(x)))))
LEATI_GRADIENT2(xlogy, leat_op_multiply(g, leat_op_xlogy(some(x), y)),
                leat_op_multiply(g, leat_op_xdivy(x, y)))

static leat_status pow_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value x = leati_support_conjugate(call->inputs[0]), g = call->output_gradients[0];
    leat_value y = leati_support_conjugate(call->inputs[1]);
    leat_value z = leati_support_conjugate(call->outputs[0]), none = leat_op_zeros_like(z);
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    /* As TensorFlow, 0 stands for the logarithm where x is not positive, or complex and 0: no NaN
     * flows to y. */
    bool ordered = leati_graph_dtype_is_floating(leat_value_dtype(x));
    leat_value positive = (ordered ? leat_op_greater : leat_op_not_equal)(x, leat_op_zeros_like(x));
    leat_value logarithm = leat_op_select(positive, leat_op_log(x), none);
    leat_value slope = leat_op_multiply(y, leat_op_pow(x, leat_op_subtract(y, one)));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_multiply(g, slope), x);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_multiply(g, leat_op_multiply(z, logarithm)), y);
    return LEAT_OK;
}

LEATI_NUMBER_OP1(exp, .doc = "e to the power of x (tf.math.exp).", .names = "math.exp exp")
LEATI_NUMBER_OP1(expm1, .doc = "E to the power of x, minus 1 (tf.math.expm1).",
                 .names = "math.expm1")
LEATI_NUMBER_OP1(log, .doc = "The natural logarithm of x (tf.math.log).", .names = "math.log")
LEATI_NUMBER_OP1(log1p, .doc = "The natural logarithm of 1 + x (tf.math.log1p).",
                 .names = "math.log1p")
LEATI_NUMBER_OP2(pow, .doc = "x to the power of y, broadcast (tf.math.pow).",
                 .names = "math.pow pow")
LEATI_NUMBER_OP1(rsqrt, .doc = "1 / sqrt(x) (tf.math.rsqrt).", .names = "math.rsqrt")
LEATI_NUMBER_OP1(sqrt, .doc = "The square root of x; NaN below zero (tf.math.sqrt).",
                 .names = "math.sqrt sqrt")
LEATI_NUMBER_OP2(xdivy, .doc = "x / y, and 0 where x is 0 (tf.math.xdivy).", .names = "math.xdivy")
LEATI_NUMBER_OP2(xlog1py, .doc = "x * log(1 + y), and 0 where x is 0 (tf.math.xlog1py).",
                 .names = "math.xlog1py")
LEATI_NUMBER_OP2(xlogy, .doc = "x * log(y), and 0 where x is 0 (tf.math.xlogy).",
                 .names = "math.xlogy")
