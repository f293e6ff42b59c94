/* searchsorted against counting: of lines of many lengths, of values one by one and side by side;
 * the same on each instruction set and number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

/* Few numbers, so that some are equal; of floats some values are infinite or NaN. */
static void fill(leat_tensor *tensor, bool rises) {
    int64_t n = tensor->dims[1];
    for (int64_t i = 0; i < tensor->dims[0] * n; i++) {
        int32_t number = rises ? (int32_t)(i % n * 3 / 2) : (int32_t)(kernels_bits() % (3 * n)) - 9;
        if (tensor->dtype == LEAT_INT32)
            ((int32_t *)tensor->data)[i] = number;
        else if (tensor->dtype == LEAT_INT64)
            ((int64_t *)tensor->data)[i] = number;
        else
            test_set_value(tensor, i,
                           rises || number % 7 != 3 ? number
                           : number % 2 == 0        ? (double)NAN
                                                    : (double)INFINITY);
    }
}

static double value_of(const leat_tensor *tensor, int64_t i) {
    return tensor->dtype == LEAT_INT32   ? (double)((const int32_t *)tensor->data)[i]
           : tensor->dtype == LEAT_INT64 ? (double)((const int64_t *)tensor->data)[i]
                                         : test_value(tensor, i);
}

static void check(const leat_tensor *in, const int32_t *places, bool right) {
    int64_t n = in[0].dims[1], each = in[1].dims[1];
    for (int64_t i = 0; i < in[1].dims[0] * each; i++) {
        double wanted = value_of(&in[1], i);
        int32_t count = 0;
        for (int64_t k = 0; k < n; k++) {
            double number = value_of(&in[0], i / each * n + k);
            count += right ? number <= wanted : number < wanted;
        }
        if (places[i] != count)
            fail_msg("value %lld (%g): %d, not %d", (long long)i, wanted, places[i], count);
    }
}

static void test_lines(void **state) {
    (void)state;
    static const leat_dtype dtypes[] = {LEAT_FLOAT32, LEAT_FLOAT64, LEAT_INT32, LEAT_INT64};
    static const int64_t sizes[][3] = {
        {1, 1, 40}, {3, 2, 16}, {2, 7, 50}, {5, 64, 33}, {1, 999, 1700}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int how = 0; how < 8; how++) {
            char attributes[100];
            leat_error err = {0};
            leat_tensor in[2], out;
            for (int i = 0; i < 2; i++) {
                leat_shape shape = LEAT_SHAPE(sizes[k][0], sizes[k][1 + i]);
                assert_int_equal(leat_tensor_new(dtypes[how / 2], shape, &in[i], &err), LEAT_OK);
                fill(&in[i], i == 0);
            }
            sprintf(attributes, "{\"side\": \"%s\"}", how % 2 ? "right" : "left");
            kernels_case of = {"searchsorted", attributes, 2};
            kernels_run_everywhere(&of, in, &out);
            check(in, out.data, how % 2);
            leat_tensor_unref(&out);
            leat_tensor_unref(&in[0]);
            leat_tensor_unref(&in[1]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
