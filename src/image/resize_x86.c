/* The two inner loops of bilinear resizing for processors with AVX2.
 *
 * Both compute exactly what the plain loops of resize.c do, operation by operation, without fused
 * multiply-add, so their results agree in every bit. The horizontal loop handles two pixels of
 * three channels at once and reads four bytes per pixel, so it leaves pixels that touch the last
 * one of a row to plain code. Cannot fail; no locks. */
#include "image/resize.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

/* Four bytes at each of two places. */
AVX2 static inline __m256 load_pixels(const uint8_t *first, const uint8_t *second) {
    int32_t a, b;
    memcpy(&a, first, sizeof a);
    memcpy(&b, second, sizeof b);
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_insert_epi32(_mm_cvtsi32_si128(a), b, 1)));
}

AVX2 static void blend_x3(const leati_resize_axis *x, const uint8_t *in, float *out) {
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    int32_t i = 0;
    for (; i + 2 <= x->interior; i += 2) {
        __m256 left = load_pixels(in + x->lower[i], in + x->lower[i + 1]);
        __m256 right = load_pixels(in + x->upper[i], in + x->upper[i + 1]);
        double pair;
        memcpy(&pair, x->lerp + i, sizeof pair);
        __m256 lerp = _mm256_permutevar8x32_ps(
            _mm256_castps128_ps256(_mm_castpd_ps(_mm_set_sd(pair))), spread);
        __m256 blend = _mm256_add_ps(left, _mm256_mul_ps(_mm256_sub_ps(right, left), lerp));
        /* Each store writes a fourth float, which the next pixel overwrites. */
        _mm_storeu_ps(out + 3 * (size_t)i, _mm256_castps256_ps128(blend));
        _mm_storeu_ps(out + 3 * (size_t)i + 3, _mm256_extractf128_ps(blend, 1));
    }
    for (; i < x->out; i++) {
        for (size_t c = 0; c < 3; c++) {
            float a = in[(size_t)x->lower[i] + c], b = in[(size_t)x->upper[i] + c];
            out[3 * (size_t)i + c] = a + (b - a) * x->lerp[i];
        }
    }
}

AVX2 static void blend_rows(const float *a, const float *b, float lerp, float *out, size_t count) {
    const __m256 factor = _mm256_set1_ps(lerp);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 above = _mm256_loadu_ps(a + i), below = _mm256_loadu_ps(b + i);
        __m256 blend = _mm256_add_ps(above, _mm256_mul_ps(_mm256_sub_ps(below, above), factor));
        _mm256_storeu_ps(out + i, blend);
    }
    for (; i < count; i++)
        out[i] = a[i] + (b[i] - a[i]) * lerp;
}

bool leati_resize_fast(leati_resize_blend_x3 **x3, leati_resize_blend_rows **rows) {
    if (!__builtin_cpu_supports("avx2"))
        return false;
    *x3 = blend_x3;
    *rows = blend_rows;
    return true;
}

#else

bool leati_resize_fast(leati_resize_blend_x3 **x3, leati_resize_blend_rows **rows) {
    (void)x3;
    (void)rows;
    return false;
}

#endif
