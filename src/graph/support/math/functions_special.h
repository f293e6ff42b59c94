/* pow, the inverse circular and the hyperbolic functions and their inverses, those of the error
 * function and of gamma, and modified Bessel functions, of float32, as functions.h has exp and log.
 * What is not plain in float32 is computed in float64 with digits enough for a float: the result is
 * then off by little more than its rounding, half a unit in the last place. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_FUNCTIONS_SPECIAL_H
#define LEATI_GRAPH_SUPPORT_MATH_FUNCTIONS_SPECIAL_H

#include "graph/support/math/functions.h"
#include "graph/support/math/functions_wide.h"
#include <stdbool.h>

#define LEATI_MATH_PI 3.14159265358979323846

/* ---- in float32 ---- */
#define LEATI_MATH_HALF_PI_HIGH 0x1.921fb6p+0f
#define LEATI_MATH_HALF_PI_LOW -0x1.777a5cp-25f

/* asin(s) of s up to 1/2 with z = s^2. */
LEATI_ALWAYS_INLINE float leati_math_asin_near(float s, float z) {
    float p = LEATI_MATH_FMA(z, 0x1.59f3d8p-5f, 0x1.8b86bp-6f);
    p = LEATI_MATH_FMA(p, z, 0x1.748efep-5f);
    p = LEATI_MATH_FMA(p, z, 0x1.330136p-4f);
    p = LEATI_MATH_FMA(p, z, 0x1.5555cap-3f);
    return LEATI_MATH_FMA(s * z, p, s);
}

/* asin of |x| where it is at most 1/2, else of sqrt((1 - |x|) / 2), which is half the rest to pi/2.
 */
LEATI_ALWAYS_INLINE float leati_math_asin_part(float x) {
    float a = fabsf(x), z = a > 0.5f ? (1.0f - a) * 0.5f : a * a;
    return leati_math_asin_near(a > 0.5f ? sqrtf(z) : a, z);
}

/* 1.9 ULP. */
LEATI_ALWAYS_INLINE float leati_math_asin(float x) {
    float p = leati_math_asin_part(x);
    float far = LEATI_MATH_FMA(-2.0f, p, LEATI_MATH_HALF_PI_HIGH) + LEATI_MATH_HALF_PI_LOW;
    return copysignf(fabsf(x) > 0.5f ? far : p, x);
}

/* 1.3 ULP. */
LEATI_ALWAYS_INLINE float leati_math_acos(float x) {
    float p = leati_math_asin_part(x);
    float near = LEATI_MATH_HALF_PI_HIGH - (copysignf(p, x) - LEATI_MATH_HALF_PI_LOW);
    float low = 2.0f * (LEATI_MATH_HALF_PI_HIGH - (p - LEATI_MATH_HALF_PI_LOW));
    float far = x > 0 ? 2.0f * p : low;
    return fabsf(x) > 0.5f ? far : near;
}

/* 1.4 ULP. */
LEATI_ALWAYS_INLINE float leati_math_atan(float x) {
    float a = fabsf(x), t = a > 1.0f ? 1.0f / a : a, z = t * t;
    float p = LEATI_MATH_FMA(z, -0x1.defc4ap-10f, 0x1.6a8e34p-7f);
    p = LEATI_MATH_FMA(p, z, -0x1.01aee6p-5f);
    p = LEATI_MATH_FMA(p, z, 0x1.dd0e38p-5f);
    p = LEATI_MATH_FMA(p, z, -0x1.58dc4ap-4f);
    p = LEATI_MATH_FMA(p, z, 0x1.c0d278p-4f);
    p = LEATI_MATH_FMA(p, z, -0x1.2426f8p-3f);
    p = LEATI_MATH_FMA(p, z, 0x1.999276p-3f);
    p = LEATI_MATH_FMA(p, z, -0x1.55554p-2f);
    p = LEATI_MATH_FMA(t * z, p, t);
    float far = LEATI_MATH_HALF_PI_HIGH - (p - LEATI_MATH_HALF_PI_LOW);
    return copysignf(a > 1.0f ? far : p, x);
}

