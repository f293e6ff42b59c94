/* Tasks and direct readers, without a dispatcher: first come, first served, what is given
 * back, failures, and stopping. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/clock.h"
#include "support/worker_tasks.h"
#include <leat/leat.h>

static const char *const none = RANGE(0);
static const char *const missing =
    "{\"op\": \"text_line_dataset\", \"args\": {\"filenames\": [\"/no/such/file.txt\"]}}";
/* Elements of a thousand numbers, which come in blocks of a few. */
#define BATCHES                                                                                    \
    "{\"op\": \"batch\", \"args\": {\"batch_size\": 1000}, \"input\": " RANGE(100000000) "}"
enum { LARGE = 8000, MADE = 32 };
static int trace_refuse(void *context, leat_graph *graph, leat_value *out, int capacity) {
    static const int64_t bad = 5;
    (void)context;
    (void)capacity;
    leat_value x = leat_graph_argument(graph, 0);
    leat_tensor five = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &bad);
    out[0] = leat_op_assert(leat_op_not_equal(x, leat_graph_tensor(graph, &five)), x,
                            LEAT_INVALID_ARGUMENT, "the number is refused");
    return 1;
}

/* range(8) with an error in place of 5. Owned. */
static char *damaged(void) {
    leat_error err = {0};
    leat_dataset *ds = leat_dataset_range(0, 8, 1, NULL, &err);
    leat_function *refuse = LEAT_TRACE(trace_refuse, NULL, leat_dataset_spec(ds), &err);
    ds = leat_dataset_map(ds, refuse, NULL, &err);
    char *plan = leat_dataset_to_json(ds, &err);
    if (plan == NULL)
        fail_msg("%s", err.text);
    leat_dataset_unref(ds);
    return plan;
}

/* ---- first come, first served ---- */

static void test_shared(void **state) {
    (void)state;
    leati_worker_task *task = task_for(TEN, (ask){0});
    leati_worker_reader *a = reader_of(task, (struct leati_message_read){.consumer = -1});
    leati_worker_reader *b = reader_of(task, (struct leati_message_read){.consumer = -1});
    for (int64_t i = 0; i < 10; i++)
        expect_one(i % 3 == 0 ? b : a, i, i);
    expect_kind(a, LEATI_FRAME_END, 10);
    expect_kind(b, LEATI_FRAME_END, 10);
    struct leati_message_task_report report = report_of(task);
    assert_true(report.done);
    assert_int_equal(report.elements, 10);
    assert_int_equal(report.failed, 0);
    leati_worker_reader_close(a);
    leati_worker_reader_close(b);
    end(task);
}

/* As many as are asked for at most, and at least one whatever it weighs. */
static void test_amounts(void **state) {
    (void)state;
    leati_worker_task *task = task_for(RANGE(10000), (ask){0});
    leati_worker_reader *reader = reader_of(task, (struct leati_message_read){.consumer = -1});
    leati_worker_outcome out = {0};
    leat_error err = {0};
    for (int64_t at = 0, i = 0; at < 10000; at += out.block.n, i++) {
        int64_t elements = 1 + i % 700, bytes = i % 2 == 0 ? 1 << 20 : 20;
        assert_int_equal(leati_worker_reader_next(reader, elements, bytes, &out, &err), LEAT_OK);
        assert_int_equal(value(&out, 0), at);
        assert_int_equal(value(&out, out.block.n - 1), at + out.block.n - 1);
        assert_in_range(out.block.n, 1, i % 2 == 0 ? elements : 2);
    }
    expect_kind(reader, LEATI_FRAME_END, 10000);
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(reader);
    end(task);
}

static void test_empty(void **state) {
    (void)state;
    leati_worker_task *task = task_for(none, (ask){0});
    leati_worker_reader *reader = reader_of(task, (struct leati_message_read){.consumer = -1});
    expect_kind(reader, LEATI_FRAME_END, 0);
    expect_kind(reader, LEATI_FRAME_END, 0);
    leati_worker_reader_close(reader);
    end(task);
}

