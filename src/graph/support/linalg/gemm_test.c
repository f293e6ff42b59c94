/* Matrix products: against sums in float64, and on every instruction set and number of threads
 * against the plain loops, in every bit. */
#include "support/cmocka.h"

#include "base/isa.h"
#include "graph/support/linalg/gemm.h"
#include "run/crew.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 5;

static double draw(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int32_t)(random_state >> 33) / 0x1p30 - 1;
}

static void *numbers(leat_dtype dtype, int64_t count) {
    char *data = malloc((size_t)count * leat_dtype_size(dtype) + 8);
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++)
        if (dtype == LEAT_FLOAT32)
            ((float *)(void *)data)[i] = (float)draw();
        else
            ((double *)(void *)data)[i] = draw();
    return data;
}

static double at(leat_dtype dtype, const void *data, int64_t i) {
    return dtype == LEAT_FLOAT32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void check_values(leat_dtype dtype, int64_t m, int64_t n, int64_t k, leati_gemm_matrix a,
                         leati_gemm_matrix b, const void *out, int64_t out_row) {
    double most = 0, bound = (dtype == LEAT_FLOAT32 ? 0x1p-24 : 0x1p-53) * (double)(k + 1) * 2;
    for (int64_t i = 0; i < m; i += 1 + m / 9)
        for (int64_t j = 0; j < n; j += 1 + n / 9) {
            double sum = 0, size = 0;
            for (int64_t p = 0; p < k; p++) {
                double term = at(dtype, a.data, i * a.row + p * a.column) *
                              at(dtype, b.data, p * b.row + j * b.column);
                sum += term;
                size += fabs(term);
            }
            double error = fabs(at(dtype, out, i * out_row + j) - sum);
            if (error > bound * size)
                fail_msg("[%d, %d] of %d x %d x %d: %g off", (int)i, (int)j, (int)m, (int)n, (int)k,
                         error);
            most = error > most ? error : most;
        }
}

static void check(leat_dtype dtype, int64_t m, int64_t n, int64_t k, bool turned_a, bool turned_b) {
    const size_t size = leat_dtype_size(dtype);
    const int64_t out_row = n + 3;
    leati_gemm_matrix a = {numbers(dtype, m * k), turned_a ? 1 : k, turned_a ? m : 1};
    leati_gemm_matrix b = {numbers(dtype, k * n), turned_b ? 1 : n, turned_b ? k : 1};
    char *out = numbers(dtype, m * out_row), *wanted = malloc((size_t)(m * out_row) * size + 8);
    for (int isa = LEATI_ISA_PLAIN; isa < LEATI_NUM_ISAS; isa++) {
        leati_isa_allow((leati_isa)isa);
        /* What lies between rows stays. */
        memcpy(wanted, out, (size_t)(m * out_row) * size);
        leati_gemm_plain(dtype, m, n, k, a, b, wanted, out_row);
        check_values(dtype, m, n, k, a, b, wanted, out_row);
        for (int threads = 1; threads <= 4; threads += 3) {
            int before = leati_crew_enter(threads);
            leati_gemm(dtype, m, n, k, a, b, out, out_row);
            leati_crew_leave(before);
            assert_memory_equal(out, wanted, (size_t)(m * out_row) * size);
        }
    }
    leati_isa_allow(LEATI_ISA_AVX512);
    free((void *)(uintptr_t)a.data);
    free((void *)(uintptr_t)b.data);
    free(out);
    free(wanted);
}

static void test_products(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {
        {1, 1, 1},     {3, 5, 0},     {1, 300, 40},    {4, 33, 257},    {12, 32, 256},
        {13, 31, 255}, {240, 512, 9}, {241, 513, 300}, {37, 41, 5000},  {5, 7, 9000},
        {600, 20, 70}, {61, 1, 700},  {8, 1, 256},     {1500, 1, 1030}, {3, 1, 5000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int turned = 0; turned < 4; turned++) {
            const int64_t *s = sizes[i];
            check(LEAT_FLOAT32, s[0], s[1], s[2], turned & 1, turned & 2);
            check(LEAT_FLOAT64, s[0], s[1], s[2], turned & 1, turned & 2);
        }
}

/* Matrices that are stacked, one shared on the right, and one shared on the left. */
static void test_stacks(void **state) {
    (void)state;
    enum { COUNT = 9, M = 17, N = 40, K = 33 };
    float *a = numbers(LEAT_FLOAT32, COUNT * M * K), *b = numbers(LEAT_FLOAT32, COUNT * K * N);
    float *out = numbers(LEAT_FLOAT32, COUNT * M * N), *wanted = numbers(LEAT_FLOAT32, M * N);
    static const int64_t apart[3][2] = {{M * K, K * N}, {M * K, 0}, {0, K * N}};
    for (int kind = 0; kind < 3; kind++)
        for (int threads = 1; threads <= 4; threads += 3) {
            int before = leati_crew_enter(threads);
            leati_gemm_stack(LEAT_FLOAT32, COUNT, M, N, K, (leati_gemm_matrix){a, K, 1},
                             apart[kind][0], (leati_gemm_matrix){b, N, 1}, apart[kind][1], out,
                             M * N);
            leati_crew_leave(before);
            for (int i = 0; i < COUNT; i++) {
                leati_gemm_plain(LEAT_FLOAT32, M, N, K,
                                 (leati_gemm_matrix){a + i * apart[kind][0], K, 1},
                                 (leati_gemm_matrix){b + i * apart[kind][1], N, 1}, wanted, N);
                assert_memory_equal(out + i * M * N, wanted, M * N * sizeof *out);
            }
        }
    free(a);
    free(b);
    free(out);
    free(wanted);
}

/* Products of complex numbers by those of their parts, of rows and of columns of a. */
static void test_complex(void **state) {
    (void)state;
    enum { M = 9, N = 33, K = 61 };
    static float a[M * K * 2], b[K * N * 2], out[2][M * N * 2];
    for (int i = 0; i < M * K * 2; i++)
        a[i] = (float)(i * 37 % 101) / 50 - 1;
    for (int i = 0; i < K * N * 2; i++)
        b[i] = (float)(i * 53 % 103) / 51 - 1;
    for (int turned = 0; turned < 2; turned++) {
        const leati_gemm_matrix left = {a, turned ? 1 : K, turned ? M : 1}, right = {b, N, 1};
        leati_gemm(LEAT_COMPLEX64, M, N, K, left, right, out[0], N);
        leati_gemm_plain(LEAT_COMPLEX64, M, N, K, left, right, out[1], N);
        for (int i = 0; i < M * N * 2; i++)
            if (fabsf(out[0][i] - out[1][i]) > 1e-4f)
                fail_msg("part %d: %g, not %g", i, (double)out[0][i], (double)out[1][i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
