/* What functions_test and functions_long_test do: each function against float64's. */
#ifndef TEST_FUNCTIONS_H
#define TEST_FUNCTIONS_H

#include "graph/support/math/functions.h"
#include "graph/support/math/functions_special.h"
#include <stdbool.h>
#include <stdlib.h>

enum { AT_ONCE = 4096 };

static double exact_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double exact_softplus(double x) {
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* y with erf(y) = x by Newton's steps, where 1 - x is exact. */
static double exact_erfinv(double x) {
    double a = fabs(x), tail = 1 - a, y = sqrt(-log(tail * (1 + a)));
    if (!(tail > 0) || a < 1e-9)
        return a < 1e-9 ? x * 0.88622692545275801365 : a == 1 ? x * (double)INFINITY : NAN;
    for (int k = 0; k < 40; k++) {
        double slope = -1.1283791670955126 * exp(-y * y); /* 2 / sqrt(pi) */
        double over = a < 0.5 ? a - erf(y) : erfc(y) - tail;
        double step = a < 0.5 ? over / slope : log(erfc(y) / tail) * erfc(y) / slope;
        y -= step;
        if (fabs(step) < 1e-14 * y)
            break;
    }
    return copysign(y, x);
}

/* The x below which the normal distribution has share p. */
static double exact_ndtri(double p) {
    double tail = p < 0.5 ? 2 * p : 2 * (1 - p), y = sqrt(-log(tail * (2 - tail)));
    if (!(tail > 0))
        return p == 0 ? -(double)INFINITY : p == 1 ? (double)INFINITY : NAN;
    if (tail > 0.5)
        return 1.41421356237309504880 * exact_erfinv(2 * p - 1);
    for (int k = 0; k < 40; k++) {
        double step = log(erfc(y) / tail) * erfc(y) / (-1.1283791670955126 * exp(-y * y));
        y -= step;
        if (fabs(step) < 1e-14 * y)
            break;
    }
    return 1.41421356237309504880 * (p < 0.5 ? -y : y);
}

static double exact_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* By lgamma's recurrence to where four terms of the series are exact. */
static double exact_digamma(double x) {
    long double at = x < 0 ? 1 - (long double)x : (long double)x, below = 0;
    if (x <= 0 && x == floor(x))
        return NAN;
    if (x == (double)INFINITY)
        return x;
    if (x < 0)
        below = -3.14159265358979323846264L / tanl(3.14159265358979323846264L * (x - round(x)));
    for (; at < 200; at++)
        below -= 1 / at;
    long double z = 1 / (at * at);
    return (double)(below + logl(at) - 0.5L / at -
                    z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z / 240))));
}

/* I of order 0 or 1 times e^-|x|, by its power series or asymptotic one. */
static double exact_scaled_i(int order, double x) {
    double a = fabs(x), sum = 1, term = 1, sign = order == 1 && x < 0 ? -1 : 1;
    if (isinf(x))
        return 0;
    if (a > 30) {
        for (int k = 1; k < 40 && fabs(term) > 1e-17; k++) {
            term *= ((2.0 * k - 1) * (2.0 * k - 1) - 4 * order) / (8 * a * k);
            sum += term;
        }
        return sign * sum / sqrt(2 * LEATI_MATH_PI * a);
    }
    for (int k = 1; term > sum * 1e-17; k++) {
        term *= a * a / 4 / ((double)k * (k + order));
        sum += term;
    }
    return sign * sum * exp(-a) * (order == 1 ? a / 2 : 1);
}

static double exact_i0e(double x) {
    return exact_scaled_i(0, x);
}

static double exact_i1e(double x) {
    return exact_scaled_i(1, x);
}

static double exact_i0(double x) {
    return fabs(x) > 100 ? (double)INFINITY : exact_i0e(x) * exp(fabs(x));
}

static double exact_i1(double x) {
    return fabs(x) > 100 ? copysign((double)INFINITY, x) : exact_i1e(x) * exp(fabs(x));
}

#define FUNCTION(NAME)                                                                             \
    static void run_##NAME(const float *in, float *out) {                                          \
        for (int i = 0; i < AT_ONCE; i++)                                                          \
            out[i] = leati_math_##NAME(in[i]);                                                     \
    }
