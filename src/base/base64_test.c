/* Bytes as text: the vectors of RFC 4648, all lengths there and back, and what is no letter. */
#include "support/cmocka.h"

#include "base/base64.h"
#include <stdbool.h>
#include <string.h>

static void test_vectors(void **state) {
    (void)state;
    static const char *const vectors[][2] = {
        {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
        {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xef\xff", "--__"}};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        char text[16] = "", back[16] = "";
        const size_t size = strlen(vectors[i][0]);
        leati_base64_encode(vectors[i][0], size, text);
        assert_string_equal(text, vectors[i][1]);
        assert_int_equal(leati_base64_letters(size), strlen(text));
        assert_int_equal(leati_base64_bytes(strlen(text)), size);
        assert_int_equal(leati_base64_decode(text, strlen(text), back), strlen(text));
        assert_string_equal(back, vectors[i][0]);
    }
}

static void test_there_and_back(void **state) {
    (void)state;
    uint8_t bytes[200], back[201];
    char text[300];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(i * 151 + size * 7);
        leati_base64_encode(bytes, size, text);
        back[size] = 0xa5;
        const size_t letters = leati_base64_letters(size);
        assert_int_equal(leati_base64_decode(text, letters, back), letters);
        assert_memory_equal(back, bytes, size);
        assert_int_equal(back[size], 0xa5);
    }
}

static void test_no_letters(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[] = "ABCD";
        text[2] = (char)c;
        const bool letter = c != 0 && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                             "0123456789-_",
                                             c) != NULL;
        assert_int_equal(leati_base64_decode(text, 4, NULL), letter ? 4 : 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_no_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
