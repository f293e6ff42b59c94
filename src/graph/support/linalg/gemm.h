/* Plain matrix products, written so that the inner loop is a vector loop over a row of the result.
 * Each product is computed in one order, whatever the machine. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_GEMM_H
#define LEATI_GRAPH_SUPPORT_LINALG_GEMM_H

#include <leat/core.h>

/* out[m, n] = sum over k of a[m * a_row + k * a_col] * b[k, n], for float32 or float64; b and out
 * are dense. */
void leati_gemm(leat_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row,
                int64_t a_col, const void *b, void *out);
/* out[n] += sum over k of a[k * a_step] * b[k, n]; b's rows are b_row values apart. */
void leati_gemm_add_products(leat_dtype dtype, int64_t n, int64_t k, const void *a, int64_t a_step,
                             const void *b, int64_t b_row, void *out);
/* out[r, n] += a[r] * b[n]. */
void leati_gemm_add_outer(leat_dtype dtype, int64_t rows, int64_t n, const void *a, const void *b,
                          void *out);
/* to[c, r] = from[r, c]. */
void leati_gemm_transpose(leat_dtype dtype, int64_t rows, int64_t columns, const void *from,
                          void *to);

#endif
