/* The inner loops of resizing for processors with AVX2 and with AVX-512.
 *
 * They compute exactly what the plain loops of resize.c do, operation by operation, without fused
 * multiply-add, so their results agree in every bit. AVX2 blends two pixels of three channels at
 * once and reads four bytes per pixel, so it leaves pixels that touch the last one of a row to
 * plain code. AVX-512 (with VBMI) takes the bytes of sixteen results, of any number of channels,
 * out of one or two vectors of the row by permuting; loads are masked, so nothing is read behind
 * the row. It makes a row of the result while it blends the one below, so that arithmetic takes
 * place while memory takes in what was written. Sums of three channels read and write one float
 * more than a pixel, for which there is room. Cannot fail; no locks. */
#include "base/minmax.h"
#include "image/resize.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

/* ---- AVX2 ---- */

/* Four bytes at each of two places. */
AVX2 static inline __m256 load_pixels(const uint8_t *first, const uint8_t *second) {
    int32_t a, b;
    memcpy(&a, first, sizeof a);
    memcpy(&b, second, sizeof b);
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_insert_epi32(_mm_cvtsi32_si128(a), b, 1)));
}

static inline void blend_pixels(const leati_resize_axis *x, const uint8_t *in, float *out,
                                int32_t i, int32_t end) {
    for (; i < end; i++) {
        for (size_t c = 0; c < 3; c++) {
            float a = in[(size_t)x->lower[i] + c], b = in[(size_t)x->upper[i] + c];
            out[3 * (size_t)i + c] = a + (b - a) * x->lerp[i];
        }
    }
}

AVX2 static void avx2_blend(const leati_resize_plan *plan, const uint8_t *in, float *out) {
    /* Each of two factors four times: a pixel has one for its channels. */
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    const leati_resize_axis *x = &plan->x;
    int32_t i = x->inside;
    blend_pixels(x, in, out, 0, i);
    for (; i + 2 <= x->interior; i += 2) {
        __m256 left = load_pixels(in + x->lower[i], in + x->lower[i + 1]);
        __m256 right = load_pixels(in + x->upper[i], in + x->upper[i + 1]);
        double pair;
        /* Both factors by one load of eight bytes. */
        memcpy(&pair, x->lerp + i, sizeof pair);
        __m256 lerp = _mm256_permutevar8x32_ps(
            _mm256_castps128_ps256(_mm_castpd_ps(_mm_set_sd(pair))), spread);
        __m256 blend = _mm256_add_ps(left, _mm256_mul_ps(_mm256_sub_ps(right, left), lerp));
        /* Each store writes a fourth float, which the next pixel overwrites. */
        _mm_storeu_ps(out + 3 * (size_t)i, _mm256_castps256_ps128(blend));
        _mm_storeu_ps(out + 3 * (size_t)i + 3, _mm256_extractf128_ps(blend, 1));
    }
    blend_pixels(x, in, out, i, x->out);
}

static inline void blend_f32_pixels(const leati_resize_axis *x, const float *in, float *out,
                                    int32_t i, int32_t end) {
    for (; i < end; i++) {
        for (size_t c = 0; c < 3; c++) {
            float a = in[(size_t)x->lower[i] + c], b = in[(size_t)x->upper[i] + c];
            out[3 * (size_t)i + c] = a + (b - a) * x->lerp[i];
        }
    }
}

/* A pixel reads four floats and writes four, of which the next one writes over the last. */
AVX2 static void avx2_blend_f32_x3(const leati_resize_axis *x, const float *in, float *out) {
    blend_f32_pixels(x, in, out, 0, x->inside);
    for (int32_t i = x->inside; i < x->interior; i++) {
        __m128 left = _mm_loadu_ps(in + x->lower[i]), right = _mm_loadu_ps(in + x->upper[i]);
        __m128 blend =
            _mm_add_ps(left, _mm_mul_ps(_mm_sub_ps(right, left), _mm_broadcast_ss(x->lerp + i)));
        _mm_storeu_ps(out + 3 * (size_t)i, blend);
    }
    blend_f32_pixels(x, in, out, x->interior, x->out);
}

