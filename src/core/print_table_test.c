/* Arrays as numpy prints them: each text is str() of numpy 2 of the values before it. Large scalars
 * of float16 and float32 are left out, as numpy 2.4 prints them in another way than before. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/text.h"
#include "core/json.h"
#include "core/object.h"
#include "core/spec.h"
#include "core/tensor_print.h"
#include <string.h>

/* Without values: the numbers from `first` on. */
static const struct {
    const char *dtype, *shape, *values;
    int first;
    const char *printed;
} cases[] = {
    {"float64", "[2]", "0.0001, 0.09", 0, "[0.0001 0.09  ]"},
    {"float64", "[2]", "0.0001, 0.11", 0, "[1.0e-04 1.1e-01]"},
    {"float64", "[2]", "9.9e-05, 0.05", 0, "[9.9e-05 5.0e-02]"},
    {"float64", "[2]", "99999999.0, 1.0", 0, "[9.9999999e+07 1.0000000e+00]"},
    {"float64", "[2]", "100000000.0, 1000000.0", 0, "[1.e+08 1.e+06]"},
    {"float64", "[2]", "12345678.0, 12346.0", 0, "[12345678.    12346.]"},
    {"float64", "[2]", "1000.0, 1.0", 0, "[1000.    1.]"},
    {"float64", "[2]", "1001.0, 1.0", 0, "[1.001e+03 1.000e+00]"},
    {"float64", "[3]", "\"nan\", \"-inf\", 1.0", 0, "[ nan -inf   1.]"},
    {"float64", "[2]", "\"inf\", 10000000000.0", 0, "[   inf 1.e+10]"},
    {"float64", "[2]", "\"nan\", \"nan\"", 0, "[nan nan]"},
    {"float64", "[2]", "\"-inf\", 0.0", 0, "[-inf   0.]"},
    {"float64", "[2]", "0.0, -0.0", 0, "[ 0. -0.]"},
    {"float64", "[2]", "0.3333333333333333, 100.0", 0, "[  0.33333333 100.        ]"},
    {"float64", "[2]", "1e+300, -1e-300", 0, "[ 1.e+300 -1.e-300]"},
    {"float64", "[2]", "1.123456789123, 1000000000.0", 0, "[1.12345679e+00 1.00000000e+09]"},
    {"float64", "[3]", "1e+300, -1e-300, \"nan\"", 0, "[ 1.e+300 -1.e-300      nan]"},
    {"float64", "[2]", "1e+300, 100000.0", 0, "[1.e+300 1.e+005]"},
    {"float64", "[2]", "1e-100, 1.0", 0, "[1.e-100 1.e+000]"},
    {"float64", "[2]", "9.999999999e+99, 1.0", 0, "[1.e+100 1.e+000]"},
    {"float64", "[3]", "1e+300, \"inf\", \"-inf\"", 0, "[1.e+300     inf    -inf]"},
    {"float64", "[3]", "1e+300, 100000.0, \"nan\"", 0, "[1.e+300 1.e+005     nan]"},
    {"float64", "[2]", "12999999999.0, 1.0", 0, "[1.3e+10 1.0e+00]"},
    {"float64", "[2]", "12345678951.2, 1.0", 0, "[1.2345679e+10 1.0000000e+00]"},
    {"float64", "[2]", "-1.123456789e-20, 1e-05", 0, "[-1.12345679e-20  1.00000000e-05]"},
    {"float64", "[2]", "0.0, 10000000000.0", 0, "[0.e+00 1.e+10]"},
    {"float64", "[3]", "0.0, -0.0, 1e-10", 0, "[ 0.e+00 -0.e+00  1.e-10]"},
    {"float32", "[2]", "16777216.0, 0.5", 0, "[1.6777216e+07 5.0000000e-01]"},
    {"float32", "[2]", "3.4028234663852886e+38, 1.0", 0, "[3.4028235e+38 1.0000000e+00]"},
    {"float32", "[1]", "1.401298464324817e-45", 0, "[1.e-45]"},
    {"float16", "[2]", "65504.0, 5.960464477539063e-08", 0, "[6.55e+04 5.96e-08]"},
    {"float16", "[3]", "0.0999755859375, 0.199951171875, 0.300048828125", 0, "[0.1 0.2 0.3]"},
    {"int32", "[3]", "-1, 10, 100", 0, "[ -1  10 100]"},
    {"uint8", "[2]", "0, 255", 0, "[  0 255]"},
    {"bool", "[2, 1]", "true, false", 0, "[[ True]\n [False]]"},
    {"int64", "[2, 3, 4]",
     "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23", 0,
     "[[[ 0  1  2  3]\n  [ 4  5  6  7]\n  [ 8  9 10 11]]\n\n [[12 13 14 15]\n  [16 17 18 19]\n  "
     "[20 21 22 23]]]"},
    {"int64", "[2, 2, 300]", NULL, 0,
     "[[[   0    1    2 ...  297  298  299]\n  [ 300  301  302 ...  597  598  599]]\n\n [[ 600  "
     "601  602 ...  897  898  899]\n  [ 900  901  902 ... 1197 1198 1199]]]"},
    {"int64", "[7, 144]", NULL, 0,
     "[[   0    1    2 ...  141  142  143]\n [ 144  145  146 ...  285  286  287]\n [ 288  289  290 "
     "...  429  430  431]\n ...\n [ 576  577  578 ...  717  718  719]\n [ 720  721  722 ...  861  "
     "862  863]\n [ 864  865  866 ... 1005 1006 1007]]"},
    {"int64", "[9, 120]", NULL, 0,
     "[[   0    1    2 ...  117  118  119]\n [ 120  121  122 ...  237  238  239]\n [ 240  241  242 "
     "...  357  358  359]\n ...\n [ 720  721  722 ...  837  838  839]\n [ 840  841  842 ...  957  "
     "958  959]\n [ 960  961  962 ... 1077 1078 1079]]"},
    {"float64", "[20]",
     "1000.0, 1001.5, 1003.0, 1004.5, 1006.0, 1007.5, 1009.0, 1010.5, 1012.0, 1013.5, 1015.0, "
     "1016.5, 1018.0, 1019.5, 1021.0, 1022.5, 1024.0, 1025.5, 1027.0, 1028.5",
     0,
     "[1000.  1001.5 1003.  1004.5 1006.  1007.5 1009.  1010.5 1012.  1013.5\n 1015.  1016.5 1018. "
     " 1019.5 1021.  1022.5 1024.  1025.5 1027.  1028.5]"},
    {"int64", "[6]",
     "1000000000000, 1000000000001, 1000000000002, 1000000000003, 1000000000004, 1000000000005", 0,
     "[1000000000000 1000000000001 1000000000002 1000000000003 1000000000004\n 1000000000005]"},
    {"int64", "[5]", "1000000000000, 1000000000001, 1000000000002, 1000000000003, 1000000000004", 0,
     "[1000000000000 1000000000001 1000000000002 1000000000003 1000000000004]"},
    {"int64", "[1, 1, 1, 2]", "0, 0", 0, "[[[[0 0]]]]"},
    {"int64", "[2, 0]", "", 0, "[]"},
    {"int64", "[6]", "0, 1000000000, 2000000000, 3000000000, 4000000000, 5000000000", 0,
     "[         0 1000000000 2000000000 3000000000 4000000000 5000000000]"},
    {"float64", "[]", "0.0001", 0, "0.0001"},
    {"float64", "[]", "9.99e-05", 0, "9.99e-05"},
    {"float64", "[]", "1000000000000000.0", 0, "1000000000000000.0"},
    {"float64", "[]", "1e+16", 0, "1e+16"},
    {"float64", "[]", "1.2345678901234568e+17", 0, "1.2345678901234568e+17"},
    {"float64", "[]", "0.1", 0, "0.1"},
    {"float64", "[]", "-0.0", 0, "-0.0"},
    {"float64", "[]", "1.0", 0, "1.0"},
    {"float64", "[]", "-1.5e+300", 0, "-1.5e+300"},
    {"float64", "[]", "5e-324", 0, "5e-324"},
    {"float64", "[]", "\"nan\"", 0, "nan"},
    {"float64", "[]", "\"-inf\"", 0, "-inf"},
    {"float64", "[]", "0.3333333333333333", 0, "0.3333333333333333"},
    {"float32", "[]", "0.10000000149011612", 0, "0.1"},
    {"float32", "[]", "9.999999747378752e-06", 0, "1e-05"},
    {"float16", "[]", "0.0999755859375", 0, "0.1"},
    {"complex64", "[3]", "[1.0, 2.0], [30.0, -100.0], [0.5, 0.25]", 0,
     "[ 1.   +2.j   30. -100.j    0.5  +0.25j]"},
    {"complex128", "[2,2]", "[1.5, 0.0], [-0.0, -2.0], [0.001, -1.0], [100.0, 0.0]", 0,
     "[[ 1.5e+00+0.j -0.0e+00-2.j]\n [ 1.0e-03-1.j  1.0e+02+0.j]]"},
    {"complex64", "[2]", "[\"nan\", 1.0], [\"inf\", \"-inf\"]", 0, "[nan +1.j inf-infj]"},
    {"complex128", "[2]", "[10000000000.0, 1.0], [1.0, -1e-10]", 0,
     "[1.e+10+1.e+00j 1.e+00-1.e-10j]"},
    {"complex64", "[9]",
     "[0.0, 0.0], [0.3333333432674408, 1.0], [0.6666666865348816, 2.0], [1.0, 3.0], "
     "[1.3333333730697632, 4.0], [1.6666666269302368, 5.0], [2.0, 6.0], [2.3333332538604736, 7.0], "
     "[2.6666667461395264, 8.0]",
     0,
     "[0.        +0.j 0.33333334+1.j 0.6666667 +2.j 1.        +3.j\n 1.3333334 +4.j 1.6666666 +5.j "
     "2.        +6.j 2.3333333 +7.j\n 2.6666667 +8.j]"},
    {"complex64", "[]", "[1.0, 2.0]", 0, "(1+2j)"},
    {"complex128", "[]", "[0.0, 2.0]", 0, "2j"},
    {"complex128", "[]", "[-0.1, -0.25]", 0, "(-0.1-0.25j)"},
    {"complex128", "[]", "[\"nan\", \"inf\"]", 0, "(nan+infj)"},
    {"complex64", "[]", "[1.0000000200408773e+20, 1.0000000116860974e-07]", 0, "(1e+20+1e-07j)"},
    {"complex64", "[0]", "", 0, "[]"},
};

