/* What OpenBLAS computes is what the plain loops compute, signs of QR and orders of rows included.
 */
#include "support/cmocka.h"

#include "graph/support/linalg/factor.h"
#include "graph/support/linalg/lapack_private.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, SIDES = 3 };
static const int64_t sides[SIDES] = {1, 17, MOST};

static double given[MOST * MOST], right[MOST * MOST], plain[MOST * MOST], fast[MOST * MOST];
static double other[MOST * MOST], vectors[MOST * MOST], values[MOST], found[MOST];
static double scratch[4 * MOST * MOST];
static int64_t order[MOST], places[MOST];

static double number(void) { /* in -1 .. 1, the same in every run */
    static uint64_t state = 20261129;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

/* Random values, with larger ones on the diagonal: far from singular. */
static void fill(int64_t n) {
    for (int64_t i = 0; i < n * n; i++) {
        given[i] = number() + (i / n == i % n ? 4 : 0);
        right[i] = number();
    }
}

static void is_near(const double *one, const double *expected, int64_t count) {
    double most = 1e-300;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(one[i] - expected[i]) <= 1e-11 * most))
            fail_msg("value %d: %.17g, expected %.17g", (int)i, one[i], expected[i]);
}

static void wants_openblas(void) {
    bool there = false;
    leat_error err = {0};
    assert_int_equal(leati_lapack_find(MOST, &there, &err), LEAT_OK);
    if (!there)
        skip();
}

static void test_equations(void **state) {
    (void)state;
    wants_openblas();
    for (int k = 0; k < SIDES; k++)
        for (int turned = 0; turned < 2; turned++) {
            int64_t n = sides[k];
            fill(n);
            memcpy(plain, given, sizeof plain);
            assert_true(leati_factor_lu(plain, n, order) != 0);
            assert_int_equal(leati_lapack_lu(LEAT_FLOAT64, given, n, fast, LEAT_INT64, places), 0);
            is_near(fast, plain, n * n);
            assert_memory_equal(order, places, (size_t)n * sizeof *order);
            memcpy(other, right, sizeof other);
            leati_factor_solve_lu(plain, n, order, turned, other, n, scratch);
            assert_int_equal(leati_lapack_solve(LEAT_FLOAT64, given, n, turned, right, n, fast), 0);
            is_near(fast, other, n * n);
            for (int64_t i = 0; i < n * n; i++)
                other[i] = i / n == i % n;
            leati_factor_solve_lu(plain, n, order, turned, other, n, scratch);
            assert_int_equal(leati_lapack_inverse(LEAT_FLOAT64, given, n, turned, fast), 0);
            is_near(fast, other, n * n);
            for (int lower = 0; lower < 2; lower++) {
                memcpy(other, right, sizeof other);
                leati_factor_solve_triangle(given, n, lower, turned, false, other, n);
                leati_lapack_solve_triangle(LEAT_FLOAT64, given, n, lower, turned, right, n, fast);
                is_near(fast, other, n * n);
            }
        }
}

static void test_factors(void **state) {
    (void)state;
    wants_openblas();
    for (int k = 0; k < SIDES; k++) {
        int64_t n = sides[k], half = (n + 1) / 2;
        fill(n);
        leati_factor_transpose(given, n, n, other);
        leati_factor_product(given, other, n, n, n, plain);
        memcpy(given, plain, sizeof given);
        assert_true(leati_factor_cholesky(plain, n));
        assert_int_equal(leati_lapack_cholesky(LEAT_FLOAT64, given, n, fast), 0);
        is_near(fast, plain, n * n);
        for (int wide = 0; wide < 2; wide++) {
            int64_t rows = wide ? half : n, columns = wide ? n : half;
            memcpy(plain, right, sizeof plain);
            leati_factor_qr(plain, rows, columns, other, scratch);
            assert_int_equal(
                leati_lapack_qr(LEAT_FLOAT64, right, rows, columns, true, vectors, fast), 0);
            is_near(fast, plain, rows * columns);
            is_near(vectors, other, rows * rows);
        }
    }
}

