/* Tiles of matrix products in registers; see gemm_tiles.h. No failures, no locks. */
#include "graph/support/linalg/gemm_tiles.h"

#include "base/isa.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- plain C: what the compiler makes of it, NEON on 64-bit ARM ---- */
#define PLAIN_TILE(NAME, TYPE, ROWS, COLUMNS, FMA)                                                 \
    static void NAME##_run(int64_t k, const void *a_data, const void *b_data, void *out_data,      \
                           int64_t out_row, bool adds) {                                           \
        const TYPE *a = a_data, *b = b_data;                                                       \
        TYPE *out = out_data, sums[ROWS][COLUMNS] = {{0}};                                         \
        for (int64_t p = 0; p < k; p++, a += ROWS, b += COLUMNS)                                   \
            for (int r = 0; r < ROWS; r++)                                                         \
                for (int c = 0; c < COLUMNS; c++)                                                  \
                    sums[r][c] = FMA(a[r], b[c], sums[r][c]);                                      \
        for (int r = 0; r < ROWS; r++)                                                             \
            for (int c = 0; c < COLUMNS; c++)                                                      \
                out[r * out_row + c] = adds ? out[r * out_row + c] + sums[r][c] : sums[r][c];      \
    }                                                                                              \
    static const leati_gemm_tile NAME = {ROWS, COLUMNS, NAME##_run};

PLAIN_TILE(plain_float32, float, 4, 8, LEATI_GEMM_PLAIN_FMAF)
PLAIN_TILE(plain_float64, double, 4, 4, LEATI_GEMM_PLAIN_FMA)

/* ---- AVX2 and AVX-512: two registers to a row of the tile ---- */
#if defined(__x86_64__)
#define WIDE_TILE(NAME, TARGET, TYPE, VECTOR, LANES, ROWS, PREFIX, SUFFIX)                         \
    TARGET static void NAME##_run(int64_t k, const void *a_data, const void *b_data,               \
                                  void *out_data, int64_t out_row, bool adds) {                    \
        const TYPE *a = a_data, *b = b_data;                                                       \
        TYPE *out = out_data;                                                                      \
        VECTOR sums[ROWS][2];                                                                      \
        _Pragma("GCC unroll 12") for (int r = 0; r < ROWS; r++) sums[r][0] = sums[r][1] =          \
            PREFIX##_setzero_##SUFFIX();                                                           \
        for (int64_t p = 0; p < k; p++, a += ROWS, b += 2 * LANES) {                               \
            VECTOR b0 = PREFIX##_loadu_##SUFFIX(b), b1 = PREFIX##_loadu_##SUFFIX(b + LANES);       \
            _Pragma("GCC unroll 12") for (int r = 0; r < ROWS; r++) {                              \
                VECTOR x = PREFIX##_set1_##SUFFIX(a[r]);                                           \
                sums[r][0] = PREFIX##_fmadd_##SUFFIX(x, b0, sums[r][0]);                           \
                sums[r][1] = PREFIX##_fmadd_##SUFFIX(x, b1, sums[r][1]);                           \
            }                                                                                      \
        }                                                                                          \
        _Pragma("GCC unroll 12") for (int r = 0; r < ROWS; r++) {                                  \
            TYPE *to = out + r * out_row;                                                          \
            if (adds) {                                                                            \
                sums[r][0] = PREFIX##_add_##SUFFIX(PREFIX##_loadu_##SUFFIX(to), sums[r][0]);       \
                sums[r][1] =                                                                       \
                    PREFIX##_add_##SUFFIX(PREFIX##_loadu_##SUFFIX(to + LANES), sums[r][1]);        \
            }                                                                                      \
            PREFIX##_storeu_##SUFFIX(to, sums[r][0]);                                              \
            PREFIX##_storeu_##SUFFIX(to + LANES, sums[r][1]);                                      \
        }                                                                                          \
    }                                                                                              \
    static const leati_gemm_tile NAME = {ROWS, 2 * LANES, NAME##_run};

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
WIDE_TILE(avx2_float32, AVX2, float, __m256, 8, 6, _mm256, ps)
WIDE_TILE(avx2_float64, AVX2, double, __m256d, 4, 6, _mm256, pd)
WIDE_TILE(avx512_float32, AVX512, float, __m512, 16, 12, _mm512, ps)
WIDE_TILE(avx512_float64, AVX512, double, __m512d, 8, 12, _mm512, pd)
static const leati_gemm_tile *const tiles[LEATI_NUM_ISAS][2] = {
    {&plain_float32, &plain_float64},
    {&avx2_float32, &avx2_float64},
    {&avx512_float32, &avx512_float64},
};
#else
static const leati_gemm_tile *const tiles[LEATI_NUM_ISAS][2] = {{&plain_float32, &plain_float64}};
#endif

const leati_gemm_tile *leati_gemm_tile_of(leat_dtype dtype) {
    return tiles[leati_isa_here()][dtype == LEAT_FLOAT64];
}
