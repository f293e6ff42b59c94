/* softmax, log_softmax and the sparse cross entropy against wider numbers, for lines of all lengths
 * around those of lanes, runs and blocks; the same bits on each instruction set and number of
 * threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

enum { SOFTMAX, LOG_SOFTMAX, CROSS_ENTROPY, NUM_KINDS };
static const char *const names[NUM_KINDS] = {"softmax", "log_softmax",
                                             "sparse_softmax_cross_entropy_with_logits"};

static const leat_shape shapes[] = {
    LEAT_SHAPE(1, 1),     LEAT_SHAPE(3, 2),     LEAT_SHAPE(9000, 10), LEAT_SHAPE(700, 31),
    LEAT_SHAPE(70, 129),  LEAT_SHAPE(7, 1000),  LEAT_SHAPE(5, 2048),  LEAT_SHAPE(5, 2500),
    LEAT_SHAPE(90, 4099), LEAT_SHAPE(2, 70001), LEAT_SHAPE(0, 5),     LEAT_SHAPE(4, 0),
};

/* The worst distance of a line's results from what is exact, in units of 2^-24 or 2^-53; a
 * difference from the maximum is rounded, which its exponential shows. */
static double check_line(int kind, const leat_tensor *in, const leat_tensor *out, int64_t line,
                         int64_t n, int64_t label) {
    double top = -INFINITY, worst = 0;
    long double sum = 0;
    double unit = in->dtype == LEAT_FLOAT32 ? 0x1p-24 : 0x1p-53;
    for (int64_t i = 0; i < n; i++) {
        double x = test_value(in, line * n + i);
        top = x > top || isnan(x) ? x : top;
    }
    for (int64_t i = 0; i < n; i++)
        sum += expl((long double)(test_value(in, line * n + i) - top));
    if (kind == CROSS_ENTROPY) {
        double wanted = (double)(logl(sum) - (test_value(in, line * n + label) - top));
        double found = test_value(&out[0], line);
        assert_int_equal(isnan(wanted), isnan(found));
        worst = fabs(found - wanted) / unit / (fabs(wanted) + 1);
    }
    for (int64_t i = 0; i < n; i++) {
        double below = test_value(in, line * n + i) - top;
        double wanted = (double)(kind == LOG_SOFTMAX ? below - logl(sum) : expl(below) / sum);
        wanted -= kind == CROSS_ENTROPY && i == label;
        double found = test_value(&out[kind == CROSS_ENTROPY], line * n + i);
        assert_int_equal(isnan(wanted), isnan(found));
        double size = fabs(wanted) + (kind == SOFTMAX ? 0x1p-126 / unit : 1);
        size *= kind == SOFTMAX && isfinite(below) ? 1 + fabs(below) / 4 : 1;
        double error = wanted == found || isnan(wanted) ? 0 : fabs(found - wanted) / unit / size;
        worst = error > worst ? error : worst;
    }
    return worst;
}

static void check(int kind, leat_dtype dtype, leat_shape shape, bool special) {
    leat_error err = {0};
    leat_tensor inputs[2], out[2];
    int64_t n = shape.dims[1], lines = n > 0 ? shape.dims[0] : 0;
    leat_tensor *in = &inputs[kind == CROSS_ENTROPY];
    assert_int_equal(leat_tensor_new(dtype, shape, in, &err), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(in); i++)
        test_set_value(in, i, 2 * kernels_draw());
    if (special && n > 4 && lines > 0) {
        test_set_value(in, 2, -INFINITY);
        test_set_value(in, (lines - 1) * n + 1, (double)NAN);
        test_set_value(in, lines / 2 * n + n - 1, INFINITY);
    }
    if (kind == CROSS_ENTROPY) {
        assert_int_equal(leat_tensor_new(LEAT_INT32, LEAT_SHAPE(shape.dims[0]), &inputs[0], &err),
                         LEAT_OK);
        for (int64_t k = 0; k < shape.dims[0]; k++)
            ((int32_t *)inputs[0].data)[k] = n > 0 ? (int32_t)(kernels_bits() % n) : 0;
    }
    kernels_case of = {names[kind], NULL, kind == CROSS_ENTROPY ? 2 : 1};
    kernels_run_everywhere(&of, inputs, out);
    for (int64_t k = 0; k < lines; k++) {
        int64_t label = kind == CROSS_ENTROPY ? ((const int32_t *)inputs[0].data)[k] : 0;
        double worst = check_line(kind, in, out, k, n, label);
        if (worst > 8)
            fail_msg("%s of %s, lines of %lld: %g units", names[kind], leat_dtype_name(dtype),
                     (long long)n, worst);
    }
    leat_tensor_unref(&inputs[0]);
    leat_tensor_unref(&out[0]);
    if (kind == CROSS_ENTROPY) {
        leat_tensor_unref(&inputs[1]);
        leat_tensor_unref(&out[1]);
    }
}

static void test_lines(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int kind = 0; kind < NUM_KINDS; kind++)
            for (int how = 0; how < 3; how++)
                if (kind != CROSS_ENTROPY || shapes[k].dims[1] > 0)
                    check(kind, how < 2 ? LEAT_FLOAT32 : LEAT_FLOAT64, shapes[k], how == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
