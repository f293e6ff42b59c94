/* Random access: what handles share and keep, who is called how often, and failures. That elements
 * are those of an iteration is the business of tests/conform/data_at.c, TensorFlow's codes that of
 * the recorded cases (tests/golden/data/tfdata/at.json and access.json). */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/access/access.h"
#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>
#include <pthread.h>

/* ---- a function that counts its calls ---- */

struct calls {
    atomic_int count;
    bool fails; /* of 3 */
};

/* 1000 times the argument, plus the number of the call. */
static leat_status call_counted(void *context, const leat_element *in, leat_element *out,
                                leat_error *err) {
    struct calls *calls = context;
    int64_t x = *(const int64_t *)in->tensors[0].data;
    int number = atomic_fetch_add(&calls->count, 1) + 1;
    if (calls->fails && x == 3) {
        err->code = LEAT_DATA_LOSS;
        snprintf(err->text, sizeof(err->text), "by order");
        return torture_code(err);
    }
    leat_tensor result = leat_scalar_int64(1000 * x + number);
    leat_status status = leat_element_set(out, in->spec, &result, err);
    leat_tensor_unref(&result);
    return status;
}

static leat_dataset *counted(leat_dataset *input, struct calls *calls, leat_error *err) {
    leat_function *function =
        LEAT_CALLBACK(call_counted, calls, NULL, NULL, 0, leat_spec_ref(leat_dataset_spec(input)),
                      leat_spec_ref(leat_dataset_spec(input)), err);
    return leat_dataset_label(leat_dataset_map(input, function, NULL, err), "mine", err);
}

static leat_dataset *range_of(int64_t n, leat_error *err) {
    return leat_dataset_range(0, n, 1, NULL, err);
}

/* Element `index` as a number; fails the test on an error. */
static int64_t number_at(leat_accessor *accessor, int64_t index) {
    leat_element element = {0};
    leat_error err = {0};
    if (leat_accessor_get(accessor, index, &element, &err) != LEAT_OK)
        fail_msg("element %lld: %s", (long long)index, err.text);
    int64_t number = *(const int64_t *)element.tensors[0].data;
    leat_element_fini(&element);
    return number;
}

static leat_accessor *opened(leat_dataset *dataset) {
    leat_error err = {0};
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    if (accessor == NULL)
        fail_msg("no accessor: %s", err.text);
    return accessor;
}

static leat_status failure_at(leat_accessor *accessor, int64_t index, leat_error *err) {
    leat_element element = {0};
    leat_status status = leat_accessor_get(accessor, index, &element, err);
    assert_int_equal(status, err->code);
    leat_element_fini(&element);
    return status;
}

/* ---- who is called ---- */

static void test_only_what_is_asked(void **state) {
    (void)state;
    leat_error err = {0};
    struct calls calls = {.fails = true};
    leat_dataset *dataset = counted(range_of(10, &err), &calls, &err);
    dataset = leat_dataset_take(leat_dataset_skip(dataset, 2, &err), 6, &err);
    leat_accessor *accessor = opened(dataset);
    assert_int_equal(calls.count, 0);
    assert_int_equal(number_at(accessor, 5), 7001);
    assert_int_equal(number_at(accessor, 0), 2002);
    assert_int_equal(failure_at(accessor, 1, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_CALLBACK, "\"mine\"");
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_CALLBACK, NULL);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_CALLBACK, "order");
    assert_int_equal(number_at(accessor, 0), 2004);
    assert_int_equal(failure_at(accessor, 6, &err), LEAT_OUT_OF_RANGE);
    assert_refused(&err, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "6");
    assert_int_equal(calls.count, 4);
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

/* A cache reads its input once, in order, for all handles; failed elements have no place in it. */
static void test_cache_reads_once(void **state) {
    (void)state;
    leat_error err = {0};
    struct calls calls = {.fails = true};
    leat_dataset *dataset = leat_dataset_cache(counted(range_of(6, &err), &calls, &err), &err);
    leat_accessor *first = opened(dataset), *second = opened(dataset);
    assert_int_equal(number_at(first, 1), 1002);
    assert_int_equal(calls.count, 2);
    assert_int_equal(number_at(second, 0), 1);
    assert_int_equal(failure_at(second, 4, &err), LEAT_DATA_LOSS);
    assert_int_equal(calls.count, 4);
    assert_int_equal(number_at(first, 3), 4005);
    assert_int_equal(number_at(second, 4), 5006);
    assert_int_equal(failure_at(second, 5, &err), LEAT_OUT_OF_RANGE);
    assert_refused(&err, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "4");
    leat_accessor_close(first);
    assert_int_equal(number_at(second, 0), 1);
    leat_accessor_close(second);
    leat_element element = {0};
    assert_int_equal(leat_dataset_at(dataset, 2, &element, &err), LEAT_OK);
    assert_int_equal(*(const int64_t *)element.tensors[0].data, 2003);
    leat_element_fini(&element);
    assert_int_equal(calls.count, 6);
    leat_dataset_unref(dataset);
}

