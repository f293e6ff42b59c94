/* Feeds that read what others left: explained, cancelled. What they yield stands in feed_test.c. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/scratch.h"
#include "support/simulated.h"
#include "support/torture.h"

static const simulated_data rows = {
    .rows = 40, .batch = 4, .epochs = 1, .files = 4, .many = true, .policy = LEAT_SHARD_FILE};

/* The state of some workers after a step of each. Owned. */
static char *state_of(int workers, size_t *size) {
    simulated_cluster c;
    simulated_start(&c, &rows, workers, 1, NULL, 0);
    assert_true(simulated_step(&c, NULL));
    char *state = simulated_save(&c, size);
    simulated_stop(&c);
    return state;
}

static void test_explained(void **state) {
    (void)state;
    simulated_cluster c;
    leat_error err = {0};
    size_t size = 0;
    simulated_write(&rows);
    char *saved = state_of(3, &size);
    simulated_start(&c, &rows, 1, 1, saved, size);
    char *text = leat_distributed_iterator_explain(c.iterators[0], &err);
    const char *at = text;
    assert_non_null(text);
    for (int w = 0; w < 3; w++) {
        char head[64];
        snprintf(head, sizeof head, "what pipeline %d of 3 left:\n", w);
        at = strstr(at, head);
        assert_non_null(at);
        const char *next = strstr(at + 1, "what pipeline"), *found = strstr(at, "text_line");
        assert_true(found != NULL && (next == NULL || found < next));
    }
    assert_memory_equal(text, "what pipeline 0", 15);
    leat_text_free(text);
    simulated_stop(&c);
    leat_text_free(saved);
}

static void expect_cancelled(leat_distributed_iterator *it, leat_per_replica *value) {
    leat_error err = {0};
    assert_int_equal(leat_distributed_iterator_next(it, value, &err), LEAT_CANCELLED);
    assert_refused(&err, LEAT_CANCELLED, LEAT_REASON_NONE, "iterator");
}

/* Before the first step, between two, and before or behind restoring, whatever is then read: its
 * own rows, those of one other worker or those of several. */
static void test_cancelled(void **state) {
    (void)state;
    leat_distributed_iterator_cancel(NULL);
    simulated_write(&rows);
    for (int saved_on = 0; saved_on <= 3; saved_on++) {
        size_t size = 0;
        char *saved = saved_on == 0 ? NULL : state_of(saved_on, &size);
        for (int before = 0; before < 2; before++) {
            leati_membership member = {.num_workers = 1, .replicas = 1};
            leat_distributed_dataset *d = NULL;
            leat_per_replica value = {0};
            leat_error err = {0};
            leat_distributed_iterator *it = simulated_iterator(&rows, &member, &d, &err);
            if (before)
                leat_distributed_iterator_cancel(it);
            if (saved != NULL)
                assert_int_equal(leat_distributed_iterator_restore(it, saved, size, &err), LEAT_OK);
            if (!before) {
                assert_int_equal(leat_distributed_iterator_next(it, &value, &err), LEAT_OK);
                leat_distributed_iterator_cancel(it);
            }
            expect_cancelled(it, &value);
            expect_cancelled(it, &value);
            leat_per_replica_fini(&value);
            leat_distributed_iterator_free(it);
            leat_distributed_dataset_free(d);
        }
        leat_text_free(saved);
    }
}

/* ---- failing allocations ---- */

struct tortured {
    char *state;
    size_t size;
    int workers;
};