/* 2 ULP. */
LEATI_ALWAYS_INLINE float leati_math_atanh(float x) {
    float a = fabsf(x), z = a * a;
    float p = LEATI_MATH_FMA(z, 0x1.6b08aep-3f, 0x1.a14e14p-5f);
    p = LEATI_MATH_FMA(p, z, 0x1.e4c3e6p-4f);
    p = LEATI_MATH_FMA(p, z, 0x1.2340e2p-3f);
    p = LEATI_MATH_FMA(p, z, 0x1.99a734p-3f);
    p = LEATI_MATH_FMA(p, z, 0x1.55553ep-2f);
    float near = LEATI_MATH_FMA(a * z, p, a);
    float far = 0.5f * leati_math_log((1.0f + a) / (1.0f - a));
    return copysignf(a < 0.5f ? near : far, x);
}

/* ---- in float64, to 2^-32 ---- */
/* exp(x), |x| < 700. */
LEATI_ALWAYS_INLINE double leati_math_short_exp(double x) {
    double r;
    int64_t n = leati_math_wide_exp_reduce(x, &r);
    double p = LEATI_MATH_WIDE_FMA(r, 0x1.a124f19fe89acp-13, 0x1.6d43246b523b4p-10);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.1110e0f238322p-7);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.5554e9063586ep-5);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1.5555555a78ed4p-3);
    p = LEATI_MATH_WIDE_FMA(p, r, 0x1p-1);
    return LEATI_MATH_WIDE_FMA(p, r * r, 1.0 + r) * leati_math_wide_two_to(n);
}

/* log(x) of a normal number: a zero has no infinity here, but less than -700. */
LEATI_ALWAYS_INLINE double leati_math_short_log(double x) {
    double e, f = leati_math_wide_log_reduce(x, &e) - 1.0, s = f / (2.0 + f), z = s * s;
    double p = LEATI_MATH_WIDE_FMA(z, 0x1.8c8d5c6b0f53p-3, 0x1.c67ac8fe30812p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.2493240725728p-2);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.999998cad0ef1p-2);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.5555555564ed7p-1);
    return LEATI_MATH_WIDE_FMA(e, LEATI_MATH_WIDE_LN2_HIGH, LEATI_MATH_WIDE_FMA(s * z, p, 2.0 * s));
}

LEATI_ALWAYS_INLINE double leati_math_atan_of_ratio(double t) {
    double z = t * t;
    double p = LEATI_MATH_WIDE_FMA(z, 0x1.86406cc5c4982p-10, -0x1.2ba6b6e0bd288p-7);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.aefb2bdf4b25ap-6);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.9115a3d155a2fp-5);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.2006f71525126p-4);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.6dd8fdf061e31p-4);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.c62cd9aa62ae5p-4);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.2489515c587b6p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.999955947a191p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, -0x1.55555529fed15p-2);
    return LEATI_MATH_WIDE_FMA(t * z, p, t);
}

/* 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_atan2(float y, float x) {
    double up = fabs((double)y), right = fabs((double)x);
    double least = up > right ? right : up, most = up > right ? up : right;
    /* Both may be 0, or infinite. */
    double t = least == most ? (most > 0 ? 1.0 : 0.0) : least / most;
    t = ((x != x) | (y != y)) ? (double)NAN : t;
    double angle = leati_math_atan_of_ratio(t);
    angle = up > right ? LEATI_MATH_PI / 2 - angle : angle;
    angle = leati_float_bits(x) >> 31 ? LEATI_MATH_PI - angle : angle;
    return copysignf((float)angle, y);
}

/* 0.6 ULP, |x| <= LEATI_MATH_CIRCULAR_MOST. */
LEATI_ALWAYS_INLINE float leati_math_tan(float x) {
    const double shift = 0x1.8p52;
    double wide = (double)x, shifted = LEATI_MATH_WIDE_FMA(wide, 0x1.45f306dc9c883p-1, shift);
    double n = shifted - shift, r = LEATI_MATH_WIDE_FMA(n, -0x1.921fb54442d18p+0, wide);
    r = LEATI_MATH_WIDE_FMA(n, -0x1.1a62633145c07p-54, r);
    double z = r * r;
    double p = LEATI_MATH_WIDE_FMA(z, 0x1.b5f650f6c33abp-11, -0x1.1305b85963efdp-12);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.0c1ab3097dbd1p-9);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.b8f52dc45795fp-9);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.2416d7b9e09a3p-7);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.663523f65e93dp-6);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.ba1c6e3c89e6dp-5);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.11110fdf4c425p-3);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.55555555eae41p-2);
    double t = LEATI_MATH_WIDE_FMA(r * z, p, r);
    bool odd = leati_math_wide_bits(shifted) & 1;
    return (float)(odd ? -1.0 / t : t);
}

