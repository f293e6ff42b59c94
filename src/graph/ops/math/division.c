/* floordiv, floormod, truncatediv, truncatemod: quotients rounded down (Python's //) or towards
 * zero, and their remainders, broadcast (tf.math.floordiv and so on).
 *
 * Integers divide exactly; the smallest one divided by -1 wraps. Floats follow IEEE 754. A constant
 * divisor that is a power of two becomes a shift or a mask, which vectorises; others divide one by
 * one. They fail in inference where dtypes differ or shapes do not broadcast, and in a run where an
 * integer divisor is 0. No state, no locks. */
#include "graph/known.h"
#include "graph/support/math/elementwise.h"

#include <float.h>

/* The number of the only bit of a positive power of two; -1 for other values. */
static int power_of_two(int64_t value) {
    /* An unsigned divisor of 2^63 or more comes as a negative number and takes the other loop. */
    return value > 0 && (value & (value - 1)) == 0 ? __builtin_ctzll((uint64_t)value) : -1;
}

/* Dense operand over a constant power of two: FAST sees x and `shift`. */
#define DIVISION_FAST(TYPE, FAST)                                                                  \
    if (lane->in_step[1] == 0 && lane->in_step[0] == (int64_t)sizeof(TYPE) &&                      \
        lane->out_step == (int64_t)sizeof(TYPE)) {                                                 \
        int shift = power_of_two((int64_t) * (const TYPE *)lane->in[1]);                           \
        if (shift >= 0) {                                                                          \
            const TYPE *a = (const TYPE *)lane->in[0];                                             \
            TYPE *out = (TYPE *)lane->out;                                                         \
            for (int64_t i = 0; i < lane->n; i++) {                                                \
                TYPE x = a[i];                                                                     \
                out[i] = (TYPE)(FAST);                                                             \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
    }

/* RESULT sees x, y, the truncated quotient q and its remainder r. */
#define DIVISION_LOOP(TYPE, QUOTIENT, RESULT)                                                      \
    for (int64_t i = 0; i < lane->n; i++) {                                                        \
        TYPE x = *(const TYPE *)(lane->in[0] + i * lane->in_step[0]);                              \
        TYPE y = *(const TYPE *)(lane->in[1] + i * lane->in_step[1]);                              \
        if (y == 0) {                                                                              \
            lane->failed = i;                                                                      \
            return;                                                                                \
        }                                                                                          \
        TYPE q = (TYPE)(QUOTIENT);                                                                 \
        TYPE r LEATI_UNUSED = (TYPE)((U)x - (U)q * (U)y);                                          \
        *(TYPE *)(lane->out + i * lane->out_step) = (TYPE)(RESULT);                                \
    }

#define DIVISION_LANE(NAME, TYPE, UTYPE, QUOTIENT, FAST, RESULT)                                   \
    static void NAME(leati_lane *lane) {                                                           \
        typedef UTYPE U;                                                                           \
        DIVISION_FAST(TYPE, FAST)                                                                  \
        DIVISION_LOOP(TYPE, QUOTIENT, RESULT)                                                      \
    }

/* The lowest integer over -1 does not fit, and its division traps on x86. */
#define SIGNED_QUOTIENT (y == -1 ? (U)0 - (U)x : (U)(x / y))

/* All integers of an operation: RESULT for signed ones, where q and r are truncated, and for
 * unsigned ones, where they are rounded down already. */
#define DIVISION_LANES(OP, FAST, SIGNED, UNSIGNED)                                                 \
    DIVISION_LANE(OP##_int8, int8_t, uint32_t, SIGNED_QUOTIENT, FAST, SIGNED)                      \
    DIVISION_LANE(OP##_int16, int16_t, uint32_t, SIGNED_QUOTIENT, FAST, SIGNED)                    \
    DIVISION_LANE(OP##_int32, int32_t, uint32_t, SIGNED_QUOTIENT, FAST, SIGNED)                    \
    DIVISION_LANE(OP##_int64, int64_t, uint64_t, SIGNED_QUOTIENT, FAST, SIGNED)                    \
    DIVISION_LANE(OP##_uint8, uint8_t, uint32_t, x / y, FAST, UNSIGNED)                            \
    DIVISION_LANE(OP##_uint16, uint16_t, uint32_t, x / y, FAST, UNSIGNED)                          \
    DIVISION_LANE(OP##_uint32, uint32_t, uint32_t, x / y, FAST, UNSIGNED)                          \
    DIVISION_LANE(OP##_uint64, uint64_t, uint64_t, x / y, FAST, UNSIGNED)

/* Whether a truncated division must be corrected to round down. */
#define ROUNDED_UP (r != 0 && (r < 0) != (y < 0))

static double floor_remainder(double x, double y) {
    /* fmod has the sign of x; the remainder of floordiv has that of y. */
    double r = fmod(x, y);
    return r != 0 && (y < 0) != (r < 0) ? r + y : r;
}

/* fmodf, which divides bit by bit: where the quotient is small, quotient, product and difference of
 * doubles are exact but for a quotient that was rounded up to the next integer. */
static inline float remainderf_of(float x, float y) {
    double q = (double)x / (double)y;
    if (!(fabs(q) < 0x1p28 && fabsf(y) <= FLT_MAX))
        return fmodf(x, y);
    double r = (double)x - trunc(q) * (double)y;
    r = r != 0 && (r < 0) != (x < 0) ? r + copysign((double)y, (double)x) : r;
    return copysignf((float)r, x);
}

static float floor_remainderf(float x, float y) {
    float r = remainderf_of(x, y);
    return r != 0 && (y < 0) != (r < 0) ? r + y : r;
}

/* In two's complement a shift rounds down and a mask is never negative, for negative x, too. */
DIVISION_LANES(floordiv, x >> shift, ROUNDED_UP ? (U)q - 1 : (U)q, q)
/* Halves round their quotient first: -73.02 of float16 becomes -73, not -74. */
LEATI_LANES2_STEPS(floordiv, floorf(LEATI_R(x / y)), floorf(x / y), floor(x / y))
DIVISION_LANES(floormod, (U)x &(((U)1 << shift) - 1), ROUNDED_UP ? (U)r + (U)y : (U)r, r)
LEATI_LANES2_FLOAT(floormod, floor_remainderf(x, y), floor_remainder(x, y))
/* A shift would round down, so these divide; what they save is the look at each divisor. */
DIVISION_LANES(truncatediv, x / (__typeof__(x))(UINT64_C(1) << shift), q, q)
LEATI_LANES2_STEPS(truncatediv, truncf(LEATI_R(x / y)), truncf(x / y), trunc(x / y))
DIVISION_LANES(truncatemod, x % (__typeof__(x))(UINT64_C(1) << shift), r, r)
LEATI_LANES2_FLOAT(truncatemod, remainderf_of(x, y), fmod(x, y))

#define DIVIDED(OP, REFUSAL)                                                                       \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_broadcast, REFUSAL, LEATI_TABLE_NUMBER(OP))
DIVIDED(floordiv, "integer division by zero: a divisor is 0")
DIVIDED(floormod, "integer division by zero: a divisor is 0")
DIVIDED(truncatediv, "division by zero: an integer has no quotient; guard it with select")
DIVIDED(truncatemod, "division by zero: an integer has no quotient; guard it with select")

/* x - y * floor(x / y), whose quotient does not change with x and y. */
LEATI_GRADIENT2(floormod, g, leat_op_multiply(g, leat_op_negate(leat_op_floordiv(x, y))))

static bool quotient_fits(int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || (b == -1 && a == INT64_MIN))
        return false;
    *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

static bool floordiv_known(const leati_known_call *call, leati_known *out) {
    return leati_known_combined(call, quotient_fits, out);
}

#define DIVISION(OP, ...)                                                                          \
    LEATI_ELEMENTWISE_OP2(OP, .inputs = "x y", .types = "T T", .outputs = "z",                     \
                          .halves = LEATI_HALVES_OWN, __VA_ARGS__)
DIVISION(floordiv, .doc = "x / y rounded down, broadcast; Python's // (tf.math.floordiv).",
         .names = "math.floordiv", .gradient = leati_op_gradient_none, .known = floordiv_known)
DIVISION(
    floormod,
    .doc =
        "The remainder of floordiv, with the sign of y, broadcast; Python's % (tf.math.floormod).",
    .names = "math.floormod math.mod", .gradient = floormod_gradient)
DIVISION(truncatediv, .doc = "The quotient rounded towards zero, broadcast (tf.truncatediv).",
         .names = "truncatediv", .gradient = leati_op_gradient_none)
DIVISION(truncatemod, .doc = "The remainder that has the sign of x, broadcast (tf.truncatemod).",
         .names = "truncatemod")