static void arrays(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        leat_tensor tensor = {0};
        char printed[4096];
        leati_text text = {0};
        leati_text_addf(&text, "{\"dtype\": \"%s\", \"shape\": %s, \"data\": [%s", cases[i].dtype,
                        cases[i].shape, cases[i].values != NULL ? cases[i].values : "");
        int64_t count = 1, dim = 0;
        for (const char *c = cases[i].shape; *c; c++) {
            dim = *c >= '0' && *c <= '9' ? dim * 10 + *c - '0' : dim;
            if ((*c == ',' || *c == ']') && c[-1] != '[') {
                count *= dim;
                dim = 0;
            }
        }
        for (int64_t k = 0; cases[i].values == NULL && k < count; k++)
            leati_text_addf(&text, "%s%lld", k ? ", " : "", (long long)(cases[i].first + k));
        leati_text_addf(&text, "]}");
        json_t *json = leati_json_parse(text.data, text.size, &err);
        if (json == NULL || leati_json_to_tensor(json, &tensor, &err) != LEAT_OK)
            fail_msg("%s: %s", text.data, err.text);
        leati_text_sink sink = leati_sink_over(printed, sizeof printed);
        leati_tensor_print(&sink, &tensor);
        if (strcmp(printed, cases[i].printed) != 0)
            fail_msg("%.200s: expected\n%s\nfound\n%s", text.data, cases[i].printed, printed);
        leat_tensor_unref(&tensor);
        json_decref(json);
        leati_text_fini(&text);
    }
}

