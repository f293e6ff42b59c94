/* Matrix products; see gemm.h.
 *
 * Happy path: the result is cut into pieces, by sizes alone; a piece brings a block of b into
 * panels as wide as a tile, strips of a into panels as high, and lets the tile's kernel run over
 * them. A small result of many terms is cut along these instead: blocks are summed by themselves
 * first, and then added up in their order. Panels are scratch; where there is no memory, or
 * little to do, the plain loops give the same bits. No failures, no locks. */
#include "graph/support/linalg/gemm.h"

#include "base/alloc.h"
#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "core/complex.h"
#include "core/tensor.h"
#include "graph/support/linalg/gemm_tiles.h"
#include "run/crew.h"
#include <stdatomic.h>
#include <string.h>

enum { BLOCK = LEATI_GEMM_BLOCK };

typedef struct product {
    leat_dtype dtype;
    int64_t m, n, k;
    leati_gemm_matrix a, b;
    char *out;
    int64_t out_row;
} product;

/* ---- plain loops ---- */

enum { CHUNK = 512 }; /* columns whose sums are kept near */

/* Of one row: a block of terms, at most CHUNK columns. */
typedef struct row_sums {
    int64_t n, k;
    const void *a, *b;
    int64_t a_column, b_row, b_column;
    void *sums;
} row_sums;

#define SUM_ROW(NAME, TARGET, TYPE, FMA)                                                           \
    TARGET static void NAME(const row_sums *row) {                                                 \
        const TYPE *a = row->a, *b = row->b;                                                       \
        TYPE *restrict sums = row->sums;                                                           \
        for (int64_t p = 0; p < row->k; p++) {                                                     \
            const TYPE x = a[p * row->a_column], *line = b + p * row->b_row;                       \
            if (row->b_column == 1)                                                                \
                for (int64_t j = 0; j < row->n; j++)                                               \
                    sums[j] = FMA(x, line[j], sums[j]);                                            \
            else                                                                                   \
                for (int64_t j = 0; j < row->n; j++)                                               \
                    sums[j] = FMA(x, line[j * row->b_column], sums[j]);                            \
        }                                                                                          \
    }

SUM_ROW(sum_row_plain_float32, , float, LEATI_GEMM_PLAIN_FMAF)
SUM_ROW(sum_row_plain_float64, , double, LEATI_GEMM_PLAIN_FMA)
typedef void sum_row(const row_sums *row);
#ifdef LEATI_FOR_AVX2
SUM_ROW(sum_row_avx2_float32, LEATI_FOR_AVX2, float, __builtin_fmaf)
SUM_ROW(sum_row_avx2_float64, LEATI_FOR_AVX2, double, __builtin_fma)
SUM_ROW(sum_row_avx512_float32, LEATI_FOR_AVX512, float, __builtin_fmaf)
SUM_ROW(sum_row_avx512_float64, LEATI_FOR_AVX512, double, __builtin_fma)
static sum_row *const sum_rows[LEATI_NUM_ISAS][2] = {
    {sum_row_plain_float32, sum_row_plain_float64},
    {sum_row_avx2_float32, sum_row_avx2_float64},
    {sum_row_avx512_float32, sum_row_avx512_float64},
};
static sum_row *sum_row_of(leat_dtype dtype) {
    return sum_rows[leati_isa_here()][dtype == LEAT_FLOAT64];
}
#else
/* Tiles fuse where the processor can, though these loops are in one version. */
SUM_ROW(sum_row_fused_float32, , float, __builtin_fmaf)
SUM_ROW(sum_row_fused_float64, , double, __builtin_fma)
static sum_row *sum_row_of(leat_dtype dtype) {
    if (leati_isa_here() != LEATI_ISA_PLAIN)
        return dtype == LEAT_FLOAT64 ? sum_row_fused_float64 : sum_row_fused_float32;
    return dtype == LEAT_FLOAT64 ? sum_row_plain_float64 : sum_row_plain_float32;
}
#endif

/* ROWS rows of a, each times the vector b: chains of one row wait for each other, those of several
 * do not. */
