/* exp, log and their kin of float64, in operations that a loop over many values vectorises, as
 * those of functions.h: no branch, no table, no call, and the same bits on every instruction set.
 *
 * Coefficients are interpolations at Chebyshev's points of the interval named beside them. The
 * error is below that many units in the last place (ULP) of what is exact, as functions_wide_test
 * measures against long double. NaN stays NaN, and infinities and zeros are those of C. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_FUNCTIONS_WIDE_H
#define LEATI_GRAPH_SUPPORT_MATH_FUNCTIONS_WIDE_H

#include "base/isa.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

LEATI_ALWAYS_INLINE uint64_t leati_math_wide_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

LEATI_ALWAYS_INLINE double leati_math_wide_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* All bits where a < b, unless both are infinite, else none; and a or b by such a mask. */
LEATI_ALWAYS_INLINE uint64_t leati_math_wide_below(double a, double b) {
    return 0 - (leati_math_wide_bits(a - b) >> 63);
}

LEATI_ALWAYS_INLINE uint64_t leati_math_wide_mask(bool all) {
    return 0 - (uint64_t)all;
}

LEATI_ALWAYS_INLINE double leati_math_wide_pick(uint64_t mask, double a, double b) {
    return leati_math_wide_of_bits((leati_math_wide_bits(a) & mask) |
                                   (leati_math_wide_bits(b) & ~mask));
}

/* 2^n, -1023 < n < 1024; 0 for -1023. */
LEATI_ALWAYS_INLINE double leati_math_wide_two_to(int64_t n) {
    return leati_math_wide_of_bits(((uint64_t)n + 1023) << 52);
}

#define LEATI_MATH_WIDE_FMA(A, B, C) __builtin_fma(A, B, C)
#define LEATI_MATH_WIDE_LN2_HIGH 0x1.62e42fefa39efp-1
#define LEATI_MATH_WIDE_LN2_LOW 0x1.abc9e3b39803fp-56

/* x = n ln 2 + *rest with |*rest| <= ln 2 / 2. */
LEATI_ALWAYS_INLINE int64_t leati_math_wide_exp_reduce(double x, double *rest) {
    const double shift = 0x1.8p52;
    double shifted = LEATI_MATH_WIDE_FMA(x, 0x1.71547652b82fep0, shift), n = shifted - shift;
    *rest = LEATI_MATH_WIDE_FMA(n, -LEATI_MATH_WIDE_LN2_LOW,
                                LEATI_MATH_WIDE_FMA(n, -LEATI_MATH_WIDE_LN2_HIGH, x));
    return (int64_t)(leati_math_wide_bits(shifted) - leati_math_wide_bits(shift));
}

/* exp(r) - 1 - r, |r| <= ln 2 / 2. */
LEATI_ALWAYS_INLINE double leati_math_wide_exp_tail(double r) {
    double p = LEATI_MATH_WIDE_FMA(r, 0x1.af38a9b0ec855p-26, 0x1.289185613a3d6p-22);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.71de0dae63bb3p-19);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.a019b90d2ae7ap-16);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.a01a01a7c41d5p-13);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.6c16c1788bd9p-10);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.11111111109b3p-7);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.5555555553d63p-5);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.5555555555556p-3);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1p-1);
    return p * (r * r);
}

/* 1.1 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_exp(double x) {
    /* Beyond these the result is 0 or infinite. */
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    double r;
    int64_t n = leati_math_wide_exp_reduce(x, &r);
    /* n / 2, rounded down, without a shift of a negative number, which AVX2 lacks. */
    int64_t half = (int64_t)(((uint64_t)n + 2048) >> 1) - 1024;
    double y = 1.0 + (r + leati_math_wide_exp_tail(r));
    return y * leati_math_wide_two_to(half) *
           leati_math_wide_two_to((int64_t)((uint64_t)n - (uint64_t)half));
}

/* 2 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_expm1(double x) {
    double at = x < -50.0 ? -50.0 : x;
    at = at > 710.0 ? 710.0 : at;
    double r;
    int64_t n = leati_math_wide_exp_reduce(at, &r);
    double part = r + leati_math_wide_exp_tail(r), scale = leati_math_wide_two_to(n - 1);
    double y = 2.0 * LEATI_MATH_WIDE_FMA(part, scale, scale - 0.5);
    return fabs(x) < 0x1p-54 ? x : y;
}

/* log(1 + f), sqrt(1/2) <= 1 + f <= sqrt(2), plus e ln 2: by s = f / (2 + f), of which it is
 * 2 artanh. */