/* 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_sinh(float x) {
    double a = fabs((double)x), z = a * a;
    double p = LEATI_MATH_WIDE_FMA(z, 0x1.78a70e32a02ebp-19, 0x1.a008ffbc060dap-13);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.11111eaff05ecp-7);
    p = LEATI_MATH_WIDE_FMA(p, z, 0x1.5555554e858c9p-3);
    double near = LEATI_MATH_WIDE_FMA(a * z, p, a);
    double e = leati_math_short_exp(a > 100.0 ? 100.0 : a);
    return copysignf((float)(a < 1.0 ? near : 0.5 * (e - 1.0 / e)), x);
}

/* 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_cosh(float x) {
    double a = fabs((double)x);
    double e = leati_math_short_exp(a > 100.0 ? 100.0 : a);
    return (float)(0.5 * (e + 1.0 / e));
}

/* 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_asinh(float x) {
    double a = fabs((double)x);
    double y = leati_math_short_log(a + sqrt(LEATI_MATH_WIDE_FMA(a, a, 1.0)));
    /* Where x is not less than what 1 + x loses it is the float next to the result. */
    y = a < 0x1p-14 ? a * LEATI_MATH_WIDE_FMA(a, a * (-1.0 / 6), 1.0) : y;
    return a < (double)INFINITY ? copysignf((float)y, x) : x;
}

/* 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_acosh(float x) {
    double wide = (double)x, root = sqrt((wide - 1.0) * (wide + 1.0));
    double y = leati_math_short_log(wide + root);
    y = wide >= 1.0 ? y : (double)NAN;
    return wide < (double)INFINITY ? (float)y : x;
}

/* 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_erfc(float x) {
    double a = fabs((double)x);
    a = a > 10.3 ? 10.3 : a;
    /* exp(-a^2) / (1 + 2 a) times a polynomial in (a - 3) / (a + 3). */
    double right = a + 3.0, down = LEATI_MATH_WIDE_FMA(2.0, a, 1.0), inverse = 1.0 / (right * down);
    double t = (a - 3.0) * (down * inverse);
    double p = LEATI_MATH_WIDE_FMA(t, 0x1.3bcc0d7ff2775p-15, -0x1.72ff78ef04f24p-13);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.832532ba34c8p-11);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.fe7a37ac5af2cp-10);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.4b37606287cd2p-9);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.85bb91db13eaap-6);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.17c8b3b5ce6b1p-4);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.e88957283bb7bp-4);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.098380a78675cp-3);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.85a18e2e35a7bp-5);
    p = LEATI_MATH_WIDE_FMA(p, t, -0x1.15c08568f7455p-3);
    p = LEATI_MATH_WIDE_FMA(p, t, 0x1.40c522daed6c9p+0);
    double tail = leati_math_short_exp(-a * a) * p * (right * inverse);
    return (float)(x < 0 ? 2.0 - tail : tail);
}

