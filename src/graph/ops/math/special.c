/* digamma, erf, erfc, erfinv, lgamma, ndtri, polygamma, zeta: special functions of floats
 * (tf.math.digamma and so on). polygamma and zeta broadcast, are of float32 and float64, and give a
 * gradient to the second operand alone, as in TensorFlow. What the C library does not have is
 * computed in double. They fail in inference on other dtypes, and where dtypes differ or shapes do
 * not broadcast. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"
#include "graph/support/math/functions_special.h"

#define PI 3.14159265358979323846
#define ROOT_2 1.41421356237309504880

/* The logarithm of |gamma(x)|. */
static double special_lgamma(double x) {
    int sign = 0;
    return lgamma_r(x, &sign); /* lgamma writes a global */
}

/* Its derivative; NaN at 0, -1, -2, ... */
static double special_digamma(double x) {
    /* Bernoulli numbers B(2k) / 2k of the asymptotic series. */
    static const double terms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                   1.0 / 132, -691.0 / 32760, 1.0 / 12};
    double below = 0;
    if (isnan(x) || x == -INFINITY || (x <= 0 && x == floor(x)))
        return NAN;
    if (x < 0) { /* the reflection formula */
        /* psi(x) = psi(1 - x) - pi / tan(pi x), of which the tangent has period 1. The distance to
         * the nearest pole is exact, that to the one below would be rounded close to 0. */
        below = -PI / tan(PI * (x - round(x)));
        x = 1 - x;
    }
    /* psi(x) = psi(x + 1) - 1 / x leads to where seven terms of the series are exact. */
    for (; x < 10; x++)
        below -= 1 / x;
    double square = 1 / (x * x), power = square, sum = 0;
    for (int k = 0; k < 7; k++, power *= square)
        sum += terms[k] * power;
    return below + log(x) - 0.5 / x - sum;
}

/* The x > 0 with erfc(x) = tail, 0 < tail <= 1: Halley's steps from an approximation by
 * logarithms. */
static double erfc_inverse(double tail) {
    /* Winitzki's approximation, by which four steps are enough. */
    double log_tail = log(tail * (2 - tail)), a = 0.147; /* of 1 - y * y with y = 1 - tail */
    double middle = 2 / (PI * a) + log_tail / 2;
    double x = sqrt(sqrt(middle * middle - log_tail / a) - middle);
    for (int i = 0; i < 4 && x > 0; i++) {
        double error = erfc(x) - tail;
        double step = error / (2 / sqrt(PI) * exp(-x * x));
        x += step / (1 + x * step);
    }
    return x;
}