/* An error in place of an element has its position, and the stream goes on behind it. */
static void test_errors(void **state) {
    (void)state;
    char *plan = damaged();
    leati_worker_task *task = task_for(plan, (ask){0});
    leati_worker_reader *reader = reader_of(task, (struct leati_message_read){.consumer = -1});
    for (int64_t i = 0; i < 8; i++)
        if (i == 5)
            expect_kind(reader, LEATI_FRAME_ERROR, i);
        else
            expect_one(reader, i, i);
    expect_kind(reader, LEATI_FRAME_END, 8);
    leati_worker_reader_close(reader);
    end(task);
    leat_text_free(plan);
}

/* What was sent and not acknowledged is given to another; what was acknowledged is not. */
static void test_acks(void **state) {
    (void)state;
    leati_worker_task *task = task_for(TEN, (ask){0});
    struct leati_message_read asked = {.consumer = -1, .acks = true};
    leati_worker_reader *a = reader_of(task, asked), *b = reader_of(task, asked);
    for (int64_t i = 0; i < 6; i++)
        expect_one(a, i, i);
    leati_worker_reader_ack(a, 0, 2);
    leati_worker_reader_ack(a, 4, 5);
    for (int64_t i = 6; i < 10; i++)
        expect_one(b, i, i);
    leati_worker_reader_ack(b, 6, 10);
    assert_false(is_done(task));
    leati_worker_reader_close(a);
    expect_one(b, 2, 2);
    expect_one(b, 3, 3);
    expect_one(b, 5, 5);
    expect_kind(b, LEATI_FRAME_END, 10);
    assert_false(is_done(task));
    leati_worker_reader_ack(b, 2, 6);
    struct leati_message_task_report report = report_of(task);
    assert_true(report.done);
    assert_int_equal(report.acked.count, 2);
    assert_int_equal(report.acked.values[0], 0);
    assert_int_equal(report.acked.values[1], 10);
    leati_ranges_fini(&report.acked);
    leati_worker_reader_close(b);
    end(task);
}

/* Blocks of several rows are cut where acknowledgements cut them. */
static void test_acked_parts(void **state) {
    (void)state;
    leati_worker_task *task = task_for(RANGE(3000), (ask){0});
    struct leati_message_read asked = {.consumer = -1, .acks = true};
    leati_worker_reader *a = reader_of(task, asked);
    bool had[3000] = {false};
    for (int64_t at = 0; at < 3000;) {
        leati_worker_outcome out = next(a, 4096);
        leati_worker_reader_ack(a, at + 1, at + (out.block.n + 1) / 2);
        for (int64_t i = at + 1; i < at + (out.block.n + 1) / 2; i++)
            had[i] = true;
        at += out.block.n;
        leati_worker_outcome_fini(&out);
    }
    leati_worker_reader_close(a);
    leati_worker_reader *b = reader_of(task, (struct leati_message_read){.consumer = -1});
    for (;;) {
        leati_worker_outcome out = next(b, 4096);
        if (out.kind == LEATI_FRAME_END)
            break;
        for (int64_t i = 0; i < out.block.n; i++) {
            int64_t v = value(&out, i);
            assert_int_equal(v, out.position + i);
            assert_false(had[v]);
            had[v] = true;
        }
        leati_worker_outcome_fini(&out);
    }
    for (int64_t i = 0; i < 3000; i++)
        assert_true(had[i]);
    leati_worker_reader_close(b);
    end(task);
}

/* Waits until the producer can make no more, and says what the task holds. */
static int64_t settled(leati_worker_task *task) {
    leati_queue_gate_lock(task->gate);
    while (!task->waits_for_room && !task->ended) {
        /* Whether it is woken or its time is up: the condition is asked again. */
        leat_status status = leati_queue_gate_wait(
            task->gate, LEATI_WAIT_CONSUMER, leati_clock_deadline_ns(1), NULL, &(leat_error){0});
        assert_true(status == LEAT_OK || status == LEAT_DEADLINE_EXCEEDED);
    }
    int64_t used = leati_worker_budget_used(task->ways.budget);
    leati_queue_gate_unlock(task->gate);
    return used;
}

