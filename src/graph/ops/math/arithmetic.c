/* abs, add, divide, divide_no_nan, maximum, minimum, multiply, multiply_no_nan, negate, nextafter,
 * reciprocal, sign, square, squared_difference, subtract (tf.math.abs and so on): arithmetic of
 * numbers; those of two operands broadcast.
 *
 * Integers wrap around: the smallest one stays itself when it is negated. Floats follow IEEE 754; a
 * NaN on either side of maximum and minimum wins, and the sign of NaN is NaN. The gradient of abs
 * at 0 is 0, that of equal operands of maximum and minimum goes to the first. Division and its kin
 * are of floats alone; integers are divided by floordiv, or cast first. Operations fail in
 * inference on dtypes that they do not have, and where dtypes differ or shapes do not broadcast. No
 * state, no locks. */
#include "base/minmax.h"
#include "core/tensor.h"
#include "graph/known.h"
#include "graph/support/math/elementwise.h"

/* ---- kernels ---- */
/* A magnitude is real. */
static leat_status infer_part(leati_infer_call *call, leat_error *err) {
    const leati_type *in = &call->inputs[0];
    return leati_op_infer_output(call, leati_dtype_part(in->dtype), &in->shape, NULL, err);
}

#define SIGNED1(OP, INTEGER, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128)                              \
    LEATI_LANES1_SIGNED(OP, INTEGER)                                                               \
    LEATI_LANES1_FLOAT(OP, FLOAT32, FLOAT64)                                                       \
    LEATI_LANES1_COMPLEX(OP, COMPLEX64, COMPLEX128)                                                \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_same, NULL, LEATI_TABLE_SIGNED(OP),                 \
                            LEATI_TABLE_FLOAT(OP), LEATI_TABLE_COMPLEX(OP))
/* The lowest integer has no opposite, so both count in unsigned numbers, which wrap. */
LEATI_LANES1_SIGNED(abs, x < 0 ? (U)0 - (U)x : (U)x)
LEATI_LANES1_FLOAT(abs, fabsf(x), fabs(x))
LEATI_LANE1_RARE(abs_complex64, leati_complex64, leati_complex64, float, cabsf(x))
LEATI_LANE1_RARE(abs_complex128, leati_complex128, leati_complex128, double, cabs(x))
LEATI_ELEMENTWISE_TABLE(abs, infer_part, NULL, LEATI_TABLE_SIGNED(abs), LEATI_TABLE_FLOAT(abs),
                        LEATI_TABLE_COMPLEX(abs))
SIGNED1(negate, (U)0 - (U)x, -x, -x, -x, -x)
/* NaN is its own sign; that of minus zero is 0, as in TensorFlow. */
#define SIGN (x < 0 ? (T)-1 : (x > 0 ? (T)1 : (x == 0 ? (T)0 : x)))
SIGNED1(sign, (x > 0) - (x < 0), SIGN, SIGN, leati_complex_fsign(x), leati_complex_dsign(x))

LEATI_LANES1_SIGNED(square, (U)x *(U)x)
LEATI_LANES1_UNSIGNED(square, (U)x *(U)x)
LEATI_LANES1_FLOAT(square, x *x, x *x)
LEATI_LANES1_COMPLEX(square, x *x, x *x)
LEATI_ELEMENTWISE_TABLE(square, leati_op_infer_same, NULL, LEATI_TABLE_NUMBER(square),
                        LEATI_TABLE_COMPLEX(square))

LEATI_FLOATS1_COMPLEX(reciprocal, 1.0f / x, 1.0 / x, 1.0f / x, 1.0 / x)
#define DIVIDED (y == 0 ? 0 : x / y)
#define MULTIPLIED (y == 0 ? 0 : x * y)
LEATI_FLOATS2_COMPLEX(divide_no_nan, DIVIDED, DIVIDED, DIVIDED, DIVIDED)
LEATI_FLOATS2_COMPLEX(multiply_no_nan, MULTIPLIED, MULTIPLIED, MULTIPLIED, MULTIPLIED)

