/* Plans over splits that a simulated dispatcher hands out. Expected values come from TensorFlow's
 * data service under DYNAMIC with so many workers, where they are the same in each run there. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/run/iterator.h"
#include "data/shares/splits.h"
#include "run/thread.h"
#include "support/refused.h"
#include <leat/data_ops.h>
#include <pthread.h>
#include <string.h>

enum { MOST_SOURCES = 8, MOST_LEASES = 4096, MOST_VALUES = 512, MOST_WORKERS = 5 };

/* Hands out splits as TensorFlow's dispatcher does, in leases of `lease` splits; `lock` guards. */
struct dispatcher {
    pthread_mutex_t lock;
    leati_splits_source *sources;
    int num_sources;
    int64_t lease;
    int64_t repetition[MOST_SOURCES], next[MOST_SOURCES];
    int failures; /* that come before each answer that is new */
};

/* What one stream was told: the context of its leati_splits. */
struct stream {
    struct dispatcher *dispatcher;
    struct {
        int64_t begin, end;
        bool none;
    } told[MOST_SOURCES][MOST_LEASES];
    int64_t count[MOST_SOURCES];
    int failures;
    int64_t asked; /* calls */
};

static leat_status next_lease(void *context, int provider, int64_t repetition, int64_t sequence,
                              int64_t *begin, int64_t *end, bool *none, leat_cancel *cancel,
                              leat_error *err) {
    struct stream *s = context;
    struct dispatcher *d = s->dispatcher;
    s->asked++;
    if (leati_cancel_fired(cancel))
        return leati_fail(err, LEAT_CANCELLED, "cancelled");
    if (provider < 0 || provider >= d->num_sources || sequence > s->count[provider])
        return leati_fail(err, LEAT_INTERNAL, "source %d, lease %lld", provider,
                          (long long)sequence);
    *none = false;
    if (sequence < s->count[provider]) { /* a stream that was restored */
        *begin = s->told[provider][sequence].begin;
        *end = s->told[provider][sequence].end;
        *none = s->told[provider][sequence].none;
        return LEAT_OK;
    }
    if (s->failures < d->failures) {
        s->failures++;
        return leati_fail(err, LEAT_UNAVAILABLE, "the dispatcher is away");
    }
    s->failures = 0;
    pthread_mutex_lock(&d->lock);
    if (repetition > d->repetition[provider]) {
        d->repetition[provider] = repetition;
        d->next[provider] = 0;
    }
    int64_t total = d->sources[provider].splits, at = d->next[provider];
    *none = repetition < d->repetition[provider] || (total >= 0 && at >= total);
    if (!*none) {
        int64_t to = at + d->lease;
        *begin = at;
        *end = d->next[provider] = total >= 0 && to > total ? total : to;
        s->told[provider][sequence].begin = *begin;
        s->told[provider][sequence].end = *end;
    }
    s->told[provider][sequence].none = *none;
    s->count[provider]++;
    pthread_mutex_unlock(&d->lock);
    return LEAT_OK;
}

struct worker {
    struct stream stream;
    leati_splits splits;
    leat_dataset *plan;
    leat_iterator *iterator;
    int64_t values[MOST_VALUES];
    int count, most;
    leat_status code;
    pthread_t thread;
};

static int64_t last_number(const leat_element *element) {
    const leat_tensor *t = &element->tensors[element->num_tensors - 1];
    return t->dtype == LEAT_INT32 ? *(const int32_t *)t->data : *(const int64_t *)t->data;
}

/* Takes up to w->most values; w->code is OUT_OF_RANGE at the end. */
static void take(struct worker *w) {
    leat_error err = {0};
    leat_element element = {0};
    w->code = LEAT_OK;
    while (w->code == LEAT_OK && w->count < w->most) {
        w->code = leat_iterator_next(w->iterator, &element, &err);
        if (w->code == LEAT_OK)
            w->values[w->count++] = last_number(&element);
    }
    leat_element_fini(&element);
}

static void *work(void *argument) {
    struct worker *w = argument;
    take(w);
    return NULL;
}

