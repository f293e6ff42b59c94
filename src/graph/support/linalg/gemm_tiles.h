/* Inner tiles of matrix products, one for each instruction set and dtype. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_GEMM_TILES_H
#define LEATI_GRAPH_SUPPORT_LINALG_GEMM_TILES_H

#include <leat/core.h>

/* Of plain C: a processor without fused multiply-adds would call a function for each. */
#if defined(__FMA__) || defined(__aarch64__)
#define LEATI_GEMM_PLAIN_FMAF(A, B, C) __builtin_fmaf(A, B, C)
#define LEATI_GEMM_PLAIN_FMA(A, B, C) __builtin_fma(A, B, C)
#else
#define LEATI_GEMM_PLAIN_FMAF(A, B, C) ((A) * (B) + (C))
#define LEATI_GEMM_PLAIN_FMA(A, B, C) ((A) * (B) + (C))
#endif

enum { LEATI_GEMM_MOST_TILE = 12 * 32 };

/* out[r * out_row + c] = sum over p < k, in their order, of a[p * rows + r] * b[p * columns + c],
 * for a tile of `rows` by `columns`; with `adds` that is added to what `out` holds. */
typedef struct leati_gemm_tile {
    int rows, columns;
    void (*run)(int64_t k, const void *a, const void *b, void *out, int64_t out_row, bool adds);
} leati_gemm_tile;

/* For float32 or float64: the best that runs here (base/isa.h). */
const leati_gemm_tile *leati_gemm_tile_of(leat_dtype dtype);

#endif
