/* top_k of one number, by a search of its own, against the first of two: of lines of many lengths,
 * with numbers that are equal and NaN; the same on each instruction set and number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

static void test_one(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{40, 2}, {9, 63}, {12, 64}, {7, 129}, {5, 2000}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int odd = 0; odd < 2; odd++) {
            leat_error err = {0};
            leat_tensor in, one[2], two[2];
            leat_shape shape = LEAT_SHAPE(sizes[k][0], sizes[k][1]);
            assert_int_equal(leat_tensor_new(LEAT_FLOAT32, shape, &in, &err), LEAT_OK);
            for (int64_t i = 0; i < leat_tensor_count(&in); i++) {
                int32_t number = (int32_t)(kernels_bits() % 90) - 45;
                float *to = (float *)in.data + i;
                *to = odd && number == 7 ? NAN : number == 3 ? -0.0f : (float)(number / 8);
            }
            kernels_run_everywhere(&(kernels_case){"top_k", "{\"k\": 1}", 1}, &in, one);
            kernels_run_everywhere(&(kernels_case){"top_k", "{\"k\": 2}", 1}, &in, two);
            for (int64_t line = 0; line < sizes[k][0]; line++) {
                assert_int_equal(((int32_t *)one[1].data)[line],
                                 ((int32_t *)two[1].data)[2 * line]);
                assert_memory_equal((float *)one[0].data + line, (float *)two[0].data + 2 * line,
                                    4);
            }
            for (int i = 0; i < 2; i++) {
                leat_tensor_unref(&one[i]);
                leat_tensor_unref(&two[i]);
            }
            leat_tensor_unref(&in);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
