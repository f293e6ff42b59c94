/* float16 and bfloat16 as their 16 bits: conversions to float and back, rounding to nearest even.
 * Kernels compute in float. */
#ifndef LEATI_GRAPH_OPS_HALF_H
#define LEATI_GRAPH_OPS_HALF_H

#include <stdint.h>
#include <string.h>

static inline float leati_bits_to_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t leati_float_to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float leati_bfloat16_to_float(uint16_t half) {
    return leati_bits_to_float((uint32_t)half << 16);
}

static inline uint16_t leati_float_to_bfloat16(float value) {
    uint32_t bits = leati_float_to_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* stays a NaN */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float leati_float16_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = half >> 10 & 0x1fu, mantissa = half & 0x3ffu;
    if (exponent == 0x1fu)
        return leati_bits_to_float(sign | 0x7f800000u | mantissa << 13);
    if (exponent == 0) { /* zero or subnormal: mantissa * 2^-24, exact */
        float magnitude = (float)mantissa * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return leati_bits_to_float(sign | (exponent + 112u) << 23 | mantissa << 13);
}

static inline uint16_t leati_float_to_float16(float value) {
    uint32_t bits = leati_float_to_bits(value);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) /* rounds to 65536 or beyond */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { /* subnormal: the addition rounds to a multiple of 2^-24 */
        float shifted = leati_bits_to_float(magnitude) + 0.5f;
        return (uint16_t)(sign | (leati_float_to_bits(shifted) - 0x3f000000u));
    }
    uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return (uint16_t)(sign | (rounded - (112u << 23)) >> 13);
}

#endif