static void worker_open(struct worker *w, struct dispatcher *d, const char *json) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_from_json(json, &err);
    assert_non_null(dataset);
    w->plan = leati_splits_plan(dataset, &err);
    assert_non_null(w->plan);
    leat_dataset_unref(dataset);
    w->stream.dispatcher = d;
    w->splits = (leati_splits){.context = &w->stream, .next = next_lease};
    leati_iterator_extras extras = {.splits = &w->splits};
    w->iterator = leati_iterator_new_with(w->plan, NULL, &extras, &err);
    assert_non_null(w->iterator);
    w->most = MOST_VALUES;
}

static void worker_close(struct worker *w) {
    leat_iterator_free(w->iterator);
    leat_dataset_unref(w->plan);
}

static void dispatcher_open(struct dispatcher *d, const char *json, int64_t lease) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_from_json(json, &err);
    leat_dataset *plan = leati_splits_plan(dataset, &err);
    assert_non_null(plan);
    *d = (struct dispatcher){.lease = lease};
    pthread_mutex_init(&d->lock, NULL);
    assert_int_equal(leati_splits_sources(plan, &d->sources, &d->num_sources, &err), LEAT_OK);
    assert_true(d->num_sources <= MOST_SOURCES);
    leat_dataset_unref(plan);
    leat_dataset_unref(dataset);
}

static void dispatcher_close(struct dispatcher *d) {
    leati_free(d->sources);
    pthread_mutex_destroy(&d->lock);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* All values of n workers on threads, sorted; the return value is their number. */
static int run_all(const char *json, int n, int64_t lease, int64_t *all) {
    struct dispatcher d;
    int count = 0;
    dispatcher_open(&d, json, lease);
    struct worker *workers = leati_alloc_zero((size_t)n, sizeof *workers);
    for (int i = 0; i < n; i++)
        worker_open(&workers[i], &d, json);
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].code, LEAT_OUT_OF_RANGE);
        memcpy(all + count, workers[i].values, (size_t)workers[i].count * sizeof *all);
        count += workers[i].count;
    }
    for (int i = 0; i < n; i++)
        worker_close(&workers[i]);
    leati_free(workers);
    dispatcher_close(&d);
    qsort(all, (size_t)count, sizeof *all, by_value);
    return count;
}

/* What plans give: their last components, sorted. */
#define RANGE(n) "{\"op\": \"range\", \"args\": {\"stop\": " #n "}}"
#define FROM(a, b) "{\"op\": \"range\", \"args\": {\"start\": " #a ", \"stop\": " #b "}}"
#define OVER(op, args, input) "{\"op\": \"" op "\", \"args\": {" args "}, \"input\": " input "}"
#define TWO(op, args, a, b) "{\"op\": \"" op "\", \"args\": {" args "}, \"inputs\": [" a ", " b "]}"
#define SEVEN "{\"op\": \"from_tensors\", \"args\": {\"tensors\": 7}}"
#define SLICES "{\"op\": \"from_tensor_slices\", \"args\": {\"tensors\": [1, 2, 3, 4, 5]}}"
#define CHOICE OVER("repeat", "\"count\": 5", "{\"op\": \"range\", \"args\": {\"stop\": 2}}")

static const struct {
    const char *json, *values;
} plans[] = {
    {RANGE(10), "0 1 2 3 4 5 6 7 8 9"},
    {RANGE(0), ""},
    {SLICES, "1 2 3 4 5"},
    {SEVEN, "7"},
    {OVER("repeat", "\"count\": 3", SEVEN), "7 7 7"},
    {OVER("repeat", "\"count\": 2", RANGE(5)), "0 0 1 1 2 2 3 3 4 4"},
    {TWO("concatenate", "", RANGE(5), FROM(10, 15)), "0 1 2 3 4 10 11 12 13 14"},
    {TWO("choose_from_datasets", "\"choice_dataset\": " CHOICE ", \"stop_on_empty_dataset\": false",
         RANGE(5), FROM(10, 15)),
     "0 1 2 3 4 10 11 12 13 14"},
    {TWO("sample_from_datasets", "\"weights\": [0.5, 0.5], \"seed\": 3", RANGE(5), FROM(10, 15)),
     "0 1 2 3 4 10 11 12 13 14"},
    {OVER("enumerate", "", RANGE(10)), "0 1 2 3 4 5 6 7 8 9"},
    {OVER("shuffle", "\"buffer_size\": 10", RANGE(10)), "0 1 2 3 4 5 6 7 8 9"},
    {OVER("repeat", "\"count\": 2", OVER("shuffle", "\"buffer_size\": 5", RANGE(5))),
     "0 0 1 1 2 2 3 3 4 4"},
    {OVER("repeat", "\"count\": 2", OVER("cache", "", RANGE(5))), "0 0 1 1 2 2 3 3 4 4"},
    {OVER("prefetch", "\"buffer_size\": 2", RANGE(5)), "0 1 2 3 4"},
};

