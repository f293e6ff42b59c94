/* exp, log and their kin of float32, in operations that a loop over many values vectorises: no
 * branch, no table, no call.
 *
 * Each is a polynomial between two additions, evaluated by fused multiply-adds that are written
 * down, so every instruction set gives the same bits (one without them calls fmaf). The
 * coefficients are weighted minimax fits of the function on the interval named beside them. The
 * error is below that many units in the last place (ULP) of what is exact, as a run over all 2^32
 * floats has shown; functions_test runs over floats of every size. NaN stays NaN, and infinities
 * and zeros are those of C. Results below 2^-126 are right where denormal numbers are
 * not flushed to zero. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_FUNCTIONS_H
#define LEATI_GRAPH_SUPPORT_MATH_FUNCTIONS_H

#include "base/isa.h"
#include "core/half.h"
#include <math.h>

/* 2^n, -126 <= n <= 127. */
LEATI_ALWAYS_INLINE float leati_math_two_to(int32_t n) {
    return leati_float_of_bits((uint32_t)(n + 127) << 23);
}

#define LEATI_MATH_FMA(A, B, C) __builtin_fmaf(A, B, C)
/* ln 2 = the two together: the first has 24 bits, the second is what is missing. */
#define LEATI_MATH_LN2_HIGH 0x1.62e430p-1f
#define LEATI_MATH_LN2_LOW -0x1.05c610p-29f

/* x = n ln 2 + *rest with |*rest| <= ln 2 / 2: adding 1.5 * 2^23 rounds to an integer. */
LEATI_ALWAYS_INLINE int32_t leati_math_exp_reduce(float x, float *rest) {
    const float shift = 0x1.8p23f;
    float shifted = LEATI_MATH_FMA(x, 0x1.715476p0f, shift), n = shifted - shift;
    *rest = LEATI_MATH_FMA(n, -LEATI_MATH_LN2_LOW, LEATI_MATH_FMA(n, -LEATI_MATH_LN2_HIGH, x));
    return (int32_t)(leati_float_bits(shifted) - leati_float_bits(shift));
}

/* exp(r) - 1 - r, |r| <= ln 2 / 2. */
LEATI_ALWAYS_INLINE float leati_math_exp_tail(float r) {
    float p = LEATI_MATH_FMA(r, 0x1.a19e30p-13f, 0x1.6d749ep-10f);
    p = LEATI_MATH_FMA(p, r, 0x1.111092p-7f);
    p = LEATI_MATH_FMA(p, r, 0x1.5554aep-5f);
    p = LEATI_MATH_FMA(p, r, 0x1.555556p-3f);
    p = LEATI_MATH_FMA(p, r, 0.5f);
    return p * (r * r);
}

/* 1.0 ULP. */
LEATI_ALWAYS_INLINE float leati_math_exp(float x) {
    /* Beyond these the result is 0 or infinite. */
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    float r;
    int32_t n = leati_math_exp_reduce(x, &r), half = n >> 1;
    float y = 1.0f + (r + leati_math_exp_tail(r));
    /* In two steps, as 2^n alone may be too small or too large. */
    return y * leati_math_two_to(half) * leati_math_two_to(n - half);
}

/* 1.6 ULP. */
LEATI_ALWAYS_INLINE float leati_math_expm1(float x) {
    /* Sign and digits of a tiny number are its own. */
    float at = x < -20.0f ? -20.0f : x;
    at = at > 89.0f ? 89.0f : at;
    float r;
    int32_t n = leati_math_exp_reduce(at, &r);
    float part = r + leati_math_exp_tail(r), scale = leati_math_two_to(n - 1);
    float y = 2.0f * LEATI_MATH_FMA(part, scale, scale - 0.5f);
    return fabsf(x) < 0x1p-24f ? x : y;
}

