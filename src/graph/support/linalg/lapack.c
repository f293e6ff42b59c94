/* Loading OpenBLAS, and factors, solutions and inverses: see lapack.h.
 *
 * What is row-major here is the transpose to LAPACK, whose columns lie one after the other. Where
 * that is as good (A X = B is X^T A^T = B^T) it is given as it lies. Failure modes: those of the
 * methods, and no memory. Locks: the modules' while OpenBLAS is loaded; whose turn it is, where it
 * has memory that all calls share, as Debian's build without threads: two calls at a time give
 * wrong numbers there. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/fork.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/linalg/lapack_private.h"
#include "run/crew.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    LARGEST_SIDE = 32000, /* the square of it, twice, is scratch whose size is an int */
    FORK_WAIT_NS = 100000000,
    TILE = 16, /* a side of the squares that are turned at once */
    ALIGNMENT = 64
};

/* ---- loading ---- */
static leati_module module = {
    .file = "libleat_lapack.so", .library = "OpenBLAS", .size = sizeof(leati_lapack_table)};
enum { UNKNOWN, THERE, ABSENT };
static atomic_int found = UNKNOWN;

static atomic_bool alone; /* it computes for one thread at a time */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_int inside;   /* threads that it computes for */
static atomic_bool forking; /* no further one comes in */

/* A build with threads has locks of its own, which a child must not find taken. Short calls are
 * waited for; a long one takes them seldom. */
static void before_fork(void) {
    int64_t most = leati_now_ns() + FORK_WAIT_NS;
    atomic_store(&forking, true);
    while (atomic_load(&inside) > 0 && leati_now_ns() < most)
        (void)sched_yield();
}

static void after_fork(bool child) {
    /* Of other threads there is none in the child. */
    if (child) {
        atomic_store(&inside, 0);
        (void)pthread_mutex_init(&turn, NULL);
    }
    atomic_store(&forking, false);
}
LEATI_FORK_PART(lapack, before_fork, after_fork);

static bool take_turn(void) {
    bool stops = leati_stop_may_come();
    for (;;) {
        int64_t until = stops ? leati_now_ns() + LEATI_STOP_SLICE_NS : INT64_MAX / 2;
        struct timespec at = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
        if (pthread_mutex_clocklock(&turn, CLOCK_MONOTONIC, &at) == 0)
            return true;
        if (leati_stop_look())
            return false;
    }
}

bool leati_lapack_enter(void) {
    if (atomic_load_explicit(&alone, memory_order_relaxed) && !take_turn())
        return false;
    atomic_fetch_add(&inside, 1);
    /* Counted before the look, so that who forks sees it, or is seen. */
    while (atomic_load(&forking)) {
        atomic_fetch_sub(&inside, 1);
        (void)sched_yield();
        atomic_fetch_add(&inside, 1);
    }
    return true;
}

void leati_lapack_leave(void) {
    atomic_fetch_sub(&inside, 1);
    if (atomic_load_explicit(&alone, memory_order_relaxed))
        pthread_mutex_unlock(&turn);
}

#ifdef LEATI_HAVE_LAPACK
/* OpenBLAS starts a thread for each core that who loads it may use, and leat needs none. */
static leat_status load_for_one_core(leat_error *err) {
    cpu_set_t mine, first;
    bool known = pthread_getaffinity_np(pthread_self(), sizeof mine, &mine) == 0;
    CPU_ZERO(&first);
    for (int core = 0; known && core < CPU_SETSIZE && CPU_COUNT(&first) == 0; core++)
        if (CPU_ISSET(core, &mine))
            CPU_SET(core, &first);
    if (known)
        (void)pthread_setaffinity_np(pthread_self(), sizeof first, &first);
    leat_status status = leati_module_load(&module, err);
    if (known)
        (void)pthread_setaffinity_np(pthread_self(), sizeof mine, &mine);
    return status;
}
#endif

leat_status leati_lapack_load(int64_t most, leat_error *err) {
    if (most > LARGEST_SIDE)
        return leati_refuse(
            err, SHAPE,
            "a side of a matrix has %lld values; expected at most %d where OpenBLAS "
            "computes",
            (long long)most, LARGEST_SIDE);
    if (atomic_load_explicit(&found, memory_order_acquire) == THERE)
        return LEAT_OK;
#ifdef LEATI_HAVE_LAPACK
    LEATI_TRY(load_for_one_core(err));
    const leati_lapack_table *table = module.table;
    /* A stack of matrices is shared out, and their own threads would spin beside the others. */
    if (table->parallel() != 0)
        table->set_threads(1);
    atomic_store_explicit(&alone, table->parallel() == 0, memory_order_relaxed);
    atomic_store_explicit(&found, THERE, memory_order_release);
    return LEAT_OK;
#else
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "this build of leat has no OpenBLAS; install libopenblas-pthread-dev, and "
                      "build again");