/* The x with erf(x) = y; infinite at 1 and -1, NaN beyond. */
static double special_erfinv(double y) {
    if (isnan(y) || y < -1 || y > 1)
        return NAN;
    if (y == 1 || y == -1)
        return y * INFINITY;
    /* erf is a straight line there. */
    if (fabs(y) < 1e-8)
        return y * sqrt(PI) / 2;
    /* Near 1 the tail 1 - y is exact, where erf could not tell neighbours apart. */
    if (fabs(y) > 0.5)
        return copysign(erfc_inverse(1 - fabs(y)), y);
    double x = y * sqrt(PI) / 2;
    for (int i = 0; i < 6; i++) {
        double step = (erf(x) - y) / (2 / sqrt(PI) * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}

/* The x below which the standard normal distribution has share p; infinite at 0 and 1. */
static double special_ndtri(double p) {
    if (isnan(p) || p < 0 || p > 1)
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    return p < 0.25   ? -ROOT_2 * erfc_inverse(2 * p)
           : p > 0.75 ? ROOT_2 * erfc_inverse(2 * (1 - p))
                      : ROOT_2 * special_erfinv(2 * p - 1);
}

/* The sum of (q + k)^-x over k = 0, 1, ... (Hurwitz' zeta function); NaN for x < 1, and where terms
 * are no numbers. The first terms are added up, the others by the Euler-Maclaurin formula, which
 * is exact to `change` of the sum behind 14, or sooner for a float and small powers. */
static double zeta_of(double x, double q, double change) {
    /* Bernoulli's number 2 j over (2 j)!. */
    static const double factors[8] = {1.0 / 12,
                                      -1.0 / 720,
                                      1.0 / 30240,
                                      -1.0 / 1209600,
                                      1.0 / 47900160,
                                      -691.0 / 1307674368000.0,
                                      1.0 / 74724249600.0,
                                      -3617.0 / 10670622842880000.0};
    double large = change > 1e-12 ? fmin(x + 4, 14) : 14;
    if (x == 1)
        return INFINITY;
    if (isnan(x) || isnan(q) || x < 1 || (q <= 0 && x != floor(x)))
        return NAN;
    /* A pole: of an even power both sides go to infinity, of an odd one they differ. */
    if (q <= 0 && q == floor(q))
        return fmod(x, 2) == 0 ? INFINITY : NAN;
    /* Of an infinite power the first term decides; behind an infinite number nothing is left. */
    if (isinf(x) || isinf(q))
        return pow(q, -x);
    double sum = 0;
    for (; q < large; q++) {
        double term = pow(q, -x);
        sum += term;
        /* Large powers fall so fast that the first terms are all. */
        if (q > 1 && term < sum * change)
            return sum;
    }
    double power = pow(q, -x);
    sum += q * power / (x - 1) + power / 2;
    /* x (x + 1) ... and q^-(x + 2 j + 1), both two factors further with each term. */
    double rising = x, falling = power / q, square = 1 / (q * q);
    for (int j = 0; j < 8; j++) {
        sum += factors[j] * rising * falling;
        rising *= (x + 2.0 * j + 1) * (x + 2.0 * j + 2);
        falling *= square;
    }
    return sum;
}

/* Derivative n of digamma; NaN unless n is an integer of at least 0. */
static double polygamma_of(double n, double x, double change) {
    if (!(n >= 0) || n != floor(n))
        return NAN;
    if (n == 0)
        return special_digamma(x);
    /* (-1)^(n + 1) n! zeta(n + 1, x). */
    double factorial = 1;
    for (double k = 2; k <= n && k <= 20; k++)
        factorial *= k; /* exact */
    double size = (n <= 20 ? factorial : exp(special_lgamma(n + 1))) * zeta_of(n + 1, x, change);
    return fmod(n, 2) == 0 ? -size : size;
}

/* ---- kernels ---- */
LEATI_FLOATS1(digamma, leati_math_digamma(x), special_digamma(x))
LEATI_FLOATS1(erf, leati_math_erf(x), leati_math_wide_erf(x))
LEATI_FLOATS1(erfc, leati_math_erfc(x), erfc(x))
LEATI_FLOATS1(erfinv, leati_math_erfinv(x), special_erfinv(x))
LEATI_FLOATS1(lgamma, leati_math_lgamma(x), special_lgamma(x))
LEATI_FLOATS1(ndtri, leati_math_ndtri(x), special_ndtri(x))

/* Of floats the loop over what most values are has no branch; others are computed one by one. */
enum { SPECIAL_PIECE = 256 };
typedef struct special_piece {
    double x[SPECIAL_PIECE], q[SPECIAL_PIECE], out[SPECIAL_PIECE];
    double more; /* than x is the power */
} special_piece;

LEATI_ALWAYS_INLINE void special_zetas_loop(special_piece *p) {
    LEATI_INDEPENDENT
    for (int i = 0; i < SPECIAL_PIECE; i++)
        p->out[i] = leati_math_zeta(p->x[i] + p->more, p->q[i]);
}
LEATI_ISA(special_zetas, special_zetas_loop, special_piece *)

static float zeta_of_float(double x, double q, double zeta) {
    return (float)(leati_math_zeta_has(x, q) ? zeta : zeta_of(x, q, 1e-10));
}

/* `zeta` is that of (n + 1, x). */
static float polygamma_of_float(double n, double x, double zeta) {
    static const double factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800};
    bool has = n >= 1 && n <= 10 && n == floor(n) && leati_math_zeta_has(n + 1, x);
    if (!has)
        return (float)polygamma_of(n, x, 1e-10);
    return (float)(((int)n & 1 ? 1 : -1) * factorials[(int)n] * zeta);
}

static void special_fill(double *to, const leati_lane *lane, int operand, int64_t at, int64_t n) {
    const float *from = (const float *)lane->in[operand];
    bool constant = lane->in_step[operand] == 0;
    for (int64_t i = 0; i < n; i++)
        to[i] = (double)from[constant ? 0 : at + i];
}

#define SPECIAL2(OP, MORE)                                                                         \
    static void OP##_float32_dense(leati_lane *lane) {                                             \
        special_piece p = {.more = MORE};                                                          \
        for (int64_t at = 0; at < lane->n; at += SPECIAL_PIECE) {                                  \
            int64_t n = LEATI_MIN(lane->n - at, SPECIAL_PIECE);                                    \
            special_fill(p.x, lane, 0, at, n);                                                     \
            special_fill(p.q, lane, 1, at, n);                                                     \
            special_zetas(&p);                                                                     \
            for (int64_t i = 0; i < n; i++)                                                        \
                ((float *)lane->out)[at + i] = OP##_of_float(p.x[i], p.q[i], p.out[i]);            \
        }                                                                                          \
    }                                                                                              \
    static void OP##_float32(leati_lane *lane) {                                                   \
        leati_elementwise_run(lane, OP##_float32_dense, 2, sizeof(float), sizeof(float));          \
    }                                                                                              \
    LEATI_LANE2(OP##_float64, double, double, double, OP##_of(x, y, 1e-18))                        \
    LEATI_ELEMENTWISE_SLOW(OP, 25, [LEAT_FLOAT32] = OP##_float32, [LEAT_FLOAT64] = OP##_float64)
SPECIAL2(polygamma, 1)
SPECIAL2(zeta, 0)

/* ---- gradients ---- */
/* `factor` times e to the power of -x * x. */
static leat_value bell(leat_value x, double factor) {
    return leati_support_times(leat_op_exp(leat_op_negate(leat_op_square(x))), factor);
}

static leat_value digamma_slope(leat_value x) {
    leat_dtype dtype = leat_value_dtype(x);
    leat_dtype wide = dtype == LEAT_FLOAT64 ? LEAT_FLOAT64 : LEAT_FLOAT32;
    /* polygamma has no halves. */
    leat_value one = leati_support_number(x.graph, wide, 1);
    return leat_op_cast(leat_op_polygamma(one, leat_op_cast(x, wide)), dtype);
}

static leat_value erfinv_slope(leat_value y) {
    leat_value half_root =
        leati_support_number(y.graph, leat_value_dtype(y), 0.88622692545275801365); /* of pi */
    return leat_op_multiply(half_root, leat_op_exp(leat_op_square(y)));
}

static leat_value ndtri_slope(leat_value y) {
    leat_value root =
        leati_support_number(y.graph, leat_value_dtype(y), 2.50662827463100050242); /* of 2 pi */
    return leat_op_multiply(root, leat_op_exp(leati_support_times(leat_op_square(y), 0.5)));
}

LEATI_GRADIENT1(digamma, leat_op_multiply(g, digamma_slope(x)))
LEATI_GRADIENT1(erf, leat_op_multiply(g, bell(x, 1.1283791670955126)))
LEATI_GRADIENT1(erfc, leat_op_multiply(g, bell(x, -1.1283791670955126)))
LEATI_GRADIENT1(erfinv, leat_op_multiply(g, erfinv_slope(y)))
LEATI_GRADIENT1(lgamma, leat_op_multiply(g, leat_op_digamma(x)))
LEATI_GRADIENT1(ndtri, leat_op_multiply(g, ndtri_slope(y)))

static leat_status polygamma_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value a = call->inputs[0], x = call->inputs[1];
    leat_value one = leati_support_number(call->graph, leat_value_dtype(a), 1);
    leat_value slope = leat_op_polygamma(leat_op_add(a, one), x);
    (void)err;
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_multiply(call->output_gradients[0], slope), x);
    return LEAT_OK;
}