/* What is not acknowledged counts against the worker's memory, and leaves it with that. */
static void test_unacked_memory(void **state) {
    (void)state;
    leati_worker_task *task = task_for(BATCHES, (ask){.memory_bytes = 40 * LARGE});
    struct leati_message_read asked = {.consumer = -1, .acks = true};
    leati_worker_reader *a = reader_of(task, asked);
    for (int64_t i = 0; i < 40; i++)
        expect_one(a, 1000 * i, i);
    assert_in_range(settled(task), 40 * LARGE, (40 + MADE) * LARGE);
    leati_worker_reader_ack(a, 0, 20);
    for (int64_t i = 40; i < 60; i++)
        expect_one(a, 1000 * i, i);
    assert_in_range(settled(task), 40 * LARGE, (40 + MADE) * LARGE);
    leati_worker_reader_ack(a, 20, 60);
    /* With these 60 in memory there would be no room for so many. */
    for (int64_t i = 60; i < 95; i++)
        expect_one(a, 1000 * i, i);
    assert_in_range(settled(task), 35 * LARGE, (40 + MADE) * LARGE);
    leati_worker_reader_close(a);
    end(task);
}

/* One reader has all the memory and acknowledges nothing: the other goes on by itself, a few
 * elements at a time, and gets what the first had once that is gone. */
static void test_unacked_of_others(void **state) {
    (void)state;
    leati_worker_task *task = task_for(BATCHES, (ask){.memory_bytes = 20 * LARGE});
    struct leati_message_read asked = {.consumer = -1, .acks = true};
    leati_worker_reader *a = reader_of(task, asked), *b = reader_of(task, asked);
    for (int64_t i = 0; i < 20; i++)
        expect_one(a, 1000 * i, i);
    for (int64_t i = 20; i < 100; i++) {
        expect_one(b, 1000 * i, i);
        assert_in_range(settled(task), 20 * LARGE, (20 + 2 * MADE) * LARGE);
        leati_worker_reader_ack(b, i, i + 1);
    }
    leati_worker_reader_close(a);
    for (int64_t i = 0; i < 20; i++)
        expect_one(b, 1000 * i, i);
    leati_worker_reader_close(b);
    end(task);
}

/* Of an earlier attempt clients hold some positions: these are left out. */
static void test_held(void **state) {
    (void)state;
    int64_t held[] = {0, 3, 5, 6, 9, 20};
    static const int64_t left[] = {3, 4, 6, 7, 8};
    leati_worker_task *task = task_for(TEN, (ask){.held = held, .num_held = 6});
    leati_worker_reader *reader = reader_of(task, (struct leati_message_read){.consumer = -1});
    for (int i = 0; i < 5; i++)
        expect_one(reader, left[i], left[i]);
    expect_kind(reader, LEATI_FRAME_END, 10);
    leati_worker_reader_close(reader);
    end(task);
}

/* ---- failures and ends ---- */

static void test_plan_fails(void **state) {
    (void)state;
    leati_worker_task *task = task_for("{\"op\": \"no_such_operator\"}", (ask){0});
    leati_worker_reader *reader = reader_of(task, (struct leati_message_read){.consumer = -1});
    expect_failure(reader, LEAT_UNIMPLEMENTED, "no_such_operator");
    struct leati_message_task_report report = report_of(task);
    assert_true(report.done);
    assert_int_equal(report.failed, LEAT_UNIMPLEMENTED);
    assert_non_null(strstr(report.text, "here:1"));
    leati_free(report.text);
    leati_worker_reader_close(reader);
    end(task);
}

/* A file that is not there is the error of an element, which names it. */
static void test_file_is_missing(void **state) {
    (void)state;
    leati_worker_task *task = task_for(missing, (ask){0});
    leati_worker_reader *reader = reader_of(task, (struct leati_message_read){.consumer = -1});
    leati_worker_outcome out = next(reader, 1);
    assert_int_equal(out.kind, LEATI_FRAME_ERROR);
    assert_int_equal(out.why.code, LEAT_NOT_FOUND);
    assert_string_equal(out.why.file, "/no/such/file.txt");
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(reader);
    end(task);
}

