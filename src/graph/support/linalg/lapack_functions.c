/* Square roots and logarithms of matrices by OpenBLAS: see lapack.h.
 *
 * By the triangle T of Schur's form A = Q T Q^H, whose root is found by halves: those of its two
 * diagonal blocks, and between them the X of S X + X R = B (Bjorck and Hammarling's recurrence, in
 * blocks as Deadman, Higham and Ralha have it). A logarithm takes roots until T is near the
 * identity, then Pade's quotient as a sum of partial fractions, whose nodes are those of Gauss and
 * Legendre. The function of a transpose is the transpose of the function, so nothing is turned.
 * Failure modes: those of the methods, and no memory. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/linalg/lapack_private.h"

#include <math.h>
#include <string.h>

enum {
    NODES = 7,      /* of Pade's quotient */
    MAX_ROOTS = 100 /* until a triangle is near the identity; 2^-1074 needs 12 */
};
/* Up to this distance from the identity the quotient is exact in double. */
static const double near_identity = 0.264;

/* The form A = Q T Q^H of what LAPACK sees, in t and q. */
static leat_status schur(leat_dtype dtype, int64_t n, void *t, void *q, void *values, void *reals,
                         void *work, int work_size) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    int side = (int)n, selected = 0, info = 0;
    if (f->gees != NULL)
        f->gees("V", "N", NULL, &side, t, &side, &selected, values, reals, q, &side, work,
                &work_size, NULL, &info, 1, 1);
    else
        f->gees_complex("V", "N", NULL, &side, t, &side, &selected, values, q, &side, work,
                        &work_size, reals, NULL, &info, 1, 1);
    return info == 0 ? LEAT_OK : LEAT_INVALID_ARGUMENT;
}

static int schur_work(leat_dtype dtype, int64_t n) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    int side = (int)n, selected = 0, info = 0, ask = -1;
    double best[2];
    if (f->gees != NULL)
        f->gees("V", "N", NULL, &side, NULL, &side, &selected, NULL, NULL, NULL, &side, best, &ask,
                NULL, &info, 1, 1);
    else
        f->gees_complex("V", "N", NULL, &side, NULL, &side, &selected, NULL, NULL, &side, best,
                        &ask, NULL, NULL, &info, 1, 1);
    return leati_lapack_size(dtype, best, 3 * side);
}

/* ---- roots of triangles ---- */
/* A triangle of columns that lie `apart` values; of real matrices with blocks of two for pairs of
 * conjugate eigenvalues. */
typedef struct triangle {
    leat_dtype dtype;
    int apart;
} triangle;

static void *at(const triangle *t, void *data, int64_t row, int64_t column) {
    return (char *)data + (size_t)(column * t->apart + row) * leat_dtype_size(t->dtype);
}

/* The root of one value on the diagonal. */
static void root_of_value(leat_dtype dtype, void *value) {
    switch (dtype) {
    case LEAT_FLOAT32: *(float *)value = sqrtf(*(float *)value); break;
    case LEAT_FLOAT64: *(double *)value = sqrt(*(double *)value); break;
    case LEAT_COMPLEX64: *(leati_complex64 *)value = csqrtf(*(leati_complex64 *)value); break;
    default: *(leati_complex128 *)value = csqrt(*(leati_complex128 *)value);
    }
}

/* The root of a real block of two, whose eigenvalues are x +- iy: with the real part r of theirs it
 * is r + (block - x) / 2r. */
static void root_of_pair(const triangle *t, void *data) {
    double b[4];
    for (int i = 0; i < 4; i++)
        b[i] = leati_lapack_first(t->dtype, at(t, data, i % 2, i / 2));
    double x = (b[0] + b[3]) / 2,
           y = sqrt(fmax(-b[1] * b[2] - (b[0] - b[3]) * (b[0] - b[3]) / 4, 0));
    double r = creal(csqrt(leati_complex128_of(x, y)));
    for (int i = 0; i < 4; i++) {
        bool diagonal = i == 0 || i == 3;
        double root = (diagonal ? r : 0) + (b[i] - (diagonal ? x : 0)) / (2 * r);
        if (t->dtype == LEAT_FLOAT32)
            *(float *)at(t, data, i % 2, i / 2) = (float)root;
        else
            *(double *)at(t, data, i % 2, i / 2) = root;
    }
}