LEATI_ALWAYS_INLINE double leati_math_wide_log_polynomial(double f, double e) {
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double p = LEATI_MATH_WIDE_FMA(z, 0x1.0c05166ec4148p-3, 0x1.0fbe71ad855c9p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.3b1c36b445cebp-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.745cf8fe328f9p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.c71c720168526p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.2492492476c42p-2);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.9999999999a38p-2);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.5555555555555p-1);
    double tail =
        LEATI_MATH_WIDE_FMA(e, LEATI_MATH_WIDE_LN2_LOW, s * LEATI_MATH_WIDE_FMA(z, p, half));
    return LEATI_MATH_WIDE_FMA(e, LEATI_MATH_WIDE_LN2_HIGH, f - (half - tail));
}

/* x = 2^*e m with sqrt(1/2) <= m < sqrt(2), x a positive normal number: m. */
LEATI_ALWAYS_INLINE double leati_math_wide_log_reduce(double x, double *e) {
    const uint64_t least = UINT64_C(0x3fe6a09e667f3bcd), ones = (UINT64_C(1) << 52) - 1;
    uint64_t above = leati_math_wide_bits(x) - least + (UINT64_C(1023) << 52);
    /* An integer below 2^52 becomes a double by its bits. */
    *e = leati_math_wide_of_bits(above >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
    return leati_math_wide_of_bits((above & ones) + least);
}

LEATI_ALWAYS_INLINE double leati_math_wide_log_of_normal(double x) {
    double e, m = leati_math_wide_log_reduce(x, &e);
    return leati_math_wide_log_polynomial(m - 1.0, e);
}

/* 1.0 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_log(double x) {
    double normal = x < 0x1p-1022 ? x * 0x1p52 : x, e;
    double m = leati_math_wide_log_reduce(normal, &e);
    e = x < 0x1p-1022 ? e - 52.0 : e;
    double y = leati_math_wide_log_polynomial(m - 1.0, e);
    y = x < 0 ? (double)NAN : x == 0 ? -(double)INFINITY : y;
    return x < (double)INFINITY ? y : x; /* infinite, or NaN */
}

/* 1.5 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_log1p(double x) {
    double sum = 1.0 + x, e;
    /* What the addition lost. */
    double lost = x < 1.0 ? x - (sum - 1.0) : 1.0 - (sum - x);
    double m = leati_math_wide_log_reduce(sum, &e);
    double down = leati_math_wide_of_bits(leati_math_wide_bits(m) - leati_math_wide_bits(sum) +
                                          leati_math_wide_bits(1.0));
    double y = leati_math_wide_log_polynomial((m - 1.0) + (x < 0x1p60 ? lost * down : 0.0), e);
    y = x < -1.0 ? (double)NAN : x == -1.0 ? -(double)INFINITY : y;
    y = fabs(x) < 0x1p-54 ? x : y;
    return x < (double)INFINITY ? y : x;
}

/* 3 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_tanh(double x) {
    double a = fabs(x);
    double t = leati_math_wide_expm1(2.0 * (a > 20.0 ? 20.0 : a));
    double y = copysign(t / (t + 2.0), x);
    return x != x ? x : y;
}

/* 1 / (1 + exp(-x)). 2.5 ULP; 0 below -709.8, where exp(-x) is infinite. */
LEATI_ALWAYS_INLINE double leati_math_wide_sigmoid(double x) {
    return 1.0 / (1.0 + leati_math_wide_exp(-x));
}

/* log(1 + exp(x)). 2 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_softplus(double x) {
    double above = x > 0 ? x : 0.0;
    double y = above + leati_math_wide_log1p(leati_math_wide_exp(-fabs(x)));
    return x != x ? x : y;
}

/* erf(x) / x - 1 of z = x^2 up to 1. */
LEATI_ALWAYS_INLINE double leati_math_wide_erf_near(double z) {
    double p = LEATI_MATH_WIDE_FMA(z, 0x1.05ffd737fb32ep-34, -0x1.389d4f2641625p-30);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.f7b4bf3b13964p-27);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.5f1ecb6f0764cp-23);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.b9df224ca4b97p-20);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.f4d1e3183f7aep-17);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.f9a321d5b8e1ep-14);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.c02db3dac435fp-11);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.565bcd0dbaa38p-8);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.b82ce31284ep-6);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.ce2f21a042b3p-4);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.812746b0379e6p-2);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.06eba8214db69p-3);
    return p;
}

