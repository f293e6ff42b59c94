/* Running totals against one line after the other, along every axis, to both ends; the same bits on
 * each instruction set and number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

enum { SUM, PRODUCT, LOGSUMEXP, NUM_KINDS };
static const char *const names[NUM_KINDS] = {"cumsum", "cumprod", "cumulative_logsumexp"};

static const leat_shape shapes[] = {
    LEAT_SHAPE(1),     LEAT_SHAPE(7),          LEAT_SHAPE(70001),   LEAT_SHAPE(0, 3),
    LEAT_SHAPE(3, 67), LEAT_SHAPE(300, 1),     LEAT_SHAPE(9000, 9), LEAT_SHAPE(5, 20, 259),
    LEAT_SHAPE(2, 3),  LEAT_SHAPE(40, 3, 700),
};

static double joined(int kind, leat_dtype dtype, double a, double v) {
    double sum = kind == SUM ? a + v : a * v;
    if (kind != LOGSUMEXP)
        return dtype == LEAT_FLOAT32 ? (double)(float)sum : sum;
    double high = a > v ? a : v, low = a > v ? v : a;
    return isinf(high) ? high : high + log1p(exp(low - high));
}

static void check(int kind, int32_t axis, bool exclusive, bool reverse, const leat_tensor *in,
                  const leat_tensor *out) {
    int64_t inner = 1, dim = in->dims[axis], count = leat_tensor_count(in);
    for (int32_t d = axis + 1; d < in->rank; d++)
        inner *= in->dims[d];
    for (int64_t k = 0; count > 0 && k < count / dim; k++) {
        double total = kind == SUM ? 0 : kind == PRODUCT ? 1 : -INFINITY;
        for (int64_t i = 0; i < dim; i++) {
            int64_t at = k / inner * inner * dim + k % inner + (reverse ? dim - 1 - i : i) * inner;
            double before = total, found = test_value(out, at);
            total = joined(kind, in->dtype, total, test_value(in, at));
            double wanted = exclusive ? before : total;
            if (kind != LOGSUMEXP ? found != wanted
                                  : wanted != found && fabs(found - wanted) > 5e-3)
                fail_msg("%s: value %lld of line %lld is %.17g, not %.17g", names[kind],
                         (long long)i, (long long)k, found, wanted);
        }
    }
}

static void test_lines(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int how = 0; how < NUM_KINDS * 8; how++)
            for (int32_t axis = 0; axis < shapes[k].rank; axis++) {
                int kind = how / 8;
                bool exclusive = how & 1, reverse = how & 2;
                char attributes[100];
                leat_error err = {0};
                leat_tensor in, out;
                leat_dtype dtype = how & 4 ? LEAT_FLOAT64 : LEAT_FLOAT32;
                assert_int_equal(leat_tensor_new(dtype, shapes[k], &in, &err), LEAT_OK);
                for (int64_t i = 0; i < leat_tensor_count(&in); i++)
                    test_set_value(&in, i,
                                   kind == PRODUCT ? 1 + kernels_draw() / 1e5 : kernels_draw());
                if (kind == LOGSUMEXP && leat_tensor_count(&in) > 2)
                    test_set_value(&in, 2, -INFINITY);
                sprintf(attributes, "{\"axis\": %d, \"exclusive\": %s, \"reverse\": %s}", axis,
                        exclusive ? "true" : "false", reverse ? "true" : "false");
                kernels_case of = {names[kind], attributes, 1};
                kernels_run_everywhere(&of, &in, &out);
                check(kind, axis, exclusive, reverse, &in, &out);
                leat_tensor_unref(&out);
                leat_tensor_unref(&in);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