enum { ROWS = 8 };

#define DOT_ROWS(NAME, TARGET, TYPE, FMA)                                                          \
    TARGET static void NAME(const product *p, int64_t first) {                                     \
        const TYPE *a = (const TYPE *)p->a.data + first * p->a.row, *b = p->b.data;                \
        TYPE *out = (TYPE *)(void *)p->out + first * p->out_row;                                   \
        for (int64_t at = 0; at < p->k; at += BLOCK) {                                             \
            TYPE sums[ROWS] = {0};                                                                 \
            for (int64_t k = at; k < LEATI_MIN(p->k, at + BLOCK); k++) {                           \
                const TYPE x = b[k * p->b.row];                                                    \
                for (int r = 0; r < ROWS; r++)                                                     \
                    sums[r] = FMA(a[r * p->a.row + k], x, sums[r]);                                \
            }                                                                                      \
            for (int r = 0; r < ROWS; r++)                                                         \
                out[r * p->out_row] = at > 0 ? out[r * p->out_row] + sums[r] : sums[r];            \
        }                                                                                          \
    }
DOT_ROWS(dot_rows_plain_float32, , float, LEATI_GEMM_PLAIN_FMAF)
DOT_ROWS(dot_rows_plain_float64, , double, LEATI_GEMM_PLAIN_FMA)
#ifdef LEATI_FOR_AVX2
DOT_ROWS(dot_rows_fused_float32, LEATI_FOR_AVX2, float, __builtin_fmaf)
DOT_ROWS(dot_rows_fused_float64, LEATI_FOR_AVX2, double, __builtin_fma)
#else
DOT_ROWS(dot_rows_fused_float32, , float, __builtin_fmaf)
DOT_ROWS(dot_rows_fused_float64, , double, __builtin_fma)
#endif

/* One row of a times the vector b: chains of several blocks do not wait for each other either. */
#define DOT_BLOCKS(NAME, TARGET, TYPE, FMA)                                                        \
    TARGET static void NAME(const product *p, int64_t row) {                                       \
        const TYPE *a = (const TYPE *)p->a.data + row * p->a.row, *b = p->b.data;                  \
        TYPE *out = (TYPE *)(void *)p->out + row * p->out_row;                                     \
        int64_t step = p->b.row, done = 0;                                                         \
        for (int64_t at = 0; at < p->k; at += ROWS * BLOCK, a += ROWS * BLOCK) {                   \
            TYPE sums[ROWS] = {0};                                                                 \
            int64_t left = p->k - at, most = LEATI_MIN(left, BLOCK);                               \
            for (int64_t k = 0; k < most && left >= ROWS * BLOCK; k++)                             \
                for (int r = 0; r < ROWS; r++)                                                     \
                    sums[r] = FMA(a[r * BLOCK + k], b[(at + r * BLOCK + k) * step], sums[r]);      \
            for (int64_t k = 0; k < left && left < ROWS * BLOCK; k++)                              \
                sums[k / BLOCK] = FMA(a[k], b[(at + k) * step], sums[k / BLOCK]);                  \
            for (int r = 0; r < ROWS && r * BLOCK < left; r++)                                     \
                *out = at > 0 || r > 0 ? *out + sums[r] : sums[r];                                 \
            if (leati_stop_look_after(ROWS * BLOCK, &done))                                        \
                return;                                                                            \
        }                                                                                          \
    }
DOT_BLOCKS(dot_blocks_plain_float32, , float, LEATI_GEMM_PLAIN_FMAF)
DOT_BLOCKS(dot_blocks_plain_float64, , double, LEATI_GEMM_PLAIN_FMA)
#ifdef LEATI_FOR_AVX2
DOT_BLOCKS(dot_blocks_fused_float32, LEATI_FOR_AVX2, float, __builtin_fmaf)
DOT_BLOCKS(dot_blocks_fused_float64, LEATI_FOR_AVX2, double, __builtin_fma)
#else
DOT_BLOCKS(dot_blocks_fused_float32, , float, __builtin_fmaf)
DOT_BLOCKS(dot_blocks_fused_float64, , double, __builtin_fma)
#endif

