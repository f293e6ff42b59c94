/* The memory plan: small cases by hand, and random lifetimes against the rule that what lives
 * together does not overlap. */
#include "support/cmocka.h"

#include "exec/slab.h"
#include "support/refused.h"
#include "support/torture.h"

static void test_chain_needs_two(void **state) {
    (void)state;
    /* Each value dies where the next but one is made: two slots of 128 bytes suffice. */
    leati_interval chain[6];
    for (int32_t i = 0; i < 6; i++)
        chain[i] = (leati_interval){.begin = i, .end = i + 1, .size = 100};
    size_t total = 0;
    assert_int_equal(leati_slab_plan(chain, 6, &total, &(leat_error){0}), LEAT_OK);
    assert_int_equal(total, 256);
}

static void test_large_first(void **state) {
    (void)state;
    leati_interval two[2] = {{.begin = 0, .end = 0, .size = 64},
                             {.begin = 1, .end = 1, .size = 640}};
    size_t total = 0;
    assert_int_equal(leati_slab_plan(two, 2, &total, &(leat_error){0}), LEAT_OK);
    assert_int_equal(total, 640);
    assert_int_equal(two[0].offset, 0);
    assert_int_equal(two[1].offset, 0);
}

static void test_nothing_and_too_much(void **state) {
    (void)state;
    size_t total = 1;
    leat_error err = {0};
    assert_int_equal(leati_slab_plan(NULL, 0, &total, &err), LEAT_OK);
    assert_int_equal(total, 0);
    leati_interval two[2] = {{.size = SIZE_MAX / 2}, {.size = SIZE_MAX / 2 + 100}};
    assert_int_equal(leati_slab_plan(two, 2, &total, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "temporaries");
}

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void test_random_lifetimes(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        uint32_t dice = seed;
        leati_interval many[40];
        size_t count = next(&dice) % 40, total = 0;
        for (size_t i = 0; i < count; i++) {
            int32_t begin = (int32_t)(next(&dice) % 30);
            many[i] = (leati_interval){.begin = begin,
                                       .end = begin + (int32_t)(next(&dice) % 10),
                                       .size = next(&dice) % 1000};
        }
        size_t least = 0, most = 0;
        assert_int_equal(leati_slab_plan(many, count, &total, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_slab_least(many, count, &least, &(leat_error){0}), LEAT_OK);
        for (int32_t step = 0; step < 1000; step++) {
            size_t alive = 0;
            for (size_t i = 0; i < count; i++)
                alive += many[i].begin <= step && step <= many[i].end ? many[i].size : 0;
            most = alive > most ? alive : most;
        }
        assert_int_equal(least, most);
        assert_true(least <= total);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(many[i].offset % 64, 0);
            assert_true(many[i].offset + many[i].size <= total);
            for (size_t k = 0; k < i; k++) {
                bool together = many[i].begin <= many[k].end && many[k].begin <= many[i].end;
                bool overlap = many[i].offset < many[k].offset + many[k].size &&
                               many[k].offset < many[i].offset + many[i].size;
                assert_false(together && overlap);
            }
        }
    }
}

static leat_status plan_once(void *context, leat_error *err) {
    (void)context;
    leati_interval one[1] = {{.size = 64}};
    size_t total;
    leat_status status = leati_slab_plan(one, 1, &total, err);
    return status != LEAT_OK ? status : leati_slab_least(one, 1, &total, err);
}

static void test_no_memory(void **state) {
    (void)state;
    torture_begin();
    torture_run(plan_once, NULL);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_needs_two), cmocka_unit_test(test_large_first),
        cmocka_unit_test(test_nothing_and_too_much), cmocka_unit_test(test_random_lifetimes),
        cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
