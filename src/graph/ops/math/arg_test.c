/* argmax and argmin against a search of one value after the other, over lines of all lengths around
 * those of lanes, runs and pieces; the same on each instruction set and number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

static const leat_shape shapes[] = {
    LEAT_SHAPE(1),           LEAT_SHAPE(7),       LEAT_SHAPE(33),        LEAT_SHAPE(1056),
    LEAT_SHAPE(2051),        LEAT_SHAPE(70001),   LEAT_SHAPE(300007),    LEAT_SHAPE(300, 1),
    LEAT_SHAPE(5, 67),       LEAT_SHAPE(9000, 9), LEAT_SHAPE(2, 200001), LEAT_SHAPE(3, 1300, 259),
    LEAT_SHAPE(70, 4, 1000),
};

static double float_of(int32_t number) {
    return number % 997 == 5   ? (double)NAN
           : number % 991 == 7 ? -(double)INFINITY
           : number % 2 == 0   ? -0.0
                               : number / 4000.0;
}

/* Few numbers, so that some are equal; in some lines NaN and infinities, of which one is first. */
static void fill(leat_tensor *tensor) {
    int64_t count = leat_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        int32_t number = (int32_t)(kernels_bits() % 4000) - 2000;
        if (tensor->dtype == LEAT_INT32)
            ((int32_t *)tensor->data)[i] = number;
        else if (tensor->dtype == LEAT_INT64)
            ((int64_t *)tensor->data)[i] = number;
        else if (tensor->dtype == LEAT_UINT8)
            ((uint8_t *)tensor->data)[i] = (uint8_t)number;
        else if (tensor->dtype == LEAT_FLOAT16)
            ((uint16_t *)tensor->data)[i] = leati_half_of_float((float)float_of(number));
        else
            test_set_value(tensor, i, float_of(number));
    }
}

static double value_of(const leat_tensor *tensor, int64_t i) {
    return tensor->dtype == LEAT_INT32   ? (double)((const int32_t *)tensor->data)[i]
           : tensor->dtype == LEAT_INT64 ? (double)((const int64_t *)tensor->data)[i]
           : tensor->dtype == LEAT_FLOAT16
               ? (double)leati_float_of_half(((const uint16_t *)tensor->data)[i])
           : tensor->dtype == LEAT_UINT8 ? (double)((const uint8_t *)tensor->data)[i]
                                         : test_value(tensor, i);
}

static void check(const leat_tensor *in, const leat_tensor *out, int32_t axis, bool smallest) {
    int64_t inner = 1, dim = in->dims[axis];
    for (int32_t d = axis + 1; d < in->rank; d++)
        inner *= in->dims[d];
    for (int64_t k = 0, n = leat_tensor_count(out); k < n; k++) {
        int64_t first = k / inner * inner * dim + k % inner, best = 0;
        for (int64_t i = 1; i < dim; i++) {
            double v = value_of(in, first + i * inner), b = value_of(in, first + best * inner);
            best = smallest ? (v < b ? i : best) : v > b ? i : best;
        }
        if (((const int32_t *)out->data)[k] != best)
            fail_msg("line %lld: %d, not %lld", (long long)k, ((const int32_t *)out->data)[k],
                     (long long)best);
    }
}

static void test_lines(void **state) {
    (void)state;
    static const leat_dtype dtypes[] = {LEAT_FLOAT32, LEAT_FLOAT64, LEAT_INT32,
                                        LEAT_INT64,   LEAT_UINT8,   LEAT_FLOAT16};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int how = 0; how < 12; how++)
            for (int32_t axis = 0; axis < shapes[k].rank; axis++) {
                char attributes[100];
                leat_error err = {0};
                leat_tensor in, out;
                assert_int_equal(leat_tensor_new(dtypes[how / 2], shapes[k], &in, &err), LEAT_OK);
                fill(&in);
                sprintf(attributes, "{\"axis\": %d, \"output_type\": \"int32\"}", axis);
                kernels_case of = {how % 2 ? "argmin" : "argmax", attributes, 1};
                kernels_run_everywhere(&of, &in, &out);
                check(&in, &out, axis, how % 2);
                leat_tensor_unref(&out);
                leat_tensor_unref(&in);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