typedef void dot_function(const product *p, int64_t row);
static dot_function *const dots_rows[2][2] = {{dot_rows_plain_float32, dot_rows_plain_float64},
                                              {dot_rows_fused_float32, dot_rows_fused_float64}};
static dot_function *const dots_blocks[2][2] = {
    {dot_blocks_plain_float32, dot_blocks_plain_float64},
    {dot_blocks_fused_float32, dot_blocks_fused_float64}};

void leati_gemm_add(leat_dtype dtype, int64_t n, const void *from, void *to) {
    if (dtype == LEAT_FLOAT32)
        for (int64_t i = 0; i < n; i++)
            ((float *)to)[i] += ((const float *)from)[i];
    else
        for (int64_t i = 0; i < n; i++)
            ((double *)to)[i] += ((const double *)from)[i];
}

/* Element [r, c], `size` bytes each. */
static const char *element_of(leati_gemm_matrix matrix, int64_t r, int64_t c, size_t size) {
    return (const char *)matrix.data + (r * matrix.row + c * matrix.column) * (int64_t)size;
}

/* Integers wrap around, so their order does not matter; complex numbers are added in that of k. */
#define OTHERS(TYPE, WIDE)                                                                         \
    LEATI_ALWAYS_INLINE void multiply_##TYPE##_loop(const product *p) {                            \
        const TYPE *a = p->a.data, *b = p->b.data;                                                 \
        TYPE *out = (TYPE *)(void *)p->out;                                                        \
        int64_t done = 0;                                                                          \
        for (int64_t i = 0; i < p->m; i++, out += p->out_row) {                                    \
            memset(out, 0, (size_t)p->n * sizeof(TYPE));                                           \
            for (int64_t k = 0; k < p->k; k++) {                                                   \
                const WIDE x = (WIDE)a[i * p->a.row + k * p->a.column];                            \
                const TYPE *line = b + k * p->b.row;                                               \
                for (int64_t j = 0; j < p->n; j++)                                                 \
                    out[j] = (TYPE)((WIDE)out[j] + x * (WIDE)line[j * p->b.column]);               \
                if (leati_stop_look_after(p->n, &done))                                            \
                    return;                                                                        \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(multiply_##TYPE, multiply_##TYPE##_loop, const product *)
OTHERS(int32_t, uint32_t)
OTHERS(int64_t, uint64_t)
OTHERS(leati_complex64, leati_complex64)
OTHERS(leati_complex128, leati_complex128)

static void run_plain(const product *p) {
    switch (p->dtype) {
    case LEAT_INT32: multiply_int32_t(p); return;
    case LEAT_INT64: multiply_int64_t(p); return;
    case LEAT_COMPLEX64: multiply_leati_complex64(p); return;
    case LEAT_COMPLEX128: multiply_leati_complex128(p); return;
    default: break;
    }
    _Alignas(64) char sums[CHUNK * sizeof(double)];
    const size_t size = leat_dtype_size(p->dtype);
    sum_row *sum = sum_row_of(p->dtype);
    int64_t done = 0;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j += CHUNK) {
            char *to = p->out + (size_t)(i * p->out_row + j) * size;
            int64_t columns = LEATI_MIN(p->n - j, CHUNK);
            memset(to, 0, (size_t)columns * size);
            for (int64_t k = 0; k < p->k; k += BLOCK) {
                row_sums row = {.n = columns,
                                .k = LEATI_MIN(p->k - k, BLOCK),
                                .a = element_of(p->a, i, k, size),
                                .b = element_of(p->b, k, j, size),
                                .a_column = p->a.column,
                                .b_row = p->b.row,
                                .b_column = p->b.column,
                                .sums = k > 0 ? sums : to};
                if (k > 0)
                    memset(sums, 0, (size_t)columns * size);
                sum(&row);
                if (k > 0)
                    leati_gemm_add(p->dtype, columns, sums, to);
                if (leati_stop_look_after(columns * row.k, &done))
                    return;
            }
        }
}

/* ---- a vector on the right ---- */

typedef struct dots {
    const product *p;
    int64_t rows; /* of a piece, a multiple of ROWS */
} dots;

static void run_dots(void *data, int64_t piece) {
    const dots *d = data;
    bool fused = leati_isa_here() != LEATI_ISA_PLAIN, wide = d->p->dtype == LEAT_FLOAT64;
    int64_t end = LEATI_MIN((piece + 1) * d->rows, d->p->m), at = piece * d->rows, done = 0;
    for (; at + ROWS <= end && !leati_stop_look_after(ROWS * d->p->k, &done); at += ROWS)
        dots_rows[fused][wide](d->p, at);
    for (; at < end && !leati_stop_look_after(d->p->k, &done); at++)
        dots_blocks[fused][wide](d->p, at);
}

static void run_vector(const product *p) {
    const double products_per_ns = 2;
    enum { PRODUCTS = 1 << 17 }; /* of a piece */
    dots d = {p, LEATI_MAX(PRODUCTS / p->k / ROWS, 1) * ROWS};
    leati_crew_share((double)p->m * (double)p->k / products_per_ns, (p->m + d.rows - 1) / d.rows,
                     run_dots, &d);
}

void leati_gemm_plain(leat_dtype dtype, int64_t m, int64_t n, int64_t k, leati_gemm_matrix a,
                      leati_gemm_matrix b, void *out, int64_t out_row) {
    const product p = {dtype, m, n, k, a, b, out, out_row};
    run_plain(&p);
}

/* ---- panels ---- */

/* Brings `count` <= `width` lines of k elements into a panel: element p of line i at [p * width +
 * i], zeros behind the last line. Lines are `line` elements apart, elements `step`. */
#define PACK(TYPE, NAME)                                                                           \
    static void pack_##NAME(const TYPE *from, int64_t line, int64_t step, int64_t count,           \
                            int64_t width, int64_t k, TYPE *restrict to) {                         \
        if (count < width)                                                                         \
            memset(to, 0, (size_t)(width * k) * sizeof(TYPE));                                     \
        if (line == 1 && count == width)                                                           \
            for (int64_t p = 0; p < k; p++)                                                        \
                memcpy(to + p * width, from + p * step, (size_t)width * sizeof(TYPE));             \
        else                                                                                       \
            for (int64_t first = 0; first < k; first += 16)                                        \
                for (int64_t i = 0; i < count; i++)                                                \
                    for (int64_t p = first; p < LEATI_MIN(first + 16, k); p++)                     \
                        to[p * width + i] = from[i * line + p * step];                             \
    }
PACK(float, float32)
PACK(double, float64)

static void pack(leat_dtype dtype, const void *from, int64_t line, int64_t step, int64_t count,
                 int64_t width, int64_t k, void *to) {
    if (dtype == LEAT_FLOAT32)
        pack_float32(from, line, step, count, width, k, to);
    else
        pack_float64(from, line, step, count, width, k, to);
}

/* ---- pieces ---- */

static int64_t round_up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}

