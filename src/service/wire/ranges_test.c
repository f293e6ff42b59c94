/* Sets of positions, against a bitmap. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "service/wire/ranges.h"
#include "support/refused.h"

enum { MOST = 64 };

static void compare(const leati_ranges *ranges, const bool *bits) {
    assert_true(leati_ranges_are_valid(ranges));
    for (int64_t at = 0; at < MOST; at++) {
        int64_t until = 0, expected = at;
        while (expected < MOST && bits[expected] == bits[at])
            expected++;
        assert_int_equal(leati_ranges_look(ranges, at, &until), bits[at]);
        if (expected < MOST)
            assert_int_equal(until, expected);
        else
            assert_int_equal(until, bits[at] ? MOST : INT64_MAX);
    }
}

static void test_bitmap(void **state) {
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 200; round++) {
        leati_ranges ranges = {0}, copy;
        bool bits[MOST] = {false};
        for (int i = 0; i < 12; i++) {
            random = random * 1664525u + 1013904223u;
            int64_t begin = (random >> 8) % MOST, end = begin + (random >> 20) % 9;
            end = end > MOST ? MOST : end;
            assert_int_equal(leati_ranges_add(&ranges, begin, end, &(leat_error){0}), LEAT_OK);
            for (int64_t at = begin; at < end; at++)
                bits[at] = true;
            compare(&ranges, bits);
        }
        assert_int_equal(leati_ranges_copy(&ranges, &copy, &(leat_error){0}), LEAT_OK);
        compare(&copy, bits);
        leati_ranges_fini(&ranges);
        leati_ranges_fini(&copy);
    }
}

static leat_status grow(void *context, leat_error *err) {
    (void)context;
    leati_ranges ranges = {0};
    leat_status status = LEAT_OK;
    for (int64_t i = 0; i < 5 && status == LEAT_OK; i++)
        status = leati_ranges_add(&ranges, 10 * i, 10 * i + 3, err);
    leati_ranges_fini(&ranges);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    torture_run(grow, NULL);
}

static void test_valid(void **state) {
    (void)state;
    static int64_t good[] = {0, 3, 3, 4}, odd[] = {0, 3, 5}, empty[] = {2, 2},
                   back[] = {4, 6, 5, 8}, low[] = {-1, 2};
    assert_true(leati_ranges_are_valid(&(leati_ranges){0}));
    assert_true(leati_ranges_are_valid(&(leati_ranges){good, 4}));
    assert_false(leati_ranges_are_valid(&(leati_ranges){odd, 3}));
    assert_false(leati_ranges_are_valid(&(leati_ranges){empty, 2}));
    assert_false(leati_ranges_are_valid(&(leati_ranges){back, 4}));
    assert_false(leati_ranges_are_valid(&(leati_ranges){low, 2}));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {TEST(test_bitmap), TEST(test_memory), TEST(test_valid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