AVX2 static void avx2_rows(const float *a, const float *b, float lerp, float *out, size_t count) {
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

/* Results before the first that lies at a vector's border, of `size` values. */
static inline size_t before_border(const float *out, size_t size, size_t count) {
    size_t values = ((uintptr_t)out / sizeof *out) % size;
    size_t head = values == 0 ? 0 : size - values;
    return LEATI_MIN(head, count);
}

static inline void blend_values(const float *a, const float *b, float lerp, float *out, size_t from,
                                size_t end) {
    for (size_t i = from; i < end; i++)
        out[i] = a[i] + (b[i] - a[i]) * lerp;
}

/* Such stores are ordered for other threads by settle alone. */
AVX2 static void avx2_rows_far(const float *a, const float *b, float lerp, float *out,
                               size_t count) {
    const __m256 factor = _mm256_set1_ps(lerp);
    /* Stores past the caches want whole vectors at their borders. */
    size_t i = before_border(out, 8, count);
    blend_values(a, b, lerp, out, 0, i);
    for (; i + 8 <= count; i += 8) {
        __m256 above = _mm256_loadu_ps(a + i), below = _mm256_loadu_ps(b + i);
        _mm256_stream_ps(out + i,
                         _mm256_add_ps(above, _mm256_mul_ps(_mm256_sub_ps(below, above), factor)));
    }
    blend_values(a, b, lerp, out, i, count);
}

static void settle(void) {
    _mm_sfence();
}

AVX2 static void avx2_add_u8(float *sum, const uint8_t *in, float weight, size_t count) {
    const __m256 factor = _mm256_set1_ps(weight);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(in + i));
        __m256 values = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
        _mm256_storeu_ps(sum + i,
                         _mm256_add_ps(_mm256_loadu_ps(sum + i), _mm256_mul_ps(values, factor)));
    }
    for (; i < count; i++)
        sum[i] += (float)in[i] * weight;
}

AVX2 static void avx2_add_f32(float *sum, const float *in, float weight, size_t count) {
    const __m256 factor = _mm256_set1_ps(weight);
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i),
                                                _mm256_mul_ps(_mm256_loadu_ps(in + i), factor)));
    for (; i < count; i++)
        sum[i] += in[i] * weight;
}

/* The fourth lane carries nothing; the next pixel overwrites it. The last pixel is written by three
 * floats, since the row may end where others begin. */
AVX2 static void avx2_sum_x3(const leati_resize_axis *x, const float *in, float *out) {
    const __m128i three = _mm_setr_epi32(-1, -1, -1, 0);
    for (int32_t i = 0; i < x->out; i++) {
        const float *weights = x->weights + (size_t)i * (size_t)x->span;
        const float *source = in + (size_t)x->lower[i] * 3;
        __m128 sum = _mm_setzero_ps();
        for (int32_t k = 0; k < x->count[i]; k++, source += 3)
            sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(source), _mm_set1_ps(weights[k])));
        if (i + 1 < x->out)
            _mm_storeu_ps(out + 3 * (size_t)i, sum);
        else
            _mm_maskstore_ps(out + 3 * (size_t)i, three, sum);
    }
}

static bool avx2_runs(void) {
    return __builtin_cpu_supports("avx2");
}

static bool avx2_takes(const leati_resize_plan *plan) {
    return plan->channels == 3;
}

static const leati_resize_kernels avx2 = {.name = "avx2",
                                          .runs_here = avx2_runs,
                                          .takes = avx2_takes,
                                          .blend = avx2_blend,
                                          .blend_f32_x3 = avx2_blend_f32_x3,
                                          .rows = avx2_rows,
                                          .rows_far = avx2_rows_far,
                                          .settle = settle,
                                          .add_u8 = avx2_add_u8,
                                          .add_f32 = avx2_add_f32,
                                          .sum_x3 = avx2_sum_x3};

/* ---- AVX-512 ---- */

enum { AHEAD = 1536 }; /* bytes */