enum { PIECE_ROWS = 240, PIECE_COLUMNS = 512 }; /* whole tiles of every kind, but the plain ones' */

typedef struct cutting {
    const product *p;
    const leati_gemm_tile *tile;
    int64_t rows, columns; /* of a piece */
    int64_t across;        /* pieces beside each other */
    char *blocks; /* of a product that is cut along k: the sum of each block. NULL: of others */
    int64_t blocks_a_piece;
    atomic_bool failed; /* no memory */
} cutting;

/* A tile of the result, or what of it lies inside. */
static void run_tile(const cutting *c, int64_t k, const void *a, const void *b, char *out,
                     int64_t out_row, int64_t rows, int64_t columns, bool adds) {
    const leati_gemm_tile *tile = c->tile;
    const size_t size = leat_dtype_size(c->p->dtype);
    if (rows >= tile->rows && columns >= tile->columns) {
        tile->run(k, a, b, out, out_row, adds);
        return;
    }
    _Alignas(64) char whole[LEATI_GEMM_MOST_TILE * sizeof(double)];
    tile->run(k, a, b, whole, tile->columns, false);
    rows = LEATI_MIN(rows, tile->rows);
    columns = LEATI_MIN(columns, tile->columns);
    for (int64_t r = 0; r < rows; r++) {
        const char *from = whole + (size_t)(r * tile->columns) * size;
        char *to = out + (size_t)(r * out_row) * size;
        if (adds)
            leati_gemm_add(c->p->dtype, columns, from, to);
        else
            memcpy(to, from, (size_t)columns * size);
    }
}