#endif
}

leat_status leati_lapack_find(int64_t most, bool *out, leat_error *err) {
    leat_error why = {0};
    *out = false;
    if (most > LARGEST_SIDE || atomic_load_explicit(&found, memory_order_acquire) == ABSENT)
        return LEAT_OK;
    leat_status status = leati_lapack_load(most, &why);
    *out = status == LEAT_OK;
    if (status == LEAT_RESOURCE_EXHAUSTED)
        return leati_error_pass(err, &why);
    /* It is not looked for at each matrix. */
    if (!*out)
        atomic_store_explicit(&found, ABSENT, memory_order_release);
    return LEAT_OK;
}

const leati_lapack_functions *leati_lapack_of(leat_dtype dtype) {
    const leati_lapack_table *table = module.table;
    int kind = dtype == LEAT_FLOAT32     ? 0
               : dtype == LEAT_FLOAT64   ? 1
               : dtype == LEAT_COMPLEX64 ? 2
                                         : 3;
    return &table->kinds[kind];
}

/* ---- numbers and scratch ---- */
static bool is_wide(leat_dtype dtype) {
    return dtype == LEAT_FLOAT64 || dtype == LEAT_COMPLEX128;
}

const void *leati_lapack_number(leat_dtype dtype, int value) {
    static const float narrow[3][2] = {{-1, 0}, {0, 0}, {1, 0}};
    static const double wide[3][2] = {{-1, 0}, {0, 0}, {1, 0}};
    return is_wide(dtype) ? (const void *)wide[value + 1] : narrow[value + 1];
}

double leati_lapack_first(leat_dtype dtype, const void *at) {
    return is_wide(dtype) ? *(const double *)at : (double)*(const float *)at;
}

int leati_lapack_size(leat_dtype dtype, const void *asked, int least) {
    /* A float holds whole numbers up to 2^24; what is larger may have been rounded down. */
    double most =
        is_wide(dtype) ? *(const double *)asked : nextafterf(*(const float *)asked, INFINITY);
    return LEATI_MAX(most < INT_MAX ? (int)ceil(most) : INT_MAX, least);
}

bool leati_lapack_scratch(const leati_lapack_array *arrays, int count) {
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += (((size_t)arrays[i].count * arrays[i].size) / ALIGNMENT + 1) * ALIGNMENT;
    char *at = leati_crew_scratch(total);
    for (int i = 0; i < count && at != NULL; i++) {
        *arrays[i].at = at;
        at += (((size_t)arrays[i].count * arrays[i].size) / ALIGNMENT + 1) * ALIGNMENT;
    }
    return at != NULL;
}

/* An exponent of ones alone. */
#define FINITE(NAME, TYPE, BITS, EXPONENT)                                                         \
    static bool is_finite_##NAME(const TYPE *a, int64_t n) {                                       \
        BITS beyond = 0;                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            BITS bits;                                                                             \
            memcpy(&bits, a + i, sizeof bits);                                                     \
            beyond |= (BITS)((bits & EXPONENT) == EXPONENT);                                       \
        }                                                                                          \
        return beyond == 0;                                                                        \
    }
FINITE(float32, float, uint32_t, UINT32_C(0x7f800000))
FINITE(float64, double, uint64_t, UINT64_C(0x7ff0000000000000))

bool leati_lapack_is_finite(leat_dtype dtype, const void *a, int64_t count) {
    int64_t parts = leati_dtype_is_complex(dtype) ? 2 * count : count;
    return is_wide(dtype) ? is_finite_float64(a, parts) : is_finite_float32(a, parts);
}

#define TURN(NAME, TYPE, VALUE)                                                                    \
    static void turn_##NAME(int64_t rows, int64_t columns, int64_t apart, const TYPE *from,        \
                            TYPE *to) {                                                            \
        for (int64_t r0 = 0; r0 < rows; r0 += TILE)                                                \
            for (int64_t c0 = 0; c0 < columns; c0 += TILE)                                         \
                for (int64_t c = c0; c < LEATI_MIN(columns, c0 + TILE); c++)                       \
                    for (int64_t r = r0; r < LEATI_MIN(rows, r0 + TILE); r++)                      \
                        to[c * rows + r] = VALUE(from[r * apart + c]);                             \
    }
