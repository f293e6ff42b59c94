/* Coordinated consumers, and trainers that share a window: direct readers of tasks without a
 * dispatcher. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/clock.h"
#include "support/worker_tasks.h"

/* ---- coordinated ---- */

/* A consumer whose program takes what it may at once. */
typedef struct consumer {
    leati_worker_reader *reader;
    int64_t came, whole; /* turns */
    bool idle;           /* its program takes nothing */
} consumer;

static consumer consumer_with(leati_worker_task *task, int64_t index, int64_t round,
                              int64_t window) {
    struct leati_message_read asked = {
        .consumer = index, .round = round, .taken = round, .window = window};
    return (consumer){.reader = reader_of(task, asked), .came = round};
}

static consumer consumer_of(leati_worker_task *task, int64_t index, int64_t round) {
    return consumer_with(task, index, round, 2);
}

static void say(consumer *c) {
    int64_t took = c->whole < c->came ? c->whole : c->came;
    leati_worker_reader_ack(c->reader, c->idle ? 0 : took, c->came);
}

/* The next outcome says how many turns are whole. */
static void expect_whole(consumer *c, int64_t turns) {
    expect_kind(c->reader, LEATI_FRAME_WHOLE, turns);
    c->whole = turns;
    say(c);
}

/* The next outcome that is a turn; the consumer says that it came. */
static leati_worker_outcome next_turn(consumer *c) {
    leati_worker_outcome out = next(c->reader, 1);
    for (; out.kind == LEATI_FRAME_WHOLE; out = next(c->reader, 1)) {
        assert_true(out.position > c->whole);
        c->whole = out.position;
        say(c);
    }
    c->came++;
    say(c);
    return out;
}

static void expect_turn(consumer *c, int64_t wanted, int64_t position) {
    leati_worker_outcome out = next_turn(c);
    assert_int_equal(value(&out, 0), wanted);
    assert_int_equal(out.block.n, 1);
    assert_int_equal(out.position, position);
    leati_worker_outcome_fini(&out);
}

static void expect_skip(consumer *c, int64_t position) {
    leati_worker_outcome out = next_turn(c);
    assert_int_equal(out.kind, LEATI_FRAME_SKIP);
    assert_int_equal(out.position, position);
    leati_worker_outcome_fini(&out);
}

static void test_rounds(void **state) {
    (void)state;
    consumer consumers[3];
    leati_worker_task *task = task_for(ENDLESS, (ask){.consumers = 3});
    for (int64_t i = 0; i < 3; i++)
        consumers[i] = consumer_of(task, i, 0);
    for (int64_t round = 0; round < 50; round++)
        for (int64_t i = 0; i < 3; i++)
            expect_turn(&consumers[(i + round) % 3], 3 * round + (i + round) % 3,
                        3 * round + (i + round) % 3);
    leat_error err = {0};
    leati_worker_reader_close(consumers[1].reader);
    struct leati_message_read again = {.consumer = 1, .round = 0};
    assert_null(leati_worker_reader_new(task, &again, NULL, &err));
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "50");
    again.round = 51;
    assert_null(leati_worker_reader_new(task, &again, NULL, &err));
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "51");
    consumers[1] = consumer_of(task, 1, 50);
    expect_turn(&consumers[1], 151, 151);
    again.consumer = 3;
    assert_null(leati_worker_reader_new(task, &again, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "consumer_index");
    for (int64_t i = 0; i < 3; i++)
        leati_worker_reader_close(consumers[i].reader);
    end(task);
}

/* What came to one consumer counts once it came to the others; what is whole is told first. */
static void test_whole_turns(void **state) {
    (void)state;
    leati_worker_task *task = task_for(ENDLESS, (ask){.consumers = 2});
    consumer a = consumer_of(task, 0, 0), b = consumer_of(task, 1, 0);
    expect_turn(&a, 0, 0);
    expect_turn(&a, 2, 2);
    assert_int_equal(a.whole, 0);
    expect_turn(&b, 1, 1);
    expect_whole(&a, 1);
    expect_whole(&b, 1);
    expect_turn(&b, 3, 3);
    expect_whole(&a, 2);
    /* One that was given a turn which did not come to it, as its stream broke, gets it again. */
    expect_turn(&a, 4, 4);
    expect_whole(&b, 2);
    expect_one(b.reader, 5, 5);
    leati_worker_reader_close(b.reader);
    b = consumer_of(task, 1, 2);
    expect_whole(&b, 2);
    expect_turn(&b, 5, 5);
    expect_whole(&a, 3);
    leati_worker_reader_close(a.reader);
    leati_worker_reader_close(b.reader);
    end(task);
}