/* 1 - erf(a) from 1 to 6, where it is nothing beside 1: exp(-a^2) / (1 + 2 a) times a polynomial in
 * (a - 3) / (a + 3). */
LEATI_ALWAYS_INLINE double leati_math_wide_erf_tail(double a) {
    a = a > 6.0 ? 6.0 : a;
    double t = (a - 3.0) / (a + 3.0);
    double p = LEATI_MATH_WIDE_FMA(t, 0x1.32af670bbdb95p-19, -0x1.192982fbf6129p-20);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.4aeb5d3c995fcp-16);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.56fea76f8e4dbp-18);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.06405c01b1a34p-13);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.b9305c3ca50ecp-14);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.98daefef091c2p-11);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.ef1c0567e5b75p-10);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.4b884db29eaeap-9);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.8574c4279d471p-6);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.17ca2877f10ebp-4);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.e88b803a23eedp-4);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.098366a5b48dep-3);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.85a15c58aaf57p-5);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.15c084bb9e8f6p-3);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.40c522d7e4987p+0);
    return leati_math_wide_exp(-a * a) * p / LEATI_MATH_WIDE_FMA(2.0, a, 1.0);
}

/* 1.0 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_erf(double x) {
    double a = fabs(x), z = a < 1.0 ? a * a : 1.0;
    double near = LEATI_MATH_WIDE_FMA(leati_math_wide_erf_near(z), a, a);
    double y = copysign(a < 1.0 ? near : 1.0 - leati_math_wide_erf_tail(a), x);
    return x != x ? x : y;
}

/* k pi / 4 + atan(number / of) for |number / of| <= tan(pi / 8), where both are rounded and `lack`
 * and `rest` what they lack. The quotient is taken to twice as many digits, so that only the sum is
 * rounded. */
LEATI_ALWAYS_INLINE double leati_math_wide_atan_sum(double k, double number, double lack, double of,
                                                    double rest) {
    double inverse = 1.0 / of, t = number * inverse, z = t * t;
    double left = LEATI_MATH_WIDE_FMA(-t, of, number);
    double more = (left + LEATI_MATH_WIDE_FMA(-t, rest, lack)) * inverse;
    double p = LEATI_MATH_WIDE_FMA(z, 0x1.0acd9e91a5a35p-6, -0x1.1b311bb48c215p-5);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.74dccfb93fff0p-5);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.ac7a5a79b3f26p-5);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.e19a0bfa3eef9p-5);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.110e87b4357d2p-4);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.3b1392d519db1p-4);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.745d165dc9713p-4);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.c71c71c303dbbp-4);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.249249248d7dcp-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.9999999999953p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.5555555555555p-2);
    double high = k * 0x1.921fb54442d18p-1, sum = high + t;
    double small =
        LEATI_MATH_WIDE_FMA(t * z, p, LEATI_MATH_WIDE_FMA(k, 0x1.1a62633145c07p-55, more));
    return sum + (((high - sum) + t) + small);
}

/* 0.9 ULP. */
LEATI_ALWAYS_INLINE double leati_math_wide_atan(double x) {
    double a = fabs(x);
    a = a > 1e17 ? 1e17 : a; /* pi / 2, as behind it */
    uint64_t far = leati_math_wide_below(0x1.3504f333f9de6p+1, a);
    uint64_t near = leati_math_wide_below(a, 0x1.a827999fcef32p-2), middle = ~(far | near);
    double down = a - 1.0, up = a + 1.0;
    double number = leati_math_wide_pick(far, -1.0, leati_math_wide_pick(near, a, down));
    double of = leati_math_wide_pick(far, a, leati_math_wide_pick(near, 1.0, up));
    double lack = leati_math_wide_pick(middle, a - (down + 1.0), 0.0);
    double rest = leati_math_wide_pick(middle, a - (up - 1.0), 0.0);
    double k = leati_math_wide_pick(far, 2.0, leati_math_wide_pick(near, 0.0, 1.0));
    double y = leati_math_wide_atan_sum(k, number, lack, of, rest);
    return x != x ? x : copysign(y, x);
}