AVX512 static inline __m512 widen(__m128i bytes) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
}

AVX512 static inline __m512 mix(__m512 a, __m512 b, __m512 lerp) {
    return _mm512_add_ps(a, _mm512_mul_ps(_mm512_sub_ps(b, a), lerp));
}

AVX512 static inline __m512i load_bytes(const uint8_t *from, int64_t bytes) {
    if (bytes >= 64)
        return _mm512_loadu_si512(from);
    /* Bytes behind the row read as 0 and are not touched. */
    return _mm512_maskz_loadu_epi8((UINT64_C(1) << bytes) - 1, from);
}

AVX512 static inline void store_lanes(float *out, size_t left, __m512 values) {
    if (left >= 16)
        _mm512_storeu_ps(out, values);
    else
        _mm512_mask_storeu_ps(out, (__mmask16)((1U << left) - 1), values);
}

/* A row of bytes and where its results come from. */
typedef struct picked_row {
    const leati_resize_pick_group *picks;
    const int32_t *from;
    const uint8_t *in;
    int64_t size;
} picked_row;

static inline picked_row picked(const leati_resize_plan *plan, const uint8_t *in) {
    return (picked_row){.picks = plan->picks,
                        .from = plan->pick_from,
                        .in = in,
                        .size = (int64_t)plan->x.in * plan->channels};
}

/* Results [16 g, 16 g + 16) of a row. Both bytes of a result become words of one lane, whose
 * difference is that of the floats, exactly. What comes later is asked for: rows end before
 * processors that foresee have caught up. */
AVX512 static inline __m512 pick_blend(const picked_row *row, size_t g, bool near) {
    const leati_resize_pick_group *pick = row->picks + g;
    /* Every second byte is kept: a byte becomes a word with 0 above it. */
    const __mmask64 words = UINT64_C(0x5555555555555555);
    int64_t left = row->size - row->from[g];
    const uint8_t *from = row->in + row->from[g];
    _mm_prefetch((const char *)from + AHEAD, _MM_HINT_T0);
    __m512i pairs = _mm512_load_si512(pick->pairs), bytes = load_bytes(from, left);
    if (near) {
        pairs = _mm512_maskz_permutexvar_epi8(words, pairs, bytes);
    } else {
        /* Without a second vector the places all lie in the first. */
        __m512i more = left > 64 ? load_bytes(from + 64, left - 64) : bytes;
        pairs = _mm512_maskz_permutex2var_epi8(words, bytes, pairs, more);
    }
    __m512 a = _mm512_cvtepi32_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(0xffff)));
    /* Times -1 and 1, then added: the right byte less the left one, as an integer of 32 bits. */
    __m512 step = _mm512_cvtepi32_ps(_mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001ffff)));
    return _mm512_add_ps(a, _mm512_mul_ps(step, _mm512_load_ps(pick->lerp)));
}

AVX512 static inline __attribute__((always_inline)) void
blend_groups(const leati_resize_plan *plan, const uint8_t *in, float *out, bool near) {
    const picked_row row = picked(plan, in);
    size_t count = (size_t)plan->x.out * (size_t)plan->channels;
    for (size_t i = 0, g = 0; i < count; i += 16, g++)
        store_lanes(out + i, count - i, pick_blend(&row, g, near));
}

AVX512 static void avx512_blend(const leati_resize_plan *plan, const uint8_t *in, float *out) {
    if (plan->reach <= 64)
        blend_groups(plan, in, out, true);
    else
        blend_groups(plan, in, out, false);
}

AVX512 static inline __attribute__((always_inline)) void
below_groups(const leati_resize_plan *plan, const uint8_t *in, const float *above, float lerp,
             float *own, float *out, bool near, bool far) {
    const picked_row row = picked(plan, in);
    const __m512 factor = _mm512_set1_ps(lerp);
    size_t count = (size_t)plan->x.out * (size_t)plan->channels, i = 0, g = 0;
    for (; i + 16 <= count; i += 16, g++) {
        __m512 blend = pick_blend(&row, g, near);
        __m512 result = mix(_mm512_load_ps(above + i), blend, factor);
        /* The blended row is kept for the next output row. */
        _mm512_store_ps(own + i, blend);
        if (far)
            _mm512_stream_ps(out + i, result);
        else
            _mm512_storeu_ps(out + i, result);
    }
    if (i < count) {
        __m512 blend = pick_blend(&row, g, near);
        store_lanes(own + i, count - i, blend);
        store_lanes(out + i, count - i, mix(_mm512_load_ps(above + i), blend, factor));
    }
}