/* erfinv(y) / y where w is -log(1 - y^2), to 105. */
LEATI_ALWAYS_INLINE double leati_math_erfinv_ratio(double w) {
    double near = LEATI_MATH_WIDE_FMA(w, -0x1.ba4bd489b0ae3p-37, 0x1.0648fa217dab2p-31);
    near = LEATI_MATH_WIDE_FMA(near, w, -0x1.f3005fa3feb76p-28);
    near = LEATI_MATH_WIDE_FMA(near, w, 0x1.b031dd5e709aep-25);
    near = LEATI_MATH_WIDE_FMA(near, w, -0x1.09ec97965198bp-24);
    near = LEATI_MATH_WIDE_FMA(near, w, -0x1.39d65bf86db98p-20);
    near = LEATI_MATH_WIDE_FMA(near, w, 0x1.6c435c99861b5p-19);
    near = LEATI_MATH_WIDE_FMA(near, w, 0x1.7b981f8eebe1ap-15);
    near = LEATI_MATH_WIDE_FMA(near, w, -0x1.0968293d0dcd1p-13);
    near = LEATI_MATH_WIDE_FMA(near, w, -0x1.322f4a99f7ed8p-9);
    near = LEATI_MATH_WIDE_FMA(near, w, 0x1.7a7530a9f14ccp-7);
    near = LEATI_MATH_WIDE_FMA(near, w, 0x1.db29f6f9245a2p-3);
    near = LEATI_MATH_WIDE_FMA(near, w, 0x1.c5bf892053713p-1);
    double s = sqrt(w);
    double middle = LEATI_MATH_WIDE_FMA(s, 0x1.4b9d4ff830f01p-14, -0x1.341ee3b073d61p-9);
    middle = LEATI_MATH_WIDE_FMA(middle, s, 0x1.f6f4947c1ccaap-6);
    middle = LEATI_MATH_WIDE_FMA(middle, s, -0x1.d752185aa5069p-3);
    middle = LEATI_MATH_WIDE_FMA(middle, s, 0x1.159e1ede22974p+0);
    middle = LEATI_MATH_WIDE_FMA(middle, s, -0x1.a59e8c1d9c1cdp+1);
    middle = LEATI_MATH_WIDE_FMA(middle, s, 0x1.93fd2c01dca96p+2);
    middle = LEATI_MATH_WIDE_FMA(middle, s, -0x1.c06d9ae5417c6p+2);
    middle = LEATI_MATH_WIDE_FMA(middle, s, 0x1.1ff20502e013bp+2);
    middle = LEATI_MATH_WIDE_FMA(middle, s, -0x1.004ec7fef671dp-2);
    double far = LEATI_MATH_WIDE_FMA(s, 0x1.5099ecb9c4891p-32, -0x1.9a23e285d292dp-26);
    far = LEATI_MATH_WIDE_FMA(far, s, 0x1.c16df914fc839p-21);
    far = LEATI_MATH_WIDE_FMA(far, s, -0x1.2414989837aadp-16);
    far = LEATI_MATH_WIDE_FMA(far, s, 0x1.f3c662340b74ap-13);
    far = LEATI_MATH_WIDE_FMA(far, s, -0x1.26f6391b43686p-9);
    far = LEATI_MATH_WIDE_FMA(far, s, 0x1.e8736656e944ep-7);
    far = LEATI_MATH_WIDE_FMA(far, s, -0x1.19838b0b89607p-4);
    far = LEATI_MATH_WIDE_FMA(far, s, 0x1.b17abb2d63752p-3);
    far = LEATI_MATH_WIDE_FMA(far, s, 0x1.3c84e4b48831fp-1);
    far = LEATI_MATH_WIDE_FMA(far, s, 0x1.05621a7bf870ap-3);
    return w < 6.25 ? near : w < 16.0 ? middle : far;
}

/* 0.7 ULP. */
LEATI_ALWAYS_INLINE float leati_math_erfinv(float x) {
    double wide = (double)x, rest = (1.0 - wide) * (1.0 + wide);
    double y = wide * leati_math_erfinv_ratio(-leati_math_short_log(rest));
    y = rest > 0 ? y : rest == 0 ? wide * (double)INFINITY : (double)NAN;
    return (float)y;
}

/* 0.7 ULP. */
LEATI_ALWAYS_INLINE float leati_math_ndtri(float x) {
    double p = (double)x, rest = 4.0 * p * (1.0 - p), y = 2.0 * p - 1.0;
    double z = 1.41421356237309504880 * y * leati_math_erfinv_ratio(-leati_math_short_log(rest));
    z = rest > 0 ? z : rest == 0 ? y * (double)INFINITY : (double)NAN;
    return (float)z;
}

/* x to the power of y, as C has it. 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_pow(float x, float y) {
    double a = fabs((double)x), wide = (double)y;
    /* Floats of 2^24 or more are even integers; halves of the others are exact. */
    double most = leati_math_wide_pick(leati_math_wide_mask(fabs(wide) < 0x1p24), wide, 0x1p24);
    int32_t whole = (int32_t)most;
    uint32_t integer = (double)whole == most;
    uint32_t sign = (leati_float_bits(x) >> 31 & (uint32_t)whole & integer) << 31;
    /* Masks, as branches on numbers that are constant behind them would not become vector code. */
    const double endless = (double)INFINITY;
    double l = leati_math_wide_pick(leati_math_wide_mask(a < endless), leati_math_short_log(a), a);
    l = leati_math_wide_pick(leati_math_wide_mask(a == 0), -endless, l);
    double product = leati_math_wide_pick(leati_math_wide_mask((a == 1) & (y == y)), 0.0, wide * l);
    product = leati_math_wide_pick(leati_math_wide_mask(product < -200.0), -200.0, product);
    product = leati_math_wide_pick(leati_math_wide_mask(product > 200.0), 200.0, product);
    double power = leati_math_short_exp(product);
    uint64_t unsure = leati_math_wide_mask((x < 0) & (x > -INFINITY) & ((double)whole != most));
    power = leati_math_wide_pick(unsure, (double)NAN, power);
    /* The powers that programs write most are exact, so that products may stand for them. */
    power = leati_math_wide_pick(leati_math_wide_mask(y == 2.0f), a * a, power);
    power = leati_math_wide_pick(leati_math_wide_mask(y == 3.0f), a * a * a, power);
    power = leati_math_wide_pick(leati_math_wide_mask((y == 0) | (x == 1.0f)), 1.0, power);
    return leati_float_of_bits(leati_float_bits((float)power) ^ sign);
}