/* Has the task make so many elements. */
static void make(leati_worker_task *task, int64_t elements) {
    leat_error err = {0};
    leati_queue_gate_lock(task->gate);
    task->ahead = 2 * elements;
    leati_queue_gate_wake(task->gate);
    while (task->made < elements)
        assert_int_equal(
            leati_queue_gate_wait(task->gate, LEATI_WAIT_INPUT, LEATI_NO_DEADLINE, NULL, &err),
            LEAT_OK);
    leati_queue_gate_unlock(task->gate);
}

/* With a window of many turns elements come first, and several whole turns are told together, but
 * to a program that has none left. */
static void test_whole_turns_of_a_window(void **state) {
    (void)state;
    leati_worker_task *task = task_for(ENDLESS, (ask){.consumers = 2});
    consumer a = consumer_with(task, 0, 0, 8), b = consumer_with(task, 1, 0, 8);
    a.idle = true;
    make(task, 32);
    for (int64_t turn = 0; turn < 5; turn++)
        expect_turn(&a, 2 * turn, 2 * turn);
    expect_turn(&b, 1, 1);
    expect_whole(&a, 1);
    expect_turn(&b, 3, 3);
    assert_int_equal(b.whole, 1);
    expect_turn(&a, 10, 10);
    expect_turn(&b, 5, 5);
    expect_whole(&a, 3);
    for (int64_t turn = 6; turn < 8; turn++)
        expect_turn(&a, 2 * turn, 2 * turn);
    /* The window is full: what is whole is told turn by turn. */
    expect_turn(&b, 7, 7);
    expect_whole(&a, 4);
    leati_worker_reader_close(a.reader);
    leati_worker_reader_close(b.reader);
    end(task);
}

/* Of large elements no more than two are given ahead of a program. */
static void test_a_window_of_large_elements(void **state) {
    (void)state;
    leati_worker_outcome out = {0};
    leati_worker_chunks dropped = {0};
    leati_worker_task *task = task_for(ENDLESS, (ask){.consumers = 1});
    consumer a = consumer_with(task, 0, 0, 8);
    a.idle = true;
    expect_turn(&a, 0, 0);
    expect_whole(&a, 1);
    leati_queue_gate_lock(task->gate);
    task->given_bytes = INT64_C(64) << 20;
    leati_queue_gate_unlock(task->gate);
    expect_turn(&a, 1, 1);
    expect_whole(&a, 2);
    leati_queue_gate_lock(task->gate);
    assert_int_equal(
        task->runner->take(task, a.reader, 1, 1 << 20, &out, &dropped, &(leat_error){0}),
        LEATI_WORKER_HELD_BACK);
    leati_queue_gate_unlock(task->gate);
    leati_worker_reader_close(a.reader);
    end(task);
}

/* Consumers that come first with other rounds: the first round is for some of them. */
static void test_partial_round(void **state) {
    (void)state;
    leati_worker_task *task = task_for(ENDLESS, (ask){.consumers = 2});
    consumer a = consumer_of(task, 0, 8), b = consumer_of(task, 1, 7);
    expect_turn(&b, 1, 1);
    expect_turn(&b, 3, 3);
    expect_turn(&a, 2, 2);
    expect_turn(&a, 4, 4);
    expect_turn(&b, 5, 5);
    leati_worker_reader_close(a.reader);
    leati_worker_reader_close(b.reader);
    end(task);
}

/* Holds the input back until it is let go. */
typedef struct held_plan {
    const char *plan;
    leati_gate *gate;
    bool let_go; /* the gate's lock */
} held_plan;

static leat_dataset *open_held(void *context, const struct leati_message_task *task,
                               leat_cancel *cancel, leat_error *err) {
    held_plan *held = context;
    leat_status status = LEAT_OK;
    (void)task;
    (void)cancel;
    leati_queue_gate_lock(held->gate);
    while (!held->let_go && status == LEAT_OK)
        status = leati_queue_gate_wait(held->gate, LEATI_WAIT_INPUT, LEATI_NO_DEADLINE, NULL, err);
    leati_queue_gate_unlock(held->gate);
    return leat_dataset_from_json(held->plan, err);
}

static leati_worker_task *held_task(held_plan *held) {
    leat_error err = {0};
    leati_worker_bell *bell = leati_worker_bell_new(&err);
    leati_worker_budget *budget = leati_worker_budget_new(1 << 20, &err);
    leati_worker_ways ways = {.context = held,
                              .dataset = open_held,
                              .bell = bell,
                              .budget = budget,
                              .num_threads = 1,
                              .address = "here:1"};
    struct leati_message_task said = {.task = 7, .attempt = 1, .consumers = 2};
    leati_worker_task *task = leati_worker_task_new(&said, &ways, &err);
    leati_worker_bell_unref(bell);
    leati_worker_budget_unref(budget);
    if (task == NULL)
        fail_msg("%s", err.text);
    return task;
}