static void test_values(void **state) {
    (void)state;
    wants_openblas();
    for (int k = 0; k < SIDES; k++) {
        int64_t n = sides[k];
        fill(n);
        memcpy(plain, given, sizeof plain);
        assert_true(leati_factor_svd(plain, n, n, values, other, vectors, scratch));
        assert_int_equal(leati_lapack_svd(LEAT_FLOAT64, given, n, n, false, found, NULL, NULL), 0);
        is_near(found, values, n);
        for (int64_t i = 0; i < n * n; i++) {
            plain[i] = i / n < i % n ? NAN : given[i]; /* is not read */
            given[i] = plain[i];
        }
        assert_true(leati_factor_eigen(plain, n, values, scratch));
        assert_int_equal(leati_lapack_eigen(LEAT_FLOAT64, given, n, found, NULL), 0);
        is_near(found, values, n);
    }
}

static void test_roots(void **state) {
    (void)state;
    wants_openblas();
    for (int k = 0; k < SIDES; k++) {
        int64_t n = sides[k];
        fill(n);
        for (int64_t i = 0; i < n; i++)
            given[i * n + i] += (double)n; /* eigenvalues far from the negative ones */
        memcpy(plain, given, sizeof plain);
        assert_true(leati_factor_square_root(plain, n, scratch, order));
        assert_int_equal(leati_lapack_square_root(LEAT_FLOAT64, given, n, fast), 0);
        is_near(fast, plain, n * n);
    }
}

static void test_failures(void **state) {
    (void)state;
    wants_openblas();
    const double singular[] = {1, 2, 2, 4}, negative[] = {1, 0, 2, 1}, nan[] = {NAN, 0, 0, 1};
    assert_int_equal(leati_lapack_inverse(LEAT_FLOAT64, singular, 2, false, fast),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_lapack_solve(LEAT_FLOAT64, singular, 2, false, singular, 2, fast),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_lapack_lu(LEAT_FLOAT64, nan, 2, fast, LEAT_INT64, places),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_lapack_cholesky(LEAT_FLOAT64, negative, 2, fast), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_lapack_eigen(LEAT_FLOAT64, nan, 2, found, NULL), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_lapack_svd(LEAT_FLOAT64, nan, 2, 2, false, found, NULL, NULL),
                     LEAT_INVALID_ARGUMENT);
    leat_error err = {0};
    assert_int_equal(leati_lapack_load(INT32_MAX, &err), LEAT_INVALID_ARGUMENT);
}

/* eigh's scratch for a side of 3000 is told as the float next to it, which is less. */
static void test_sizes_of_scratch(void **state) {
    (void)state;
    const int wanted = 1 + 6 * 3000 + 2 * 3000 * 3000;
    const float narrow = (float)wanted;
    const double wide = wanted;
    assert_true((double)narrow < wanted);
    assert_in_range(leati_lapack_size(LEAT_FLOAT32, &narrow, 1), wanted, wanted + 4);
    assert_in_range(leati_lapack_size(LEAT_COMPLEX64, &narrow, 1), wanted, wanted + 4);
    assert_int_equal(leati_lapack_size(LEAT_FLOAT64, &wide, 1), wanted);
    assert_int_equal(leati_lapack_size(LEAT_FLOAT64, &wide, wanted + 1), wanted + 1);
}

/* As crews and parallel maps do: the same numbers as one after the other. */
enum { THREADS = 4, CALLS = 500, WIDE = 120 };
static double stack[THREADS][WIDE * WIDE], expected[THREADS][WIDE], expected_vectors[WIDE * WIDE];

static void *decompose(void *context) {
    int64_t which = *(const int64_t *)context;
    double *of = calloc(WIDE + WIDE * WIDE, sizeof *of), *at = of + WIDE;
    intptr_t wrong = 0;
    assert_non_null(of);
    for (int i = 0; i < CALLS; i++) {
        assert_true(leati_lapack_enter());
        leat_status status = leati_lapack_eigen(LEAT_FLOAT64, stack[which], WIDE, of, at);
        leati_lapack_leave();
        wrong += status != LEAT_OK || memcmp(of, expected[which], WIDE * sizeof *of) != 0;
    }
    free(of);
    return (void *)wrong;
}

static void test_threads(void **state) {
    (void)state;
    wants_openblas();
    pthread_t threads[THREADS];
    int64_t which[THREADS];
    for (int t = 0; t < THREADS; t++) {
        which[t] = t;
        for (int i = 0; i < WIDE * WIDE; i++)
            stack[t][i] = number();
        assert_int_equal(
            leati_lapack_eigen(LEAT_FLOAT64, stack[t], WIDE, expected[t], expected_vectors),
            LEAT_OK);
    }
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, decompose, &which[t]), 0);
    for (int t = 0; t < THREADS; t++) {
        void *wrong = NULL;
        pthread_join(threads[t], &wrong);
        assert_null(wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_sizes_of_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
