/* The examples of FIPS 180-4 and the test cases of RFC 4231. */
#include "support/cmocka.h"

#include "base/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_hex(const uint8_t out[LEATI_SHA256_BYTES], const char *expected) {
    char hex[2 * LEATI_SHA256_BYTES + 1];
    for (int i = 0; i < LEATI_SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(hex, expected);
}

static void test_hash(void **state) {
    (void)state;
    static const struct {
        const char *text, *hash;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
         "lmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    leati_sha256 hash;
    uint8_t out[LEATI_SHA256_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = strlen(cases[i].text);
        /* In two parts, cut anywhere. */
        for (size_t cut = 0; cut <= size; cut++) {
            leati_sha256_begin(&hash);
            leati_sha256_add(&hash, cases[i].text, cut);
            leati_sha256_add(&hash, cases[i].text + cut, size - cut);
            leati_sha256_end(&hash, out);
            assert_hex(out, cases[i].hash);
        }
    }
    leati_sha256_begin(&hash);
    for (int i = 0; i < 1000000; i++)
        leati_sha256_add(&hash, "a", 1);
    leati_sha256_end(&hash, out);
    assert_hex(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_hmac(void **state) {
    (void)state;
    uint8_t out[LEATI_SHA256_BYTES], key[131], data[50];
    memset(key, 0x0b, 20);
    leati_sha256_hmac(key, 20, "Hi There", 8, out);
    assert_hex(out, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    leati_sha256_hmac("Jefe", 4, "what do ya want for nothing?", 28, out);
    assert_hex(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    leati_sha256_hmac(key, 20, data, sizeof data, out);
    assert_hex(out, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    static const char long_key[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    leati_sha256_hmac(key, sizeof key, long_key, sizeof long_key - 1, out);
    assert_hex(out, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void test_same(void **state) {
    (void)state;
    uint8_t a[LEATI_SHA256_BYTES] = {0}, b[LEATI_SHA256_BYTES] = {0};
    assert_true(leati_sha256_same(a, b));
    for (int i = 0; i < LEATI_SHA256_BYTES * 8; i++) {
        b[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_false(leati_sha256_same(a, b));
        b[i / 8] = 0;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_hmac),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