/* What a complete iteration has kept answers too. */
static void test_cache_of_an_iteration(void **state) {
    (void)state;
    leat_error err = {0};
    struct calls calls = {0};
    leat_dataset *dataset = leat_dataset_cache(counted(range_of(4, &err), &calls, &err), &err);
    char *text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, "1 1002 2003 3004");
    free(text);
    leat_accessor *accessor = opened(dataset);
    assert_int_equal(number_at(accessor, 3), 3004);
    assert_int_equal(number_at(accessor, 0), 1);
    assert_int_equal(failure_at(accessor, 4, &err), LEAT_OUT_OF_RANGE);
    leat_accessor_close(accessor);
    assert_int_equal(calls.count, 4);
    leat_dataset_unref(dataset);
}

/* ---- threads ---- */

enum { MANY = 400, READERS = 4 };

struct reader {
    leat_dataset *dataset;
    int64_t first;
    int64_t wrong;
};

static void *read_all(void *context) {
    struct reader *reader = context;
    leat_accessor *accessor = leat_accessor_open(reader->dataset, NULL);
    for (int64_t i = 0; accessor != NULL && i < MANY; i++) {
        leat_element element = {0};
        int64_t index = (reader->first + 7 * i) % MANY;
        leat_status status = leat_accessor_get(accessor, index, &element, NULL);
        reader->wrong +=
            status != LEAT_OK || *(const int64_t *)element.tensors[0].data / 1000 != index;
        leat_element_fini(&element);
    }
    reader->wrong += accessor == NULL;
    leat_accessor_close(accessor);
    return NULL;
}

/* Handles on several threads share one cache, whose input is read by one of them at a time. */
static void test_threads(void **state) {
    (void)state;
    leat_error err = {0};
    struct calls calls = {0};
    leat_dataset *dataset = leat_dataset_cache(counted(range_of(MANY, &err), &calls, &err), &err);
    struct reader readers[READERS];
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.dataset = dataset, .first = 31 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readers[i].wrong, 0);
    }
    assert_int_equal(calls.count, MANY);
    leat_dataset_unref(dataset);
}

/* ---- several indices ---- */

