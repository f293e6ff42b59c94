/* float16 and bfloat16 to and from float32, rounding to nearest, ties to even, as Eigen (and so
 * TensorFlow) does. A NaN stays a NaN and becomes quiet; doubles are converted by way of float32.
 */
#ifndef LEATI_CORE_HALF_H
#define LEATI_CORE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t leati_float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float leati_float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float leati_float_of_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1fu;
    uint32_t fraction = half & 0x3ffu;
    if (exponent == 0x1fu)
        return leati_float_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0)
        return leati_float_of_bits(sign | (exponent + 112u) << 23 | fraction << 13);
    /* A subnormal half is fraction * 2^-24, exactly representable in float32. */
    float magnitude = (float)fraction * 0x1p-24f;
    return leati_float_of_bits(sign | leati_float_bits(magnitude));
}

static inline uint16_t leati_half_of_float(float value) {
    uint32_t bits = leati_float_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) /* NaN: keep the upper payload, set the quiet bit */
        return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x477ff000u) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {
        /* Below 2^-14 the result is subnormal: adding 0.5 puts its last bit at float's last bit, so
         * that the addition itself rounds to even. */
        float shifted = leati_float_of_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (leati_float_bits(shifted) - 0x3f000000u));
    }
    uint32_t odd = magnitude >> 13 & 1u;
    return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

static inline float leati_float_of_bfloat16(uint16_t value) {
    return leati_float_of_bits((uint32_t)value << 16);
}

static inline uint16_t leati_bfloat16_of_float(float value) {
    uint32_t bits = leati_float_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)((bits >> 16 & 0x8000u) | 0x7fc0u); /* Eigen's one quiet NaN */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#endif
