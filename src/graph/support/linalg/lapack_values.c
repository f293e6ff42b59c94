/* Eigenvalues and singular values by OpenBLAS: see lapack.h.
 *
 * By divide and conquer where all eigenvalues are real, and of singular values; by QR steps else.
 * LAPACK sees the transpose of what is row-major here, which for self-adjoint matrices is the
 * conjugate, and has the same values. Failure modes: those of the methods, which are not begun on
 * NaN and infinities, and no memory. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/linalg/lapack_private.h"

#include <string.h>

/* n real numbers as a dtype. */
static void real_numbers(leat_dtype dtype, const void *from, int64_t n, void *to) {
    if (!leati_dtype_is_complex(dtype))
        memcpy(to, from, (size_t)n * leat_dtype_size(dtype));
    for (int64_t i = 0; i < n && dtype == LEAT_COMPLEX64; i++)
        ((leati_complex64 *)to)[i] = ((const float *)from)[i];
    for (int64_t i = 0; i < n && dtype == LEAT_COMPLEX128; i++)
        ((leati_complex128 *)to)[i] = ((const double *)from)[i];
}

leat_status leati_lapack_eigen(leat_dtype dtype, const void *a, int64_t n, void *values, void *v) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    int side = (int)n, info = 0, ask = -1, numbers_size = 0, work_size, reals_size;
    size_t size = leat_dtype_size(dtype), part = leat_dtype_size(leati_dtype_part(dtype));
    const char *vectors = v == NULL ? "N" : "V";
    double best[2], reals_best[1] = {0};
    void *copy, *found, *work, *reals, *numbers;
    for (int64_t r = 0; r < n; r++) /* of the lower triangle */
        if (!leati_lapack_is_finite(dtype, (const char *)a + (size_t)(r * n) * size, r + 1))
            return LEAT_INVALID_ARGUMENT;
    if (f->syevd != NULL)
        f->syevd(vectors, "U", &side, NULL, &side, NULL, best, &ask, &numbers_size, &ask, &info, 1,
                 1);
    else
        f->heevd(vectors, "U", &side, NULL, &side, NULL, best, &ask, reals_best, &ask,
                 &numbers_size, &ask, &info, 1, 1);
    work_size = leati_lapack_size(dtype, best, 1);
    reals_size = leati_lapack_size(dtype, reals_best, 1);
    if (!LEATI_LAPACK_SCRATCH({&copy, n * n, size}, {&found, n, part}, {&work, work_size, size},
                              {&reals, reals_size, part}, {&numbers, numbers_size, sizeof(int)}))
        return LEAT_RESOURCE_EXHAUSTED;
    memcpy(copy, a, (size_t)(n * n) * size);
    if (f->syevd != NULL)
        f->syevd(vectors, "U", &side, copy, &side, found, work, &work_size, numbers, &numbers_size,
                 &info, 1, 1);
    else
        f->heevd(vectors, "U", &side, copy, &side, found, work, &work_size, reals, &reals_size,
                 numbers, &numbers_size, &info, 1, 1);
    if (info != 0)
        return LEAT_INVALID_ARGUMENT;
    real_numbers(dtype, found, n, values);
    if (v != NULL) /* the conjugates, as LAPACK saw those of the matrix */
        leati_lapack_turn(dtype, n, n, n, true, copy, v);
    return LEAT_OK;
}

leat_status leati_lapack_svd(leat_dtype dtype, const void *a, int64_t rows, int64_t columns,
                             bool full, void *values, void *u, void *v) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    int64_t least = LEATI_MIN(rows, columns), most = LEATI_MAX(rows, columns);
    /* The sides of what LAPACK sees, and of its factors. */
    int m = (int)columns, n = (int)rows, info = 0, ask = -1, work_size;
    int left = full ? m : (int)least, right = full ? n : (int)least;
    size_t size = leat_dtype_size(dtype), part = leat_dtype_size(leati_dtype_part(dtype));
    const char *vectors = u == NULL ? "N" : full ? "A" : "S";
    double best[2];
    void *copy, *turned, *work, *reals, *numbers;
    if (!leati_lapack_is_finite(dtype, a, rows * columns))
        return LEAT_INVALID_ARGUMENT;
    if (f->gesdd != NULL)
        f->gesdd(vectors, &m, &n, NULL, &m, NULL, NULL, &m, NULL, &right, best, &ask, NULL, &info,
                 1);
    else
        f->gesdd_complex(vectors, &m, &n, NULL, &m, NULL, NULL, &m, NULL, &right, best, &ask, NULL,
                         NULL, &info, 1);
    work_size = leati_lapack_size(dtype, best, 1);
    /* The real ones are as many as LAPACK's page on gesdd says. */
    if (!LEATI_LAPACK_SCRATCH({&copy, rows * columns, size}, {&turned, (int64_t)m * left, size},
                              {&work, work_size, size},
                              {&reals,
                               f->gesdd != NULL
                                   ? 0
                                   : LEATI_MAX(5 * least * least + 5 * least,
                                               2 * most * least + 2 * least * least + least) +
                                         7 * least,
                               part},
                              {&numbers, 8 * least, sizeof(int)}))
        return LEAT_RESOURCE_EXHAUSTED;
    memcpy(copy, a, (size_t)(rows * columns) * size);
    if (f->gesdd != NULL)
        f->gesdd(vectors, &m, &n, copy, &m, values, turned, &m, u, &right, work, &work_size,
                 numbers, &info, 1);
    else
        f->gesdd_complex(vectors, &m, &n, copy, &m, values, turned, &m, u, &right, work, &work_size,
                         reals, numbers, &info, 1);
    if (info != 0)
        return LEAT_INVALID_ARGUMENT;
    /* Of a^T = W S Z the u is Z^T, which lies there row by row, and v the conjugate of W. */
    if (u != NULL)
        leati_lapack_turn(dtype, left, columns, columns, true, turned, v);
    return LEAT_OK;
}

