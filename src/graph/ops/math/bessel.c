/* bessel_i0, i0e, i1, i1e, j0, j1, k0, k0e, k1, k1e, y0, y1: Bessel functions of floats
 * (tf.math.special.bessel_i0 and so on); i and k with an e are scaled by e^-|x| and e^x.
 *
 * All are computed in double: I by its power series, or for large x by the asymptotic one, K by its
 * power series, or by the trapezoidal rule on an integral over a function that falls so fast that a
 * few points are exact; J and Y are the C library's. K and Y are infinite at 0 and, as in
 * TensorFlow, below it; I, J and Y at an infinity are NaN.
 * They fail in inference on other dtypes. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"
#include "graph/support/math/functions_special.h"

#define PI 3.14159265358979323846
#define EULER 0.57721566490153286061

/* I of order 0 or 1, times e^-|x|. */
static double scaled_i(int order, double x) {
    double size = fabs(x), sum = 1, term = 1;
    if (isnan(x))
        return x;
    if (isinf(x))
        return order == 1 ? copysign(0, x) : 0;
    double sign = order == 1 && x < 0 ? -1 : 1;
    if (size > 30) { /* where the smallest term of the asymptotic series is below a rounding */
        for (int k = 1; k < 40 && fabs(term) > 1e-17; k++) {
            double odd = 2 * k - 1;
            term *= (odd * odd - 4 * order) / (8 * size * k);
            sum += term;
        }
        return sign * sum / sqrt(2 * PI * size);
    }
    double quarter = size * size / 4;
    for (int k = 1; term > sum * 1e-17; k++) {
        term *= quarter / ((double)k * (k + order));
        sum += term;
    }
    return sign * sum * exp(-size) * (order == 1 ? size / 2 : 1);
}

/* K of order 0 or 1 where x is at most 1, by its power series. */
static double small_k(int order, double x) {
    double quarter = x * x / 4, term = 1, digamma = -EULER, sum = 0;
    double i = scaled_i(order, x) * exp(x);
    /* Of order 1 the mean of the digamma functions of k + 1 and k + 2. */
    for (int k = 0; k < 20; k++) {
        sum += term * (order == 0 ? digamma : digamma + 0.5 / (k + 1));
        digamma += 1.0 / (k + 1);
        term *= quarter / ((double)(k + 1) * (k + 1 + order));
    }
    return order == 0 ? sum - log(x / 2) * i : 1 / x + log(x / 2) * i - x / 2 * sum;
}

/* K times e^x. */
static double scaled_k(int order, double x) {
    if (isnan(x))
        return NAN;
    if (x <= 0)
        return INFINITY;
    if (isinf(x))
        return 0;
    if (x <= 1)
        return small_k(order, x) * exp(x);
    /* The integral of e^(-x (cosh t - 1)) cosh(order t) from 0 on. */
    double step = LEATI_MIN(0.25, 0.7 / sqrt(x)), sum = 0.5, term = 1;
    for (int k = 1; term > 1e-18 * sum; k++) {
        double t = k * step, half = sinh(t / 2);
        term = exp(-2 * x * half * half) * (order == 0 ? 1 : cosh(t));
        sum += term;
    }
    return sum * step;
}

/* The C library's are 0 at an infinity. */
static double library_j(int order, double x) {
    return isinf(x) ? NAN : order == 0 ? j0(x) : j1(x);
}

static double library_y(int order, double x) {
    if (isinf(x) && x > 0)
        return NAN;
    return x <= 0 ? -INFINITY : order == 0 ? y0(x) : y1(x);
}

/* K without the factor: e^-x, which where x is negative would be infinite itself, changes nothing
 * of an infinity. */
static double plain_k(int order, double x) {
    double scaled = scaled_k(order, x);
    return isinf(scaled) ? scaled : scaled * exp(-x);
}

/* ---- kernels ---- */
#define BESSEL(OP, EXPRESSION) LEATI_FLOATS1(OP, (float)(EXPRESSION), EXPRESSION)
LEATI_FLOATS1(bessel_i0, leati_math_bessel_i0(x), scaled_i(0, x) * exp(fabs(x)))
LEATI_FLOATS1(bessel_i0e, leati_math_bessel_i0e(x), scaled_i(0, x))
LEATI_FLOATS1(bessel_i1, leati_math_bessel_i1(x), scaled_i(1, x) * exp(fabs(x)))
LEATI_FLOATS1(bessel_i1e, leati_math_bessel_i1e(x), scaled_i(1, x))
BESSEL(bessel_j0, library_j(0, (double)x))
BESSEL(bessel_j1, library_j(1, (double)x))
BESSEL(bessel_k0, plain_k(0, (double)x))
BESSEL(bessel_k0e, scaled_k(0, (double)x))
BESSEL(bessel_k1, plain_k(1, (double)x))
BESSEL(bessel_k1e, scaled_k(1, (double)x))
BESSEL(bessel_y0, library_y(0, (double)x))
BESSEL(bessel_y1, library_y(1, (double)x))

