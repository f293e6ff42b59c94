/* Tasks under the sharding policies: leases of a dispatcher of the test's, and static shares. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/error.h"
#include "service/worker/leases.h"
#include "service/worker/shares.h"
#include "support/refused.h"
#include <leat/service.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- helpers ---- */

enum { MOST = 20000 };

/* Deals out the splits of one source, and notes who wanted how many. */
typedef struct dealer {
    const char *plan;
    pthread_mutex_t lock;
    int64_t splits, next[2];        /* of each source */
    int64_t leases, most, sequence; /* lock */
    bool grew_too_fast, out_of_order, gone;
    int64_t last_want;
} dealer;

/* A clock on which every lease lasts a millisecond. */
static int64_t slow_clock(void) {
    static atomic_llong now;
    return (int64_t)atomic_fetch_add(&now, 1000 * 1000) + 1;
}

static leat_dataset *open_plan(void *context, const struct leati_message_task *task,
                               leat_cancel *cancel, leat_error *err) {
    (void)task;
    (void)cancel;
    return leat_dataset_from_json(((dealer *)context)->plan, err);
}

static leat_status deal(void *context, const struct leati_message_splits *asked,
                        leat_cancel *cancel, struct leati_message_lease *lease, leat_error *err) {
    dealer *d = context;
    (void)cancel;
    *lease = (struct leati_message_lease){0};
    pthread_mutex_lock(&d->lock);
    d->leases++;
    d->most = asked->want > d->most ? asked->want : d->most;
    d->grew_too_fast = d->grew_too_fast || (d->last_want > 0 && asked->want > 4 * d->last_want);
    d->last_want = asked->want;
    int64_t *next = &d->next[asked->provider % 2];
    lease->begin = *next;
    lease->end = d->splits - *next < asked->want ? d->splits : *next + asked->want;
    lease->none = asked->repetition > 0 || lease->begin == lease->end;
    if (!lease->none)
        *next = lease->end;
    bool gone = d->gone;
    pthread_mutex_unlock(&d->lock);
    return gone ? leati_fail(err, LEAT_NOT_FOUND, "not at work") : LEAT_OK;
}

static void begin(dealer *d, const char *plan, int64_t splits) {
    *d = (dealer){.plan = plan, .splits = splits};
    pthread_mutex_init(&d->lock, NULL);
}

static leati_worker_task *task_of(dealer *d, leat_service_policy policy, int64_t shard,
                                  int64_t num_shards) {
    leat_error err = {0};
    leati_worker_bell *bell = leati_worker_bell_new(&err);
    leati_worker_budget *budget = leati_worker_budget_new(1 << 20, &err);
    leati_worker_ways ways = {.context = d,
                              .dataset = open_plan,
                              .splits = deal,
                              .bell = bell,
                              .budget = budget,
                              .num_threads = 1,
                              .address = "here:1",
                              .now_ns = slow_clock};
    struct leati_message_task said = {
        .task = 3, .attempt = 1, .policy = policy, .shard = shard, .num_shards = num_shards};
    leati_worker_task *task = leati_worker_task_new(&said, &ways, &err);
    leati_worker_bell_unref(bell);
    leati_worker_budget_unref(budget);
    if (task == NULL)
        fail_msg("%s", err.text);
    return task;
}

static void end(leati_worker_task *task) {
    leati_worker_task_stop(task);
    leati_worker_task_unref(task);
}

static leati_worker_reader *reader_of(leati_worker_task *task) {
    leat_error err = {0};
    leati_worker_reader *reader =
        leati_worker_reader_new(task, &(struct leati_message_read){.consumer = -1}, NULL, &err);
    if (reader == NULL)
        fail_msg("%s", err.text);
    return reader;
}

/* Up to `most` elements; whatever it is that ends them. */
static int64_t read_values(leati_worker_reader *reader, int64_t most, int64_t *values,
                           leat_error *why) {
    leati_worker_outcome out = {0};
    int64_t count = 0;
    *why = (leat_error){0};
    while (count < most) {
        if (leati_worker_reader_next(reader, most - count, 1 << 20, &out, why) != LEAT_OK ||
            out.kind != LEATI_FRAME_ELEMENTS)
            break;
        for (int64_t i = 0; i < out.block.n; i++)
            memcpy(&values[count++], leati_column_row(&out.block.columns[0], i), sizeof(int64_t));
    }
    if (count < most && why->code == LEAT_OK && out.kind == LEATI_FRAME_ERROR)
        *why = out.why;
    leati_worker_outcome_fini(&out);
    return count;
}

#define RANGE(stop) "{\"op\": \"range\", \"args\": {\"stop\": " #stop "}}"

/* ---- dynamic ---- */

/* Two workers get each element once between them; leases grow while they are used up fast. */
static void test_dynamic(void **state) {
    (void)state;
    static int64_t values[MOST];
    static int seen[MOST];
    dealer d;
    leat_error err = {0};
    begin(&d, RANGE(20000), MOST);
    leati_worker_task *tasks[2];
    leati_worker_reader *readers[2];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 2; i++) {
        tasks[i] = task_of(&d, LEAT_SERVICE_DYNAMIC, 0, 1);
        readers[i] = reader_of(tasks[i]);
    }
    int64_t total = 0;
    for (int64_t n = 1; n > 0;) {
        n = 0;
        for (int i = 0; i < 2; i++) {
            int64_t count = read_values(readers[i], 100, values, &err);
            assert_int_equal(err.code, LEAT_OK);
            for (int64_t k = 0; k < count; k++)
                seen[values[k]]++;
            n += count;
        }
        total += n;
    }
    assert_int_equal(total, MOST);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(seen[i], 1);
    assert_true(d.leases < MOST / 4);
    assert_true(d.most > 16);
    for (int i = 0; i < 2; i++) {
        leati_worker_reader_close(readers[i]);
        end(tasks[i]);
    }
}

