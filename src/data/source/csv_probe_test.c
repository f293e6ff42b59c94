/* What csv_probe makes of fields and lines. The dtypes are what numpy's int32, int64, float32 and
 * float64 accept of these texts, which is TensorFlow's rule. */
#include "support/cmocka.h"

#include "data/source/csv_probe.h"
#include <string.h>

static leat_string text_of(const char *text) {
    return (leat_string){.data = text, .size = strlen(text)};
}

static void test_dtypes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        leat_dtype dtype;
    } texts[] = {
        {" 12 ", LEAT_INT32},
        {"+5", LEAT_INT32},
        {"1_0", LEAT_INT32},
        {"1__0", LEAT_STRING},
        {"_1", LEAT_STRING},
        {"007", LEAT_INT32},
        {"2147483648", LEAT_INT64},
        {"-2147483649", LEAT_INT64},
        {"9223372036854775808", LEAT_FLOAT32},
        {"1.0", LEAT_FLOAT32},
        {"1e40", LEAT_FLOAT64},
        {"-1e400", LEAT_FLOAT32},
        {"1e400", LEAT_STRING},
        {"nan", LEAT_STRING},
        {"inf", LEAT_STRING},
        {"-inf", LEAT_FLOAT32},
        {"0x10", LEAT_STRING},
        {"1_0.5", LEAT_FLOAT32},
        {"5.", LEAT_FLOAT32},
        {".", LEAT_STRING},
        {"- 3", LEAT_STRING},
        {"\t3", LEAT_INT32},
        {"1e+", LEAT_STRING},
        {" ", LEAT_STRING},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        leat_dtype found = leati_csv_infer(text_of(texts[i].text), text_of(""), LEAT_INVALID);
        if (found != texts[i].dtype)
            fail_msg("\"%s\" is %s", texts[i].text, leat_dtype_name(found));
    }
    assert_int_equal(leati_csv_infer(text_of(""), text_of("NA"), LEAT_INT64), LEAT_INT64);
    assert_int_equal(leati_csv_infer(text_of("NA"), text_of("NA"), LEAT_INVALID), LEAT_INVALID);
    assert_int_equal(leati_csv_infer(text_of("1"), text_of(""), LEAT_FLOAT32), LEAT_FLOAT32);
    assert_int_equal(leati_csv_infer(text_of("1"), text_of(""), LEAT_STRING), LEAT_STRING);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dtypes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