#define SAME(Z) (Z)
TURN(float32, float, SAME)
TURN(float64, double, SAME)
TURN(complex64, leati_complex64, SAME)
TURN(complex128, leati_complex128, SAME)
TURN(conjugate64, leati_complex64, conjf)
TURN(conjugate128, leati_complex128, conj)

void leati_lapack_turn(leat_dtype dtype, int64_t rows, int64_t columns, int64_t apart,
                       bool conjugated, const void *from, void *to) {
    switch (dtype) {
    case LEAT_FLOAT32: turn_float32(rows, columns, apart, from, to); break;
    case LEAT_FLOAT64: turn_float64(rows, columns, apart, from, to); break;
    case LEAT_COMPLEX64:
        (conjugated ? turn_conjugate64 : turn_complex64)(rows, columns, apart, from, to);
        break;
    default: (conjugated ? turn_conjugate128 : turn_complex128)(rows, columns, apart, from, to);
    }
}

/* ---- Cholesky, LU ---- */
leat_status leati_lapack_cholesky(leat_dtype dtype, const void *a, int64_t n, void *out) {
    int side = (int)n, info = 0;
    size_t size = leat_dtype_size(dtype);
    memcpy(out, a, (size_t)(n * n) * size);
    /* The lower triangle is the upper one of what LAPACK sees, and so is its factor. */
    leati_lapack_of(dtype)->potrf("U", &side, out, &side, &info, 1);
    for (int64_t r = 0; r < n; r++)
        memset((char *)out + (size_t)(r * n + r + 1) * size, 0, (size_t)(n - r - 1) * size);
    return info == 0 ? LEAT_OK : LEAT_INVALID_ARGUMENT;
}

/* Are all pivots numbers other than 0? */
static bool is_regular(leat_dtype dtype, const void *lu, int64_t n) {
    size_t size = leat_dtype_size(dtype);
    bool parts = leati_dtype_is_complex(dtype);
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)lu + (size_t)(i * n + i) * size;
        double im = parts ? leati_lapack_first(dtype, at + size / 2) : 0;
        /* NaN fails this comparison, too. */
        if (!(fabs(leati_lapack_first(dtype, at)) + fabs(im) > 0))
            return false;
    }
    return true;
}

/* The order of rows that LAPACK's exchanges make. */
static void order_of(const int *pivots, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = 0; i < n; i++) {
        int64_t kept = order[i], other = pivots[i] - 1;
        order[i] = order[other];
        order[other] = kept;
    }
}

/* ---- LU of complex matrices, whose pivot is the longest number, as in TensorFlow, and not that
 * with the largest sum of parts, which LAPACK takes ---- */
static double length_of(leat_dtype dtype, const void *value) {
    return dtype == LEAT_COMPLEX64 ? (double)cabsf(*(const leati_complex64 *)value)
                                   : cabs(*(const leati_complex128 *)value);
}

/* Rows `row` and `other` of so many columns change places. */
static void exchange_in_columns(char *a, size_t size, int apart, int columns, int row, int other) {
    char kept[sizeof(leati_complex128)];
    for (int c = 0; c < columns && row != other; c++) {
        char *column = a + (size_t)c * (size_t)apart * size;
        memcpy(kept, column + (size_t)row * size, size);
        memcpy(column + (size_t)row * size, column + (size_t)other * size, size);
        memcpy(column + (size_t)other * size, kept, size);
    }
}

/* A column of m values over its longest one, which comes first. */
static void lu_of_column(leat_dtype dtype, int m, char *a, int *pivot) {
    size_t size = leat_dtype_size(dtype);
    *pivot = 0;
    for (int r = 1; r < m; r++)
        if (length_of(dtype, a + (size_t)r * size) > length_of(dtype, a + (size_t)*pivot * size))
            *pivot = r;
    exchange_in_columns(a, size, m, 1, 0, *pivot);
    if (length_of(dtype, a) == 0)
        return;
    for (int r = 1; r < m; r++)
        if (dtype == LEAT_COMPLEX64)
            ((leati_complex64 *)(void *)a)[r] /= *(leati_complex64 *)(void *)a;
        else
            ((leati_complex128 *)(void *)a)[r] /= *(leati_complex128 *)(void *)a;
}

/* The factors of a[m, n], m >= n, whose columns lie apart; pivots count from 0. By halves of its
 * columns, so the recursion is as deep as the number of bits of n. */
