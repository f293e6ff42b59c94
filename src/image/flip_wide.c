/* Mirroring rows by permuting whole vectors: AVX-512 with VBMI, AVX2, and NEON.
 *
 * A vector holds as many whole pixels as fit; a table says where each of its bytes comes from.
 * Pixels of 1, 3, 4 and 12 bytes are the usual ones (grey, RGB, RGBA or float, RGB of floats) and
 * go by vectors of 16 bytes; with VBMI any size up to 32 bytes goes by 64. Results are written from
 * the first to the last, since memory is slower the other way round. What does not fill a vector is
 * moved pixel by pixel. Nothing beyond the rows is read or written. Bytes are moved, not
 * computed: results are those of plain C. Cannot fail; no locks. */
#include "image/flip.h"

#include <string.h>

#if defined(__x86_64__) || (defined(__ARM_NEON) && defined(__aarch64__))

/* Pixels [first, width) of the result one by one. */
static inline void mirror_rest(const uint8_t *in, uint8_t *out, size_t first, size_t width,
                               size_t pixel_size) {
    for (size_t x = first; x < width; x++)
        memcpy(out + x * pixel_size, in + (width - 1 - x) * pixel_size, pixel_size);
}

/* Where the bytes of a mirrored vector come from, whose pixels stand at the end of what is read; of
 * the result, what is behind them is written over. */
static inline void fill_table(uint8_t *table, size_t size, size_t pixel_size) {
    size_t pixels = size / pixel_size, unused = size - pixels * pixel_size;
    memset(table, 0, size);
    for (size_t p = 0; p < pixels; p++)
        for (size_t b = 0; b < pixel_size; b++)
            table[p * pixel_size + b] = (uint8_t)(unused + (pixels - 1 - p) * pixel_size + b);
}

static inline bool is_usual(size_t pixel_size) {
    return pixel_size == 1 || pixel_size == 3 || pixel_size == 4 || pixel_size == 12;
}

#endif

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

AVX2 static bool avx2_row(const uint8_t *in, uint8_t *out, size_t width, size_t pixel_size) {
    uint8_t table[16];
    if (!is_usual(pixel_size))
        return false;
    fill_table(table, sizeof table, pixel_size);
    size_t pixels = 16 / pixel_size, x = 0;
    const __m128i order = _mm_loadu_si128((const __m128i *)(const void *)table);
    for (; (width - x) * pixel_size >= 16; x += pixels) {
        const uint8_t *from = in + (width - x) * pixel_size - 16;
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
        _mm_storeu_si128((__m128i *)(void *)(out + x * pixel_size), _mm_shuffle_epi8(bytes, order));
    }
    mirror_rest(in, out, x, width, pixel_size);
    return true;
}

static bool avx2_runs(void) {
    return __builtin_cpu_supports("avx2");
}

static const leati_flip_kernel avx2 = {"avx2", avx2_runs, avx2_row};

AVX512 static bool avx512_row(const uint8_t *in, uint8_t *out, size_t width, size_t pixel_size) {
    uint8_t table[64];
    /* Stores that cross cache lines each time make short vectors the faster ones. */
    if (is_usual(pixel_size))
        return avx2_row(in, out, width, pixel_size);
    if (pixel_size > 32)
        return false;
    fill_table(table, sizeof table, pixel_size);
    size_t pixels = 64 / pixel_size, x = 0;
    const __m512i order = _mm512_loadu_si512(table);
    for (; (width - x) * pixel_size >= 64; x += pixels)
        _mm512_storeu_si512(
            out + x * pixel_size,
            _mm512_permutexvar_epi8(order, _mm512_loadu_si512(in + (width - x) * pixel_size - 64)));
    mirror_rest(in, out, x, width, pixel_size);
    return true;
}

static bool avx512_runs(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi");
}

static const leati_flip_kernel avx512 = {"avx512", avx512_runs, avx512_row};

const leati_flip_kernel *const leati_flip_fast[] = {&avx512, &avx2, NULL};

#elif defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>

static bool neon_row(const uint8_t *in, uint8_t *out, size_t width, size_t pixel_size) {
    uint8_t table[16];
    if (!is_usual(pixel_size))
        return false;
    fill_table(table, sizeof table, pixel_size);
    size_t pixels = 16 / pixel_size, x = 0;
    const uint8x16_t order = vld1q_u8(table);
    for (; (width - x) * pixel_size >= 16; x += pixels)
        vst1q_u8(out + x * pixel_size,
                 vqtbl1q_u8(vld1q_u8(in + (width - x) * pixel_size - 16), order));
    mirror_rest(in, out, x, width, pixel_size);
    return true;
}

static bool neon_runs(void) {
    return true;
}

static const leati_flip_kernel neon = {"neon", neon_runs, neon_row};

const leati_flip_kernel *const leati_flip_fast[] = {&neon, NULL};

#else

const leati_flip_kernel *const leati_flip_fast[] = {NULL};

#endif