/* Rows [i, i + rows) and columns [j, j + columns) of the block of terms [k, k + terms), to `out`.
 */
static void run_block(const cutting *c, int64_t i, int64_t rows, int64_t j, int64_t columns,
                      int64_t k, int64_t terms, char *panels, char *out, int64_t out_row,
                      bool adds) {
    const product *p = c->p;
    const leati_gemm_tile *tile = c->tile;
    const size_t size = leat_dtype_size(p->dtype);
    const int64_t width = tile->columns, height = tile->rows;
    /* Behind the panels of b there is room for one of a. */
    const int64_t deep = LEATI_MIN(p->k, BLOCK);
    char *strip = panels + (size_t)(round_up(columns, width) * deep) * size;
    for (int64_t at = 0; at < columns; at += width)
        pack(p->dtype, element_of(p->b, k, j + at, size), p->b.column, p->b.row,
             LEATI_MIN(columns - at, width), width, terms, panels + (size_t)(at * deep) * size);
    for (int64_t r = 0; r < rows; r += height) {
        pack(p->dtype, element_of(p->a, i + r, k, size), p->a.row, p->a.column,
             LEATI_MIN(rows - r, height), height, terms, strip);
        for (int64_t at = 0; at < columns; at += width)
            run_tile(c, terms, strip, panels + (size_t)(at * deep) * size,
                     out + (size_t)(r * out_row + at) * size, out_row, rows - r, columns - at,
                     adds);
    }
}

static char *new_panels(cutting *c, int64_t columns) {
    int64_t lines = round_up(columns, c->tile->columns) + c->tile->rows;
    char *panels = leati_crew_scratch((size_t)(lines * LEATI_MIN(c->p->k, BLOCK)) *
                                      leat_dtype_size(c->p->dtype));
    if (panels == NULL)
        atomic_store(&c->failed, true);
    return panels;
}

static void run_piece(void *data, int64_t piece) {
    cutting *c = data;
    const product *p = c->p;
    int64_t i = piece / c->across * c->rows, j = piece % c->across * c->columns;
    int64_t rows = LEATI_MIN(p->m - i, c->rows), columns = LEATI_MIN(p->n - j, c->columns);
    char *panels = new_panels(c, columns);
    int64_t done = 0, each = rows * columns * BLOCK / 16;
    for (int64_t k = 0; panels != NULL && k < p->k && !leati_stop_look_after(each, &done);
         k += BLOCK)
        run_block(c, i, rows, j, columns, k, LEATI_MIN(p->k - k, BLOCK), panels,
                  p->out + (size_t)(i * p->out_row + j) * leat_dtype_size(p->dtype), p->out_row,
                  k > 0);
}

/* Some blocks of terms of the whole product. */
static void run_blocks(void *data, int64_t piece) {
    cutting *c = data;
    const product *p = c->p;
    const size_t bytes = (size_t)(p->m * p->n) * leat_dtype_size(p->dtype);
    char *panels = new_panels(c, p->n);
    int64_t first = piece * c->blocks_a_piece;
    for (int64_t b = first; panels != NULL && b < first + c->blocks_a_piece && b * BLOCK < p->k;
         b++)
        run_block(c, 0, p->m, 0, p->n, b * BLOCK, LEATI_MIN(p->k - b * BLOCK, BLOCK), panels,
                  c->blocks + (size_t)b * bytes, p->n, false);
}