/* ---- any matrices ---- */
/* Of real matrices a pair of conjugate eigenvalues has one vector's parts in two columns, which lie
 * one after the other: w[n, n] becomes the vectors as columns of v. */
#define PAIRS(NAME, TYPE, COMPLEX, MAKE)                                                           \
    static void pairs_##NAME(const TYPE *re, const TYPE *im, const TYPE *w, int64_t n,             \
                             COMPLEX *values, COMPLEX *v) {                                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            values[i] = MAKE(re[i], im[i]);                                                        \
        for (int64_t i = 0; i < n && v != NULL; i++) {                                             \
            bool pair = im[i] != 0;                                                                \
            for (int64_t k = 0; k < n; k++) {                                                      \
                v[k * n + i] = MAKE(w[i * n + k], pair ? w[(i + 1) * n + k] : 0);                  \
                if (pair)                                                                          \
                    v[k * n + i + 1] = MAKE(w[i * n + k], -w[(i + 1) * n + k]);                    \
            }                                                                                      \
            i += pair;                                                                             \
        }                                                                                          \
    }
PAIRS(float32, float, leati_complex64, leati_complex64_of)
PAIRS(float64, double, leati_complex128, leati_complex128_of)

leat_status leati_lapack_general_eigen(leat_dtype dtype, const void *a, int64_t n, void *values,
                                       void *v) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    int side = (int)n, info = 0, ask = -1, work_size;
    size_t size = leat_dtype_size(dtype), part = leat_dtype_size(leati_dtype_part(dtype));
    const char *vectors = v == NULL ? "N" : "V";
    double best[2], reals_best[1]; /* the latter is written to, too */
    void *copy, *w, *re, *im, *work;
    if (!leati_lapack_is_finite(dtype, a, n * n))
        return LEAT_INVALID_ARGUMENT;
    if (f->geev != NULL)
        f->geev("N", vectors, &side, NULL, &side, NULL, NULL, NULL, &side, NULL, &side, best, &ask,
                &info, 1, 1);
    else
        f->geev_complex("N", vectors, &side, NULL, &side, NULL, NULL, &side, NULL, &side, best,
                        &ask, reals_best, &info, 1, 1);
    work_size = leati_lapack_size(dtype, best, 4 * side);
    /* Complex ones have one array for the values, and scratch in the other's place. */
    if (!LEATI_LAPACK_SCRATCH({&copy, n * n, size}, {&w, n * n, size}, {&re, n, size},
                              {&im, 2 * n, part}, {&work, work_size, size}))
        return LEAT_RESOURCE_EXHAUSTED;
    leati_lapack_turn(dtype, n, n, n, false, a, copy);
    if (f->geev != NULL)
        f->geev("N", vectors, &side, copy, &side, re, im, NULL, &side, w, &side, work, &work_size,
                &info, 1, 1);
    else
        f->geev_complex("N", vectors, &side, copy, &side, re, NULL, &side, w, &side, work,
                        &work_size, im, &info, 1, 1);
    if (info != 0)
        return LEAT_INVALID_ARGUMENT;
    if (dtype == LEAT_FLOAT32)
        pairs_float32(re, im, w, n, values, v);
    else if (dtype == LEAT_FLOAT64)
        pairs_float64(re, im, w, n, values, v);
    else
        memcpy(values, re, (size_t)n * size);
    if (f->geev == NULL && v != NULL)
        leati_lapack_turn(dtype, n, n, n, false, w, v);
    return LEAT_OK;
}
