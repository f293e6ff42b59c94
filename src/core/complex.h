/* Complex numbers as C has them, and functions of them that <complex.h> lacks.
 *
 * The header's macros `I` and `complex` are taken back: both are names elsewhere. */
#ifndef LEATI_CORE_COMPLEX_H
#define LEATI_CORE_COMPLEX_H

#include <complex.h>
#undef I
#undef complex
#include <math.h>
#include <string.h>

typedef float _Complex leati_complex64;
typedef double _Complex leati_complex128;

/* Of two parts, infinities and NaN included: clang does not let glibc define CMPLX. */
static inline leati_complex64 leati_complex64_of(float re, float im) {
    const float parts[2] = {re, im};
    leati_complex64 z;
    memcpy(&z, parts, sizeof z);
    return z;
}
static inline leati_complex128 leati_complex128_of(double re, double im) {
    const double parts[2] = {re, im};
    leati_complex128 z;
    memcpy(&z, parts, sizeof z);
    return z;
}

/* Of a number z for both precisions: SUFFIX is that of C's functions. */
#define LEATI_COMPLEX_FUNCTIONS(TYPE, PART, SUFFIX, MAKE)                                          \
    static inline TYPE leati_complex_##SUFFIX##expm1(TYPE z) {                                     \
        PART re = creal(z), im = cimag(z), half = (PART)sin(im / 2);                               \
        PART grown = (PART)expm1(re);                                                              \
        return MAKE((PART)(grown * cos(im) - 2 * half * half), (PART)((grown + 1) * sin(im)));     \
    }                                                                                              \
    static inline TYPE leati_complex_##SUFFIX##log1p(TYPE z) {                                     \
        PART re = creal(z), im = cimag(z);                                                         \
        return MAKE((PART)(log1p(re * (2 + re) + im * im) / 2), (PART)atan2(im, 1 + re));          \
    }                                                                                              \
    /* The number of magnitude 1 in the same direction; 0 of 0. */                                 \
    static inline TYPE leati_complex_##SUFFIX##sign(TYPE z) {                                      \
        PART size = (PART)cabs(z);                                                                 \
        return size == 0 ? 0 : z / size;                                                           \
    }
LEATI_COMPLEX_FUNCTIONS(leati_complex64, float, f, leati_complex64_of)
LEATI_COMPLEX_FUNCTIONS(leati_complex128, double, d, leati_complex128_of)

#endif