static void let_go(held_plan *held) {
    leati_queue_gate_lock(held->gate);
    held->let_go = true;
    leati_queue_gate_wake(held->gate);
    leati_queue_gate_unlock(held->gate);
}

/* A round that is not ready is skipped, by all consumers alike, and comes later. */
static void test_skip(void **state) {
    (void)state;
    leat_error err = {0};
    held_plan held = {.plan = ENDLESS, .gate = leati_queue_gate_new("held", NULL, &err)};
    leati_worker_task *task = held_task(&held);
    consumer a = consumer_of(task, 0, 0), b = consumer_of(task, 1, 0);
    expect_skip(&a, 0);
    expect_skip(&b, 0);
    expect_skip(&b, 0);
    let_go(&held);
    /* What was decided for one holds for the other, ready or not. */
    expect_skip(&a, 0);
    for (leati_frame_kind kind = LEATI_FRAME_SKIP; kind == LEATI_FRAME_SKIP;) {
        leati_worker_outcome first = next_turn(&a), second = next_turn(&b);
        kind = first.kind;
        assert_int_equal(second.kind, kind);
        if (kind != LEATI_FRAME_SKIP) {
            assert_int_equal(value(&first, 0), 0);
            assert_int_equal(value(&second, 0), 1);
        }
        leati_worker_outcome_fini(&first);
        leati_worker_outcome_fini(&second);
    }
    /* Skips are turns: a consumer that comes back has had them. */
    leati_worker_reader_close(a.reader);
    struct leati_message_read again = {.consumer = 0, .round = 1};
    assert_null(leati_worker_reader_new(task, &again, NULL, &err));
    assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    leati_worker_reader_close(b.reader);
    end(task);
    leati_queue_gate_free(held.gate);
}

/* A program that takes nothing does not keep the others from skips, nor from what comes then. */
static void test_skips_that_are_not_taken(void **state) {
    (void)state;
    leat_error err = {0};
    held_plan held = {.plan = ENDLESS, .gate = leati_queue_gate_new("held", NULL, &err)};
    leati_worker_task *task = held_task(&held);
    consumer a = consumer_of(task, 0, 0), b = consumer_of(task, 1, 0);
    b.idle = true;
    for (int i = 0; i < 3; i++) {
        expect_skip(&a, 0);
        expect_skip(&b, 0);
    }
    let_go(&held);
    for (leati_frame_kind kind = LEATI_FRAME_SKIP; kind == LEATI_FRAME_SKIP;) {
        leati_worker_outcome first = next_turn(&a), second = next_turn(&b);
        kind = first.kind;
        assert_int_equal(second.kind, kind);
        leati_worker_outcome_fini(&first);
        leati_worker_outcome_fini(&second);
    }
    leati_worker_reader_close(a.reader);
    leati_worker_reader_close(b.reader);
    end(task);
    leati_queue_gate_free(held.gate);
}

static void test_rounds_need_no_end(void **state) {
    (void)state;
    leati_worker_task *task = task_for(TEN, (ask){.consumers = 1});
    leati_worker_reader *reader = reader_of(task, (struct leati_message_read){.consumer = 0});
    expect_failure(reader, LEAT_FAILED_PRECONDITION, "10");
    struct leati_message_task_report report = report_of(task);
    assert_int_equal(report.failed, LEAT_FAILED_PRECONDITION);
    leati_free(report.text);
    leati_worker_reader_close(reader);
    end(task);
}

/* ---- a window for trainers ---- */

static leati_worker_reader *trainer_of(leati_worker_task *task, const char *id) {
    return reader_of(task,
                     (struct leati_message_read){.consumer = -1, .trainer = (char *)(uintptr_t)id});
}

static void forget(void *context) {
    (void)context;
}

/* Waits until all tasks hold no more than that, or this one nothing that it could drop. */
static void wait_until_used(leati_worker_task *task, int64_t most) {
    leati_queue_gate_lock(task->gate);
    while (leati_worker_budget_used(task->ways.budget) > most && task->memory.held.spare > 0)
        assert_int_equal(leati_queue_gate_wait(task->gate, LEATI_WAIT_CONSUMER,
                                               leati_clock_deadline_ns(1), NULL, &(leat_error){0}),
                         LEAT_DEADLINE_EXCEEDED);
    leati_queue_gate_unlock(task->gate);
}

