/* Transforms against sums of one number after the other, of many lines and of few, with the same
 * bits on each number of threads. */
#include "support/cmocka.h"

#include "core/complex.h"
#include "graph/support/math/fourier.h"
#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

static const double pi = 3.14159265358979323846;

typedef struct lines {
    leat_shape shape;
    int axis;
} lines;
static const lines cases[] = {
    {LEAT_SHAPE(1), 0},          {LEAT_SHAPE(300, 64), 1},   {LEAT_SHAPE(64, 300), 0},
    {LEAT_SHAPE(5, 7, 30), 1},   {LEAT_SHAPE(900, 101), 1},  {LEAT_SHAPE(2, 4096), 1},
    {LEAT_SHAPE(3, 211, 40), 1}, {LEAT_SHAPE(1, 65536), 1},  {LEAT_SHAPE(131072), 0},
    {LEAT_SHAPE(2), 0},          {LEAT_SHAPE(7, 8), 1},      {LEAT_SHAPE(4, 20011), 1},
    {LEAT_SHAPE(512, 6), 0},     {LEAT_SHAPE(3, 64, 12), 1}, {LEAT_SHAPE(32768, 4), 0},
};

static leat_tensor drawn(leat_dtype dtype, leat_shape shape) {
    leat_tensor tensor;
    leat_error err = {0};
    assert_int_equal(leat_tensor_new(dtype, shape, &tensor, &err), LEAT_OK);
    int64_t count = leat_tensor_count(&tensor) * (dtype == LEAT_COMPLEX64 ? 2 : 1);
    for (int64_t i = 0; i < count; i++)
        ((float *)tensor.data)[i] = (float)kernels_draw();
    return tensor;
}

/* Number k of the transform of `n` numbers that lie `step` apart. */
static leati_complex128 sum_of(const leati_complex64 *at, int64_t n, int64_t step, int64_t k,
                               double sign) {
    leati_complex128 sum = 0;
    for (int64_t j = 0; j < n; j++) {
        double angle = sign * 2 * pi * (double)(j * k % n) / (double)n;
        sum += (leati_complex128)at[j * step] * leati_complex128_of(cos(angle), sin(angle));
    }
    return sum;
}

static void near(leati_complex128 found, leati_complex128 wanted, double n) {
    double off = cabs(found - wanted);
    if (!(off <= 1e-5 * n))
        fail_msg("of %g numbers: (%g, %g), not (%g, %g)", n, creal(found), cimag(found),
                 creal(wanted), cimag(wanted));
}

static void test_complex(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int inverse = 0; inverse < 2; inverse++) {
            char attributes[60];
            leat_tensor in = drawn(LEAT_COMPLEX64, cases[c].shape), out;
            int64_t n = in.dims[cases[c].axis], step = 1, count = leat_tensor_count(&in);
            for (int32_t d = cases[c].axis + 1; d < in.rank; d++)
                step *= in.dims[d];
            sprintf(attributes, "{\"axes\": [%d], \"inverse\": %s}", cases[c].axis,
                    inverse ? "true" : "false");
            kernels_case of = {"fft", attributes, 1};
            kernels_run_everywhere(&of, &in, &out);
            for (int64_t i = 0; i < count; i += 1 + count / 60) {
                int64_t first = i / (n * step) * n * step + i % step;
                leati_complex128 wanted = sum_of((const leati_complex64 *)in.data + first, n, step,
                                                 i / step % n, inverse ? 1 : -1);
                near(((const leati_complex64 *)out.data)[i], inverse ? wanted / (double)n : wanted,
                     (double)n);
            }
            leat_tensor_unref(&out);
            leat_tensor_unref(&in);
        }
}

/* There and back again; and the numbers of each half, which are those of a complex line. */
static void test_real(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {3, 2}, {700, 64}, {400, 81}, {2, 5000}};
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
        char attributes[60];
        int64_t count = shapes[c][0], n = shapes[c][1], half = n / 2 + 1;
        leat_tensor in = drawn(LEAT_FLOAT32, LEAT_SHAPE(count, n)), out, back;
        leati_complex64 *line = malloc((size_t)n * sizeof *line);
        kernels_case of = {"rfft", "{}", 1}, to = {"irfft", attributes, 1};
        kernels_run_everywhere(&of, &in, &out);
        sprintf(attributes, "{\"length\": %d}", (int)n);
        kernels_run_everywhere(&to, &out, &back);
        for (int64_t i = 0; i < count * n; i++)
            near(((const float *)back.data)[i], ((const float *)in.data)[i], 1);
        for (int64_t i = 0; i < count * half; i += 1 + count * half / 300) {
            for (int64_t j = 0; j < n; j++)
                line[j] = ((const float *)in.data)[i / half * n + j];
            near(((const leati_complex64 *)out.data)[i], sum_of(line, n, 1, i % half, -1),
                 (double)n);
        }
        free(line);
        leat_tensor_unref(&back);
        leat_tensor_unref(&out);
        leat_tensor_unref(&in);
    }
}

int main(void) {
    leat_error err = {0};
    leati_fourier *plan = leati_fourier_new(6, false, &err);
    leati_fourier_free(plan);
    if (plan == NULL) {
        printf("skipped: %s\n", err.text);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_complex), cmocka_unit_test(test_real)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
