/* Gates: wake, deadline, cancel, stall report, tokens; and cancellation trees. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/driver.h"
#include "run/pool.h"
#include "run/queue.h"
#include "support/refused.h"
#include "support/torture.h"

/* A thread that says under the lock that it waits; whoever then gets the lock finds it waiting. */
struct sleeper {
    leati_gate *gate;
    leati_driver *driver;
    leati_pool *pool; /* NULL: holds no token */
    leati_wait_reason reason;
    int64_t waited_ns;
    leat_status status;
    leat_error err;
    bool ready;    /* gate */
    bool finished; /* gate: what it waits for */
};

static void sleep_at_gate(void *context) {
    struct sleeper *sleeper = context;
    if (sleeper->pool != NULL)
        leati_pool_token_acquire(sleeper->pool);
    leati_queue_gate_lock(sleeper->gate);
    sleeper->ready = true;
    leati_queue_gate_wake(sleeper->gate);
    while (!sleeper->finished && sleeper->status == LEAT_OK)
        sleeper->status = leati_queue_gate_wait(sleeper->gate, sleeper->reason, LEATI_NO_DEADLINE,
                                                &sleeper->waited_ns, &sleeper->err);
    leati_queue_gate_unlock(sleeper->gate);
    if (sleeper->pool != NULL)
        leati_pool_token_release(sleeper->pool);
}

/* Returns when the thread waits. */
static void start_sleeper(struct sleeper *sleeper) {
    sleeper->driver = leati_driver_start("sleeper", sleep_at_gate, sleeper, &(leat_error){0});
    assert_non_null(sleeper->driver);
    leati_queue_gate_lock(sleeper->gate);
    while (!sleeper->ready)
        assert_int_equal(leati_queue_gate_wait(sleeper->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE,
                                               NULL, &(leat_error){0}),
                         LEAT_OK);
    leati_queue_gate_unlock(sleeper->gate);
}

static void wake_sleeper(struct sleeper *sleeper) {
    leati_queue_gate_lock(sleeper->gate);
    sleeper->finished = true;
    leati_queue_gate_wake(sleeper->gate);
    leati_queue_gate_unlock(sleeper->gate);
}

static void wake_ends_a_wait(void **state) {
    (void)state;
    struct sleeper sleeper = {
        .gate = leati_queue_gate_new("prefetch \"final\"", NULL, &(leat_error){0})};
    start_sleeper(&sleeper);
    wake_sleeper(&sleeper);
    leati_driver_join(sleeper.driver);
    assert_int_equal(sleeper.status, LEAT_OK);
    assert_true(sleeper.waited_ns >= 0);
    leati_queue_gate_free(sleeper.gate);
    leati_queue_gate_free(NULL);
}

static void deadlines_pass(void **state) {
    (void)state;
    leati_gate *gate = leati_queue_gate_new("batch", NULL, &(leat_error){0});
    leat_error err = {0};
    int64_t waited = 0;
    const int64_t past[] = {INT64_MIN, -1, 0, leati_now_ns()};
    leati_queue_gate_lock(gate);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(leati_queue_gate_wait(gate, LEATI_WAIT_IO, past[i], &waited, &err),
                         LEAT_DEADLINE_EXCEEDED);
        assert_int_equal(waited, 0);
    }
    assert_refused(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "io");
    int64_t soon = leati_now_ns() + 2000000;
    assert_int_equal(leati_queue_gate_wait(gate, LEATI_WAIT_MEMORY, soon, &waited, &err),
                     LEAT_DEADLINE_EXCEEDED);
    assert_true(leati_now_ns() >= soon);
    assert_true(waited > 0);
    leati_queue_gate_unlock(gate);
    leati_queue_gate_free(gate);
}