/* Products of matrices per ns and thread, roughly. */
#define PRODUCTS_PER_NS 30.0
/* Below so many the plain loops are as fast; above, a piece has about so many. */
enum { FEW = 1 << 13, MANY = 1 << 23 };

static bool run_along_k(cutting *c, double ns) {
    const product *p = c->p;
    const size_t bytes = (size_t)(p->m * p->n) * leat_dtype_size(p->dtype);
    int64_t blocks = (p->k + BLOCK - 1) / BLOCK, each = p->m * p->n * BLOCK;
    _Alignas(64) char few[1 << 15];
    c->blocks = (size_t)blocks * bytes <= sizeof few ? few : leati_alloc((size_t)blocks, bytes);
    if (c->blocks == NULL)
        return false;
    c->blocks_a_piece = LEATI_MAX(MANY / each, 1);
    leati_crew_share(ns, (blocks + c->blocks_a_piece - 1) / c->blocks_a_piece, run_blocks, c);
    for (int64_t r = 0; r < p->m; r++) {
        char *to = p->out + (size_t)(r * p->out_row) * leat_dtype_size(p->dtype);
        const size_t line = (size_t)p->n * leat_dtype_size(p->dtype);
        memcpy(to, c->blocks + (size_t)r * line, line);
        for (int64_t b = 1; b < blocks; b++)
            leati_gemm_add(p->dtype, p->n, c->blocks + (size_t)b * bytes + (size_t)r * line, to);
    }
    if (c->blocks != few)
        leati_free(c->blocks);
    return true;
}

static bool run_in_pieces(const product *p) {
    cutting c = {.p = p, .tile = leati_gemm_tile_of(p->dtype)};
    atomic_init(&c.failed, false);
    double ns = (double)p->m * (double)p->n * (double)p->k / PRODUCTS_PER_NS;
    /* Smaller ones of few terms are cut as well, so that threads have their shares. */
    c.columns = LEATI_MIN(round_up(p->n, c.tile->columns), PIECE_COLUMNS);
    c.rows =
        LEATI_MIN(p->m, round_up(LEATI_MAX(MANY / LEATI_MAX(c.columns * p->k, 1), 1), PIECE_ROWS));
    c.across = (p->n + c.columns - 1) / c.columns;
    int64_t pieces = (p->m + c.rows - 1) / c.rows * c.across;
    if (pieces < 4 && p->k >= 8 * BLOCK && p->m * p->n <= 1 << 16) {
        if (run_along_k(&c, ns))
            return !atomic_load(&c.failed);
    }
    leati_crew_share(ns, pieces, run_piece, &c);
    return !atomic_load(&c.failed);
}

/* ---- complex numbers ---- */

/* Of a matrix of complex numbers its parts: those of a number side by side, and where it stands on
 * the right, a row (re, im) and a row (-im, re) for each of its rows. */
#define SPREAD(NAME, TYPE)                                                                         \
    static void spread_##NAME(leati_gemm_matrix from, int64_t rows, int64_t columns, bool right,   \
                              void *data) {                                                        \
        TYPE *to = data;                                                                           \
        for (int64_t r = 0; r < rows && !leati_stop_stopped(); r++, to += 2 * columns) {           \
            const TYPE *x = (const TYPE *)from.data + 2 * r * from.row;                            \
            TYPE *below = to + 2 * columns;                                                        \
            for (int64_t c = 0; c < columns; c++, x += 2 * from.column) {                          \
                to[2 * c] = x[0];                                                                  \
                to[2 * c + 1] = x[1];                                                              \
                if (right) {                                                                       \
                    below[2 * c] = -x[1];                                                          \
                    below[2 * c + 1] = x[0];                                                       \
                }                                                                                  \
            }                                                                                      \
            to += right ? 2 * columns : 0;                                                         \
        }                                                                                          \
    }
SPREAD(complex64, float)
SPREAD(complex128, double)

/* As a product of real numbers: of (re, im) in rows of a with the rows below in b. False where it
 * is small or there is no memory. */
