/* Feeds that read what others left: explained, cancelled. What they yield stands in feed_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/scratch.h"
#include "../../tests/support/simulated.h"
#include "../../tests/support/torture.h"

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
    assert_non_null(strstr(err.text, "the iterator was cancelled"));
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
    leat_save_report report = {0};
    leati_writer part = {0};
    char *text = NULL;
    leat_distributed_iterator *it = simulated_iterator(&rows, &member, &d, err);
    leat_status status = it == NULL ? err->code : LEAT_OK;
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
        status = text == NULL ? err->code : LEAT_OK;
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_explained),
                                       cmocka_unit_test(test_cancelled),
                                       cmocka_unit_test(test_failing_allocations)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
