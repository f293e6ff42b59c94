/* Numbers as text: what tf.strings.to_number of TensorFlow 2.21 makes of each text in each dtype.
 */
#include "support/cmocka.h"

#include "core/number.h"
#include <math.h>
#include <string.h>

static const leat_dtype dtypes[] = {LEAT_INT32,  LEAT_INT64,   LEAT_UINT32,
                                    LEAT_UINT64, LEAT_FLOAT32, LEAT_FLOAT64};

/* `read` has a letter per dtype: y where the text is a number, n where it is refused. */
static const struct {
    const char *text, *read;
    double value; /* before it is rounded to the dtype */
} cases[] = {
    {"", "nnnnnn", 0},
    {"+", "nnnnnn", 0},
    {"-", "nnnnnn", 0},
    {" ", "nnnnnn", 0},
    {"0", "yyyyyy", 0},
    {"-0", "yynnyy", -0.0},
    {"+7", "yyyyyy", 7},
    {" 7 ", "yyyyyy", 7},
    {"\t7\n", "yyyyyy", 7},
    {"7 7", "nnnnnn", 0},
    {"7x", "nnnnnn", 0},
    {"7:", "nnnnnn", 0},
    {"7/", "nnnnnn", 0},
    {"x7", "nnnnnn", 0},
    {"--1", "nnnnnn", 0},
    {"+-1", "nnnnnn", 0},
    {"2147483647", "yyyyyy", 2147483647},
    {"2147483648", "nyyyyy", 2147483648},
    {"-2147483648", "yynnyy", -2147483648.0},
    {"-2147483649", "nynnyy", -2147483649.0},
    {"4294967295", "nyyyyy", 4294967295},
    {"4294967296", "nynyyy", 4294967296},
    {"9223372036854775808", "nnnyyy", 0x1p63},
    {"-9223372036854775808", "nynnyy", -0x1p63},
    {"-9223372036854775809", "nnnnyy", -0x1p63},
    {"18446744073709551616", "nnnnyy", 0x1p64},
    {"184467440737095516150", "nnnnyy", 184467440737095516150.0},
    {"1.5", "nnnnyy", 1.5},
    {"1e3", "nnnnyy", 1000},
    {"1e", "nnnnnn", 0},
    {".5", "nnnnyy", 0.5},
    {"5.", "nnnnyy", 5},
    {"0x10", "nnnnyy", 16},
    {"-inf", "nnnnyy", -INFINITY},
    {"1e400", "nnnnyy", INFINITY},
    {"1e-400", "nnnnyy", 0},
};

union number {
    int32_t int32;
    int64_t int64;
    uint32_t uint32;
    uint64_t uint64;
    float float32;
    double float64;
};

static double value_of(leat_dtype dtype, const union number *at) {
    switch (dtype) {
    case LEAT_INT32: return at->int32;
    case LEAT_INT64: return (double)at->int64;
    case LEAT_UINT32: return at->uint32;
    case LEAT_UINT64: return (double)at->uint64;
    case LEAT_FLOAT32: return (double)at->float32;
    default: return at->float64;
    }
}

static void numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_string text = {.data = cases[i].text, .size = strlen(cases[i].text)};
        for (int d = 0; d < 6; d++) {
            union number place = {0};
            bool read = leati_number_parse(text, dtypes[d], &place);
            double found = read ? value_of(dtypes[d], &place) : 0;
            double expected =
                dtypes[d] == LEAT_FLOAT32 ? (double)(float)cases[i].value : cases[i].value;
            if (read != (cases[i].read[d] == 'y') || (read && found != expected))
                fail_msg("\"%s\" as %s: %d, %g", cases[i].text, leat_dtype_name(dtypes[d]), read,
                         found);
        }
    }
}

static void ends(void **state) {
    (void)state;
    int64_t integer = 0;
    uint64_t natural = 0;
    double number = 0;
    float narrow = 0;
    leat_string most = {"9223372036854775807", 19}, all = {"18446744073709551615", 20};
    assert_true(leati_number_parse(most, LEAT_INT64, &integer));
    assert_int_equal(integer, INT64_MAX);
    assert_true(leati_number_parse(all, LEAT_UINT64, &natural));
    assert_true(natural == UINT64_MAX);
    assert_true(leati_number_parse((leat_string){"nan", 3}, LEAT_FLOAT64, &number));
    assert_true(isnan(number));
    /* A float is rounded once: this lies between two floats, and nearer to a double in the middle.
     */
    assert_true(
        leati_number_parse((leat_string){"1.000000059604644775390626", 26}, LEAT_FLOAT32, &narrow));
    assert_true(narrow == 0x1.000002p0f);
    /* Only the bytes of the text count. */
    assert_true(leati_number_parse((leat_string){"1234", 2}, LEAT_INT64, &integer));
    assert_int_equal(integer, 12);
    assert_true(leati_number_parse((leat_string){"1.25", 3}, LEAT_FLOAT64, &number));
    assert_true(number == 1.2);
    /* Up to 255 bytes are a number. */
    char text[257];
    memset(text, '0', sizeof text);
    text[254] = '3';
    assert_true(leati_number_parse((leat_string){text, 255}, LEAT_FLOAT64, &number));
    assert_true(number == 3);
    assert_false(leati_number_parse((leat_string){text, 256}, LEAT_FLOAT64, &number));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
