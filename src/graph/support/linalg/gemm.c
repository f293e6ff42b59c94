/* Plain matrix products; see gemm.h. No allocation, no failure, no locks. */
#include "graph/support/linalg/gemm.h"

#include "base/minmax.h"
#include "base/stop.h"
#include <string.h>

/* How many terms of n products are added between two looks at whether to stop: a multiple of four,
 * so that what is added to what does not depend on it. */
static int64_t part_of(int64_t n) {
    return LEATI_MAX(LEATI_STOP_WORK / LEATI_MAX(n, 1), 1) * 4;
}

/* Four terms at a time: the row of the result is loaded and stored a quarter as often. */
#define GEMM_TYPE(TYPE, NAME)                                                                      \
    static void add_products_##NAME(int64_t n, int64_t k, const TYPE *a, int64_t a_step,           \
                                    const TYPE *b, int64_t b_row, TYPE *restrict out) {            \
        int64_t i = 0;                                                                             \
        for (; i + 4 <= k; i += 4) {                                                               \
            TYPE a0 = a[i * a_step], a1 = a[(i + 1) * a_step];                                     \
            TYPE a2 = a[(i + 2) * a_step], a3 = a[(i + 3) * a_step];                               \
            const TYPE *b0 = b + i * b_row, *b1 = b0 + b_row, *b2 = b1 + b_row, *b3 = b2 + b_row;  \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] += a0 * b0[j] + a1 * b1[j] + (a2 * b2[j] + a3 * b3[j]);                     \
        }                                                                                          \
        for (; i < k; i++) {                                                                       \
            TYPE a0 = a[i * a_step];                                                               \
            const TYPE *b0 = b + i * b_row;                                                        \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] += a0 * b0[j];                                                              \
        }                                                                                          \
    }                                                                                              \
    static void gemm_##NAME(int64_t m, int64_t n, int64_t k, const TYPE *a, int64_t a_row,         \
                            int64_t a_col, const TYPE *b, TYPE *out) {                             \
        int64_t done = 0, part = part_of(n);                                                       \
        for (int64_t i = 0; i < m; i++) {                                                          \
            memset(out + i * n, 0, (size_t)n * sizeof(TYPE));                                      \
            for (int64_t j = 0; j < k; j += part) {                                                \
                int64_t terms = LEATI_MIN(k - j, part);                                            \
                add_products_##NAME(n, terms, a + i * a_row + j * a_col, a_col, b + j * n, n,      \
                                    out + i * n);                                                  \
                if (leati_stop_look_after(n * terms, &done))                                       \
                    return;                                                                        \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void add_outer_##NAME(int64_t rows, int64_t n, const TYPE *a, const TYPE *b,            \
                                 TYPE *restrict out) {                                             \
        for (int64_t r = 0; r < rows; r++)                                                         \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[r * n + j] += a[r] * b[j];                                                     \
    }                                                                                              \
    static void transpose_##NAME(int64_t rows, int64_t columns, const TYPE *from, TYPE *to) {      \
        int64_t done = 0;                                                                          \
        for (int64_t r = 0; r < rows && !leati_stop_look_after(columns, &done); r++)               \
            for (int64_t c = 0; c < columns; c++)                                                  \
                to[c * rows + r] = from[r * columns + c];                                          \
    }

GEMM_TYPE(float, float32)
GEMM_TYPE(double, float64)

void leati_gemm(leat_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row,
                int64_t a_col, const void *b, void *out) {
    if (m == 0 || n == 0)
        return;
    if (dtype == LEAT_FLOAT32)
        gemm_float32(m, n, k, a, a_row, a_col, b, out);
    else
        gemm_float64(m, n, k, a, a_row, a_col, b, out);
}

void leati_gemm_add_products(leat_dtype dtype, int64_t n, int64_t k, const void *a, int64_t a_step,
                             const void *b, int64_t b_row, void *out) {
    if (dtype == LEAT_FLOAT32)
        add_products_float32(n, k, a, a_step, b, b_row, out);
    else
        add_products_float64(n, k, a, a_step, b, b_row, out);
}

void leati_gemm_add_outer(leat_dtype dtype, int64_t rows, int64_t n, const void *a, const void *b,
                          void *out) {
    if (dtype == LEAT_FLOAT32)
        add_outer_float32(rows, n, a, b, out);
    else
        add_outer_float64(rows, n, a, b, out);
}

void leati_gemm_transpose(leat_dtype dtype, int64_t rows, int64_t columns, const void *from,
                          void *to) {
    if (dtype == LEAT_FLOAT32)
        transpose_float32(rows, columns, from, to);
    else
        transpose_float64(rows, columns, from, to);
}
