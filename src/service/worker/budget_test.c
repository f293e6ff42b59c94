/* A worker's memory, dealt out among its tasks. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "service/worker/budget.h"

static void count(void *context) {
    (*(int *)context)++;
}

enum { MOST = 4 };

typedef struct tasks {
    leati_worker_budget *budget;
    leati_worker_holder holders[MOST];
    int woken[MOST];
} tasks;

static void open_tasks(tasks *all, int64_t limit, int n) {
    leat_error err = {0};
    *all = (struct tasks){.budget = leati_worker_budget_new(limit, &err)};
    assert_non_null(all->budget);
    assert_int_equal(leati_worker_budget_limit(all->budget), limit);
    for (int i = 0; i < n; i++) {
        leati_worker_holder_open(&all->holders[i], all->budget, count, &all->woken[i]);
        assert_false(leati_worker_holder_begin(&all->holders[i]));
    }
}

/* It holds so much, which is all ready. */
static bool set(leati_worker_holder *holder, int64_t bytes) {
    return leati_worker_holder_set(holder, &(leati_worker_held){.all = bytes, .ready = bytes});
}

static void close_tasks(tasks *all) {
    for (int i = 0; i < MOST; i++)
        leati_worker_holder_close(&all->holders[i]);
    assert_int_equal(leati_worker_budget_used(all->budget), 0);
    leati_worker_budget_unref(all->budget);
}

/* Sets what each holds and says who has room then: bit i, task i. */
static int room_of(tasks *all, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t bytes[MOST] = {a, b, c, d};
    int room = 0;
    for (int i = 0; i < MOST; i++)
        if (all->holders[i].budget != NULL)
            (void)!set(&all->holders[i], bytes[i]);
    for (int i = 0; i < MOST; i++)
        if (all->holders[i].budget != NULL)
            room |= leati_worker_holder_has_room(&all->holders[i]) << i;
    return room;
}

static void test_equal_parts(void **state) {
    (void)state;
    tasks all;
    open_tasks(&all, 100, 2);
    assert_int_equal(room_of(&all, 0, 0, 0, 0), 3);
    assert_int_equal(room_of(&all, 49, 50, 0, 0), 1);
    assert_int_equal(leati_worker_budget_used(all.budget), 99);
    /* One that holds more than its part takes nothing of the others' but what there is not. */
    assert_int_equal(room_of(&all, 90, 9, 0, 0), 2);
    assert_int_equal(room_of(&all, 90, 10, 0, 0), 0);
    close_tasks(&all);
    open_tasks(&all, 100, 4);
    assert_int_equal(room_of(&all, 24, 25, 0, 26), 5);
    close_tasks(&all);
}

static void test_most_of_a_task(void **state) {
    (void)state;
    tasks all;
    int64_t most = INT64_C(64) << 20;
    open_tasks(&all, 1000 * most, 1);
    assert_int_equal(room_of(&all, most - 1, 0, 0, 0), 1);
    assert_int_equal(room_of(&all, most, 0, 0, 0), 0);
    close_tasks(&all);
}

/* Who has nothing to do with the others wakes nobody. */
static void test_who_wakes_others(void **state) {
    (void)state;
    tasks all;
    open_tasks(&all, 100, 2);
    assert_false(set(&all.holders[0], 40));
    assert_false(set(&all.holders[0], 20));
    assert_false(set(&all.holders[1], 120));
    assert_false(set(&all.holders[1], 80));
    assert_true(set(&all.holders[0], 19));
    assert_false(set(&all.holders[0], 18));
    leati_worker_budget_wake(all.budget);
    assert_int_equal(all.woken[0], 1);
    assert_int_equal(all.woken[1], 1);
    close_tasks(&all);
}

/* What a task that ends had is the others'. */
static void test_the_end_of_a_task(void **state) {
    (void)state;
    tasks all;
    open_tasks(&all, 90, 3);
    assert_int_equal(room_of(&all, 30, 30, 30, 0), 0);
    assert_true(leati_worker_holder_end(&all.holders[1]));
    assert_false(leati_worker_holder_end(&all.holders[1]));
    assert_int_equal(leati_worker_budget_used(all.budget), 60);
    assert_int_equal(room_of(&all, 44, 0, 45, 0), 1 | 2);
    /* One that is freed is the end of it, too, and the others hear of it. */
    leati_worker_holder_close(&all.holders[2]);
    assert_int_equal(all.woken[0], 1);
    assert_int_equal(room_of(&all, 89, 0, 0, 0), 1 | 2);
    assert_int_equal(room_of(&all, 90, 0, 0, 0), 0);
    close_tasks(&all);
}

/* The 64 MiB are of what is ready; what readers have counts against the task's part alone. */
static void test_what_readers_have(void **state) {
    (void)state;
    tasks all;
    const int64_t most = INT64_C(64) << 20;
    open_tasks(&all, 10 * most, 1);
    (void)!leati_worker_holder_set(&all.holders[0],
                                   &(leati_worker_held){.all = 9 * most, .ready = most - 1});
    assert_true(leati_worker_holder_has_room(&all.holders[0]));
    (void)!leati_worker_holder_set(&all.holders[0], &(leati_worker_held){.all = 10 * most});
    assert_false(leati_worker_holder_has_room(&all.holders[0]));
    close_tasks(&all);
}

/* What can be dropped takes no room of who has it, and is dropped when another begins, or has more
 * than there is room for. */
static void test_what_can_be_dropped(void **state) {
    (void)state;
    tasks all;
    open_tasks(&all, 100, 1);
    (void)!leati_worker_holder_set(&all.holders[0],
                                   &(leati_worker_held){.all = 100, .ready = 10, .spare = 90});
    assert_true(leati_worker_holder_has_room(&all.holders[0]));
    assert_int_equal(leati_worker_holder_excess(&all.holders[0], 100), 0);
    assert_int_equal(leati_worker_holder_excess(&all.holders[0], 130), 30);
    leati_worker_holder_open(&all.holders[1], all.budget, count, &all.woken[1]);
    assert_true(leati_worker_holder_begin(&all.holders[1]));
    assert_false(leati_worker_holder_begin(&all.holders[1]));
    assert_int_equal(leati_worker_holder_excess(&all.holders[0], 100), 50);
    (void)!leati_worker_holder_set(&all.holders[0],
                                   &(leati_worker_held){.all = 50, .ready = 10, .spare = 40});
    assert_int_equal(leati_worker_holder_excess(&all.holders[0], 50), 0);
    /* An element of more than its part. */
    assert_true(set(&all.holders[1], 80));
    assert_false(set(&all.holders[1], 70));
    assert_int_equal(leati_worker_holder_excess(&all.holders[0], 50), 20);
    assert_true(leati_worker_holder_has_room(&all.holders[0]));
    assert_false(leati_worker_holder_has_room(&all.holders[1]));
    /* Without anything to drop nobody is woken for that. */
    (void)!set(&all.holders[0], 10);
    assert_false(set(&all.holders[1], 95));
    close_tasks(&all);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_equal_parts),       TEST(test_most_of_a_task),    TEST(test_who_wakes_others),
        TEST(test_the_end_of_a_task), TEST(test_what_readers_have), TEST(test_what_can_be_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