static void lu_by_halves(leat_dtype dtype, int m, int n, char *a,
                         int apart, // NOLINT(misc-no-recursion)
                         int *pivots) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    size_t size = leat_dtype_size(dtype);
    if (n == 1) {
        lu_of_column(dtype, m, a, pivots);
        return;
    }
    int left = n / 2, right = n - left, below = m - left;
    char *beside = a + (size_t)left * (size_t)apart * size, *rest = beside + (size_t)left * size;
    lu_by_halves(dtype, m, left, a, apart, pivots);
    for (int i = 0; i < left; i++)
        exchange_in_columns(beside, size, apart, right, i, pivots[i]);
    f->trsm("L", "L", "N", "U", &left, &right, leati_lapack_number(dtype, 1), a, &apart, beside,
            &apart, 1, 1, 1, 1);
    f->gemm("N", "N", &below, &right, &left, leati_lapack_number(dtype, -1),
            a + (size_t)left * size, &apart, beside, &apart, leati_lapack_number(dtype, 1), rest,
            &apart, 1, 1);
    lu_by_halves(dtype, below, right, rest, apart, pivots + left);
    for (int i = left; i < n; i++) {
        pivots[i] += left;
        exchange_in_columns(a, size, apart, left, i, pivots[i]);
    }
}

leat_status leati_lapack_lu(leat_dtype dtype, const void *a, int64_t n, void *out,
                            leat_dtype order_dtype, void *order) {
    int side = (int)n, info = 0;
    void *turned, *pivots, *places;
    if (!LEATI_LAPACK_SCRATCH({&turned, n * n, leat_dtype_size(dtype)}, {&pivots, n, sizeof(int)},
                              {&places, n, sizeof(int64_t)}))
        return LEAT_RESOURCE_EXHAUSTED;
    leati_lapack_turn(dtype, n, n, n, false, a, turned);
    if (leati_dtype_is_complex(dtype)) {
        lu_by_halves(dtype, side, side, turned, side, pivots);
        for (int64_t i = 0; i < n; i++)
            ((int *)pivots)[i]++;
    } else {
        leati_lapack_of(dtype)->getrf(&side, &side, turned, &side, pivots, &info);
    }
    if (!is_regular(dtype, turned, n))
        return LEAT_INVALID_ARGUMENT;
    leati_lapack_turn(dtype, n, n, n, false, turned, out);
    order_of(pivots, n, places);
    for (int64_t i = 0; i < n; i++)
        if (order_dtype == LEAT_INT64)
            ((int64_t *)order)[i] = ((const int64_t *)places)[i];
        else
            ((int32_t *)order)[i] = (int32_t)((const int64_t *)places)[i];
    return LEAT_OK;
}

leat_status leati_lapack_pivots(leat_dtype dtype, const void *a, int64_t n, const double **diagonal,
                                bool *is_odd) {
    int side = (int)n, info = 0;
    size_t size = leat_dtype_size(dtype);
    bool parts = leati_dtype_is_complex(dtype);
    void *copy, *pivots, *made;
    if (!LEATI_LAPACK_SCRATCH({&copy, n * n, size}, {&pivots, n, sizeof(int)},
                              {&made, 2 * n, sizeof(double)}))
        return LEAT_RESOURCE_EXHAUSTED;
    double *to = made;
    memcpy(copy, a, (size_t)(n * n) * size);
    leati_lapack_of(dtype)->getrf(&side, &side, copy, &side, pivots, &info);
    *is_odd = false;
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)copy + (size_t)(i * n + i) * size;
        to[2 * i] = leati_lapack_first(dtype, at);
        to[2 * i + 1] = parts ? leati_lapack_first(dtype, at + size / 2) : 0;
        *is_odd ^= ((const int *)pivots)[i] != i + 1;
    }
    *diagonal = to;
    return LEAT_OK;
}

leat_status leati_lapack_inverse(leat_dtype dtype, const void *a, int64_t n, bool adjoint,
                                 void *out) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    int side = (int)n, info = 0, ask = -1;
    double best[2];
    f->getri(&side, out, &side, NULL, best, &ask, &info);
    int work_size = leati_lapack_size(dtype, best, side);
    void *pivots, *work;
    if (!LEATI_LAPACK_SCRATCH({&pivots, n, sizeof(int)},
                              {&work, work_size, leat_dtype_size(dtype)}))
        return LEAT_RESOURCE_EXHAUSTED;
    /* The transpose of the inverse is the inverse of the transpose. */
    if (adjoint)
        leati_lapack_turn(dtype, n, n, n, true, a, out);
    else
        memcpy(out, a, (size_t)(n * n) * leat_dtype_size(dtype));
    f->getrf(&side, &side, out, &side, pivots, &info);
    if (!is_regular(dtype, out, n))
        return LEAT_INVALID_ARGUMENT;
    f->getri(&side, out, &side, pivots, work, &work_size, &info);
    return LEAT_OK;
}