/* ---- of gamma: Stirling's series from 8 on, to where a product leads ---- */
/* x (x + 1) ... (x + 7), and its derivative. */
LEATI_ALWAYS_INLINE double leati_math_rising(double x, double *slope) {
    double product = x, change = 1.0;
#define LEATI_MATH_RISE(K)                                                                         \
    change = LEATI_MATH_WIDE_FMA(change, x + K, product);                                          \
    product *= x + K;
    LEATI_MATH_RISE(1.0)
    LEATI_MATH_RISE(2.0)
    LEATI_MATH_RISE(3.0)
    LEATI_MATH_RISE(4.0)
    LEATI_MATH_RISE(5.0)
    LEATI_MATH_RISE(6.0)
    LEATI_MATH_RISE(7.0)
    *slope = change;
    return product;
}

/* The distance to the nearest integer. */
LEATI_ALWAYS_INLINE double leati_math_off_integer(double x) {
    const double shift = 0x1.8p52;
    return leati_math_wide_pick(leati_math_wide_mask(fabs(x) < 0x1p24), x - ((x + shift) - shift),
                                0.0);
}

/* log |gamma(x)|. 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_lgamma(float x) {
    double wide = (double)x, off = leati_math_off_integer(wide), slope;
    /* Masks, as many branches on one condition would not become vector code. */
    uint64_t below = leati_math_wide_below(wide, 0.0);
    double at = leati_math_wide_pick(below, 1.0 - wide, wide);
    uint64_t small = leati_math_wide_below(at, 8.0);
    double product = leati_math_rising(leati_math_wide_pick(small, at, 1.0), &slope);
    product = leati_math_wide_pick(small, product, 1.0);
    double behind = leati_math_wide_pick(small, at + 8.0, at), i = 1.0 / behind, z = i * i;
    double s = LEATI_MATH_WIDE_FMA(z, -3617.0 / 122400, 1.0 / 156);
    s = LEATI_MATH_WIDE_FMA(s, z, -691.0 / 360360);
    s = LEATI_MATH_WIDE_FMA(s, z, 1.0 / 1188);
    s = LEATI_MATH_WIDE_FMA(s, z, -1.0 / 1680);
    s = LEATI_MATH_WIDE_FMA(s, z, 1.0 / 1260);
    s = LEATI_MATH_WIDE_FMA(s, z, -1.0 / 360);
    s = LEATI_MATH_WIDE_FMA(s, z, 1.0 / 12);
    double l = LEATI_MATH_WIDE_FMA(behind - 0.5, leati_math_wide_log_of_normal(behind), -behind);
    /* log(2 pi) / 2 */
    l = LEATI_MATH_WIDE_FMA(s, i, l + 0.91893853320467274178);
    /* gamma(x) gamma(1 - x) = pi / sin(pi x). */
    double sine = leati_math_wide_sin(LEATI_MATH_PI * fabs(off));
    double rest = leati_math_wide_log_of_normal(
        product * leati_math_wide_pick(below, LEATI_MATH_PI / sine, 1.0));
    double y = leati_math_wide_pick(below, rest - l, l - rest);
    y = leati_math_wide_pick(leati_math_wide_mask((wide <= 0) & (off == 0)), (double)INFINITY, y);
    y = leati_math_wide_pick(leati_math_wide_mask((wide == 1) | (wide == 2)), 0.0, y);
    return fabsf(x) < INFINITY ? (float)y : x * x;
}

