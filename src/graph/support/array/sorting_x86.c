/* A quicksort of keys by AVX-512, for leati_sorting_values: equal keys are the same number, so no
 * order among them is lost.
 *
 * A partition reads a group of vectors at a time, from that end where less room is free, and writes
 * keys below the pivot to the left and the others to the right; a group of each end that is kept
 * aside makes the room. Up to eight vectors are put in order in registers: each by a network, then
 * merged by bitonic steps. Where pivots are so bad that the depth exceeds its limit, it gives up,
 * and the keys are what they were in another order. No memory, no failures, no locks. */
#include "graph/support/array/sorting_x86.h"
#include "base/stop.h"

#if defined(__x86_64__)

#include "base/minmax.h"
#include "base/stop.h"

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,popcnt")))
#define INLINE AVX512 static inline __attribute__((always_inline))

bool leati_sorting_x86_runs(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq");
}

/* ---- what the two widths of keys call differently ---- */
typedef __mmask16 mask_32;
typedef __mmask8 mask_64;
enum { LANES_32 = 16, LANES_64 = 8, VECTORS = 8, GROUP = 4, SAMPLES = 16 };

INLINE __m512i lanes_32(void) {
    return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

INLINE __m512i lanes_64(void) {
    return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
}

INLINE __m512i all_32(uint32_t value) {
    return _mm512_set1_epi32((int)value);
}

INLINE __m512i all_64(uint64_t value) {
    return _mm512_set1_epi64((long long)value);
}

/* Lanes whose number has the bit. */
INLINE mask_32 with_bit_32(unsigned bit) {
    return _mm512_test_epi32_mask(lanes_32(), all_32(bit));
}

INLINE mask_64 with_bit_64(unsigned bit) {
    return _mm512_test_epi64_mask(lanes_64(), all_64(bit));
}

#define QUICKSORT(W, KEY, PERMUTE)                                                                 \
    /* Each lane and the one whose number differs by `partner` get the lesser of both where `bit`  \
     * is not in the number, and the greater where it is. */                                       \
    INLINE __m512i exchange_##W(__m512i v, unsigned partner, unsigned bit) {                       \
        __m512i other = PERMUTE(_mm512_xor_si512(lanes_##W(), all_##W(partner)), v);               \
        return _mm512_mask_max_epu##W(_mm512_min_epu##W(v, other), with_bit_##W(bit), v, other);   \
    }                                                                                              \
    /* Of a vector that first rises and then falls, or the other way round. */                     \
    INLINE __m512i merge_lanes_##W(__m512i v) {                                                    \
        for (unsigned bit = LANES_##W / 2; bit > 0; bit /= 2)                                      \
            v = exchange_##W(v, bit, bit);                                                         \
        return v;                                                                                  \
    }                                                                                              \
    INLINE __m512i sort_lanes_##W(__m512i v) {                                                     \
        for (unsigned run = 2; run <= LANES_##W; run *= 2) {                                       \
            v = exchange_##W(v, run - 1, run / 2);                                                 \
            for (unsigned bit = run / 4; bit > 0; bit /= 2)                                        \
                v = exchange_##W(v, bit, bit);                                                     \
        }                                                                                          \
        return v;                                                                                  \
    }                                                                                              \
    /* The run of `half` vectors in order and that behind it become one. */                        \
    INLINE void merge_runs_##W(__m512i *v, int half) {                                             \
        const __m512i reverse = _mm512_xor_si512(lanes_##W(), all_##W(LANES_##W - 1));             \
        __m512i upper[VECTORS / 2];                                                                \
        for (int i = 0; i < half; i++) {                                                           \
            __m512i other = PERMUTE(reverse, v[2 * half - 1 - i]);                                 \
            upper[i] = _mm512_max_epu##W(v[i], other);                                             \
            v[i] = _mm512_min_epu##W(v[i], other);                                                 \
        }                                                                                          \
        for (int i = 0; i < half; i++)                                                             \
            v[half + i] = upper[i];                                                                \
        for (int step = half / 2; step > 0; step /= 2)                                             \
            for (int i = 0; i < 2 * half; i++)                                                     \
                if ((i & step) == 0) {                                                             \
                    __m512i low = _mm512_min_epu##W(v[i], v[i + step]);                            \
                    v[i + step] = _mm512_max_epu##W(v[i], v[i + step]);                            \
                    v[i] = low;                                                                    \
                }                                                                                  \
        for (int i = 0; i < 2 * half; i++)                                                         \
            v[i] = merge_lanes_##W(v[i]);                                                          \
    }                                                                                              \
    INLINE mask_##W first_lanes_##W(size_t n) {                                                    \
        return n >= LANES_##W ? (mask_##W) ~(mask_##W)0 : (mask_##W)((1U << n) - 1);               \
    }                                                                                              \
    /* Up to `count` vectors in order, of which lanes are missing: those count as the greatest. */ \
    INLINE void network_##W(KEY *keys, size_t n, int count) {                                      \
        __m512i v[VECTORS];                                                                        \
        for (int i = 0; i < count; i++) {                                                          \
            size_t at = LEATI_MIN((size_t)i * LANES_##W, n);                                       \
            v[i] = sort_lanes_##W(                                                                 \
                _mm512_mask_loadu_epi##W(all_##W((KEY)-1), first_lanes_##W(n - at), keys + at));   \
        }                                                                                          \
        for (int half = 1; half < count; half *= 2)                                                \
            for (int i = 0; i < count; i += 2 * half)                                              \
                merge_runs_##W(v + i, half);                                                       \
        for (int i = 0; i < count; i++) {                                                          \
            size_t at = LEATI_MIN((size_t)i * LANES_##W, n);                                       \
            _mm512_mask_storeu_epi##W(keys + at, first_lanes_##W(n - at), v[i]);                   \
        }                                                                                          \
    }                                                                                              \
    AVX512 static void network1_##W(KEY *keys, size_t n) {                                         \
        network_##W(keys, n, 1);                                                                   \
    }                                                                                              \
    AVX512 static void network2_##W(KEY *keys, size_t n) {                                         \
        network_##W(keys, n, 2);                                                                   \
    }                                                                                              \
    AVX512 static void network4_##W(KEY *keys, size_t n) {                                         \
        network_##W(keys, n, 4);                                                                   \
    }                                                                                              \
    AVX512 static void network8_##W(KEY *keys, size_t n) {                                         \
        network_##W(keys, n, 8);                                                                   \
    }                                                                                              \
    AVX512 static void few_##W(KEY *keys, size_t n) {                                              \
        if (n <= LANES_##W)                                                                        \
            network1_##W(keys, n);                                                                 \
        else if (n <= 2 * LANES_##W)                                                               \
            network2_##W(keys, n);                                                                 \
        else if (n <= 4 * LANES_##W)                                                               \
            network4_##W(keys, n);                                                                 \
        else                                                                                       \
            network8_##W(keys, n);                                                                 \
    }                                                                                              \
    /* The one in the middle of some. */                                                           \
    AVX512 static KEY pivot_##W(const KEY *keys, size_t n) {                                       \
        KEY samples[SAMPLES];                                                                      \
        for (size_t i = 0; i < SAMPLES; i++)                                                       \
            samples[i] = keys[n / SAMPLES * i + n / (2 * SAMPLES)];                                \
        few_##W(samples, SAMPLES);                                                                 \
        return samples[SAMPLES / 2];                                                               \
    }                                                                                              \
    /* Writes those below the pivot to `left`, the others in front of `right`, with room for a     \
     * vector at both; how many are below. */                                                      \
    INLINE size_t part_##W(__m512i v, __m512i pivot, KEY *left, KEY *right) {                      \
        mask_##W below = _mm512_cmplt_epu##W##_mask(v, pivot);                                     \
        size_t count = (size_t)__builtin_popcount(below);                                          \
        __m512i others = _mm512_maskz_compress_epi##W((mask_##W) ~below, v);                       \
        __m512i both = _mm512_mask_expand_epi##W(_mm512_maskz_compress_epi##W(below, v),           \
                                                 (mask_##W) ~first_lanes_##W(count), others);      \
        _mm512_storeu_si512(left, both);                                                           \
        _mm512_storeu_si512(right - LANES_##W, both);                                              \
        return count;                                                                              \
    }                                                                                              \
    /* Some vectors, between what is written already on both sides. */                             \
    INLINE void part_some_##W(const __m512i *v, int count, KEY pivot, KEY **left, KEY **right) {   \
        for (int i = 0; i < count; i++) {                                                          \
            size_t below = part_##W(v[i], all_##W(pivot), *left, *right);                          \
            *left += below;                                                                        \
            *right -= LANES_##W - below;                                                           \
        }                                                                                          \
    }                                                                                              \
    INLINE void read_##W(const KEY *from, int count, __m512i *v) {                                 \
        for (int i = 0; i < count; i++)                                                            \
            v[i] = _mm512_loadu_si512(from + i * LANES_##W);                                       \
    }                                                                                              \
    /* How many keys are below the pivot; these are in front then. n is two groups at least. */    \
    AVX512 static size_t partition_##W(KEY *keys, size_t n, KEY pivot) {                           \
        enum { GROUP_LANES = GROUP * LANES_##W };                                                  \
        const size_t rest = n % LANES_##W;                                                         \
        KEY *left = keys, *right = keys + n;                                                       \
        KEY *from = keys + GROUP_LANES, *to = right - rest - GROUP_LANES; /* not read yet */       \
        __m512i first[GROUP], last[GROUP], v[GROUP];                                               \
        read_##W(keys, GROUP, first);                                                              \
        read_##W(to, GROUP, last);                                                                 \
        const __m512i behind = _mm512_maskz_loadu_epi##W(first_lanes_##W(rest), keys + n - rest);  \
        /* Which side it is cannot be foretold, so a whole group is read each time. */             \
        while (to - from >= GROUP_LANES) {                                                         \
            bool front = from - left <= right - to;                                                \
            to -= front ? 0 : GROUP_LANES;                                                         \
            read_##W(front ? from : to, GROUP, v);                                                 \
            from += front ? GROUP_LANES : 0;                                                       \
            part_some_##W(v, GROUP, pivot, &left, &right);                                         \
        }                                                                                          \
        while (from < to) {                                                                        \
            bool front = from - left <= right - to;                                                \
            to -= front ? 0 : LANES_##W;                                                           \
            read_##W(front ? from : to, 1, v);                                                     \
            from += front ? LANES_##W : 0;                                                         \
            part_some_##W(v, 1, pivot, &left, &right);                                             \
        }                                                                                          \
        mask_##W all = first_lanes_##W(rest);                                                      \
        mask_##W below = _mm512_mask_cmplt_epu##W##_mask(all, behind, all_##W(pivot));             \
        _mm512_mask_compressstoreu_epi##W(left, below, behind);                                    \
        left += __builtin_popcount(below);                                                         \
        /* The others to the right: then the last vector fills what is left. */                    \
        right -= __builtin_popcount(all & ~below);                                                 \
        _mm512_mask_compressstoreu_epi##W(right, (mask_##W)(all & ~below), behind);                \
        part_some_##W(first, GROUP, pivot, &left, &right);                                         \
        part_some_##W(last, GROUP, pivot, &left, &right);                                          \
        return (size_t)(left - keys);                                                              \
    }                                                                                              \
    /* The shorter part is put in order by a call, so that calls are few. */                       \
    AVX512 static bool quicksort_##W(KEY *keys, size_t n, int depth) {                             \
        while (n > VECTORS * LANES_##W) {                                                          \
            if (depth-- == 0)                                                                      \
                return false;                                                                      \
            if (n > LEATI_STOP_WORK && leati_stop_look())                                          \
                return true; /* who called drops the keys */                                       \
            KEY pivot = pivot_##W(keys, n);                                                        \
            size_t below = partition_##W(keys, n, pivot);                                          \
            if (below == 0) { /* the pivot is the least: its equals need nothing more */           \
                if (pivot == (KEY)-1)                                                              \
                    return true;                                                                   \
                below = partition_##W(keys, n, pivot + 1);                                         \
                keys += below;                                                                     \
                n -= below;                                                                        \
            } else if (below <= n / 2) {                                                           \
                if (!quicksort_##W(keys, below, depth))                                            \
                    return false;                                                                  \
                keys += below;                                                                     \
                n -= below;                                                                        \
            } else {                                                                               \
                if (!quicksort_##W(keys + below, n - below, depth))                                \
                    return false;                                                                  \
                n = below;                                                                         \
            }                                                                                      \
        }                                                                                          \
        few_##W(keys, n);                                                                          \
        return true;                                                                               \
    }                                                                                              \
    bool leati_sorting_x86_sort_##W(KEY *keys, size_t n) {                                         \
        int depth = 4;                                                                             \
        for (size_t i = n; i > 1; i /= 2)                                                          \
            depth += 2;                                                                            \
        return quicksort_##W(keys, n, depth);                                                      \
    }

QUICKSORT(32, uint32_t, _mm512_permutexvar_epi32)
QUICKSORT(64, uint64_t, _mm512_permutexvar_epi64)

#else

bool leati_sorting_x86_runs(void) {
    return false;
}

bool leati_sorting_x86_sort_32(uint32_t *keys, size_t n) {
    (void)keys, (void)n;
    return false;
}

bool leati_sorting_x86_sort_64(uint64_t *keys, size_t n) {
    (void)keys, (void)n;
    return false;
}

#endif