static void test_window(void **state) {
    (void)state;
    /* Five elements of 8 bytes. */
    leati_worker_task *task = task_for(ENDLESS, (ask){.cached = true, .window_bytes = 40});
    leati_worker_reader *fast = trainer_of(task, "fast"), *slow = trainer_of(task, "slow");
    for (int64_t i = 0; i < 20; i++)
        expect_one(fast, i, i);
    /* SlowTrainersSkipData: the slow one goes on with what is there. */
    leati_worker_outcome out = next(slow, 1);
    assert_in_range(out.position, 15, 19);
    assert_int_equal(value(&out, 0), out.position);
    int64_t at = out.position + 1;
    leati_worker_outcome_fini(&out);
    /* NewTrainersStartLate: at the window's beginning. */
    leati_worker_reader *late = trainer_of(task, "late");
    out = next(late, 1);
    assert_in_range(out.position, 15, 19);
    leati_worker_outcome_fini(&out);
    /* AlternateTrainerExtendsCache: whoever is furthest. */
    for (; at < 40; at++)
        expect_one(slow, at, at);
    /* A trainer that comes again goes on where it was, or where the window begins. */
    leati_worker_reader_close(slow);
    slow = trainer_of(task, "slow");
    expect_one(slow, 40, 40);
    out = next(fast, 1);
    assert_in_range(out.position, 35, 40);
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(fast);
    leati_worker_reader_close(slow);
    leati_worker_reader_close(late);
    end(task);
}

/* The worker's memory bounds the window, too. */
static void test_window_in_memory(void **state) {
    (void)state;
    leati_worker_task *task =
        task_for(ENDLESS, (ask){.cached = true, .window_bytes = 1 << 20, .memory_bytes = 800});
    leati_worker_reader *fast = trainer_of(task, "fast"), *slow = trainer_of(task, "slow");
    for (int64_t i = 0; i < 500; i++)
        expect_one(fast, i, i);
    leati_worker_outcome out = next(slow, 1);
    assert_in_range(out.position, 400, 500);
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(fast);
    leati_worker_reader_close(slow);
    end(task);
}

/* A cache that fills the memory gives way to another task, though nobody reads from it. */
static void test_window_gives_way(void **state) {
    (void)state;
    leati_worker_task *task =
        task_for(ENDLESS, (ask){.cached = true, .window_bytes = 1 << 20, .memory_bytes = 400});
    leati_worker_reader *reader = trainer_of(task, "a");
    for (int64_t i = 0; i < 200; i++)
        expect_one(reader, i, i);
    leati_worker_holder other;
    leati_worker_holder_open(&other, task->ways.budget, forget, NULL);
    if (leati_worker_holder_begin(&other))
        leati_worker_budget_wake(task->ways.budget);
    wait_until_used(task, 200);
    /* More than its part, as an element may be. */
    if (leati_worker_holder_set(&other, &(leati_worker_held){.all = 350, .ready = 350}))
        leati_worker_budget_wake(task->ways.budget);
    wait_until_used(task, 400);
    expect_one(reader, 200, 200);
    leati_worker_holder_close(&other);
    leati_worker_reader_close(reader);
    end(task);
}

static void test_window_failures(void **state) {
    (void)state;
    leat_error err = {0};
    leati_worker_task *task = task_for(ENDLESS, (ask){.cached = true, .window_bytes = 7});
    leati_worker_reader *reader = trainer_of(task, "a");
    expect_failure(reader, LEAT_INVALID_ARGUMENT, "cross_trainer_cache_size_bytes");
    struct leati_message_read nobody = {.consumer = -1};
    assert_null(leati_worker_reader_new(task, &nobody, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "trainer_id");
    leati_worker_reader_close(reader);
    end(task);
    task = task_for(TEN, (ask){.cached = true, .window_bytes = 1 << 20});
    reader = trainer_of(task, "a");
    leati_worker_outcome out = {0};
    leat_status status;
    do
        status = leati_worker_reader_next(reader, 100, 1 << 20, &out, &err);
    while (status == LEAT_OK);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "10");
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(reader);
    end(task);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_rounds),
        TEST(test_whole_turns),
        TEST(test_whole_turns_of_a_window),
        TEST(test_a_window_of_large_elements),
        TEST(test_partial_round),
        TEST(test_skip),
        TEST(test_skips_that_are_not_taken),
        TEST(test_rounds_need_no_end),
        TEST(test_window),
        TEST(test_window_in_memory),
        TEST(test_window_gives_way),
        TEST(test_window_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