/* log(1 + f), sqrt(1/2) <= 1 + f <= sqrt(2), plus e ln 2. */
LEATI_ALWAYS_INLINE float leati_math_log_polynomial(float f, float e) {
    float p = LEATI_MATH_FMA(f, 0x1.1b3e92p-4f, -0x1.e2e7ecp-4f);
    p = LEATI_MATH_FMA(p, f, 0x1.e6519ap-4f);
    p = LEATI_MATH_FMA(p, f, -0x1.fb4388p-4f);
    p = LEATI_MATH_FMA(p, f, 0x1.2332b4p-3f);
    p = LEATI_MATH_FMA(p, f, -0x1.5562e0p-3f);
    p = LEATI_MATH_FMA(p, f, 0x1.99a546p-3f);
    p = LEATI_MATH_FMA(p, f, -0x1.ffffeep-3f);
    p = LEATI_MATH_FMA(p, f, 0x1.555546p-2f);
    float square = f * f;
    float tail = LEATI_MATH_FMA(p * f, square, -0.5f * square);
    tail = LEATI_MATH_FMA(e, LEATI_MATH_LN2_LOW, tail);
    return LEATI_MATH_FMA(e, LEATI_MATH_LN2_HIGH, f + tail);
}

/* x = 2^*e m with sqrt(1/2) <= m < sqrt(2), x a positive normal number: m. */
LEATI_ALWAYS_INLINE float leati_math_log_reduce(float x, float *e) {
    const int32_t least = 0x3f3504f3; /* sqrt(1/2) */
    int32_t above = (int32_t)(leati_float_bits(x) - (uint32_t)least);
    *e = (float)(above >> 23);
    return leati_float_of_bits((uint32_t)((above & 0x7fffff) + least));
}

/* 1.0 ULP. */
LEATI_ALWAYS_INLINE float leati_math_log(float x) {
    float normal = x < 0x1p-126f ? x * 0x1p23f : x, e;
    float m = leati_math_log_reduce(normal, &e);
    e = x < 0x1p-126f ? e - 23.0f : e;
    float y = leati_math_log_polynomial(m - 1.0f, e);
    y = x < 0 ? (float)NAN : x == 0 ? -INFINITY : y;
    return x < INFINITY ? y : x; /* infinite, or NaN */
}

/* 1.5 ULP. */
LEATI_ALWAYS_INLINE float leati_math_log1p(float x) {
    float sum = 1.0f + x, e;
    /* What the addition lost. */
    float lost = x < 1.0f ? x - (sum - 1.0f) : 1.0f - (sum - x);
    float m = leati_math_log_reduce(sum, &e);
    int32_t n = (int32_t)e;
    float y =
        leati_math_log_polynomial((m - 1.0f) + lost * leati_math_two_to(n > 100 ? -100 : -n), e);
    y = x < -1.0f ? (float)NAN : x == -1.0f ? -INFINITY : y;
    y = fabsf(x) < 0x1p-24f ? x : y;
    return x < INFINITY ? y : x;
}

/* 2.5 ULP. */
LEATI_ALWAYS_INLINE float leati_math_tanh(float x) {
    float a = fabsf(x);
    float t = leati_math_expm1(2.0f * (a > 10.0f ? 10.0f : a));
    float y = copysignf(t / (t + 2.0f), x);
    return x != x ? x : y;
}

/* 1 / (1 + exp(-x)). 2.5 ULP; 0 below -88.72, where exp(-x) is infinite. */
LEATI_ALWAYS_INLINE float leati_math_sigmoid(float x) {
    return 1.0f / (1.0f + leati_math_exp(-x));
}

/* log(1 + exp(x)). 2 ULP. */
LEATI_ALWAYS_INLINE float leati_math_softplus(float x) {
    float above = x > 0 ? x : 0.0f;
    float y = above + leati_math_log1p(leati_math_exp(-fabsf(x)));
    return x != x ? x : y;
}