/* Asks for all indices of a list, as often as it takes. */
static void check_rows(leat_dataset *dataset, const int64_t *indices, int64_t n, bool verify,
                       const int64_t *expected) {
    leat_error err = {0};
    leati_iteration iteration = {.verify = verify, .verify_seed = 11, .inline_only = true};
    iteration.budget = leati_budget_new(0, 1, &err);
    leati_access *access = leati_access_open(dataset, &iteration, NULL, false, &err);
    assert_non_null(access);
    leati_block block = {0};
    for (int64_t done = 0; done < n; done += block.n) {
        if (leati_access_get(access, indices + done, n - done, &block, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        assert_in_range(block.n, 1, n - done);
        for (int64_t i = 0; i < block.n; i++) {
            assert_int_equal(*(int64_t *)leati_column_row(&block.columns[0], i),
                             expected[done + i]);
        }
    }
    leati_block_fini(&block);
    leati_access_close(access);
    leati_budget_unref(iteration.budget);
}

static void test_lists(void **state) {
    (void)state;
    leat_error err = {0};
    const int64_t indices[] = {4, 0, 0, 9, 10, 3, 11};
    const int64_t expected[] = {9, 5, 5, 0, 1, 8, 2};
    for (int verify = 0; verify < 2; verify++) {
        /* 5 6 7 8 9 10 11 12 13 0 1 2 */
        leat_dataset *dataset =
            leat_dataset_concatenate(leat_dataset_range(5, 14, 1, NULL, &err),
                                     leat_dataset_cache(range_of(3, &err), &err), &err);
        check_rows(dataset, indices, 7, verify, expected);
        dataset = leat_dataset_unbatch(
            leat_dataset_batch(
                dataset, 4,
                &(leat_dataset_batch_options){LEAT_DATASET_BATCH_DEFAULTS, .drop_remainder = true},
                &err),
            &err);
        check_rows(dataset, indices, 7, verify, expected);
        dataset = leat_dataset_zip(&dataset, 1, &err);
        check_rows(dataset, indices, 7, verify, expected);
        leat_dataset_unref(dataset);
    }
}

/* A failure concerns the first index of a list; those before it have been answered. */
static void test_lists_that_fail(void **state) {
    (void)state;
    leat_error err = {0};
    struct calls calls = {.fails = true};
    leati_iteration iteration = {.inline_only = true};
    iteration.budget = leati_budget_new(0, 1, &err);
    leat_dataset *dataset = counted(range_of(5, &err), &calls, &err);
    leati_access *access = leati_access_open(dataset, &iteration, NULL, false, &err);
    leati_block block = {0};
    const int64_t indices[] = {2, 3, 4, 5};
    const leat_status expected[] = {LEAT_OK, LEAT_DATA_LOSS, LEAT_OK, LEAT_OUT_OF_RANGE};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(leati_access_get(access, indices + i, 4 - i, &block, &err), expected[i]);
        assert_int_equal(block.n, expected[i] == LEAT_OK);
    }
    assert_int_equal(calls.count, 3);
    leati_block_fini(&block);
    leati_access_close(access);
    leati_budget_unref(iteration.budget);
    leat_dataset_unref(dataset);
}

/* ---- the rest ---- */

static int trace_noise(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    return leat_graph_call(graph, "random_uniform", "{\"shape\": [2], \"seed\": 5}", NULL, 0,
                           outputs, LEAT_MAX_OUTPUTS);
}

/* Random numbers belong to the index, and are those of a first epoch. */
static void test_random_functions(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = range_of(6, &err);
    leat_function *function = LEAT_TRACE(trace_noise, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_map(dataset, function, NULL, &err);
    char *expected = dataset_text(dataset, NULL, -1), *found = NULL;
    dataset_append(&found, "");
    leat_accessor *accessor = opened(dataset);
    leat_element element = {0};
    for (int64_t i = 11; i >= 0; i--)
        assert_int_equal(leat_accessor_get(accessor, i / 2, &element, &err), LEAT_OK);
    for (int64_t i = 0; i < 6; i++) {
        assert_int_equal(leat_accessor_get(accessor, i, &element, &err), LEAT_OK);
        dataset_append_element(&found, &element);
    }
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    leat_element_fini(&element);
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

/* Without a seed the permutation is some permutation, and the same for every handle. */
static void test_unseeded_shuffle(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_shuffle(range_of(50, &err), 3, NULL, &err);
    leat_accessor *first = opened(dataset), *second = opened(dataset);
    uint64_t seen = 0;
    for (int64_t i = 0; i < 50; i++) {
        int64_t number = number_at(first, i);
        assert_in_range(number, 0, 49);
        seen |= UINT64_C(1) << number;
        assert_int_equal(number_at(second, i), number);
    }
    assert_true(seen == (UINT64_C(1) << 50) - 1);
    leat_accessor_close(first);
    leat_accessor_close(second);
    leat_dataset_unref(dataset);
}

static void test_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element element = {0};
    assert_null(leat_accessor_open(NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    /* The first error of a chain of builders stays. */
    err = (leat_error){0};
    assert_int_equal(leat_dataset_at(leat_dataset_range(0, 3, 0, NULL, &err), 0, &element, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "step");
    assert_int_equal(leat_accessor_get(NULL, 0, &element, &err), LEAT_INVALID_ARGUMENT);
    leat_dataset *dataset = range_of(3, &(leat_error){0});
    leat_accessor *accessor = opened(dataset);
    assert_int_equal(leat_accessor_get(accessor, 0, NULL, NULL), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_accessor_get(accessor, 3, &element, NULL), LEAT_OUT_OF_RANGE);
    assert_int_equal(leat_dataset_at(dataset, 2, &element, NULL), LEAT_OK);
    leat_dataset_unref(dataset);
    assert_int_equal(number_at(accessor, 1), 1);
    leat_accessor_close(accessor);
    leat_accessor_close(NULL);
    leat_element_fini(&element);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_only_what_is_asked),
        TEST(test_cache_reads_once),
        TEST(test_cache_of_an_iteration),
        TEST(test_threads),
        TEST(test_lists),
        TEST(test_lists_that_fail),
        TEST(test_random_functions),
        TEST(test_unseeded_shuffle),
        TEST(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