/* The derivative of lgamma; NaN at 0, -1, -2 ... 0.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_digamma(float x) {
    double wide = (double)x, off = leati_math_off_integer(wide), slope;
    /* Masks, as many branches on one condition would not become vector code. */
    uint64_t below = leati_math_wide_below(wide, 0.0);
    double at = leati_math_wide_pick(below, 1.0 - wide, wide);
    uint64_t small = leati_math_wide_below(at, 8.0);
    double product = leati_math_rising(leati_math_wide_pick(small, at, 1.0), &slope);
    double behind = leati_math_wide_pick(small, at + 8.0, at), i = 1.0 / behind, z = i * i;
    double s = LEATI_MATH_WIDE_FMA(z, 1.0 / 12, -691.0 / 32760);
    s = LEATI_MATH_WIDE_FMA(s, z, 1.0 / 132);
    s = LEATI_MATH_WIDE_FMA(s, z, -1.0 / 240);
    s = LEATI_MATH_WIDE_FMA(s, z, 1.0 / 252);
    s = LEATI_MATH_WIDE_FMA(s, z, -1.0 / 120);
    s = LEATI_MATH_WIDE_FMA(s, z, 1.0 / 12);
    double y = leati_math_wide_log_of_normal(behind) - LEATI_MATH_WIDE_FMA(s, z, 0.5 * i);
    y = leati_math_wide_pick(small, y - slope / product, y);
    double angle = LEATI_MATH_PI * off;
    double turn = leati_math_wide_cos(angle) / leati_math_wide_sin(angle);
    y = leati_math_wide_pick(below, LEATI_MATH_WIDE_FMA(-LEATI_MATH_PI, turn, y), y);
    y = leati_math_wide_pick(leati_math_wide_mask((wide <= 0) & (off == 0)), (double)NAN, y);
    return x < INFINITY ? (float)y : x;
}

/* ---- Bessel functions I, times e^-|x| ---- */
LEATI_ALWAYS_INLINE double leati_math_scaled_i0(double a) {
    double t = 8.0 / a, b = a > 8.0 ? 8.0 : a;
    double near = LEATI_MATH_WIDE_FMA(b, 0x1.6043dadf12954p-48, -0x1.c40f46bd90b4dp-42);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.0fb41d51a2a1dp-36);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.97ad37bfe3ba1p-32);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.adaad7d4401fp-28);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.53e86c7f40547p-24);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.a5ff995b280a2p-21);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.a926de45def2bp-18);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.653d246820681p-15);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.0002b03b53fb8p-12);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.3e15d43bcdd81p-10);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.597863caa92edp-8);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.47af35e597d2ap-6);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.0ca3a2c81ee47p-4);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.754ae3482f2eap-3);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.aaa909c2aee9dp-2);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.7fffdd70435p-1);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.fffffdb686327p-1);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.fffffff985ba8p-1);
    double far = LEATI_MATH_WIDE_FMA(t, 0x1.20ede9539be81p-18, -0x1.0f54b482d1295p-17);
    far = LEATI_MATH_WIDE_FMA(far, t, 0x1.7dca9a170d469p-17);
    far = LEATI_MATH_WIDE_FMA(far, t, 0x1.be3d121fe701bp-18);
    far = LEATI_MATH_WIDE_FMA(far, t, 0x1.e8183aefe0a78p-15);
    far = LEATI_MATH_WIDE_FMA(far, t, 0x1.cb6efb3b2d887p-12);
    far = LEATI_MATH_WIDE_FMA(far, t, 0x1.9884703d9da8p-8);
    far = LEATI_MATH_WIDE_FMA(far, t, 0x1.9884533c5b2dp-2);
    return a < 8.0 ? near : far / sqrt(a);
}