/* 1.3 ULP. */
LEATI_ALWAYS_INLINE float leati_math_erf(float x) {
    float a = fabsf(x);
    /* Up to 1: x (1 + p(x^2)). */
    float z = a * a;
    float p = LEATI_MATH_FMA(z, -0x1.44cfbep-17f, 0x1.d8b88ep-14f);
    p = LEATI_MATH_FMA(p, z, -0x1.bcd7dep-11f);
    p = LEATI_MATH_FMA(p, z, 0x1.562b1ap-8f);
    p = LEATI_MATH_FMA(p, z, -0x1.b829d8p-6f);
    p = LEATI_MATH_FMA(p, z, 0x1.ce2f0ap-4f);
    p = LEATI_MATH_FMA(p, z, -0x1.812746p-2f);
    p = LEATI_MATH_FMA(p, z, 0x1.06eba8p-3f);
    float near = LEATI_MATH_FMA(p, a, a);
    /* From 1 to 4: 1 - exp(q(x)); beyond, 1. */
    float b = a > 4.0f ? 4.0f : a;
    float q = LEATI_MATH_FMA(b, -0x1.6bd850p-16f, 0x1.cec654p-12f);
    q = LEATI_MATH_FMA(q, b, -0x1.138cd8p-8f);
    q = LEATI_MATH_FMA(q, b, 0x1.9d0318p-6f);
    q = LEATI_MATH_FMA(q, b, -0x1.bc151ep-4f);
    q = LEATI_MATH_FMA(q, b, -0x1.443566p-1f);
    q = LEATI_MATH_FMA(q, b, -0x1.212c0ep+0f);
    q = LEATI_MATH_FMA(q, b, 0x1.8a5954p-13f);
    float far = 1.0f - leati_math_exp(q);
    float y = copysignf(a < 1.0f ? near : far, x);
    return x != x ? x : y;
}

/* Sine and cosine. x - n pi/2 in float64 has digits enough for every |x| up to 2^40. */
#define LEATI_MATH_CIRCULAR_MOST 0x1p40f
LEATI_ALWAYS_INLINE int64_t leati_math_quadrant(float x, float *rest) {
    const double shift = 0x1.8p52;
    double wide = (double)x, shifted = __builtin_fma(wide, 0x1.45f306dc9c883p-1, shift);
    double n = shifted - shift;
    double r =
        __builtin_fma(n, -0x1.1a62633145c07p-54, __builtin_fma(n, -0x1.921fb54442d18p+0, wide));
    *rest = (float)r;
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits;
}

LEATI_ALWAYS_INLINE float leati_math_sine_of(float r, int64_t quadrant) {
    float z = r * r;
    float s = LEATI_MATH_FMA(z, 0x1.6cd5ecp-19f, -0x1.a00f94p-13f);
    s = LEATI_MATH_FMA(s, z, 0x1.111108p-7f);
    s = LEATI_MATH_FMA(s, z, -0x1.555556p-3f);
    s = LEATI_MATH_FMA(s * z, r, r);
    float c = LEATI_MATH_FMA(z, -0x1.242908p-22f, 0x1.a01118p-16f);
    c = LEATI_MATH_FMA(c, z, -0x1.6c16b8p-10f);
    c = LEATI_MATH_FMA(c, z, 0x1.555556p-5f);
    c = LEATI_MATH_FMA(c, z * z, LEATI_MATH_FMA(z, -0.5f, 1.0f));
    float y = quadrant & 1 ? c : s;
    return quadrant & 2 ? -y : y;
}

/* 1.6 ULP, |x| <= LEATI_MATH_CIRCULAR_MOST. */
LEATI_ALWAYS_INLINE float leati_math_sin(float x) {
    float r;
    int64_t quadrant = leati_math_quadrant(x, &r);
    float y = leati_math_sine_of(r, quadrant);
    return x == 0 ? x : y;
}

LEATI_ALWAYS_INLINE float leati_math_cos(float x) {
    float r;
    int64_t quadrant = leati_math_quadrant(x, &r);
    return leati_math_sine_of(r, quadrant + 1);
}

#endif