static bool is_pair(const triangle *t, void *data, int64_t row) {
    return !leati_dtype_is_complex(t->dtype) &&
           leati_lapack_first(t->dtype, at(t, data, row, row - 1)) != 0;
}

/* A triangle becomes its root; false where it is too large. The recursion is as deep as the number
 * of bits of n. */
static bool root_of_triangle(const triangle *t, void *data,
                             int64_t n) { // NOLINT(misc-no-recursion)
    if (n == 1)
        root_of_value(t->dtype, data);
    else if (n == 2 && is_pair(t, data, 1))
        root_of_pair(t, data);
    if (n == 1 || (n == 2 && is_pair(t, data, 1)))
        return true;
    int64_t half = n / 2;
    if (is_pair(t, data, half))
        half++;
    if (!root_of_triangle(t, data, half) || !root_of_triangle(t, at(t, data, half, half), n - half))
        return false;
    int first = (int)half, second = (int)(n - half), sign = 1, info = 0;
    double scale[1];
    leati_lapack_of(t->dtype)->trsyl("N", "N", &sign, &first, &second, data, &t->apart,
                                     at(t, data, half, half), &t->apart, at(t, data, 0, half),
                                     &t->apart, scale, &info, 1, 1);
    /* Made smaller, so that it does not overflow. */
    return leati_lapack_first(t->dtype, scale) == 1;
}

/* Is there at most one eigenvalue of 0? Else there may be no root. */
static bool has_root(const triangle *t, void *data, int64_t n) {
    int zeros = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *value = at(t, data, i, i);
        bool parts = leati_dtype_is_complex(t->dtype);
        size_t part = leat_dtype_size(leati_dtype_part(t->dtype));
        double re = leati_lapack_first(t->dtype, value);
        double im = parts ? leati_lapack_first(t->dtype, value + part) : 0;
        bool alone = !(i > 0 && is_pair(t, data, i)) && !(i + 1 < n && is_pair(t, data, i + 1));
        /* Of a real matrix negative ones have none. */
        if (!parts && alone && re < 0)
            return false;
        zeros += alone && re == 0 && im == 0;
    }
    return zeros < 2;
}

/* q t q^H in `out`, with scratch of n^2 values. */
static void back(leat_dtype dtype, int64_t n, const void *q, const void *t, void *scratch,
                 void *out) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    const void *one = leati_lapack_number(dtype, 1), *zero = leati_lapack_number(dtype, 0);
    int side = (int)n;
    f->gemm("N", "N", &side, &side, &side, one, q, &side, t, &side, zero, scratch, &side, 1, 1);
    f->gemm("N", "C", &side, &side, &side, one, scratch, &side, q, &side, zero, out, &side, 1, 1);
}

leat_status leati_lapack_square_root(leat_dtype dtype, const void *a, int64_t n, void *out) {
    size_t size = leat_dtype_size(dtype), part = leat_dtype_size(leati_dtype_part(dtype));
    triangle form = {dtype, (int)n};
    void *t, *q, *values, *reals, *work;
    if (!leati_lapack_is_finite(dtype, a, n * n))
        return LEAT_INVALID_ARGUMENT;
    /* The scratch of Schur's form is that of the products, too. */
    int work_size = schur_work(dtype, n);
    int64_t room = LEATI_MAX((int64_t)work_size, n * n);
    if (!LEATI_LAPACK_SCRATCH({&t, n * n, size}, {&q, n * n, size}, {&values, n, size},
                              {&reals, n, part}, {&work, room, size}))
        return LEAT_RESOURCE_EXHAUSTED;
    memcpy(t, a, (size_t)(n * n) * size);
    LEATI_TRY(schur(dtype, n, t, q, values, reals, work, work_size));
    if (!has_root(&form, t, n) || !root_of_triangle(&form, t, n))
        return LEAT_INVALID_ARGUMENT;
    back(dtype, n, q, t, work, out);
    return LEAT_OK;
}

/* ---- logarithms, in complex128 ---- */
/* How far a triangle is from the identity: the largest sum of a column. */
static double distance(const leati_complex128 *t, int64_t n) {
    double most = 0;
    for (int64_t c = 0; c < n; c++) {
        double sum = 0;
        for (int64_t r = 0; r <= c; r++)
            sum += cabs(t[c * n + r] - (r == c ? 1 : 0));
        most = sum > most ? sum : most;
    }
    return most;
}