static void cancel_ends_a_wait(void **state) {
    (void)state;
    leat_cancel *root = leati_cancel_new(NULL, &(leat_error){0});
    leat_cancel *child = leati_cancel_new(root, &(leat_error){0});
    struct sleeper sleeper = {.gate = leati_queue_gate_new("map", child, &(leat_error){0}),
                              .reason = LEATI_WAIT_CALLBACK};
    start_sleeper(&sleeper);
    leati_cancel_fire(root);
    leati_driver_join(sleeper.driver);
    assert_int_equal(sleeper.status, LEAT_CANCELLED);
    assert_refused(&sleeper.err, LEAT_CANCELLED, LEAT_REASON_NONE, "callback");
    leati_queue_gate_lock(sleeper.gate);
    assert_int_equal(leati_queue_gate_wait(sleeper.gate, LEATI_WAIT_IO, LEATI_NO_DEADLINE, NULL,
                                           &(leat_error){0}),
                     LEAT_CANCELLED);
    assert_int_equal(leati_queue_gate_wait(sleeper.gate, LEATI_WAIT_IO, 0, NULL, &(leat_error){0}),
                     LEAT_CANCELLED);
    leati_queue_gate_unlock(sleeper.gate);
    leati_queue_gate_free(sleeper.gate);
    leati_cancel_unref(child);
    leati_cancel_unref(root);
}

static void cancel_goes_down_only(void **state) {
    (void)state;
    leat_cancel *root = leati_cancel_new(NULL, &(leat_error){0});
    leat_cancel *left = leati_cancel_new(root, &(leat_error){0});
    leat_cancel *right = leati_cancel_new(root, &(leat_error){0});
    leat_cancel *leaf = leati_cancel_new(left, &(leat_error){0});
    assert_ptr_equal(leati_cancel_ref(leaf), leaf);
    leati_cancel_unref(leaf);
    leati_cancel_fire(left);
    leati_cancel_fire(left);
    assert_true(leati_cancel_fired(left) && leati_cancel_fired(leaf));
    assert_false(leati_cancel_fired(root) || leati_cancel_fired(right));
    leati_cancel_unref(right);
    leati_cancel_fire(root);
    leat_cancel *late = leati_cancel_new(root, &(leat_error){0});
    assert_true(leati_cancel_fired(late));
    assert_false(leati_cancel_fired(NULL));
    leati_cancel_fire(NULL);
    leati_cancel_unref(NULL);
    assert_null(leati_cancel_ref(NULL));
    leati_cancel_unref(late);
    leati_cancel_unref(leaf);
    leati_cancel_unref(left);
    leati_cancel_unref(root);
}

/* Notes that it was called. */
struct noted {
    leati_cancel_watch watch;
    int calls;
};

static void note_call(leati_cancel_watch *watch) {
    ((struct noted *)(void *)watch)->calls++;
}

/* Of four watches two go, each place in turn; the others are still called, and called once. */
static void every_watch_is_called(void **state) {
    (void)state;
    enum { COUNT = 4 };
    for (int gone = 0; gone < COUNT; gone++) {
        leat_cancel *cancel = leati_cancel_new(NULL, &(leat_error){0});
        struct noted noted[COUNT] = {0};
        for (int i = 0; i < COUNT; i++) {
            noted[i].watch.fired = note_call;
            leati_cancel_watch_add(cancel, &noted[i].watch);
        }
        leati_cancel_watch_remove(cancel, &noted[gone].watch);
        leati_cancel_watch_remove(cancel, &noted[(gone + 1) % COUNT].watch);
        leati_cancel_fire(cancel);
        leati_cancel_fire(cancel);
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(noted[i].calls, i != gone && i != (gone + 1) % COUNT);
        leati_cancel_watch_add(cancel, &noted[gone].watch); /* late: called at once */
        assert_int_equal(noted[gone].calls, 1);
        leati_cancel_unref(cancel);
    }
}

/* Children and gates come and go while their parent fires. */
struct churn {
    leat_cancel *root;
    int seen;
};

static void churn_children(void *context) {
    struct churn *churn = context;
    while (!leati_cancel_fired(churn->root)) {
        leat_cancel *child = leati_cancel_new(churn->root, &(leat_error){0});
        leati_gate *gate = leati_queue_gate_new("churn", child, &(leat_error){0});
        leati_queue_gate_free(gate);
        leati_cancel_unref(child);
        churn->seen++;
    }
}

static void cancel_races_with_its_children(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        leat_cancel *root = leati_cancel_new(NULL, &(leat_error){0});
        struct churn churns[2] = {{root, 0}, {root, 0}};
        leati_driver *drivers[2];
        for (int i = 0; i < 2; i++)
            drivers[i] = leati_driver_start("churn", churn_children, &churns[i], &(leat_error){0});
        leati_cancel_fire(root);
        for (int i = 0; i < 2; i++)
            leati_driver_join(drivers[i]);
        leati_cancel_unref(root);
    }
}