static bool run_parts(const product *p) {
    bool wide = p->dtype == LEAT_COMPLEX128;
    const leat_dtype part = wide ? LEAT_FLOAT64 : LEAT_FLOAT32;
    size_t size = leat_dtype_size(part), left = 0, right = 0;
    if (p->m < 4 || p->m * p->n * p->k < FEW ||
        !leati_mul_size((size_t)(p->m * p->k), 2 * size, &left) ||
        !leati_mul_size((size_t)(p->n * p->k), 4 * size, &right))
        return false;
    char *room = leati_alloc(1, left + right);
    if (room == NULL)
        return false;
    (wide ? spread_complex128 : spread_complex64)(p->a, p->m, p->k, false, room);
    (wide ? spread_complex128 : spread_complex64)(p->b, p->k, p->n, true, room + left);
    const leati_gemm_matrix a = {room, 2 * p->k, 1}, b = {room + left, 2 * p->n, 1};
    leati_gemm(part, p->m, 2 * p->n, 2 * p->k, a, b, p->out, 2 * p->out_row);
    leati_free(room);
    return true;
}

void leati_gemm(leat_dtype dtype, int64_t m, int64_t n, int64_t k, leati_gemm_matrix a,
                leati_gemm_matrix b, void *out, int64_t out_row) {
    const product p = {dtype, m, n, k, a, b, out, out_row};
    if (m == 0 || n == 0 || (leati_dtype_is_complex(dtype) && run_parts(&p)))
        return;
    bool floats = dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64;
    if (floats && n == 1 && k > 0 && a.column == 1) {
        run_vector(&p);
        return;
    }
    bool few = !floats || m * n * k < FEW || k == 0 || (m < 4 && b.column == 1);
    if (few || !run_in_pieces(&p))
        run_plain(&p);
}

/* ---- stacks ---- */

typedef struct stack {
    product first;
    int64_t count, a_apart, b_apart, out_apart, each; /* products of a piece */
} stack;

static void run_some(void *data, int64_t piece) {
    const stack *s = data;
    const size_t size = leat_dtype_size(s->first.dtype);
    for (int64_t i = piece * s->each;
         i < LEATI_MIN(s->count, (piece + 1) * s->each) && !leati_stop_stopped(); i++) {
        product p = s->first;
        p.a.data = element_of(p.a, 0, 0, size) + (size_t)(i * s->a_apart) * size;
        p.b.data = element_of(p.b, 0, 0, size) + (size_t)(i * s->b_apart) * size;
        leati_gemm(p.dtype, p.m, p.n, p.k, p.a, p.b, p.out + (size_t)(i * s->out_apart) * size,
                   p.out_row);
    }
}

void leati_gemm_stack(leat_dtype dtype, int64_t count, int64_t m, int64_t n, int64_t k,
                      leati_gemm_matrix a, int64_t a_apart, leati_gemm_matrix b, int64_t b_apart,
                      void *out, int64_t out_apart) {
    if (b_apart == 0 && a_apart == m * a.row && out_apart == m * n) {
        /* One matrix on the right for all: those on the left are one. */
        leati_gemm(dtype, count * m, n, k, a, b, out, n);
        return;
    }
    stack s = {.first = {dtype, m, n, k, a, b, out, n},
               .count = count,
               .a_apart = a_apart,
               .b_apart = b_apart,
               .out_apart = out_apart};
    double ns = (double)m * (double)n * (double)k / PRODUCTS_PER_NS;
    s.each = LEATI_MAX((int64_t)(50e3 / LEATI_MAX(ns, 1.0)), 1);
    /* Large ones share their own work. */
    if (ns > 2e6)
        run_some(&(stack){s.first, count, a_apart, b_apart, out_apart, count}, 0);
    else
        leati_crew_share(ns * (double)count, (count + s.each - 1) / s.each, run_some, &s);
}

/* ---- products that are added ---- */

/* Four terms at a time: the row of the result is loaded and stored a quarter as often. */
#define ADDING(TYPE, NAME)                                                                         \
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

ADDING(float, float32)
ADDING(double, float64)

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
