/* prefetch. Expected outcomes are TensorFlow's (golden cases prefetch). */
#include "support/cmocka.h"

#include <pthread.h>

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"

static leat_dataset *range_of(int64_t n, leat_error *err) {
    return leat_dataset_range(0, n, 1, NULL, err);
}

struct fetched {
    int64_t n, size;
    bool faulty, impure, shuffled;
    int64_t repeat_below, repeat_above, take;
};

static leat_dataset *prefetch_some(void *context, leat_error *err) {
    const struct fetched *f = context;
    leat_dataset *dataset = range_of(f->n, err);
    if (f->shuffled) {
        dataset = leat_dataset_shuffle(
            dataset, 4,
            &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)},
            err);
    }
    dataset = f->faulty ? dataset_faults(dataset, 5, 3, err) : dataset;
    dataset = f->impure ? dataset_impure(dataset, err) : dataset;
    dataset = f->repeat_below != 0 ? leat_dataset_repeat(dataset, f->repeat_below, err) : dataset;
    dataset = leat_dataset_prefetch(dataset, f->size, err);
    dataset = f->take > 0 ? leat_dataset_take(dataset, f->take, err) : dataset;
    return f->repeat_above != 0 ? leat_dataset_repeat(dataset, f->repeat_above, err) : dataset;
}

static const int64_t sizes[] = {LEAT_AUTOTUNE, 0, 1, 3, 100};

static void check_all(struct fetched f, const char *expected) {
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        f.size = sizes[i];
        dataset_check(prefetch_some, &f, expected);
    }
}

static void test_values(void **state) {
    (void)state;
    check_all((struct fetched){.n = 5}, "0 1 2 3 4");
    check_all((struct fetched){.n = 0}, "");
    check_all((struct fetched){.n = 6, .faulty = true}, "0 1 2 !INVALID_ARGUMENT 4 5");
    check_all((struct fetched){.n = 3, .repeat_below = -1, .take = 7}, "0 1 2 0 1 2 0");
    check_all((struct fetched){.n = 9, .take = 2, .repeat_above = 3}, "0 1 0 1 0 1");
}

/* The outcomes are those without a thread. */
static void check_like_inline(struct fetched f) {
    f.size = 0;
    leat_dataset *dataset = dataset_made(prefetch_some, &f);
    char *text = dataset_text(dataset, NULL, -1);
    leat_dataset_unref(dataset);
    check_all(f, text);
    free(text);
}

static void test_inputs(void **state) {
    (void)state;
    check_all((struct fetched){.n = 9, .faulty = true, .impure = true},
              "0 1 2 !INVALID_ARGUMENT 4 5 6 7 !INVALID_ARGUMENT");
    check_like_inline(
        (struct fetched){.n = 7, .shuffled = true, .faulty = true, .repeat_above = 2});
    /* The thread draws the seeds of later epochs ahead of the consumer. */
    check_like_inline((struct fetched){.n = 5, .shuffled = true, .repeat_below = 3});
    check_like_inline((struct fetched){
        .n = 5, .shuffled = true, .repeat_below = -1, .take = 7, .repeat_above = 3});
}

/* Never more than the buffer ahead of the consumer. */
static void test_bound(void **state) {
    (void)state;
    struct fetched f = {.n = 1000, .size = 4, .impure = true};
    leat_dataset *dataset = dataset_made(prefetch_some, &f);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    dataset_asked = 0;
    for (int64_t i = 1; i <= 100; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OK);
        char *data = NULL; /* the driver pauses for it */
        size_t size = 0;
        assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, NULL), LEAT_OK);
        leati_free(data);
        assert_in_range(atomic_load(&dataset_asked), i, i + 4);
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* A memory limit that is too small for anything slows down, but does not stop. */
static void test_budget(void **state) {
    (void)state;
    struct fetched f = {.n = 2000, .size = 1000};
    leat_dataset *dataset = dataset_made(prefetch_some, &f);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .memory_limit = 1};
    leat_iterator *iterator = dataset_iterate(dataset, &options);
    leat_element element = {0};
    for (int64_t i = 0; i < 2000; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OK);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, i);
    }
    assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* ---- a deadline ---- */

struct latch {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
    int64_t first; /* element that it stops */
};

static void open_latch(struct latch *latch) {
    pthread_mutex_lock(&latch->lock);
    latch->open = true;
    pthread_cond_broadcast(&latch->opened);
    pthread_mutex_unlock(&latch->lock);
}

/* Waits for the test. */
static leat_status wait_for_test(void *context, const leat_element *in, leat_element *out,
                                 leat_error *err) {
    struct latch *latch = context;
    pthread_mutex_lock(&latch->lock);
    while (!latch->open && *(const int64_t *)in->tensors[0].data >= latch->first)
        pthread_cond_wait(&latch->opened, &latch->lock);
    pthread_mutex_unlock(&latch->lock);
    return leat_element_set(out, in->spec, in->tensors, err);
}

/* range(n), stopped by the latch, prefetched. */
static leat_dataset *prefetch_latched(struct latch *latch, int64_t n, int64_t size,
                                      leat_error *err) {
    leat_dataset *dataset = range_of(n, err);
    leat_spec *spec = leat_spec_ref(leat_dataset_spec(dataset));
    leat_function *function =
        LEAT_CALLBACK(wait_for_test, latch, NULL, NULL, 0, leat_spec_ref(spec), spec, err);
    return leat_dataset_prefetch(leat_dataset_map(dataset, function, NULL, err), size, err);
}

/* The deadline is the consumer's: it says who is waited for, the thread goes on, nothing is lost.
 */
static void test_deadline(void **state) {
    (void)state;
    struct latch latch = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_label(prefetch_latched(&latch, 3, 2, &err), "slow", &err);
    leat_iterator *iterator = dataset_iterate(
        dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .deadline_ms = 5});
    leat_element element = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_DEADLINE_EXCEEDED);
        assert_refused(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "\"slow\"");
    }
    open_latch(&latch);
    for (int64_t i = 0; i < 3;) {
        leat_status status = leat_iterator_next(iterator, &element, &err);
        if (status != LEAT_DEADLINE_EXCEEDED) {
            assert_int_equal(status, LEAT_OK);
            assert_int_equal(*(const int64_t *)element.tensors[0].data, i++);
        }
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* A consumer is not woken for every element that comes quickly, but what is there is his even if
 * nothing follows: the next element comes only once he has all before it. */
static void test_few_quick_elements(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    for (int64_t first = 1; first < COUNT; first = first * 3 + 1) {
        struct latch latch = {
            .lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER, .first = first};
        leat_error err = {0};
        leat_dataset *dataset = prefetch_latched(&latch, COUNT, 2 * COUNT, &err);
        leat_iterator *iterator = dataset_iterate(dataset, NULL);
        leat_element element = {0};
        for (int64_t i = 0; i < COUNT; i++) {
            if (i == first)
                open_latch(&latch);
            assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
            assert_int_equal(*(const int64_t *)element.tensors[0].data, i);
        }
        leat_element_fini(&element);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
    }
}

static void test_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_dataset_prefetch(range_of(3, &err), -2, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "-2");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_values),   TEST(test_inputs),
                                       TEST(test_bound),    TEST(test_budget),
                                       TEST(test_deadline), TEST(test_few_quick_elements),
                                       TEST(test_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
