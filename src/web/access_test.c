/* Tokens, cookies, Host, Origin and forms. The cookie of a token is HMAC-SHA256, computed here by
 * Python's hmac. */
#include "support/cmocka.h"

#include "web/access.h"
#include <string.h>

#define COOKIE "f00a3e5423589395fc7caf12fab30c233c0fe8ab18f0fbebad5cc816ea78dae5"

static leati_web_access make(const char *token, const char *host, bool loopback) {
    leati_web_access access;
    leat_error err = {0};
    assert_int_equal(
        leati_web_access_init(&access, token, host, " dash.example, other ", loopback, &err),
        LEAT_OK);
    return access;
}

static void test_tokens(void **state) {
    (void)state;
    leati_web_access a = make("s3cret", NULL, true), open = make(NULL, NULL, true);
    assert_true(leati_web_access_token(&a, "s3cret"));
    assert_false(leati_web_access_token(&a, "s3cre"));
    assert_false(leati_web_access_token(&a, "s3cret "));
    assert_false(leati_web_access_token(&a, NULL));
    assert_true(leati_web_access_bearer(&a, "Bearer s3cret"));
    assert_true(leati_web_access_bearer(&a, "bearer  s3cret"));
    assert_false(leati_web_access_bearer(&a, "Basic s3cret"));
    assert_false(leati_web_access_bearer(&a, "s3cret"));
    assert_false(leati_web_access_bearer(&a, NULL));
    assert_false(leati_web_access_cookie(&a, "s3cret"));
    assert_false(leati_web_access_cookie(&a, ""));
    assert_string_equal(a.cookie, COOKIE);
    assert_true(leati_web_access_cookie(&a, COOKIE));
    assert_true(leati_web_access_token(&open, NULL));
    assert_true(leati_web_access_bearer(&open, NULL));
    assert_true(leati_web_access_cookie(&open, NULL));
    leati_web_access_fini(&a);
    leati_web_access_fini(&open);
}

static void test_bad_tokens(void **state) {
    (void)state;
    char longest[1026];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *const bad[] = {"", "a b", "a\n", "\xc3\xa4", longest};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        leati_web_access access;
        leat_error err = {0};
        assert_int_equal(leati_web_access_init(&access, bad[i], NULL, NULL, true, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_int_equal(err.reason, LEAT_REASON_VALUE);
    }
}

static void test_hosts(void **state) {
    (void)state;
    leati_web_access a = make(NULL, "box.lan", false);
    static const char *const good[] = {"localhost",   "LOCALHOST:8080", "127.0.0.1",    "[::1]:9",
                                       "10.1.2.3:80", "box.lan:1",      "dash.example", "other"};
    static const char *const bad[] = {
        "evil.example",   "localhost.evil.example", "",    "localhost:80x", "[::1", "[::1]x",
        "127.0.0.1.evil", "other\nlocalhost",       "dash"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!leati_web_access_host(&a, good[i]))
            fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (leati_web_access_host(&a, bad[i]))
            fail_msg("%s is taken", bad[i]);
    assert_false(leati_web_access_host(&a, NULL));
    leati_web_access_fini(&a);
    /* With a token and beyond loopback, a name tells nothing. */
    a = make("t", "0.0.0.0", false);
    assert_true(leati_web_access_host(&a, "evil.example"));
    leati_web_access_fini(&a);
}

static void test_origins(void **state) {
    (void)state;
    assert_true(leati_web_access_origin("http://localhost:80", "localhost:80"));
    assert_true(leati_web_access_origin("https://DASH", "dash"));
    assert_false(leati_web_access_origin("http://localhost:81", "localhost:80"));
    assert_false(leati_web_access_origin("null", "localhost"));
    assert_false(leati_web_access_origin("ftp://localhost", "localhost"));
    assert_false(leati_web_access_origin(NULL, "localhost"));
    assert_false(leati_web_access_origin("http://localhost", NULL));
}

static void test_forms(void **state) {
    (void)state;
    char out[8];
    assert_true(leati_web_access_field("a=1&token=x%2by+z&c=", "token", out, sizeof out));
    assert_string_equal(out, "x+y z");
    assert_true(leati_web_access_field("token=", "token", out, sizeof out));
    assert_string_equal(out, "");
    assert_true(leati_web_access_field("token=1234567", "token", out, sizeof out));
    assert_false(leati_web_access_field("token=12345678", "token", out, sizeof out));
    assert_false(leati_web_access_field("token=%00", "token", out, sizeof out));
    assert_false(leati_web_access_field("token=%4", "token", out, sizeof out));
    assert_false(leati_web_access_field("token=%", "token", out, sizeof out));
    assert_false(leati_web_access_field("tokens=1", "token", out, sizeof out));
    assert_false(leati_web_access_field("", "token", out, sizeof out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens), cmocka_unit_test(test_bad_tokens),
        cmocka_unit_test(test_hosts),  cmocka_unit_test(test_origins),
        cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
