/* Tasks of a worker without a dispatcher, and direct readers of them, for tests. Header only:
 * include it after "support/cmocka.h". */
#ifndef WORKER_TASKS_H
#define WORKER_TASKS_H

#include "base/error.h"
#include "service/worker/task.h"
#include "support/refused.h"

static inline leat_dataset *open_plan(void *context, const struct leati_message_task *task,
                                      leat_cancel *cancel, leat_error *err) {
    (void)task;
    (void)cancel;
    return leat_dataset_from_json(context, err);
}

typedef struct ask {
    int64_t consumers, window_bytes;
    int64_t memory_bytes; /* of all tasks; 0: 1 MiB */
    bool cached;
    int64_t *held;
    int32_t num_held;
} ask;

static inline leati_worker_task *task_of(const char *plan, ask about, leat_error *err) {
    leati_worker_bell *bell = leati_worker_bell_new(err);
    if (bell == NULL)
        return NULL;
    leati_worker_budget *budget =
        leati_worker_budget_new(about.memory_bytes > 0 ? about.memory_bytes : 1 << 20, err);
    if (budget == NULL) {
        leati_worker_bell_unref(bell);
        return NULL;
    }
    leati_worker_ways ways = {.context = (void *)(uintptr_t)plan,
                              .dataset = open_plan,
                              .bell = bell,
                              .budget = budget,
                              .window_bytes = about.window_bytes,
                              .num_threads = 1,
                              .address = "here:1"};
    struct leati_message_task said = {
        .task = 7, .attempt = 1, .consumers = about.consumers, .cached = about.cached};
    leati_worker_task *task = NULL;
    if (about.num_held == 0 ||
        leati_ranges_copy(&(leati_ranges){about.held, about.num_held}, &said.held, err) == LEAT_OK)
        task = leati_worker_task_new(&said, &ways, err);
    leati_worker_bell_unref(bell);
    leati_worker_budget_unref(budget);
    return task;
}

static inline leati_worker_task *task_for(const char *plan, ask about) {
    leat_error err = {0};
    leati_worker_task *task = task_of(plan, about, &err);
    if (task == NULL)
        fail_msg("%s", err.text);
    return task;
}

static inline void end(leati_worker_task *task) {
    leati_worker_task_stop(task);
    leati_worker_task_unref(task);
}

static inline leati_worker_reader *reader_of(leati_worker_task *task,
                                             struct leati_message_read asked) {
    leat_error err = {0};
    leati_worker_reader *reader = leati_worker_reader_new(task, &asked, NULL, &err);
    if (reader == NULL)
        fail_msg("%s", err.text);
    return reader;
}

static inline leati_worker_outcome next(leati_worker_reader *reader, int64_t elements) {
    leati_worker_outcome out = {0};
    leat_error err = {0};
    if (leati_worker_reader_next(reader, elements, 1 << 20, &out, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    return out;
}

static inline int64_t value(const leati_worker_outcome *out, int64_t i) {
    int64_t value;
    assert_int_equal(out->kind, LEATI_FRAME_ELEMENTS);
    memcpy(&value, leati_column_row(&out->block.columns[0], i), sizeof value);
    return value;
}

/* The next outcome is one element, of this value and position. */
static inline void expect_one(leati_worker_reader *reader, int64_t wanted, int64_t position) {
    leati_worker_outcome out = next(reader, 1);
    assert_int_equal(value(&out, 0), wanted);
    assert_int_equal(out.block.n, 1);
    assert_int_equal(out.position, position);
    leati_worker_outcome_fini(&out);
}

static inline void expect_kind(leati_worker_reader *reader, leati_frame_kind kind,
                               int64_t position) {
    leati_worker_outcome out = next(reader, 1);
    assert_int_equal(out.kind, kind);
    assert_int_equal(out.position, position);
    leati_worker_outcome_fini(&out);
}

static inline void expect_failure(leati_worker_reader *reader, leat_status code,
                                  const char *keyword) {
    leati_worker_outcome out = {0};
    leat_error err = {0};
    assert_int_equal(leati_worker_reader_next(reader, 1, 1, &out, &err), code);
    assert_refused(&err, code, err.reason, keyword);
    leati_worker_outcome_fini(&out);
}

static inline struct leati_message_task_report report_of(leati_worker_task *task) {
    struct leati_message_task_report report = {0};
    assert_int_equal(leati_worker_task_report(task, &report, &(leat_error){0}), LEAT_OK);
    return report;
}

static inline bool is_done(leati_worker_task *task) {
    struct leati_message_task_report report = report_of(task);
    leati_ranges_fini(&report.acked);
    return report.done;
}

#define RANGE(stop) "{\"op\": \"range\", \"args\": {\"stop\": " #stop "}}"
#define TEN RANGE(10)
#define ENDLESS "{\"op\": \"repeat\", \"input\": " RANGE(1000) "}"

#endif