AVX512 static void avx512_blend_below(const leati_resize_plan *plan, const uint8_t *in,
                                      const float *above, float lerp, float *own, float *out,
                                      bool far) {
    if (plan->reach <= 64 && far)
        below_groups(plan, in, above, lerp, own, out, true, true);
    else if (plan->reach <= 64)
        below_groups(plan, in, above, lerp, own, out, true, false);
    else if (far)
        below_groups(plan, in, above, lerp, own, out, false, true);
    else
        below_groups(plan, in, above, lerp, own, out, false, false);
}

AVX512 static void avx512_rows(const float *a, const float *b, float lerp, float *out,
                               size_t count) {
    const __m512 factor = _mm512_set1_ps(lerp);
    for (size_t i = 0; i + 16 <= count; i += 16)
        _mm512_storeu_ps(out + i, mix(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), factor));
    size_t i = count & ~(size_t)15;
    if (i == count)
        return;
    __mmask16 rest = (__mmask16)((1U << (count - i)) - 1);
    _mm512_mask_storeu_ps(
        out + i, rest,
        mix(_mm512_maskz_loadu_ps(rest, a + i), _mm512_maskz_loadu_ps(rest, b + i), factor));
}

AVX512 static void avx512_rows_far(const float *a, const float *b, float lerp, float *out,
                                   size_t count) {
    const __m512 factor = _mm512_set1_ps(lerp);
    size_t i = before_border(out, 16, count);
    blend_values(a, b, lerp, out, 0, i);
    for (; i + 16 <= count; i += 16)
        _mm512_stream_ps(out + i, mix(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), factor));
    blend_values(a, b, lerp, out, i, count);
}

AVX512 static void avx512_add_u8(float *sum, const uint8_t *in, float weight, size_t count) {
    const __m512 factor = _mm512_set1_ps(weight);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512 values = widen(_mm_loadu_si128((const __m128i *)(const void *)(in + i)));
        _mm512_storeu_ps(sum + i,
                         _mm512_add_ps(_mm512_loadu_ps(sum + i), _mm512_mul_ps(values, factor)));
    }
    for (; i < count; i++)
        sum[i] += (float)in[i] * weight;
}

AVX512 static void avx512_add_f32(float *sum, const float *in, float weight, size_t count) {
    const __m512 factor = _mm512_set1_ps(weight);
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(sum + i, _mm512_add_ps(_mm512_loadu_ps(sum + i),
                                                _mm512_mul_ps(_mm512_loadu_ps(in + i), factor)));
    for (; i < count; i++)
        sum[i] += in[i] * weight;
}

static bool avx512_runs(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi");
}

static bool avx512_takes(const leati_resize_plan *plan) {
    return plan->reach <= 128;
}

static const leati_resize_kernels avx512 = {.name = "avx512",
                                            .runs_here = avx512_runs,
                                            .takes = avx512_takes,
                                            .blend = avx512_blend,
                                            .blend_below = avx512_blend_below,
                                            .blend_f32_x3 = avx2_blend_f32_x3,
                                            .rows = avx512_rows,
                                            .rows_far = avx512_rows_far,
                                            .settle = settle,
                                            .add_u8 = avx512_add_u8,
                                            .add_f32 = avx512_add_f32,
                                            .sum_x3 = avx2_sum_x3};

const leati_resize_kernels *const leati_resize_fast[] = {&avx512, &avx2, NULL};

#elif !defined(__ARM_NEON)

const leati_resize_kernels *const leati_resize_fast[] = {NULL};

#endif