LEATI_ALWAYS_INLINE double leati_math_scaled_i1(double a) {
    double t = 8.0 / a, b = a > 8.0 ? 8.0 : a;
    double near = LEATI_MATH_WIDE_FMA(b, 0x1.81bbd9eaef5e1p-51, -0x1.f2ba4e4897326p-45);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.2ea790ecbac1cp-39);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.cbde278c5f8aep-35);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.eccec552c2fcfp-31);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.8e9b9ed8b7f7dp-27);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.fdc4bd6806556p-24);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.0b15290664abap-20);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.d85f6eb03e168p-18);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.6911339eeee43p-15);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.e53b2bfb99d8ep-13);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.20f5974978cfp-10);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.30a498567941p-8);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.1984ff99fa7cep-6);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.bffac2fbdb752p-5);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.2aaa41f975ae7p-3);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.3ffff74ffb30cp-2);
    near = LEATI_MATH_WIDE_FMA(near, b, -0x1.ffffff6cc0603p-2);
    near = LEATI_MATH_WIDE_FMA(near, b, 0x1.fffffffe5ee54p-2);
    double far = LEATI_MATH_WIDE_FMA(t, -0x1.452e476c7e459p-18, 0x1.3087c28ad888cp-17);
    far = LEATI_MATH_WIDE_FMA(far, t, -0x1.b8f9d9b0a44e3p-17);
    far = LEATI_MATH_WIDE_FMA(far, t, -0x1.340248446ba94p-17);
    far = LEATI_MATH_WIDE_FMA(far, t, -0x1.5475b34c77cb2p-14);
    far = LEATI_MATH_WIDE_FMA(far, t, -0x1.7ee65c998e92fp-11);
    far = LEATI_MATH_WIDE_FMA(far, t, -0x1.326346bea447ep-6);
    far = LEATI_MATH_WIDE_FMA(far, t, 0x1.9884533e4dcbbp-2);
    return a < 8.0 ? a * near : far / sqrt(a);
}

/* 0.7 ULP. */
LEATI_ALWAYS_INLINE float leati_math_bessel_i0e(float x) {
    double y = leati_math_scaled_i0(fabs((double)x));
    return x != x ? x : (float)y;
}

/* 0.7 ULP. */
LEATI_ALWAYS_INLINE float leati_math_bessel_i1e(float x) {
    double y = leati_math_scaled_i1(fabs((double)x));
    return x != x ? x : copysignf((float)y, x);
}

/* 0.7 ULP. */
LEATI_ALWAYS_INLINE float leati_math_bessel_i0(float x) {
    double a = fabs((double)x);
    a = a > 100.0 ? 100.0 : a;
    double y = leati_math_scaled_i0(a) * leati_math_short_exp(a);
    return x - x == 0 ? (float)y : x - x; /* TensorFlow's is NaN at an infinity */
}

/* 0.7 ULP. */
LEATI_ALWAYS_INLINE float leati_math_bessel_i1(float x) {
    double a = fabs((double)x);
    a = a > 100.0 ? 100.0 : a;
    double y = leati_math_scaled_i1(a) * leati_math_short_exp(a);
    return x - x == 0 ? copysignf((float)y, x) : x - x;
}

/* The sum of (q + k)^-x over k = 0, 1, ... of 1 < x <= 10,000 and a finite q > 0, to 2^-28: six
 * terms, then the Euler-Maclaurin formula with five of Bernoulli's numbers. */
LEATI_ALWAYS_INLINE bool leati_math_zeta_has(double x, double q) {
    return x > 1 && x <= 10000 && q > 0 && q < (double)INFINITY;
}

LEATI_ALWAYS_INLINE double leati_math_zeta_power(double q, double x) {
    double to = -x * leati_math_wide_log_of_normal(q);
    to = to < -690.0 ? -690.0 : to;
    return leati_math_short_exp(to > 690.0 ? 690.0 : to);
}

LEATI_ALWAYS_INLINE double leati_math_zeta(double x, double q) {
    /* Without a loop, which vector code of another loop could not have inside. */
    double sum = leati_math_zeta_power(q, x) + leati_math_zeta_power(q + 1.0, x) +
                 leati_math_zeta_power(q + 2.0, x) + leati_math_zeta_power(q + 3.0, x) +
                 leati_math_zeta_power(q + 4.0, x) + leati_math_zeta_power(q + 5.0, x);
    double a = q + 6.0, power = leati_math_zeta_power(a, x), down = 1.0 / a, step = down * down;
    /* Each term of (x)(x + 1)... over a a... with Bernoulli's number 2 j over (2 j)!. */
    double term = x * down, tail = term * 0x1.5555555555555p-4;
    term *= (x + 1) * (x + 2) * step;
    tail -= term * 0x1.6c16c16c16c17p-10;
    term *= (x + 3) * (x + 4) * step;
    tail += term * 0x1.1566abc011567p-15;
    term *= (x + 5) * (x + 6) * step;
    tail -= term * 0x1.bbd779334ef0bp-21;
    term *= (x + 7) * (x + 8) * step;
    tail += term * 0x1.66a8f2bf70ebep-26;
    return sum + power * (a / (x - 1) + 0.5 + tail);
}

#endif