/* Quotients of complex64 as C makes them, in float64, some side by side: what comes out as NaN is
 * left to C, which knows infinities. */
enum { QUOTIENTS = 128 };
typedef struct quotients {
    double parts[4][QUOTIENTS]; /* of x and y */
    float out[2][QUOTIENTS];
} quotients;

LEATI_ALWAYS_INLINE void divide_quotients_loop(quotients *q) {
    LEATI_INDEPENDENT
    for (int i = 0; i < QUOTIENTS; i++) {
        double a = q->parts[0][i], b = q->parts[1][i], c = q->parts[2][i], d = q->parts[3][i];
        double size = c * c + d * d;
        q->out[0][i] = (float)((a * c + b * d) / size);
        q->out[1][i] = (float)((b * c - a * d) / size);
    }
}
LEATI_ISA(divide_quotients, divide_quotients_loop, quotients *)

static void divide_complex64_dense(leati_lane *lane) {
    const leati_complex64 *in[2] = {(const leati_complex64 *)lane->in[0],
                                    (const leati_complex64 *)lane->in[1]};
    leati_complex64 *out = (leati_complex64 *)lane->out;
    int64_t step[2] = {lane->in_step[0] != 0, lane->in_step[1] != 0};
    quotients q = {.parts = {{0}}};
    for (int64_t at = 0; at < lane->n; at += QUOTIENTS) {
        int64_t n = LEATI_MIN(lane->n - at, QUOTIENTS);
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < n; i++) {
                leati_complex64 value = in[k][(at + i) * step[k]];
                q.parts[2 * k][i] = (double)crealf(value);
                q.parts[2 * k + 1][i] = (double)cimagf(value);
            }
        divide_quotients(&q);
        for (int64_t i = 0; i < n; i++) {
            float re = q.out[0][i], im = q.out[1][i];
            out[at + i] = re != re && im != im
                              ? in[0][(at + i) * step[0]] / in[1][(at + i) * step[1]]
                              : leati_complex64_of(re, im);
        }
    }
}

static void divide_complex64(leati_lane *lane) {
    leati_elementwise_run(lane, divide_complex64_dense, 2, sizeof(leati_complex64),
                          sizeof(leati_complex64));
}

LEATI_LANES2_FLOAT(divide, x / y, x / y)
LEATI_LANE2_RARE(divide_complex128, leati_complex128, leati_complex128, leati_complex128, x / y)
LEATI_ELEMENTWISE_TABLE(divide, leati_op_infer_broadcast, NULL, LEATI_TABLE_FLOAT(divide),
                        LEATI_TABLE_COMPLEX(divide))

LEATI_LANE2(nextafter_float32, float, float, float, nextafterf(x, y))
LEATI_LANE2(nextafter_float64, double, double, double, nextafter(x, y))
LEATI_ELEMENTWISE_TABLE(
    nextafter, leati_op_infer_broadcast,
    NULL, [LEAT_FLOAT32] = nextafter_float32, [LEAT_FLOAT64] = nextafter_float64)

/* FLOATS makes the lanes of floats; others stand at the end of the table. */
#define NUMBERS2(OP, INTEGER, FLOATS, ...)                                                         \
    LEATI_LANES2_INTEGER(OP, INTEGER)                                                              \
    FLOATS                                                                                         \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_broadcast, NULL,                                    \
                            LEATI_TABLE_NUMBER(OP) __VA_OPT__(, ) __VA_ARGS__)
LEATI_LANES2_COMPLEX(add, x + y, x + y)
LEATI_LANES2_COMPLEX(multiply, x *y, x *y)
LEATI_LANES2_COMPLEX(subtract, x - y, x - y)
NUMBERS2(add, (U)x + (U)y, LEATI_LANES2_FLOAT(add, x + y, x + y), LEATI_TABLE_COMPLEX(add))
NUMBERS2(maximum, LEATI_MAX(x, y),
         LEATI_LANES2_FLOAT(maximum, (x > y || x != x) ? x : y, (x > y || x != x) ? x : y))