/* ---- gradients ---- */
#define OF(OP) leati_graph_build1(&leati_tensor_op_bessel_##OP, NULL, x)

/* `slope`, or one half where x is 0 and the slope is 0 / 0. */
static leat_value half_at_0(leat_value x, leat_value slope) {
    leat_value zero = leat_op_zeros_like(x);
    leat_value half =
        leat_op_broadcast_like(leati_support_number(x.graph, leat_value_dtype(x), 0.5), x);
    return leat_op_select(leat_op_equal(x, zero), half, slope);
}

static leat_value over(leat_value y, leat_value x) {
    leat_value zero = leat_op_zeros_like(x);
    leat_value one = leat_op_ones_like(x);
    return leat_op_divide(y, leat_op_select(leat_op_equal(x, zero), one, x));
}

static leat_value scaled_i1_slope(leat_value x, leat_value y) {
    leat_value slope = leat_op_subtract(OF(i0e), leat_op_multiply(y, leat_op_sign(x)));
    return half_at_0(x, leat_op_subtract(slope, over(y, x)));
}

static leat_value scaled_i0_slope(leat_value x, leat_value y) {
    return leat_op_subtract(OF(i1e), leat_op_multiply(leat_op_sign(x), y));
}

LEATI_GRADIENT1(bessel_i0, leat_op_multiply(g, OF(i1)))
LEATI_GRADIENT1(bessel_i0e, leat_op_multiply(g, scaled_i0_slope(x, y)))
LEATI_GRADIENT1(bessel_i1, leat_op_multiply(g, half_at_0(x, leat_op_subtract(OF(i0), over(y, x)))))
LEATI_GRADIENT1(bessel_i1e, leat_op_multiply(g, scaled_i1_slope(x, y)))
LEATI_GRADIENT1(bessel_j0, leat_op_negate(leat_op_multiply(g, OF(j1))))
LEATI_GRADIENT1(bessel_j1, leat_op_multiply(g, half_at_0(x, leat_op_subtract(OF(j0), over(y, x)))))
LEATI_GRADIENT1(bessel_k0, leat_op_negate(leat_op_multiply(g, OF(k1))))
LEATI_GRADIENT1(bessel_k0e, leat_op_multiply(g, leat_op_subtract(y, OF(k1e))))
LEATI_GRADIENT1(bessel_k1,
                leat_op_negate(leat_op_multiply(g, leat_op_add(OF(k0), leat_op_divide(y, x)))))
LEATI_GRADIENT1(bessel_k1e,
                leat_op_multiply(g, leat_op_subtract(leat_op_subtract(y, leat_op_divide(y, x)),
                                                     OF(k0e))))
LEATI_GRADIENT1(bessel_y0, leat_op_negate(leat_op_multiply(g, OF(y1))))
LEATI_GRADIENT1(bessel_y1, leat_op_multiply(g, leat_op_subtract(OF(y0), leat_op_divide(y, x))))

/* ---- descriptors ---- */
#define WORDS(KIND, ORDER, SCALED)                                                                 \
    "The Bessel function " KIND " of order " ORDER SCALED " (tf.math.special)."
#define BOTH(NAME) .names = "math." NAME " math.special." NAME
LEATI_NUMBER_OP1(bessel_i0, .doc = WORDS("I", "0", ""), BOTH("bessel_i0"))
LEATI_NUMBER_OP1(bessel_i0e, .doc = WORDS("I", "0", ", times e^-|x|"), BOTH("bessel_i0e"))
LEATI_NUMBER_OP1(bessel_i1, .doc = WORDS("I", "1", ""), BOTH("bessel_i1"))
LEATI_NUMBER_OP1(bessel_i1e, .doc = WORDS("I", "1", ", times e^-|x|"), BOTH("bessel_i1e"))
LEATI_NUMBER_OP1(bessel_j0, .doc = WORDS("J", "0", ""), .names = "math.special.bessel_j0")
LEATI_NUMBER_OP1(bessel_j1, .doc = WORDS("J", "1", ""), .names = "math.special.bessel_j1")
LEATI_NUMBER_OP1(bessel_k0, .doc = WORDS("K", "0", ""), .names = "math.special.bessel_k0")
LEATI_NUMBER_OP1(bessel_k0e, .doc = WORDS("K", "0", ", times e^x"),
                 .names = "math.special.bessel_k0e")
LEATI_NUMBER_OP1(bessel_k1, .doc = WORDS("K", "1", ""), .names = "math.special.bessel_k1")
LEATI_NUMBER_OP1(bessel_k1e, .doc = WORDS("K", "1", ", times e^x"),
                 .names = "math.special.bessel_k1e")
LEATI_NUMBER_OP1(bessel_y0, .doc = WORDS("Y", "0", ""), .names = "math.special.bessel_y0")
LEATI_NUMBER_OP1(bessel_y1, .doc = WORDS("Y", "1", ""), .names = "math.special.bessel_y1")
