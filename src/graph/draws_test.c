/* Streams that go on: tables that grow and are forgotten, calls of a function, loops and branches
 * in it. Expected numbers are those of TensorFlow 2.21 for tf.random.uniform under set_seed(3), in
 * tf.function. */
#include "support/cmocka.h"

#include "graph/draws.h"

static uint64_t begin(const leati_call_context *context, int64_t number, uint64_t seeds,
                      uint64_t blocks) {
    uint64_t out = 0;
    leat_error err = {0};
    assert_int_equal(leati_draws_begin(context, number, seeds, blocks, &out, &err), LEAT_OK);
    return out;
}

static void test_table(void **state) {
    (void)state;
    leat_error err = {0};
    leati_call_context context = {.draws = leati_draws_new(&err)};
    assert_non_null(context.draws);
    for (int64_t round = 0; round < 3; round++)
        for (int64_t number = 0; number < 1000; number++)
            assert_int_equal(begin(&context, number, 0, (uint64_t)number),
                             (uint64_t)(round * number));
    leat_seed_set(1);
    assert_int_equal(begin(&context, 7, 0, 7), 0);
    leat_seed_clear();
    leati_draws_free(context.draws);
    leati_draws_free(NULL);
}

static void test_replays(void **state) {
    (void)state;
    leat_error err = {0};
    leati_call_context context = {.draws = leati_draws_new(&err), .kept = leati_draws_new(&err)};
    leati_call_context inside = leati_draws_inside(&context, 4, -1, 0);
    leati_call_context again = leati_draws_inside(&context, 9, 4, 0);
    leati_call_context other = leati_draws_inside(&context, 4, -1, 1);
    assert_false(inside.replays);
    assert_true(again.replays);
    for (uint64_t i = 0; i < 3; i++) {
        inside.scope = again.scope = other.scope = i;
        assert_int_equal(begin(&inside, 2, 0, 10), 10 * i);
        assert_int_equal(begin(&again, 2, 0, 10), 10 * i);
        assert_int_equal(begin(&other, 2, 0, 3), 3 * i);
    }
    again.scope = 1;
    assert_int_equal(begin(&again, 2, 0, 10), 10);
    leati_draws_free(context.kept);
    leati_draws_free(context.draws);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_replays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