NUMBERS2(minimum, LEATI_MIN(x, y),
         LEATI_LANES2_FLOAT(minimum, (x < y || x != x) ? x : y, (x < y || x != x) ? x : y))
NUMBERS2(multiply, (U)x *(U)y, LEATI_LANES2_FLOAT(multiply, x *y, x *y),
         LEATI_TABLE_COMPLEX(multiply))
/* The square of the distance, which is real. */
LEATI_LANES2_COMPLEX(squared_difference, (x - y) * conjf(x - y), (x - y) * conj(x - y))
NUMBERS2(squared_difference, ((U)x - (U)y) * ((U)x - (U)y),
         LEATI_LANES2_STEPS(squared_difference, LEATI_R(x - y) * LEATI_R(x - y), (x - y) * (x - y),
                            (x - y) * (x - y)),
         LEATI_TABLE_COMPLEX(squared_difference))
NUMBERS2(subtract, (U)x - (U)y, LEATI_LANES2_FLOAT(subtract, x - y, x - y),
         LEATI_TABLE_COMPLEX(subtract))

/* ---- gradients ---- */
LEATI_GRADIENT1(negate, leat_op_negate(g))
LEATI_GRADIENT1(reciprocal, leat_op_negate(leat_op_multiply(g, leat_op_square(y))))
LEATI_GRADIENT1(sign, leat_op_zeros_like(x))
LEATI_GRADIENT1(square, leat_op_multiply(g, leati_support_times(x, 2)))
LEATI_GRADIENT2(add, g, g)
LEATI_GRADIENT2(divide, leat_op_divide(g, y),
                leat_op_negate(leat_op_multiply(g, leat_op_divide(leat_op_divide(x, y), y))))
LEATI_GRADIENT2(multiply, leat_op_multiply(g, y), leat_op_multiply(g, x))
/* What flows to x is 0 where y is, what flows to y where g is, whatever the other factor: no NaN
 * comes up. */
LEATI_GRADIENT2(multiply_no_nan, leat_op_multiply_no_nan(g, y), leat_op_multiply_no_nan(x, g))
LEATI_GRADIENT2(nextafter, g, leat_op_zeros_like(g))
LEATI_GRADIENT2(subtract, g, leat_op_negate(g))

static leat_status abs_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value x = call->inputs[0], g = call->output_gradients[0];
    /* In the direction of x: what flows is real where x is complex, too. */
    call->input_gradients[0] =
        leat_op_multiply(leat_op_cast(g, leat_value_dtype(x)), leat_op_sign(x));
    return LEAT_OK;
}

static leat_status divide_no_nan_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value x = leati_support_conjugate(call->inputs[0]);
    leat_value y = leati_support_conjugate(call->inputs[1]), g = call->output_gradients[0];
    leat_value slope = leat_op_divide_no_nan(g, y);
    leat_value turn = leat_op_divide_no_nan(leat_op_divide_no_nan(leat_op_negate(x), y), y);
    call->input_gradients[0] = leati_op_gradient_unbroadcast(slope, x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_multiply(g, turn), y);
    return LEAT_OK;
}

static leat_status squared_difference_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    leat_value slope = leat_op_multiply(g, leati_support_times(leat_op_subtract(x, y), 2));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(slope, x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(leat_op_negate(slope), y);
    return LEAT_OK;
}

/* Of an extreme, which is x where `mask` holds. */
static void extreme_gradient(leati_gradient_call *call, leat_value mask) {
    leat_value g = call->output_gradients[0], none = leat_op_zeros_like(g);
    call->input_gradients[0] =
        leati_op_gradient_unbroadcast(leat_op_select(mask, g, none), call->inputs[0]);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_select(mask, none, g), call->inputs[1]);
}

static leat_status maximum_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    extreme_gradient(call, leat_op_greater_equal(call->inputs[0], call->inputs[1]));
    return LEAT_OK;
}