FUNCTION(exp)
FUNCTION(expm1)
FUNCTION(log)
FUNCTION(log1p)
FUNCTION(tanh)
FUNCTION(sigmoid)
FUNCTION(softplus)
FUNCTION(erf)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(acos)
FUNCTION(acosh)
FUNCTION(asin)
FUNCTION(asinh)
FUNCTION(atan)
FUNCTION(atanh)
FUNCTION(cosh)
FUNCTION(sinh)
FUNCTION(tan)
FUNCTION(erfc)
FUNCTION(erfinv)
FUNCTION(ndtri)
FUNCTION(lgamma)
FUNCTION(digamma)
FUNCTION(bessel_i0)
FUNCTION(bessel_i0e)
FUNCTION(bessel_i1)
FUNCTION(bessel_i1e)

typedef struct checked {
    const char *name;
    void (*run)(const float *in, float *out);
    double (*exact)(double x);
    double most_ulp; /* what functions.h promises */
    float from, to;  /* where it is promised */
    int sparse;      /* one value of so many, as the exact function is slow */
} checked;

static const checked all[] = {
    {"exp", run_exp, exp, 1.0, -INFINITY, INFINITY, 1},
    {"expm1", run_expm1, expm1, 1.6, -INFINITY, INFINITY, 1},
    {"log", run_log, log, 1.0, -INFINITY, INFINITY, 1},
    {"log1p", run_log1p, log1p, 1.5, -INFINITY, INFINITY, 1},
    {"tanh", run_tanh, tanh, 2.5, -INFINITY, INFINITY, 1},
    {"sigmoid", run_sigmoid, exact_sigmoid, 2.5, -88, INFINITY, 1},
    {"softplus", run_softplus, exact_softplus, 2.0, -INFINITY, INFINITY, 1},
    {"erf", run_erf, erf, 1.3, -INFINITY, INFINITY, 1},
    {"sin", run_sin, sin, 1.6, -LEATI_MATH_CIRCULAR_MOST, LEATI_MATH_CIRCULAR_MOST, 1},
    {"cos", run_cos, cos, 1.6, -LEATI_MATH_CIRCULAR_MOST, LEATI_MATH_CIRCULAR_MOST, 1},
    {"acos", run_acos, acos, 1.3, -INFINITY, INFINITY, 1},
    {"acosh", run_acosh, acosh, 0.7, -INFINITY, INFINITY, 1},
    {"asin", run_asin, asin, 1.9, -INFINITY, INFINITY, 1},
    {"asinh", run_asinh, asinh, 0.7, -INFINITY, INFINITY, 1},
    {"atan", run_atan, atan, 1.4, -INFINITY, INFINITY, 1},
    {"atanh", run_atanh, atanh, 2.0, -INFINITY, INFINITY, 1},
    {"cosh", run_cosh, cosh, 0.7, -INFINITY, INFINITY, 1},
    {"sinh", run_sinh, sinh, 0.7, -INFINITY, INFINITY, 1},
    {"tan", run_tan, tan, 0.7, -LEATI_MATH_CIRCULAR_MOST, LEATI_MATH_CIRCULAR_MOST, 1},
    {"erfc", run_erfc, erfc, 0.7, -INFINITY, INFINITY, 1},
    {"erfinv", run_erfinv, exact_erfinv, 0.7, -INFINITY, INFINITY, 31},
    {"ndtri", run_ndtri, exact_ndtri, 0.7, -INFINITY, INFINITY, 31},
    {"lgamma", run_lgamma, exact_lgamma, 0.7, -INFINITY, INFINITY, 31},
    {"digamma", run_digamma, exact_digamma, 0.7, -INFINITY, INFINITY, 31},
    {"bessel_i0", run_bessel_i0, exact_i0, 0.7, -INFINITY, INFINITY, 31},
    {"bessel_i0e", run_bessel_i0e, exact_i0e, 0.7, -INFINITY, INFINITY, 31},
    {"bessel_i1", run_bessel_i1, exact_i1, 0.7, -INFINITY, INFINITY, 31},
    {"bessel_i1e", run_bessel_i1e, exact_i1e, 0.7, -INFINITY, INFINITY, 31},
};

