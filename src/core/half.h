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

/* No branches in any of them, so that loops vectorise. */
static inline float leati_float_of_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    /* A subnormal half is a multiple of 2^-24, exactly representable in float32. */
    uint32_t small = leati_float_bits((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t bits = magnitude < 0x400u ? small : (magnitude << 13) + (112u << 23);
    uint32_t quiet = magnitude > 0x7c00u ? 0x7fc00000u : 0x7f800000u;
    bits = magnitude < 0x7c00u ? bits : magnitude << 13 | quiet;
    return leati_float_of_bits(sign | bits);
}

static inline uint16_t leati_half_of_float(float value) {
    uint32_t bits = leati_float_bits(value), sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu, odd = magnitude >> 13 & 1u;
    uint32_t half = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    /* Below 2^-14 the result is subnormal: adding 0.5 puts its last bit at float's last bit, so
     * that the addition itself rounds to even. */
    uint32_t small = leati_float_bits(leati_float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
    half = magnitude < 0x38800000u ? small : half;
    half = magnitude < 0x477ff000u ? half : 0x7c00u; /* 65520 and more round to infinity */
    /* NaN: keep the upper payload, set the quiet bit. */
    half = magnitude <= 0x7f800000u ? half : 0x7e00u | (magnitude >> 13 & 0x3ffu);
    return (uint16_t)(sign | half);
}

/* The half that is nearest to a float, as a float: the same as there and back. */
static inline float leati_float_as_half(float value) {
    uint32_t bits = leati_float_bits(value), sign = bits & 0x80000000u;
    uint32_t magnitude = bits & 0x7fffffffu, odd = magnitude >> 13 & 1u;
    uint32_t rounded = (magnitude + 0xfffu + odd) & 0xffffe000u;
    /* Below 2^-14 halves are as far apart as floats from 0.5 on. */
    uint32_t small = leati_float_bits((leati_float_of_bits(magnitude) + 0.5f) - 0.5f);
    rounded = magnitude < 0x38800000u ? small : rounded;
    rounded = magnitude < 0x477ff000u ? rounded : 0x7f800000u;
    rounded = magnitude <= 0x7f800000u ? rounded : (magnitude & 0xffffe000u) | 0x00400000u;
    return leati_float_of_bits(sign | rounded);
}

static inline float leati_float_of_bfloat16(uint16_t value) {
    return leati_float_of_bits((uint32_t)value << 16);
}

static inline uint16_t leati_bfloat16_of_float(float value) {
    uint32_t bits = leati_float_bits(value);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    uint32_t quiet = (bits >> 16 & 0x8000u) | 0x7fc0u; /* Eigen's one quiet NaN */
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

#endif