/* The log of t, a triangle near the identity, in `sum`: over nodes x and their weights w that of
 * w (t - 1) / (1 + x (t - 1)). */
static void log_near_identity(leati_complex128 *t, int64_t n, leati_complex128 *below,
                              leati_complex128 *above, leati_complex128 *sum) {
    /* Of Legendre's polynomial of degree 7, on 0 to 1. */
    static const double nodes[NODES][2] = {{0.025446043828620737737, 0.064742483084434846635},
                                           {0.12923440720030278007, 0.13985269574463833395},
                                           {0.29707742431130141655, 0.19091502525255947248},
                                           {0.5, 0.20897959183673469388},
                                           {0.70292257568869858345, 0.19091502525255947248},
                                           {0.87076559279969721993, 0.13985269574463833395},
                                           {0.97455395617137926226, 0.064742483084434846635}};
    int side = (int)n;
    memset(sum, 0, (size_t)(n * n) * sizeof *sum);
    for (int64_t i = 0; i < n; i++)
        t[i * n + i] -= 1;
    for (int k = 0; k < NODES; k++) {
        for (int64_t i = 0; i < n * n; i++) {
            above[i] = t[i];
            below[i] = nodes[k][0] * t[i];
        }
        for (int64_t i = 0; i < n; i++)
            below[i * n + i] += 1;
        leati_lapack_of(LEAT_COMPLEX128)
            ->trsm("R", "U", "N", "N", &side, &side, leati_lapack_number(LEAT_COMPLEX128, 1), below,
                   &side, above, &side, 1, 1, 1, 1);
        for (int64_t i = 0; i < n * n; i++)
            sum[i] += nodes[k][1] * above[i];
    }
}

leat_status leati_lapack_logarithm(leat_dtype dtype, const void *a, int64_t n, void *out) {
    const leat_dtype wide = LEAT_COMPLEX128;
    size_t size = leat_dtype_size(wide);
    triangle form = {wide, (int)n};
    void *t, *q, *values, *reals, *work, *diagonal, *sum, *below;
    if (!leati_lapack_is_finite(dtype, a, n * n))
        return LEAT_INVALID_ARGUMENT;
    int work_size = schur_work(wide, n), roots = 0;
    int64_t room = LEATI_MAX((int64_t)work_size, n * n);
    if (!LEATI_LAPACK_SCRATCH({&t, n * n, size}, {&q, n * n, size}, {&values, n, size},
                              {&reals, n, sizeof(double)}, {&work, room, size},
                              {&diagonal, n, size}, {&sum, n * n, size}, {&below, n * n, size}))
        return LEAT_RESOURCE_EXHAUSTED;
    leati_complex128 *from = t, *log_diagonal = diagonal, *logs = sum;
    for (int64_t i = 0; i < n * n; i++)
        from[i] =
            dtype == wide ? ((const leati_complex128 *)a)[i] : ((const leati_complex64 *)a)[i];
    LEATI_TRY(schur(wide, n, t, q, values, reals, work, work_size));
    if (!has_root(&form, t, n))
        return LEAT_INVALID_ARGUMENT;
    for (int64_t i = 0; i < n; i++)
        log_diagonal[i] = clog(from[i * n + i]);
    for (; roots < MAX_ROOTS && distance(from, n) > near_identity; roots++)
        if (!root_of_triangle(&form, t, n))
            return LEAT_INVALID_ARGUMENT;
    log_near_identity(from, n, below, work, logs);
    for (int64_t i = 0; i < n * n; i++)
        logs[i] *= ldexp(1, roots);
    /* What subtracting 1 lost on the diagonal is known. */
    for (int64_t i = 0; i < n; i++)
        logs[i * n + i] = log_diagonal[i];
    back(wide, n, q, logs, work, t);
    for (int64_t i = 0; i < n * n; i++)
        if (dtype == wide)
            ((leati_complex128 *)out)[i] = from[i];
        else
            ((leati_complex64 *)out)[i] = (leati_complex64)from[i];
    return LEAT_OK;
}
