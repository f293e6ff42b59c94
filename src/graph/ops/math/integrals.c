/* dawsn, expint, fresnel_cos, fresnel_sin, spence: integrals of floats that have names
 * (tf.math.special.dawsn and so on).
 *
 * All are computed in double: Dawson's by a sum over a lattice (Rybicki), the exponential one by
 * its power series or asymptotic one, Fresnel's by power series or a continued fraction of complex
 * numbers, Spence's by the power series of the dilogarithm on arguments that are small. expint and
 * spence are NaN below 0. They fail in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

#define PI 3.14159265358979323846
#define EULER 0.57721566490153286061

/* e^(-x * x) times the integral of e^(t * t) up to x. */
static double dawson(double x) {
    const double step = 0.2; /* by which the sum is exact to e^-60 */
    double size = fabs(x), sum = 0;
    if (isnan(x) || isinf(x))
        return isnan(x) ? x : 1 / x;
    if (size > 1e4) /* where the asymptotic series is its first terms */
        return (1 + 1 / (2 * x * x)) / (2 * x);
    if (size < 0.05)
        return x * (1 - x * x * (2.0 / 3 - x * x * (4.0 / 15 - x * x * (8.0 / 105))));
    /* Of the lattice's odd places, those near x. */
    double middle = 2 * floor(size / step / 2) + 1;
    for (double k = middle - 40; k <= middle + 40; k += 2) {
        double apart = size - k * step;
        sum += exp(-apart * apart) / k;
    }
    return copysign(sum / sqrt(PI), x);
}

/* The principal value of the integral of e^t / t up to x. */
static double exponential_integral(double x) {
    double sum = 0, term = 1;
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0)
        return -INFINITY;
    if (isinf(x))
        return x;
    if (x < 40) {
        for (int k = 1; k < 200; k++) {
            term *= x / k;
            sum += term / k;
            if (term / k < fabs(sum) * 1e-17)
                break;
        }
        return EULER + log(x) + sum;
    }
    /* Terms fall until k is x. */
    sum = 1;
    for (int k = 1; k < x && term > 1e-17; k++) {
        term *= k / x;
        sum += term;
    }
    return exp(x) / x * sum;
}

/* The integrals of cos and sin of pi t^2 / 2 up to x > 0, as one complex number. */
static leati_complex128 fresnel(double x) {
    double square = PI * x * x;
    if (x < 1.5) {
        /* Term by term of e^(i pi t^2 / 2). */
        leati_complex128 term = x, sum = x;
        for (int k = 1; k < 60 && cabs(term) > 1e-18; k++) {
            term *= _Complex_I * square / 2 / k;
            sum += term / (2 * k + 1);
        }
        return sum;
    }
    /* Lentz' way through the continued fraction of the complement of the error function. */
    leati_complex128 b = 1 - _Complex_I * square, c = 1e300, d = 1 / b, h = d;
    for (int k = 2, n = 1; k < 200; k++, n += 2) {
        double a = -(double)n * (n + 1);
        b += 4;
        d = 1 / (a * d + b);
        c = b + a / c;
        leati_complex128 change = c * d;
        h *= change;
        if (fabs(creal(change) - 1) + fabs(cimag(change)) < 1e-16)
            break;
    }
    h *= x - _Complex_I * x;
    return (0.5 + 0.5 * _Complex_I) * (1 - cexp(_Complex_I * fmod(square / 2, 2 * PI)) * h);
}

static double fresnel_part(double x, bool sine) {
    double size = fabs(x), part = 0.5;
    if (isnan(x))
        return x;
    if (size < 1e8) {
        leati_complex128 both = fresnel(size);
        part = sine ? cimag(both) : creal(both);
    }
    return copysign(part, x);
}

/* The dilogarithm of x, at most 1/2 and at least -1. */
static double small_dilogarithm(double x) {
    double sum = 0, power = x;
    for (int k = 1; k < 200 && fabs(power) > 1e-18; k++, power *= x)
        sum += power / ((double)k * k);
    return sum;
}

/* Minus the integral of log t / (t - 1) from 1 to x: the dilogarithm of 1 - x. */
static double dilogarithm_of_rest(double x) {
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0)
        return PI * PI / 6;
    if (x < 0.5) /* the reflection formula */
        return PI * PI / 6 - log(x) * log1p(-x) - small_dilogarithm(x);
    if (x <= 1.5)
        return small_dilogarithm(1 - x);
    /* Landen's: 1 / x in x's place. */
    double inverse = 1 / x, half = log(x) * log(x) / 2;
    return inverse < 0.5
               ? -half - (PI * PI / 6 - log(inverse) * log1p(-inverse) - small_dilogarithm(inverse))
               : -half - small_dilogarithm(1 - inverse);
}

/* ---- kernels ---- */
#define INTEGRAL(OP, EXPRESSION) LEATI_FLOATS1(OP, (float)(EXPRESSION), EXPRESSION)
INTEGRAL(dawsn, dawson((double)x))
INTEGRAL(expint, exponential_integral((double)x))
INTEGRAL(fresnel_cos, fresnel_part((double)x, false))
INTEGRAL(fresnel_sin, fresnel_part((double)x, true))
INTEGRAL(spence, dilogarithm_of_rest((double)x))

/* ---- gradients ---- */
static leat_value one_less_twice(leat_value x, leat_value y) {
    leat_value product = leati_support_times(leat_op_multiply(x, y), 2);
    return leat_op_subtract(leat_op_ones_like(x), product);
}

static leat_value quarter_turns(leat_value x) {
    return leati_support_times(leat_op_square(x), PI / 2);
}

/* log x / (1 - x), and -1 where x is 1. */
static leat_value spence_slope(leat_value x) {
    leat_value one = leat_op_ones_like(x), rest = leat_op_subtract(one, x);
    leat_value is_one = leat_op_equal(x, one);
    leat_value slope = leat_op_divide(leat_op_log(x), leat_op_select(is_one, one, rest));
    return leat_op_select(is_one, leat_op_negate(one), slope);
}

LEATI_GRADIENT1(dawsn, leat_op_multiply(g, one_less_twice(x, y)))
LEATI_GRADIENT1(expint, leat_op_multiply(g, leat_op_divide(leat_op_exp(x), x)))
LEATI_GRADIENT1(fresnel_cos, leat_op_multiply(g, leat_op_cos(quarter_turns(x))))
LEATI_GRADIENT1(fresnel_sin, leat_op_multiply(g, leat_op_sin(quarter_turns(x))))
LEATI_GRADIENT1(spence, leat_op_multiply(g, spence_slope(x)))

/* ---- descriptors ---- */
LEATI_NUMBER_OP1(dawsn,
                 .doc = "e^(-x * x) times the integral of e^(t * t) up to x "
                        "(tf.math.special.dawsn).",
                 .names = "math.special.dawsn")
LEATI_NUMBER_OP1(expint, .doc = "The integral of e^t / t up to x (tf.math.special.expint).",
                 .names = "math.special.expint")
LEATI_NUMBER_OP1(fresnel_cos,
                 .doc = "The integral of cos(pi t^2 / 2) up to x (tf.math.special.fresnel_cos).",
                 .names = "math.special.fresnel_cos")
LEATI_NUMBER_OP1(fresnel_sin,
                 .doc = "The integral of sin(pi t^2 / 2) up to x (tf.math.special.fresnel_sin).",
                 .names = "math.special.fresnel_sin")
LEATI_NUMBER_OP1(spence,
                 .doc = "Minus the integral of log t / (t - 1) from 1 to x "
                        "(tf.math.special.spence).",
                 .names = "math.special.spence")
