/* Factors multiply to what they were made of, orthogonal ones are, and values are in order. */
#include "support/cmocka.h"

#include "graph/support/linalg/factor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, KINDS = 5 };

/* The matrices of a test, each with room for MOST x MOST values. */
static double given[MOST * MOST], a[MOST * MOST], u[MOST * MOST], v[MOST * MOST];
static double left[MOST * MOST], right[MOST * MOST], product[MOST * MOST], scratch[2 * MOST * MOST];

static double number(void) { /* in -1 .. 1, the same in every run */
    static uint64_t state = 20260917;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

/* Random values; the identity; zeros; ones; columns of very different sizes. */
static void fill(int kind, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t r = i / columns, c = i % columns;
        given[i] = kind == 0   ? number()
                   : kind == 1 ? r == c
                   : kind == 2 ? 0
                   : kind == 3 ? 1
                               : number() * (c % 2 == 0 ? 1e-8 : 1e5);
    }
    memcpy(a, given, sizeof a);
}

static void is_near(const double *found, const double *expected, int64_t count) {
    double most = 1e-300;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(found[i] - expected[i]) <= 1e-13 * most * MOST))
            fail_msg("value %d: %g, expected %g", (int)i, found[i], expected[i]);
}

static void is_orthogonal(const double *q, int64_t n) {
    leati_factor_transpose(q, n, n, left);
    leati_factor_product(left, q, n, n, n, right);
    for (int64_t i = 0; i < n * n; i++)
        assert_true(fabs(right[i] - (i / n == i % n)) < 1e-12);
}

static void test_eigen(void **state) {
    (void)state;
    double values[MOST];
    for (int64_t n = 0; n <= MOST; n++)
        for (int kind = 0; kind < KINDS; kind++) {
            fill(kind, n, n);
            for (int64_t r = 0; r < n; r++)
                for (int64_t c = r + 1; c < n; c++) {
                    given[r * n + c] = given[c * n + r];
                    a[r * n + c] = NAN; /* is not read */
                }
            assert_true(leati_factor_eigen(a, n, values, scratch));
            is_orthogonal(a, n);
            leati_factor_transpose(a, n, n, right);
            for (int64_t i = 0; i < n * n; i++)
                left[i] = a[i] * values[i % n];
            leati_factor_product(left, right, n, n, n, product);
            is_near(product, given, n * n);
            for (int64_t i = 1; i < n; i++)
                assert_true(values[i - 1] <= values[i]);
        }
    double endless[] = {INFINITY, 0, 1, 1};
    assert_false(leati_factor_eigen(endless, 2, values, scratch));
}

static void test_svd(void **state) {
    (void)state;
    double values[MOST];
    for (int64_t m = 0; m <= MOST; m++)
        for (int64_t n = 0; n <= m; n += 1 + n / 4)
            for (int kind = 0; kind < KINDS; kind++) {
                fill(kind, m, n);
                assert_true(leati_factor_svd(a, m, n, values, u, v, scratch));
                is_orthogonal(u, m);
                is_orthogonal(v, n);
                for (int64_t i = 0; i < m * n; i++)
                    left[i] = u[i / n * m + i % n] * values[i % n];
                leati_factor_transpose(v, n, n, right);
                leati_factor_product(left, right, m, n, n, product);
                is_near(product, given, m * n);
                for (int64_t i = 1; i < n; i++)
                    assert_true(values[i - 1] >= values[i]);
            }
    /* The values are numpy's. */
    static const double scales[] = {1, 1e200, 1e-170, 1e300, 1e-300};
    for (int i = 0; i < 5; i++) {
        double wide[] = {3 * scales[i], 1 * scales[i], 2 * scales[i], 5 * scales[i]};
        assert_true(leati_factor_svd(wide, 2, 2, values, u, v, scratch));
        assert_true(fabs(values[0] / scales[i] - 5.83390451188127) < 1e-14);
        assert_true(fabs(values[1] / scales[i] - 2.2283532364172802) < 1e-14);
        is_orthogonal(u, 2);
        is_orthogonal(v, 2);
    }
    double unknown[] = {NAN, 0, 1, 1};
    assert_false(leati_factor_svd(unknown, 2, 2, values, u, v, scratch));
}

static void test_qr(void **state) {
    (void)state;
    for (int64_t m = 0; m <= MOST; m += 3)
        for (int64_t n = 0; n <= MOST; n += 5)
            for (int kind = 0; kind < KINDS; kind++) {
                fill(kind, m, n);
                leati_factor_qr(a, m, n, u, scratch);
                is_orthogonal(u, m);
                leati_factor_product(u, a, m, m, n, product);
                is_near(product, given, m * n);
                for (int64_t i = 0; i < m * n; i++)
                    assert_true(i / n <= i % n || a[i] == 0);
            }
}

static void test_lu(void **state) {
    (void)state;
    int64_t order[MOST];
    for (int64_t n = 1; n <= MOST; n++) {
        fill(0, n, n);
        assert_int_not_equal(leati_factor_lu(a, n, order), 0);
        for (int turned = 0; turned < 2; turned++) {
            for (int64_t i = 0; i < n; i++)
                u[i] = v[i] = number();
            leati_factor_solve_lu(a, n, order, turned, u, 1, scratch);
            leati_factor_transpose(given, n, n, right);
            leati_factor_product(turned ? right : given, u, n, n, 1, product);
            is_near(product, v, n);
        }
    }
    fill(3, 3, 3);
    assert_int_equal(leati_factor_lu(a, 3, order), 0);
}

static void test_cholesky(void **state) {
    (void)state;
    for (int64_t n = 0; n <= MOST; n++) {
        fill(0, n, n);
        leati_factor_transpose(given, n, n, right);
        leati_factor_product(given, right, n, n, n, a);
        memcpy(given, a, sizeof a);
        for (int64_t i = 0; i < n * n; i++)
            a[i] = i / n < i % n ? NAN : a[i]; /* is not read */
        assert_true(leati_factor_cholesky(a, n));
        leati_factor_transpose(a, n, n, right);
        leati_factor_product(a, right, n, n, n, product);
        is_near(product, given, n * n);
    }
    double negative[] = {1, 0, 2, 1};
    assert_false(leati_factor_cholesky(negative, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigen), cmocka_unit_test(test_svd),      cmocka_unit_test(test_qr),
        cmocka_unit_test(test_lu),    cmocka_unit_test(test_cholesky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