/* One of some workers restores what others saved, goes on, saves and is explained. */
static leat_status use_all(void *context, leat_error *err) {
    struct tortured *t = context;
    leati_membership member = {.num_workers = t->workers, .replicas = 2};
    leat_distributed_dataset *d = NULL;
    leat_per_replica value = {0};
    leat_iterator_save_report report = {0};
    leati_writer part = {0};
    char *text = NULL;
    leat_distributed_iterator *it = simulated_iterator(&rows, &member, &d, err);
    leat_status status = it == NULL ? torture_code(err) : LEAT_OK;
    int64_t numbers[LEATI_STEP_NUMBERS] = {0};
    if (status == LEAT_OK)
        status = leat_distributed_iterator_restore(it, t->state, t->size, err);
    for (int i = 0; i < 2 && status == LEAT_OK; i++) {
        status = leati_distributed_pull(it, &value, numbers, err);
        if (status == LEAT_OK)
            status = leati_distributed_finish(it, numbers, &value, err);
    }
    if (status == LEAT_OK)
        status = leati_distributed_save_part(it, NULL, &part, &report, err);
    if (status == LEAT_OK) {
        assert_true(report.bytes > 0 && report.bytes < part.size);
        text = leat_distributed_iterator_explain(it, err);
        status = text == NULL ? torture_code(err) : LEAT_OK;
    }
    leat_text_free(text);
    leati_writer_fini(&part);
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    simulated_write(&rows);
    for (int saved_on = 1; saved_on <= 3; saved_on++) {
        struct tortured t = {.workers = saved_on == 1 ? 2 : 1};
        t.state = state_of(saved_on, &t.size);
        torture_begin();
        torture_run_tolerant(use_all, &t);
        torture_end();
        leat_text_free(t.state);
    }
}

/* ---- two workers, of which one is this thread and the other says the same ---- */

static leat_status echo(void *context, const int64_t *mine, int count, int64_t *out,
                        leat_error *err) {
    (void)context;
    (void)err;
    for (int i = 0; i < 2 * count; i++)
        out[i] = mine[i % count];
    return LEAT_OK;
}

static void note_abort(void *context, const char *text) {
    assert_true(text[0] != '\0');
    ++*(int *)context;
}

static leat_status use_lockstep(void *context, leat_error *err) {
    const simulated_data *data = context;
    int aborts = 0;
    leati_membership member = {
        .num_workers = 2,
        .replicas = 2,
        .others = {.context = &aborts, .exchange = echo, .abort = note_abort}};
    leat_distributed_dataset *d = NULL;
    leat_per_replica value = {0};
    leat_iterator_save_report report = {0};
    char *saved = NULL;
    size_t size = 0;
    int64_t steps = 0, all = 0;
    leat_distributed_iterator *it = simulated_iterator(data, &member, &d, err);
    leat_status status = it == NULL ? torture_code(err) : LEAT_OK;
    while (status == LEAT_OK) {
        int64_t mine[2] = {0, 0}, total = 0;
        status = leat_distributed_iterator_next(it, &value, err);
        if (status == LEAT_OK)
            status = leat_distributed_iterator_rows(it, mine, &total, err);
        if (status == LEAT_OK) {
            assert_int_equal(total, 2 * (mine[0] + mine[1]));
            all += mine[0] + mine[1];
            steps++;
        }
        if (status == LEAT_OK && steps == 2)
            status = leat_distributed_iterator_save(it, NULL, &saved, &size, &report, err);
    }
    if (status == LEAT_OUT_OF_RANGE) {
        assert_refused(err, LEAT_OUT_OF_RANGE, LEAT_REASON_END, NULL);
        assert_true(report.bytes > 0 && size > report.bytes);
        assert_int_equal(all, data->files > 0 ? 13 : 20); /* the first file has a third */
        assert_int_equal(aborts, 0);
        *err = (leat_error){0};
        status = LEAT_OK;
    }
    leat_text_free(saved);
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    return status;
}

/* Where each step is agreed anew, and where batches are known. */
static void test_lockstep(void **state) {
    (void)state;
    static simulated_data data[] = {
        {.rows = 40,
         .batch = 4,
         .epochs = 1,
         .many = true,
         .unknown = true,
         .files = 2,
         .policy = LEAT_SHARD_FILE},
        {.rows = 40, .batch = 4, .epochs = 1, .many = true, .policy = LEAT_SHARD_DATA},
    };
    for (int i = 0; i < 2; i++) {
        leat_error err = {0};
        simulated_write(&data[i]);
        if (use_lockstep(&data[i], &err) != LEAT_OK)
            fail_msg("%s", err.text);
        torture_begin();
        torture_run_tolerant(use_lockstep, &data[i]);
        torture_end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explained), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_failing_allocations), cmocka_unit_test(test_lockstep)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