/* The distance in units in the last place of the float nearest to what is exact; INFINITY where a
 * NaN, an infinity or a zero is not the one that it ought to be. */
static double error_of(float found, double exact) {
    float nearest = (float)exact;
    if (isnan(exact) || isinf(nearest) || nearest == 0) {
        bool same = isnan(exact) ? isnan(found) : found == nearest;
        /* Rounded down at the very end of the floats. */
        bool last = isinf(nearest) && !isinf(exact) && fabsf(found) >= 0x1.fffffcp127f;
        return same || last ? 0 : INFINITY;
    }
    if (isnan(found))
        return INFINITY;
    int exponent;
    (void)frexp(exact, &exponent);
    exponent = exponent < -125 ? -125 : exponent;
    return fabs((double)found - exact) / ldexp(1, exponent - 24);
}

static void check_function(const checked *function, uint64_t stride) {
    stride *= (uint64_t)function->sparse;
    static float in[AT_ONCE], out[AT_ONCE];
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32;) {
        for (int i = 0; i < AT_ONCE; i++, bits += stride)
            in[i] = leati_float_of_bits((uint32_t)bits);
        function->run(in, out);
        for (int i = 0; i < AT_ONCE; i++) {
            if (in[i] < function->from || in[i] > function->to)
                continue;
            double error = error_of(out[i], function->exact((double)in[i]));
            if (error > worst) {
                worst = error;
                at = in[i];
            }
        }
    }
    print_message("%-9s %.3f ULP at %a\n", function->name, worst, (double)at);
    if (worst > function->most_ulp)
        fail_msg("%s: %g ULP at %a; at most %g are promised", function->name, worst, (double)at,
                 function->most_ulp);
}

/* Those of two operands: pairs of numbers of every size, and of those that are apart. */
static void check_pairs(const char *name, float (*run)(float x, float y),
                        double (*exact)(double x, double y), double most_ulp) {
    static const float special[] = {0.0F,  -0.0F,    INFINITY, -INFINITY, NAN,    1.0F,
                                    -1.0F, 2.0F,     -3.0F,    0.5F,      -0.5F,  1e-45F,
                                    3e38F, 16777216, 8388609,  -8388607,  1e-30F, -2.5F};
    enum { SPECIAL = sizeof special / sizeof *special, PAIRS = 300000 };
    uint64_t state = 9;
    for (int i = 0; i < SPECIAL * SPECIAL + PAIRS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t a = (uint32_t)(state >> 32), b = (uint32_t)(state >> 3);
        float x = leati_float_of_bits(a), y = leati_float_of_bits(b);
        if (i % 2 == 1) { /* close to 1, where powers are neither huge nor tiny */
            x = leati_float_of_bits((a & 0x1ffffffU) + 0x3f000000U);
            y = (float)((int32_t)b >> 16) / 256;
        }
        if (i < SPECIAL * SPECIAL) {
            x = special[i / SPECIAL];
            y = special[i % SPECIAL];
        }
        float found = run(x, y);
        double wanted = exact((double)x, (double)y), error = error_of(found, wanted);
        bool sign = wanted == 0 && !signbit(wanted) != !signbit(found);
        if (error > most_ulp || sign)
            fail_msg("%s(%a, %a) is %a, not %a: %g ULP; at most %g are promised", name, (double)x,
                     (double)y, (double)found, wanted, error, most_ulp);
    }
}

static float run_pow(float x, float y) {
    return leati_math_pow(x, y);
}

static float run_atan2(float y, float x) {
    return leati_math_atan2(y, x);
}

static void test_pairs(void **state) {
    (void)state;
    check_pairs("pow", run_pow, pow, 0.6);
    check_pairs("atan2", run_atan2, atan2, 0.6);
}

static uint64_t stride_of_test;

static void test_functions(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        check_function(&all[k], stride_of_test);
}

static int check_functions(uint64_t stride) {
    stride_of_test = stride;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions),
                                       cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
