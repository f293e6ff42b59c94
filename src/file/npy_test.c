/* .npy headers: dtypes, forms that numpy and other writers give them, and what is refused where. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "file/npy.h"
#include "support/refused.h"
#include <stdio.h>
#include <string.h>

/* A header of version 1 with this text; returns its bytes. */
static size_t header_of(const char *text, uint8_t *out) {
    size_t size = strlen(text);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (uint8_t)(size & 255);
    out[9] = (uint8_t)(size >> 8);
    memcpy(out + 10, text, size);
    return 10 + size;
}

static void expect_header(const char *text, leat_dtype dtype, const char *shape, bool swapped,
                          bool fortran) {
    static uint8_t data[1000];
    char found[128];
    size_t size = header_of(text, data), need = 1;
    leati_npy header = {0};
    leat_error err = {0};
    assert_int_equal(leati_npy_read(data, size, &need, &header, &err), LEAT_OK);
    assert_int_equal(need, 0);
    assert_int_equal(header.dtype, dtype);
    assert_string_equal(leati_shape_text(&header.shape, found), shape);
    assert_int_equal(header.swapped, swapped);
    assert_int_equal(header.fortran, fortran);
    assert_int_equal(header.size, size);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(leati_npy_read(data, i, &need, &header, &err), LEAT_OK);
        assert_in_range(need, i + 1, size);
    }
}

static void test_forms(void **state) {
    (void)state;
    expect_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", LEAT_FLOAT32,
                  "[3, 4]", false, false);
    expect_header("{'shape':(7,),'fortran_order':True,'descr':'>i2'}", LEAT_INT16, "[7]", true,
                  true);
    expect_header("{\"descr\": \"|u1\", \"fortran_order\": False, \"shape\": ()}\n", LEAT_UINT8,
                  "[]", false, false);
    expect_header("{'descr': '|b1', 'fortran_order': False, 'shape': (10L, 0L)}", LEAT_BOOL,
                  "[10, 0]", false, false);
    expect_header("{'descr': '>i1', 'fortran_order': False, 'shape': (1,2,3,4,5,6,7,8)}", LEAT_INT8,
                  "[1, 2, 3, 4, 5, 6, 7, 8]", false, false);
}

static void test_dtypes(void **state) {
    (void)state;
    static const struct {
        const char *descr;
        leat_dtype dtype;
    } cases[] = {{"<i4", LEAT_INT32},      {"<i8", LEAT_INT64},  {"<u2", LEAT_UINT16},
                 {"<u4", LEAT_UINT32},     {"<u8", LEAT_UINT64}, {"=f8", LEAT_FLOAT64},
                 {"<f2", LEAT_FLOAT16},    {"|i1", LEAT_INT8},   {"<c8", LEAT_COMPLEX64},
                 {"<c16", LEAT_COMPLEX128}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[100];
        snprintf(text, sizeof(text), "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}",
                 cases[i].descr);
        expect_header(text, cases[i].dtype, "[2]", false, false);
    }
}

static void expect_refused(const char *text, leat_status code, const char *keyword) {
    static uint8_t data[1000];
    size_t size = header_of(text, data), need = 1;
    leati_npy header = {0};
    leat_error err = {0};
    assert_int_equal(leati_npy_read(data, size, &need, &header, &err), code);
    assert_refused(&err, code, LEAT_REASON_NONE, keyword);
}

static void test_refused(void **state) {
    (void)state;
    expect_refused("", LEAT_DATA_LOSS, "10");
    expect_refused("{'descr': '<f4', 'fortran_order': False}", LEAT_DATA_LOSS, "fortran_order");
    expect_refused("{'descr': '<f4', 'fortran_order': Perhaps, 'shape': ()}", LEAT_DATA_LOSS,
                   "True");
    expect_refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                   LEAT_DATA_LOSS, "descr");
    expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", LEAT_DATA_LOSS,
                   "61");
    expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
                   LEAT_DATA_LOSS, "2^63");
    expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
                   LEAT_DATA_LOSS, "8");
    expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", LEAT_DATA_LOSS,
                   "blanks");
    expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", LEAT_DATA_LOSS,
                   "shape");
    expect_refused("{'descr': '<f4", LEAT_DATA_LOSS, "string");
    expect_refused("{'descr': '|O', 'fortran_order': False, 'shape': ()}", LEAT_UNIMPLEMENTED,
                   "Python");
    expect_refused("{'descr': '<f16', 'fortran_order': False, 'shape': ()}", LEAT_UNIMPLEMENTED,
                   "'<f16'");
    expect_refused("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': ()}", LEAT_UNIMPLEMENTED,
                   "'<M8[ns]'");
    expect_refused("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': ()}",
                   LEAT_UNIMPLEMENTED, "structured");
}

static void test_other_bytes(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        leat_status code;
        const char *keyword;
    } cases[] = {{"PK\3\4......", LEAT_UNIMPLEMENTED, ".npz"},
                 {"\x93NUMPX\1\0\0\0", LEAT_DATA_LOSS, "0"},
                 {"\x93NUMPY\4\0\0\0", LEAT_DATA_LOSS, "4"},
                 {"\x93NUMPY\2\0\0\0\2\0", LEAT_DATA_LOSS, "131072"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        leati_npy header = {0};
        leat_error err = {0};
        size_t need = 0;
        bool wide = cases[i].bytes[6] == 2;
        leat_status status =
            leati_npy_read((const uint8_t *)cases[i].bytes, wide ? 12 : 10, &need, &header, &err);
        assert_int_equal(status, cases[i].code);
        assert_refused(&err, cases[i].code, LEAT_REASON_NONE, cases[i].keyword);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_dtypes),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_other_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
