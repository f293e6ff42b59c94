/* Matrix products of float32, float64, int32, int64, complex64 and complex128.
 *
 * Integers wrap around, complex numbers are products of their parts. Of floats every value of the
 * result is summed in one order, whatever the processor and the number of threads: blocks of
 * LEATI_GEMM_BLOCK terms, each a chain of fused multiply-adds in the order of k from 0 on, and then
 * the blocks one after the other. (Processors without fused multiply-adds round products, too.)
 * What is much is shared with the crew (run/crew.h). */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_GEMM_H
#define LEATI_GRAPH_SUPPORT_LINALG_GEMM_H

#include <leat/core.h>

enum { LEATI_GEMM_BLOCK = 256 };

/* A matrix: element [r, c] lies `row` * r + `column` * c values behind `data`. */
typedef struct leati_gemm_matrix {
    const void *data;
    int64_t row, column;
} leati_gemm_matrix;

/* out[m, n] = sum over k of a[m, k] * b[k, n]; rows of `out` are `out_row` >= n values apart. `out`
 * is neither a nor b. Where the work is stopped (base/stop.h) some of it is left out. */
void leati_gemm(leat_dtype dtype, int64_t m, int64_t n, int64_t k, leati_gemm_matrix a,
                leati_gemm_matrix b, void *out, int64_t out_row);
/* `count` such products, whose matrices and results lie so many values apart (0: one for all). */
void leati_gemm_stack(leat_dtype dtype, int64_t count, int64_t m, int64_t n, int64_t k,
                      leati_gemm_matrix a, int64_t a_apart, leati_gemm_matrix b, int64_t b_apart,
                      void *out, int64_t out_apart);
/* The same in plain loops on one thread: the oracle. */
void leati_gemm_plain(leat_dtype dtype, int64_t m, int64_t n, int64_t k, leati_gemm_matrix a,
                      leati_gemm_matrix b, void *out, int64_t out_row);

/* out[n] += sum over k of a[k * a_step] * b[k, n]; b's rows are b_row values apart. */
void leati_gemm_add_products(leat_dtype dtype, int64_t n, int64_t k, const void *a, int64_t a_step,
                             const void *b, int64_t b_row, void *out);
/* out[r, n] += a[r] * b[n]. */
void leati_gemm_add_outer(leat_dtype dtype, int64_t rows, int64_t n, const void *a, const void *b,
                          void *out);
/* to[n] += from[n]. */
void leati_gemm_add(leat_dtype dtype, int64_t n, const void *from, void *to);
/* to[c, r] = from[r, c]. */
void leati_gemm_transpose(leat_dtype dtype, int64_t rows, int64_t columns, const void *from,
                          void *to);

#endif