static int read_values(const char *text, int64_t *values) {
    int count = 0, used = 0;
    for (long long value; sscanf(text, "%lld%n", &value, &used) == 1; text += used)
        values[count++] = value;
    return count;
}

static void check_values(const char *json, int workers, int64_t lease, const char *text) {
    int64_t want[MOST_VALUES], got[MOST_VALUES * MOST_WORKERS];
    int count = read_values(text, want), found = run_all(json, workers, lease, got);
    if (found != count || memcmp(got, want, (size_t)count * sizeof *got) != 0)
        fail_msg("%s: %d workers, leases of %lld: %d values, expected %d", json, workers,
                 (long long)lease, found, count);
}

static void test_union(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (int workers = 1; workers <= MOST_WORKERS; workers++)
            for (int64_t lease = 1; lease <= 4; lease++)
                check_values(plans[i].json, workers, lease, plans[i].values);
}

/* What every worker runs in full, or counts for itself. */
static void test_each(void **state) {
    (void)state;
    int64_t got[MOST_VALUES * MOST_WORKERS];
    const char *counter = OVER("take", "\"count\": 4", "{\"op\": \"counter\"}");
    assert_int_equal(run_all(counter, 3, 2, got), 12);
    for (int i = 0; i < 12; i++)
        assert_int_equal(got[i], i / 3);
    assert_int_equal(run_all(OVER("take", "\"count\": 7", OVER("repeat", "", RANGE(5))), 3, 1, got),
                     21);
    assert_int_equal(
        run_all(OVER("take", "\"count\": 7",
                     OVER("repeat", "", OVER("shuffle", "\"buffer_size\": 3", RANGE(2)))),
                4, 1, got),
        28);
}

/* Sources side by side: of zip TensorFlow's workers pair what each happens to have. */
static void test_zip(void **state) {
    (void)state;
    int64_t got[MOST_VALUES * MOST_WORKERS];
    const char *json = TWO("zip", "", OVER("repeat", "", RANGE(3)), RANGE(10));
    for (int workers = 1; workers <= 3; workers++) {
        assert_int_equal(run_all(json, workers, 1, got), 10);
        for (int i = 0; i < 10; i++)
            assert_int_equal(got[i], i);
    }
    assert_int_equal(run_all(TWO("zip", "", RANGE(8), RANGE(3)), 1, 1, got), 3);
    assert_int_equal(run_all(TWO("zip", "", RANGE(0), RANGE(5)), 2, 1, got), 0);
    struct dispatcher d;
    dispatcher_open(&d, json, 1);
    assert_int_equal(d.num_sources, 2);
    assert_int_equal(d.sources[0].splits, 3);
    assert_int_equal(d.sources[1].splits, 10);
    assert_true(d.sources[0].in_step && d.sources[1].in_step);
    dispatcher_close(&d);
}

/* A state from after each number of elements goes on with the same ones, whatever was leased since.
 */
