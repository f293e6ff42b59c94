/* Sobel's filters against nine products for each pixel; the same bits on each instruction set and
 * number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

static const leat_shape shapes[] = {
    LEAT_SHAPE(1, 2, 2, 1),   LEAT_SHAPE(2, 3, 2, 3), LEAT_SHAPE(1, 2, 19, 1),
    LEAT_SHAPE(3, 17, 33, 3), LEAT_SHAPE(0, 4, 4, 1), LEAT_SHAPE(1, 300, 257, 4),
    LEAT_SHAPE(1, 5, 7, 0),
};

/* Beyond the borders the picture is mirrored without its last row and column. */
static int64_t mirrored(int64_t at, int64_t size) {
    return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at;
}

static double edge(const leat_tensor *x, int64_t picture, int64_t row, int64_t column, int64_t c,
                   bool right) {
    static const int weights[3] = {1, 2, 1}, steps[3] = {-1, 0, 1};
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int64_t y = mirrored(row + i - 1, x->dims[1]), z = mirrored(column + k - 1, x->dims[2]);
            sum += (right ? steps[k] * weights[i] : steps[i] * weights[k]) *
                   test_value(x, ((picture * x->dims[1] + y) * x->dims[2] + z) * x->dims[3] + c);
        }
    return sum;
}

static void test_edges(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int wide = 0; wide < 2; wide++) {
            leat_error err = {0};
            leat_tensor x, out;
            leat_dtype dtype = wide ? LEAT_FLOAT64 : LEAT_FLOAT32;
            assert_int_equal(leat_tensor_new(dtype, shapes[s], &x, &err), LEAT_OK);
            /* Small whole numbers: sums are exact in any order. */
            for (int64_t i = 0; i < leat_tensor_count(&x); i++)
                test_set_value(&x, i, floor(kernels_draw() * 16));
            kernels_case of = {"sobel_edges", "{}", 1};
            kernels_run_everywhere(&of, &x, &out);
            for (int64_t i = 0; i < leat_tensor_count(&out); i++) {
                int64_t c = i / 2 % x.dims[3], pixel = i / 2 / x.dims[3];
                double wanted = edge(&x, pixel / x.dims[2] / x.dims[1],
                                     pixel / x.dims[2] % x.dims[1], pixel % x.dims[2], c, i % 2);
                if (test_value(&out, i) != wanted)
                    fail_msg("value %lld is %.9g, not %.9g", (long long)i, test_value(&out, i),
                             wanted);
            }
            leat_tensor_unref(&out);
            leat_tensor_unref(&x);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