/* ---- solutions ---- */
/* x[n, columns] with rows i and pivots[i] - 1 exchanged, from the first i on or from the last. */
static void exchange_rows(char *x, size_t row, const int *pivots, int64_t n, bool forward) {
    for (int64_t step = 0; step < n; step++) {
        int64_t i = forward ? step : n - 1 - step;
        char *one = x + (size_t)i * row, *other = x + (size_t)(pivots[i] - 1) * row;
        for (size_t k = 0; k < row && one != other; k++) {
            char kept = one[k];
            one[k] = other[k];
            other[k] = kept;
        }
    }
}

leat_status leati_lapack_solve(leat_dtype dtype, const void *a, int64_t n, bool adjoint,
                               const void *b, int64_t columns, void *out) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    const void *one = leati_lapack_number(dtype, 1);
    int side = (int)n, wide = (int)columns, info = 0;
    size_t size = leat_dtype_size(dtype), row = (size_t)columns * size;
    void *lu, *pivots;
    if (!LEATI_LAPACK_SCRATCH({&lu, n * n, size}, {&pivots, n, sizeof(int)}))
        return LEAT_RESOURCE_EXHAUSTED;
    memcpy(lu, a, (size_t)(n * n) * size);
    f->getrf(&side, &side, lu, &side, pivots, &info);
    if (!is_regular(dtype, lu, n))
        return LEAT_INVALID_ARGUMENT;
    if (n * columns == 0)
        return LEAT_OK;
    memcpy(out, b, (size_t)n * row);
    /* X^T M = B^T with the M = P L U that LAPACK sees, or X^T M^H = B^T. */
    if (adjoint) {
        exchange_rows(out, row, pivots, n, true);
        f->trsm("R", "L", "C", "U", &wide, &side, one, lu, &side, out, &wide, 1, 1, 1, 1);
        f->trsm("R", "U", "C", "N", &wide, &side, one, lu, &side, out, &wide, 1, 1, 1, 1);
    } else {
        f->trsm("R", "U", "N", "N", &wide, &side, one, lu, &side, out, &wide, 1, 1, 1, 1);
        f->trsm("R", "L", "N", "U", &wide, &side, one, lu, &side, out, &wide, 1, 1, 1, 1);
        exchange_rows(out, row, pivots, n, false);
    }
    return LEAT_OK;
}

void leati_lapack_solve_triangle(leat_dtype dtype, const void *a, int64_t n, bool lower,
                                 bool adjoint, const void *b, int64_t columns, void *out) {
    int side = (int)n, wide = (int)columns;
    if (n * columns == 0)
        return;
    memcpy(out, b, (size_t)(n * columns) * leat_dtype_size(dtype));
    leati_lapack_of(dtype)->trsm("R", lower ? "U" : "L", adjoint ? "C" : "N", "N", &wide, &side,
                                 leati_lapack_number(dtype, 1), a, &side, out, &wide, 1, 1, 1, 1);
}

/* ---- QR ---- */
leat_status leati_lapack_qr(leat_dtype dtype, const void *a, int64_t rows, int64_t columns,
                            bool full, void *q, void *r) {
    const leati_lapack_functions *f = leati_lapack_of(dtype);
    int64_t least = LEATI_MIN(rows, columns), inner = full ? rows : least;
    int m = (int)rows, n = (int)columns, k = (int)least, wide = (int)inner, info = 0, ask = -1;
    size_t size = leat_dtype_size(dtype);
    double best[2], other[2];
    f->geqrf(&m, &n, q, &m, q, best, &ask, &info);
    f->orgqr(&m, &wide, &k, q, &m, q, other, &ask, &info);
    int work_size = leati_lapack_size(dtype, best, leati_lapack_size(dtype, other, 1));
    void *turned, *tau, *work;
    if (!LEATI_LAPACK_SCRATCH({&turned, rows * LEATI_MAX(columns, inner), size},
                              {&tau, least, size}, {&work, work_size, size}))
        return LEAT_RESOURCE_EXHAUSTED;
    leati_lapack_turn(dtype, rows, columns, columns, false, a, turned);
    f->geqrf(&m, &n, turned, &m, tau, work, &work_size, &info);
    leati_lapack_turn(dtype, columns, inner, rows, false, turned, r);
    for (int64_t i = 1; i < inner; i++) /* where the reflections lay */
        memset((char *)r + (size_t)(i * columns) * size, 0, (size_t)LEATI_MIN(i, columns) * size);
    f->orgqr(&m, &wide, &k, turned, &m, tau, work, &work_size, &info);
    leati_lapack_turn(dtype, inner, rows, rows, false, turned, q);
    return LEAT_OK;
}
