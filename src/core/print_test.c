/* Printing against what numpy's str() and repr() show for the same values. */
#include "support/cmocka.h"

#include "core/tensor_print.h"
#include "support/torture.h"
#include <math.h>

static void prints(leat_dtype dtype, leat_shape shape, const void *data, const char *expected) {
    char text[4096];
    leat_tensor tensor = leat_tensor_view(dtype, shape, data);
    leati_text_sink sink = leati_sink_over(text, sizeof text);
    leati_tensor_print(&sink, &tensor);
    assert_string_equal(text, expected);
    assert_int_equal(sink.at, strlen(expected));
}

static void integers(void **state) {
    (void)state;
    int64_t numbers[2000];
    for (int i = 0; i < 2000; i++)
        numbers[i] = i;
    prints(LEAT_INT64, LEAT_SCALAR, &numbers[7], "7");
    prints(LEAT_INT64, LEAT_SHAPE(3, 4), numbers,
           "[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]");
    prints(LEAT_INT64, LEAT_SHAPE(1001), numbers, "[   0    1    2 ...  998  999 1000]");
    prints(LEAT_INT64, LEAT_SHAPE(2, 2, 1), numbers, "[[[0]\n  [1]]\n\n [[2]\n  [3]]]");
    prints(
        LEAT_INT64, LEAT_SHAPE(500, 4), numbers,
        "[[   0    1    2    3]\n [   4    5    6    7]\n [   8    9   10   11]\n ...\n [1988 1989 "
        "1990 1991]\n [1992 1993 1994 1995]\n [1996 1997 1998 1999]]");
    prints(LEAT_INT64, LEAT_SHAPE(30), numbers,
           "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
           " 24 25 26 27 28 29]");
    prints(LEAT_INT64, LEAT_SHAPE(0), numbers, "[]");
    prints(LEAT_INT8, LEAT_SHAPE(2), (const int8_t[]){-128, 5}, "[-128    5]");
    prints(LEAT_UINT64, LEAT_SCALAR, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    prints(LEAT_BOOL, LEAT_SHAPE(2), (const uint8_t[]){1, 0}, "[ True False]");
}

static void floats(void **state) {
    (void)state;
    prints(LEAT_FLOAT32, LEAT_SCALAR, &(float){0.1f}, "0.1");
    prints(LEAT_FLOAT64, LEAT_SCALAR, &(double){10}, "10.0");
    prints(LEAT_FLOAT64, LEAT_SCALAR, &(double){1e16}, "1e+16");
    prints(LEAT_FLOAT64, LEAT_SCALAR, &(double){1.25e-5}, "1.25e-05");
    prints(LEAT_FLOAT64, LEAT_SCALAR, &(double){0}, "0.0");
    prints(LEAT_FLOAT64, LEAT_SHAPE(3), (const double[]){1.5, 2.25, 10}, "[ 1.5   2.25 10.  ]");
    prints(LEAT_FLOAT64, LEAT_SHAPE(2), (const double[]){1e10, 1}, "[1.e+10 1.e+00]");
    prints(LEAT_FLOAT64, LEAT_SHAPE(3), (const double[]){0.1, (double)NAN, (double)INFINITY},
           "[0.1 nan inf]");
    prints(LEAT_FLOAT64, LEAT_SHAPE(2), (const double[]){1.0 / 3, -2.0 / 3},
           "[ 0.33333333 -0.66666667]");
    prints(LEAT_FLOAT32, LEAT_SHAPE(2, 1), (const float[]){0, 0}, "[[0.]\n [0.]]");
    prints(LEAT_FLOAT64, LEAT_SHAPE(2), (const double[]){1e-5, -1.5e-5}, "[ 1.0e-05 -1.5e-05]");
    prints(LEAT_FLOAT16, LEAT_SHAPE(2), (const uint16_t[]){0x3c00, 0x2e66}, "[1.  0.1]");
}

static void strings(void **state) {
    (void)state;
    const leat_string texts[] = {{"a", 1}, {"it's", 4}, {"\n\x00\xff\\", 4}, {NULL, 0}};
    prints(LEAT_STRING, LEAT_SCALAR, &texts[0], "b'a'");
    prints(LEAT_STRING, LEAT_SHAPE(4), texts, "[b'a' b\"it's\" b'\\n\\x00\\xff\\\\' b'']");
}

static void structures(void **state) {
    (void)state;
    torture_begin();
    leat_spec *dict = leat_spec_dict(
        (const char *const[]){"b", "a"},
        (leat_spec *[]){leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, NULL),
                        leat_spec_tuple((leat_spec *[]){leat_spec_none(NULL)}, 1, NULL)},
        2, NULL);
    leat_spec *spec = leat_spec_tuple(
        (leat_spec *[]){leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(-1), NULL), dict,
                        leat_spec_ragged(LEAT_INT32, LEAT_SHAPE(-1, -1), 1, LEAT_INT64, NULL)},
        3, NULL);
    int32_t numbers[] = {1, 20};
    leat_string text = {"x", 1};
    int64_t splits[] = {0, 2, 2};
    leat_tensor tensors[] = {leat_tensor_view(LEAT_INT32, LEAT_SHAPE(2), numbers),
                             leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &text),
                             leat_tensor_view(LEAT_INT32, LEAT_SHAPE(2), numbers),
                             leat_tensor_view(LEAT_INT64, LEAT_SHAPE(3), splits)};
    leat_element element = {0};
    assert_int_equal(leat_element_set(&element, spec, tensors, NULL), LEAT_OK);
    static const char expected[] =
        "([ 1 20], {'a': (None,), 'b': b'x'}, <ragged values=[ 1 20] row_splits=[0 2 2]>)";
    char out[128];
    assert_int_equal(leat_element_print(&element, out, sizeof out), sizeof expected - 1);
    assert_string_equal(out, expected);
    /* Cut text is terminated, and the length needed is the same. */
    memset(out, 'z', sizeof out);
    assert_int_equal(leat_element_print(&element, out, 6), sizeof expected - 1);
    assert_string_equal(out, "([ 1 ");
    assert_int_equal(out[6], 'z');
    assert_int_equal(leat_element_print(&element, NULL, 0), sizeof expected - 1);
    leat_element_fini(&element);
    leat_spec_unref(spec);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(strings),
        cmocka_unit_test(structures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