static void test_stop(void **state) {
    (void)state;
    /* Never read. */
    end(task_for(TEN, (ask){0}));
    /* In the middle: readers are told; those that come later cannot. */
    leat_error err = {0};
    leati_worker_task *task = task_for(ENDLESS, (ask){0});
    struct leati_message_read asked = {.consumer = -1};
    leati_worker_reader *reader = reader_of(task, asked);
    expect_one(reader, 0, 0);
    leati_worker_task_stop(task);
    leati_worker_task_stop(task);
    leati_worker_outcome out = next(reader, 1);
    assert_int_equal(out.kind, LEATI_FRAME_GONE);
    assert_int_equal(out.why.code, LEAT_UNAVAILABLE);
    assert_null(leati_worker_reader_new(task, &asked, NULL, &err));
    assert_refused(&err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "7");
    /* The reader outlives the worker's reference. */
    leati_worker_task_unref(task);
    leati_worker_reader_close(reader);
    /* A task whose elements were all taken has not gone: it has ended. */
    task = task_for(TEN, (ask){0});
    reader = reader_of(task, asked);
    for (int64_t i = 0; i < 10; i++)
        expect_one(reader, i, i);
    expect_kind(reader, LEATI_FRAME_END, 10);
    leati_worker_task_stop(task);
    expect_kind(reader, LEATI_FRAME_END, 10);
    leati_worker_reader_close(reader);
    leati_worker_task_unref(task);
}

static void test_cancel(void **state) {
    (void)state;
    leat_error err = {0};
    leati_worker_task *task = task_for(TEN, (ask){.consumers = 0});
    leat_cancel *cancel = leati_cancel_new(NULL, &err);
    struct leati_message_read asked = {.consumer = -1};
    leati_worker_reader *reader = leati_worker_reader_new(task, &asked, cancel, &err);
    expect_one(reader, 0, 0);
    leati_cancel_fire(cancel);
    expect_failure(reader, LEAT_CANCELLED, "7");
    leati_worker_reader_close(reader);
    leati_cancel_unref(cancel);
    end(task);
}

/* ---- memory ---- */

static leat_status make_and_read(void *context, leat_error *err) {
    const ask *a = context;
    leati_worker_task *task = task_of(a->consumers > 0 || a->cached ? ENDLESS : TEN, *a, err);
    if (task == NULL)
        return torture_code(err);
    struct leati_message_read asked = {.consumer = a->consumers > 0 ? 0 : -1,
                                       .acks = a->consumers == 0 && !a->cached,
                                       .trainer = a->cached ? (char *)(uintptr_t) "t" : NULL};
    leati_worker_reader *reader = leati_worker_reader_new(task, &asked, NULL, err);
    leati_worker_outcome out = {0};
    leat_status status = reader == NULL ? torture_code(err) : LEAT_OK;
    for (int i = 0; i < 5 && status == LEAT_OK; i++) {
        status = leati_worker_reader_next(reader, 3, 1 << 20, &out, err);
        if (status == LEAT_OK && out.kind == LEATI_FRAME_ERROR) {
            *err = out.why;
            status = out.why.code;
        }
        if (status == LEAT_OK)
            leati_worker_reader_ack(reader, out.position, out.position + 1);
    }
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(reader);
    end(task);
    return status;
}

/* A reader rings after the worker, whose cancellation the heartbeat heard, is gone. */
static void test_bell_of_a_worker_that_is_gone(void **state) {
    (void)state;
    leat_error err = {0};
    leat_cancel *around = leati_cancel_new(NULL, &err);
    leati_worker_bell *bell = leati_worker_bell_new(&err);
    leat_cancel *listening = leati_worker_bell_listen(bell, around, &err);
    assert_non_null(listening);
    leati_cancel_unref(around);
    leati_worker_bell_ring(bell);
    assert_true(leati_cancel_fired(listening));
    leati_cancel_unref(listening);
    leati_worker_bell_unref(bell);
}

/* Which allocation fails depends on the scheduler; what an iterator can do without may fail. */
static void test_memory(void **state) {
    (void)state;
    ask shared = {0}, rounds = {.consumers = 1}, window = {.cached = true, .window_bytes = 1 << 20};
    torture_run_tolerant(make_and_read, &shared);
    torture_run_tolerant(make_and_read, &rounds);
    torture_run_tolerant(make_and_read, &window);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_shared),
        TEST(test_amounts),
        TEST(test_empty),
        TEST(test_errors),
        TEST(test_acks),
        TEST(test_acked_parts),
        TEST(test_unacked_memory),
        TEST(test_unacked_of_others),
        TEST(test_held),
        TEST(test_plan_fails),
        TEST(test_file_is_missing),
        TEST(test_stop),
        TEST(test_cancel),
        TEST(test_memory),
        TEST(test_bell_of_a_worker_that_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
