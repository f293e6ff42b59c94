/* Options of callers that know fewer or more members than the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/options.h"
#include "support/refused.h"

/* A struct in its first, its second (the library's) and its third version. */
typedef struct leat_fruit_options_1 {
    size_t size;
    int64_t apples;
    bool ripe;
} leat_fruit_options_1;
typedef struct leat_fruit_options {
    size_t size;
    int64_t apples;
    bool ripe;
    int64_t pears;
} leat_fruit_options;
typedef struct leat_fruit_options_3 {
    size_t size;
    int64_t apples;
    bool ripe;
    int64_t pears, plums;
} leat_fruit_options_3;

static const leat_fruit_options defaults = {.size = sizeof(leat_fruit_options), .pears = 7};

static leat_status read_fruit(leat_fruit_options *own, const void *given, leat_error *err) {
    *own = defaults;
    return leati_options_read(own, sizeof *own, offsetof(leat_fruit_options, pears), given,
                              "leat_fruit_options", err);
}

static void test_same_version(void **state) {
    (void)state;
    leat_fruit_options own, given = {.size = sizeof given, .apples = 3, .ripe = true};
    assert_int_equal(read_fruit(&own, NULL, &(leat_error){0}), LEAT_OK);
    assert_memory_equal(&own, &defaults, sizeof own);
    assert_int_equal(read_fruit(&own, &given, &(leat_error){0}), LEAT_OK);
    assert_int_equal(own.apples, 3);
    assert_true(own.ripe);
    assert_int_equal(own.pears, 0); /* a value like any other, not the default */
}

static void test_older_caller(void **state) {
    (void)state;
    leat_fruit_options_1 given = {.size = sizeof given, .apples = 3, .ripe = true};
    leat_fruit_options own;
    assert_int_equal(read_fruit(&own, &given, &(leat_error){0}), LEAT_OK);
    assert_int_equal(own.size, sizeof own);
    assert_int_equal(own.apples, 3);
    assert_true(own.ripe);
    assert_int_equal(own.pears, 7);
}

static void test_newer_caller(void **state) {
    (void)state;
    leat_fruit_options_3 given = {.size = sizeof given, .apples = 3, .pears = 4};
    leat_fruit_options own;
    leat_error err = {0};
    assert_int_equal(read_fruit(&own, &given, &err), LEAT_OK);
    assert_int_equal(own.size, sizeof own);
    assert_int_equal(own.apples, 3);
    assert_int_equal(own.pears, 4);
    given.plums = 1;
    assert_int_equal(read_fruit(&own, &given, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "40");
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "32");
    assert_memory_equal(&own, &defaults, sizeof own);
}

static void test_without_size(void **state) {
    (void)state;
    leat_fruit_options own, none = {.apples = 3}, small = {.size = 23};
    leat_error err = {0};
    assert_int_equal(read_fruit(&own, &none, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_fruit_options.size");
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "LEAT_FRUIT_DEFAULTS");
    assert_int_equal(read_fruit(&own, &small, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "23");
    assert_memory_equal(&own, &defaults, sizeof own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_version), cmocka_unit_test(test_older_caller),
        cmocka_unit_test(test_newer_caller), cmocka_unit_test(test_without_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