/* A lease that lasts a millisecond is too short: the next wants four times as much, and no more. */
static void test_growth(void **state) {
    (void)state;
    static int64_t values[MOST];
    dealer d;
    leat_error err = {0};
    begin(&d, RANGE(20000), MOST);
    leati_worker_task *task = task_of(&d, LEAT_SERVICE_DYNAMIC, 0, 1);
    leati_worker_reader *reader = reader_of(task);
    assert_int_equal(read_values(reader, MOST, values, &err), MOST);
    for (int64_t i = 0; i < MOST; i++)
        assert_int_equal(values[i], i);
    assert_false(d.grew_too_fast);
    assert_in_range(d.leases, 6, 12);
    leati_worker_reader_close(reader);
    end(task);
}

/* Inputs of zip go in step: one split at a time, so that none is without its partner. */
static void test_in_step(void **state) {
    (void)state;
    int64_t values[40];
    dealer d;
    leat_error err = {0};
    begin(&d, "{\"op\": \"zip\", \"inputs\": [" RANGE(40) ", " RANGE(40) "]}", 40);
    leati_worker_task *task = task_of(&d, LEAT_SERVICE_DYNAMIC, 0, 1);
    leati_worker_reader *reader = reader_of(task);
    assert_int_equal(read_values(reader, 40, values, &err), 40);
    assert_int_equal(d.most, 1);
    leati_worker_reader_close(reader);
    end(task);
}

static void test_drain(void **state) {
    (void)state;
    static int64_t values[MOST];
    dealer d;
    leat_error err = {0};
    begin(&d, RANGE(20000), MOST);
    leati_worker_task *task = task_of(&d, LEAT_SERVICE_DYNAMIC, 0, 1);
    leati_worker_task_drain(task);
    leati_worker_reader *reader = reader_of(task);
    assert_int_equal(read_values(reader, MOST, values, &err), 0);
    assert_int_equal(err.code, LEAT_OK);
    assert_int_equal(d.leases, 0);
    struct leati_message_task_report report = {0};
    assert_int_equal(leati_worker_task_report(task, &report, &err), LEAT_OK);
    assert_true(report.done);
    leati_worker_reader_close(reader);
    end(task);
}

/* A stop while the source waits to be stopped. */
static void test_gone(void **state) {
    (void)state;
    dealer d;
    begin(&d, RANGE(20000), MOST);
    d.gone = true;
    leati_worker_task *task = task_of(&d, LEAT_SERVICE_DYNAMIC, 0, 1);
    leati_worker_reader *reader = reader_of(task);
    leati_worker_task_stop(task);
    leati_worker_outcome out = {0};
    leat_error err = {0};
    assert_int_equal(leati_worker_reader_next(reader, 1, 1, &out, &err), LEAT_OK);
    assert_int_equal(out.kind, LEATI_FRAME_GONE);
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(reader);
    leati_worker_task_unref(task);
}

/* ---- static ---- */

static void expect_share(dealer *d, leat_service_policy policy, int64_t shard, int64_t num_shards,
                         const int64_t *wanted, int64_t count) {
    int64_t values[32];
    leat_error err = {0};
    leati_worker_task *task = task_of(d, policy, shard, num_shards);
    leati_worker_reader *reader = reader_of(task);
    assert_int_equal(read_values(reader, 32, values, &err), count);
    assert_int_equal(err.code, LEAT_OK);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(values[i], wanted[i]);
    leati_worker_reader_close(reader);
    end(task);
}

/* As TensorFlow: range(20) over 5 workers, number 1. */
static void test_data(void **state) {
    (void)state;
    dealer d;
    begin(&d, RANGE(20), 0);
    expect_share(&d, LEAT_SERVICE_DATA, 1, 5, (int64_t[]){1, 6, 11, 16}, 4);
    expect_share(&d, LEAT_SERVICE_FILE_OR_DATA, 4, 5, (int64_t[]){4, 9, 14, 19}, 4);
    begin(&d,
          "{\"op\": \"shard\", \"args\": {\"num_shards\": -1, \"index\": -1}, \"input\": "
          "{\"op\": \"range\", \"args\": {\"stop\": 6}}}",
          0);
    expect_share(&d, LEAT_SERVICE_HINT, 2, 3, (int64_t[]){2, 5}, 2);
}

static void expect_failure(dealer *d, struct leati_message_task said, leat_status code,
                           const char *keyword) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_from_json(d->plan, &err);
    assert_non_null(dataset);
    assert_null(leati_worker_share(&said, dataset, &err));
    assert_refused(&err, code, err.reason, keyword);
}

static void test_failures(void **state) {
    (void)state;
    dealer d;
    begin(&d, RANGE(20), 0);
    expect_failure(&d, (struct leati_message_task){.policy = LEAT_SERVICE_FILE, .num_shards = 5},
                   LEAT_NOT_FOUND, "range");
    expect_failure(&d, (struct leati_message_task){.policy = 77, .num_shards = 1},
                   LEAT_UNIMPLEMENTED, "77");
    expect_failure(
        &d, (struct leati_message_task){.policy = LEAT_SERVICE_DATA, .shard = 2, .num_shards = 2},
        LEAT_INVALID_ARGUMENT, "2");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_dynamic), TEST(test_growth), TEST(test_in_step),  TEST(test_drain),
        TEST(test_gone),    TEST(test_data),   TEST(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