static leat_status minimum_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    extreme_gradient(call, leat_op_less_equal(call->inputs[0], call->inputs[1]));
    return LEAT_OK;
}

/* ---- what is known while a graph is built ---- */
/* A shape may be of int32, whose numbers wrap where an int64 would go on: what does not fit is not
 * known. */
#define KNOWN(OP, OVERFLOWS)                                                                       \
    static bool OP##_fits(int64_t x, int64_t y, int64_t *out) {                                    \
        return !OVERFLOWS(x, y, out) && *out >= INT32_MIN && *out <= INT32_MAX;                    \
    }                                                                                              \
    static bool OP##_known(const leati_known_call *call, leati_known *out) {                       \
        return leati_known_combined(call, OP##_fits, out);                                         \
    }
KNOWN(add, __builtin_add_overflow)
KNOWN(multiply, __builtin_mul_overflow)
KNOWN(subtract, __builtin_sub_overflow)

/* ---- descriptors ---- */
LEATI_NUMBER_OP1(abs, .doc = "The magnitude of x (tf.math.abs).", .names = "math.abs abs")
LEATI_NUMBER_OP2(add, .doc = "x + y of equal dtypes, broadcast; integers wrap (tf.math.add).",
                 .names = "math.add add", .of_strings = "string_join", .known = add_known)
LEATI_NUMBER_OP2(divide,
                 .doc = "x / y of equal float dtypes, broadcast, by IEEE 754 (tf.math.divide).",
                 .names = "math.divide divide math.truediv truediv", .quotient = true)
LEATI_NUMBER_OP2(divide_no_nan,
                 .doc = "X / y of floats, 0 where y is 0, broadcast (tf.math.divide_no_nan).",
                 .names = "math.divide_no_nan", .quotient = true)
LEATI_NUMBER_OP2(maximum, .doc = "The larger of x and y, broadcast; a NaN wins (tf.math.maximum).",
                 .names = "math.maximum maximum")
LEATI_NUMBER_OP2(minimum, .doc = "The smaller of x and y, broadcast; a NaN wins (tf.math.minimum).",
                 .names = "math.minimum minimum")
LEATI_NUMBER_OP2(multiply,
                 .doc = "x * y of equal dtypes, broadcast; integers wrap (tf.math.multiply).",
                 .names = "math.multiply multiply", .known = multiply_known)
LEATI_NUMBER_OP2(
    multiply_no_nan,
    .doc = "X * y of floats, 0 where y is 0 whatever x is, broadcast (tf.math.multiply_no_nan).",
    .names = "math.multiply_no_nan")
LEATI_NUMBER_OP1(negate, .doc = "-x of signed numbers (tf.math.negative).",
                 .names = "math.negative negative")
LEATI_ELEMENTWISE_OP2(nextafter,
                      .doc = "The next number after x1 in the direction of x2 (tf.math.nextafter).",
                      .names = "math.nextafter", .inputs = "x1 x2", .types = "T T",
                      .outputs = "output", .halves = LEATI_HALVES_NONE,
                      .gradient = nextafter_gradient)
LEATI_NUMBER_OP1(reciprocal, .doc = "1 / x (tf.math.reciprocal).", .names = "math.reciprocal")
LEATI_NUMBER_OP1(sign, .doc = "-1, 0 or 1 as x is negative, zero or positive (tf.math.sign).",
                 .names = "math.sign sign")
LEATI_NUMBER_OP1(square, .doc = "x * x; integers wrap (tf.math.square).",
                 .names = "math.square square")
LEATI_NUMBER_OP2(squared_difference,
                 .doc = "(x - y) squared, broadcast (tf.math.squared_difference).",
                 .names = "math.squared_difference")
LEATI_NUMBER_OP2(subtract,
                 .doc = "x - y of equal dtypes, broadcast; integers wrap (tf.math.subtract).",
                 .names = "math.subtract subtract", .known = subtract_known)