static leat_status zeta_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0], q = call->inputs[1];
    leat_value one = leati_support_number(call->graph, leat_value_dtype(x), 1);
    leat_value slope = leat_op_negate(leat_op_multiply(x, leat_op_zeta(leat_op_add(x, one), q)));
    (void)err;
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_multiply(call->output_gradients[0], slope), q);
    return LEAT_OK;
}

/* ---- descriptors ---- */
LEATI_NUMBER_OP1(digamma, .doc = "The derivative of lgamma (tf.math.digamma).",
                 .names = "math.digamma")
LEATI_NUMBER_OP1(erf, .doc = "The error function (tf.math.erf).", .names = "math.erf")
LEATI_NUMBER_OP1(erfc, .doc = "One minus the error function (tf.math.erfc).", .names = "math.erfc")
LEATI_NUMBER_OP1(erfinv, .doc = "The inverse of erf (tf.math.erfinv).", .names = "math.erfinv")
LEATI_NUMBER_OP1(lgamma, .doc = "The logarithm of the absolute value of gamma (tf.math.lgamma).",
                 .names = "math.lgamma")
LEATI_NUMBER_OP1(ndtri, .doc = "The inverse of the normal distribution's share (tf.math.ndtri).",
                 .names = "math.ndtri")
#define BROADCAST(OP, ...)                                                                         \
    LEATI_ELEMENTWISE_OP2(OP, .types = "T T", .outputs = "z", .halves = LEATI_HALVES_NONE,         \
                          .gradient = OP##_gradient, __VA_ARGS__)
BROADCAST(polygamma, .doc = "Derivative a of digamma at x (tf.math.polygamma).",
          .names = "math.polygamma", .inputs = "a x")
BROADCAST(zeta, .doc = "The sum of (q + k)^-x over k = 0, 1, ... (tf.math.zeta).",
          .names = "math.zeta", .inputs = "x q")