/* 0.8 ULP, or 1.5 where y or the angle is a subnormal number. */
LEATI_ALWAYS_INLINE double leati_math_wide_atan2(double y, double x) {
    double up = fabs(y), right = fabs(x);
    double least = up > right ? right : up, most = up > right ? up : right;
    /* Far from where sums overflow and remainders vanish. */
    double scale = most > 0x1p1000 ? 0x1p-60 : most < 0x1p-400 ? 0x1p600 : 1.0;
    bool infinite = most > 0x1.fffffffffffffp+1023;
    least = infinite ? (least == most ? 1.0 : 0.0) : least * scale;
    most = (infinite | (most == 0)) ? 1.0 : most * scale;
    bool near = least <= 0x1.a827999fcef32p-2 * most, left = leati_math_wide_bits(x) >> 63 != 0;
    double of = near ? most : most + least, number = near ? least : least - most;
    double lack = near ? 0.0 : least - (number + most), rest = near ? 0.0 : least - (of - most);
    double k = near ? 0.0 : 1.0, down = (up > right) != left ? -1.0 : 1.0;
    double base = up > right ? 2.0 : left ? 4.0 : 0.0;
    double angle = leati_math_wide_atan_sum(base + down * k, down * number, down * lack, of, rest);
    return ((x != x) | (y != y)) ? x + y : copysign(angle, y);
}

/* Sine and cosine: x - n pi/2 by three parts of pi/2, the first difference exact. */
#define LEATI_MATH_WIDE_CIRCULAR_MOST 0x1p25
LEATI_ALWAYS_INLINE int64_t leati_math_wide_quadrant(double x, double *rest) {
    const double shift = 0x1.8p52;
    double shifted = LEATI_MATH_WIDE_FMA(x, 0x1.45f306dc9c883p-1, shift), n = shifted - shift;
    double r = LEATI_MATH_WIDE_FMA(n, -0x1.921fb54442d18p+0, x);
    r = LEATI_MATH_WIDE_FMA(n, -0x1.1a62633145c07p-54, r);
    *rest = LEATI_MATH_WIDE_FMA(n, 0x1.f1976b7ed8fbcp-110, r);
    return (int64_t)(leati_math_wide_bits(shifted) - leati_math_wide_bits(shift));
}

LEATI_ALWAYS_INLINE double leati_math_wide_sine_of(double r, int64_t quadrant) {
    double z = r * r;
    double s = LEATI_MATH_WIDE_FMA(z, -0x1.ab161757f0c63p-41, 0x1.61217c1864fa1p-33);
    s = LEATI_MATH_WIDE_FMA(s, z, -0x1.ae64540f0ba18p-26);
    s = LEATI_MATH_WIDE_FMA(s, z, 0x1.71de3a545e7p-19);
    s = LEATI_MATH_WIDE_FMA(s, z, -0x1.a01a01a019926p-13);
    s = LEATI_MATH_WIDE_FMA(s, z, 0x1.111111111111p-7);
    s = LEATI_MATH_WIDE_FMA(s, z, -0x1.5555555555555p-3);
    s = LEATI_MATH_WIDE_FMA(s * z, r, r);
    double c = LEATI_MATH_WIDE_FMA(z, -0x1.907c0e63adbb6p-37, 0x1.1eeb66b683028p-29);
    c = LEATI_MATH_WIDE_FMA(c, z, -0x1.27e4fa15bd814p-22);
    c = LEATI_MATH_WIDE_FMA(c, z, 0x1.a01a019f4d0edp-16);
    c = LEATI_MATH_WIDE_FMA(c, z, -0x1.6c16c16c1696p-10);
    c = LEATI_MATH_WIDE_FMA(c, z, 0x1.5555555555555p-5);
    double half = 0.5 * z, one = 1.0 - half;
    c = one + LEATI_MATH_WIDE_FMA(c, z * z, (1.0 - one) - half);
    double y = quadrant & 1 ? c : s;
    return quadrant & 2 ? -y : y;
}

/* 2 ULP, |x| <= LEATI_MATH_WIDE_CIRCULAR_MOST. */
LEATI_ALWAYS_INLINE double leati_math_wide_sin(double x) {
    double r;
    int64_t quadrant = leati_math_wide_quadrant(x, &r);
    double y = leati_math_wide_sine_of(r, quadrant);
    return x == 0 ? x : y;
}

LEATI_ALWAYS_INLINE double leati_math_wide_cos(double x) {
    double r;
    int64_t quadrant = leati_math_wide_quadrant(x, &r);
    return leati_math_wide_sine_of(r, quadrant + 1);
}

#endif