static void test_restore(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++)
        for (int at = 0; at < 8; at += 3) {
            struct dispatcher d;
            leat_error err = {0};
            dispatcher_open(&d, plans[p].json, 2);
            struct worker *w = leati_alloc_zero(2, sizeof *w);
            worker_open(&w[0], &d, plans[p].json);
            w[0].most = at;
            take(&w[0]);
            int begin = w[0].count;
            char *data = NULL;
            size_t size = 0;
            assert_int_equal(leat_iterator_save(w[0].iterator, &data, &size, NULL, &err), LEAT_OK);
            w[0].most = MOST_VALUES;
            take(&w[0]);
            leati_iterator_extras extras = {.splits = &w[0].splits};
            w[1].iterator = leati_iterator_new_with(w[0].plan, NULL, &extras, &err);
            assert_int_equal(leat_iterator_restore(w[1].iterator, data, size, &err), LEAT_OK);
            w[1].most = MOST_VALUES;
            take(&w[1]);
            assert_int_equal(w[1].count, w[0].count - begin);
            assert_memory_equal(w[1].values, w[0].values + begin,
                                (size_t)w[1].count * sizeof *w[1].values);
            leat_text_free(data);
            leat_iterator_free(w[1].iterator);
            worker_close(&w[0]);
            leati_free(w);
            dispatcher_close(&d);
        }
}

/* A dispatcher that is away is an error each time, and costs no element. */
static void test_away(void **state) {
    (void)state;
    struct dispatcher d;
    dispatcher_open(&d, RANGE(5), 2);
    d.failures = 2;
    struct worker *w = leati_alloc_zero(1, sizeof *w);
    worker_open(w, &d, RANGE(5));
    int away = 0;
    do {
        take(w);
        away += w->code == LEAT_UNAVAILABLE;
    } while (w->code == LEAT_UNAVAILABLE);
    assert_int_equal(away, 8); /* three leases and the end */
    assert_int_equal(w->count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(w->values[i], i);
    leat_iterator_cancel(w->iterator);
    take(w);
    assert_int_equal(w->code, LEAT_CANCELLED);
    worker_close(w);
    leati_free(w);
    dispatcher_close(&d);
}

static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *snapshot =
        leat_dataset_from_json(OVER("snapshot", "\"path\": \"/nowhere\"", RANGE(3)), &err);
    assert_non_null(snapshot);
    snapshot = leat_dataset_label(snapshot, "kept", &err);
    assert_null(leati_splits_plan(snapshot, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "snapshot");
    leat_dataset_unref(snapshot);
    /* An iterator without splits. */
    leat_dataset *range = leat_dataset_from_json(RANGE(3), &err);
    leat_dataset *plan = leati_splits_plan(range, &err);
    leat_iterator *iterator = leat_iterator_new(plan, NULL, &err);
    leat_element element = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_FAILED_PRECONDITION);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(plan);
    leat_dataset_unref(range);
}

static leat_status plan_and_run(void *context, leat_error *err) {
    struct stream *stream = context;
    memset(stream->count, 0, sizeof stream->count);
    stream->dispatcher->next[0] = stream->dispatcher->next[1] = 0;
    leati_splits splits = {.context = stream, .next = next_lease};
    leat_dataset *dataset = leat_dataset_concatenate(leat_dataset_range(0, 5, 1, NULL, err),
                                                     leat_dataset_range(5, 9, 1, NULL, err), err);
    leat_dataset *plan = dataset == NULL ? NULL : leati_splits_plan(dataset, err);
    leati_iterator_extras extras = {.splits = &splits};
    leat_iterator *iterator =
        plan == NULL ? NULL : leati_iterator_new_with(plan, NULL, &extras, err);
    leat_element element = {0};
    leat_status status = iterator == NULL ? torture_code(err) : LEAT_OK;
    int count = 0;
    while (status == LEAT_OK) {
        status = leat_iterator_next(iterator, &element, err);
        count += status == LEAT_OK;
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(plan);
    leat_dataset_unref(dataset);
    if (status == LEAT_OUT_OF_RANGE)
        assert_int_equal(count, 9);
    return status == LEAT_OUT_OF_RANGE ? LEAT_OK : status;
}

static void test_memory(void **state) {
    (void)state;
    struct dispatcher d;
    dispatcher_open(&d, TWO("concatenate", "", RANGE(5), FROM(5, 9)), 2);
    struct stream *stream = leati_alloc_zero(1, sizeof *stream);
    stream->dispatcher = &d;
    assert_int_equal(plan_and_run(stream, &(leat_error){0}), LEAT_OK); /* starts the threads */
    torture_run(plan_and_run, stream);
    leati_free(stream);
    dispatcher_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_union),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_restore),
        cmocka_unit_test(test_away),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_memory, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