/* Bytes as Python 3 writes them, objects and values of two parts and more. */
static void others(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *printed;
    } texts[] = {{"it's", "b\"it's\""},
                 {"say \"x\"", "b'say \"x\"'"},
                 {"it's \"x\"", "b'it\\'s \"x\"'"},
                 {"\r\t\n\\", "b'\\r\\t\\n\\\\'"},
                 {"\x1f ~\x7f\x80", "b'\\x1f ~\\x7f\\x80'"}};
    char printed[256];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        leat_string string = {texts[i].bytes, strlen(texts[i].bytes)};
        leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &string);
        leati_text_sink sink = leati_sink_over(printed, sizeof printed);
        leati_tensor_print(&sink, &tensor);
        assert_string_equal(printed, texts[i].printed);
    }
    static const leati_object_type type = {.name = "thing"};
    leat_object thing, *objects[2] = {&thing, &thing};
    leati_object_init(&thing, &type);
    leat_tensor two = leat_tensor_view(LEAT_OBJECT, LEAT_SHAPE(2), objects);
    leati_text_sink sink = leati_sink_over(printed, sizeof printed);
    leati_tensor_print(&sink, &two);
    assert_string_equal(printed, "[<object> <object>]");
    two.rank = 0;
    sink = leati_sink_over(printed, sizeof printed);
    leati_tensor_print(&sink, &two);
    assert_string_equal(printed, "<object>");
    leat_tensor none = {0};
    sink = leati_sink_over(printed, sizeof printed);
    leati_tensor_print(&sink, &none);
    assert_string_equal(printed, "<invalid>");
    leat_error err = {0};
    leat_spec *spec = leat_spec_from_json(
        "{\"tuple\": [{\"dataset\": null}, {\"optional\": null}, {\"sparse\": {\"dtype\": "
        "\"int8\", \"shape\": [2]}}, {\"tuple\": []}, {\"dict\": {\"a\": null, \"b\": null}}, "
        "{\"ragged\": {\"dtype\": \"int8\", \"shape\": [2], \"ragged_rank\": 0}}]}",
        &err);
    int64_t zero = 0, dense = 2;
    int8_t values[] = {5, 6};
    leat_tensor tensors[] = {leat_tensor_view(LEAT_OBJECT, LEAT_SCALAR, objects),
                             leat_tensor_view(LEAT_OBJECT, LEAT_SCALAR, objects),
                             leat_tensor_view(LEAT_INT64, LEAT_SHAPE(1, 1), &zero),
                             leat_tensor_view(LEAT_INT8, LEAT_SHAPE(1), values),
                             leat_tensor_view(LEAT_INT64, LEAT_SHAPE(1), &dense),
                             leat_tensor_view(LEAT_INT8, LEAT_SHAPE(2), values)};
    leat_element element = {0};
    assert_non_null(spec);
    if (leat_element_set(&element, spec, tensors, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    static const char expected[] =
        "(<dataset>, <optional>, <sparse indices=[[0]] values=[5] dense_shape=[2]>, (), {'a': "
        "None, 'b': None}, [5 6])";
    assert_int_equal(leat_element_print(&element, printed, sizeof printed), strlen(expected));
    assert_string_equal(printed, expected);
    leat_element_fini(&element);
    leat_spec_unref(spec);
    assert_int_equal(leat_element_print(&element, printed, sizeof printed), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