static void stall_report_names_waits(void **state) {
    (void)state;
    char text[256];
    assert_int_equal(leati_queue_stall_report(text, sizeof text), 0);
    assert_string_equal(text, "");
    struct sleeper sleepers[2] = {
        {.gate = leati_queue_gate_new("shuffle", NULL, &(leat_error){0}),
         .reason = LEATI_WAIT_INPUT},
        {.gate = leati_queue_gate_new("interleave[3]", NULL, &(leat_error){0}),
         .reason = LEATI_WAIT_CONSUMER},
    };
    start_sleeper(&sleepers[0]);
    start_sleeper(&sleepers[1]);
    size_t length = leati_queue_stall_report(text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(text, "shuffle: waits for input, ", 26);
    assert_non_null(strstr(text, " s\ninterleave[3]: waits for consumer, "));
    char small[10];
    assert_true(leati_queue_stall_report(small, sizeof small) >= 60);
    assert_string_equal(small, "shuffle: ");
    assert_true(leati_queue_stall_report(NULL, 0) >= 60);
    for (int i = 0; i < 2; i++) {
        wake_sleeper(&sleepers[i]);
        leati_driver_join(sleepers[i].driver);
        leati_queue_gate_free(sleepers[i].gate);
    }
    assert_int_equal(leati_queue_stall_report(text, sizeof text), 0);
}

/* The pool has one token: while the sleeper waits it is free, and the sleeper cannot go on before
 * it is back. */
static void a_wait_frees_its_token(void **state) {
    (void)state;
    leati_pool *pool = leati_pool_new(1, &(leat_error){0});
    struct sleeper sleeper = {.gate = leati_queue_gate_new("driver", NULL, &(leat_error){0}),
                              .pool = pool};
    start_sleeper(&sleeper);
    leati_pool_token_acquire(pool);
    wake_sleeper(&sleeper);
    leati_queue_gate_lock(
        sleeper.gate); /* the lock is free although the sleeper wants its token back */
    leati_queue_gate_unlock(sleeper.gate);
    leati_pool_token_release(pool);
    leati_driver_join(sleeper.driver);
    leati_pool_token_acquire(pool);
    leati_pool_token_release(pool);
    leati_queue_gate_free(sleeper.gate);
    leati_pool_free(pool);
}

static void reasons_have_names(void **state) {
    (void)state;
    assert_string_equal(leati_queue_wait_reason_name(LEATI_WAIT_INPUT), "input");
    assert_string_equal(leati_queue_wait_reason_name(LEATI_WAIT_PEER), "peer");
    assert_string_equal(leati_queue_wait_reason_name(LEATI_NUM_WAIT_REASONS), "unknown");
}

static void do_nothing(void *context) {
    *(bool *)context = true;
}

static leat_status build_all(void *context, leat_error *err) {
    (void)context;
    leat_cancel *root = leati_cancel_new(NULL, err);
    leat_cancel *child = root == NULL ? NULL : leati_cancel_new(root, err);
    leati_gate *gate = child == NULL ? NULL : leati_queue_gate_new("gate", child, err);
    bool ran = false;
    leati_driver *driver = gate == NULL ? NULL : leati_driver_start("d", do_nothing, &ran, err);
    leati_driver_join(driver);
    assert_int_equal(ran, driver != NULL);
    leati_queue_gate_free(gate);
    leati_cancel_unref(child);
    leati_cancel_unref(root);
    return driver == NULL ? torture_code(err) : LEAT_OK;
}

static void gates_survive_failures(void **state) {
    (void)state;
    torture_run(build_all, NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(wake_ends_a_wait),         TEST(deadlines_pass),
        TEST(cancel_ends_a_wait),       TEST(cancel_goes_down_only),
        TEST(every_watch_is_called),    TEST(cancel_races_with_its_children),
        TEST(stall_report_names_waits), TEST(a_wait_frees_its_token),
        TEST(reasons_have_names),       TEST(gates_survive_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
