/* global_shuffle: its states, its errors, and functions below that draw numbers. Orders are those
 * recorded from TensorFlow (tests/golden/data/tfdata/global_shuffle.json and access.json). */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

static const leat_dataset_shuffle_options seed_3 = {LEAT_DATASET_SHUFFLE_DEFAULTS,
                                                    .seed = LEAT_SEED(3)};

static int trace_noise(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return leat_graph_call(graph, "random_uniform", "{\"shape\": [], \"seed\": 5}", NULL, 0,
                           outputs + 1, 1) == 1
               ? 2
               : -1;
}

static leat_dataset *noisy(int64_t n, leat_error *err) {
    leat_dataset *dataset = leat_dataset_range(0, n, 1, NULL, err);
    return leat_dataset_map(dataset, LEAT_TRACE(trace_noise, NULL, leat_dataset_spec(dataset), err),
                            NULL, err);
}

static leat_dataset *shuffled(void *context, leat_error *err) {
    const int64_t *repeat = context;
    leat_dataset *dataset = leat_dataset_range(0, 7, 1, NULL, err);
    return leat_dataset_repeat(leat_dataset_global_shuffle(dataset, &seed_3, err), *repeat, err);
}

static void test_everywhere(void **state) {
    (void)state;
    dataset_check(shuffled, &(int64_t){1}, "4 0 2 3 1 6 5");
    dataset_check(shuffled, &(int64_t){2}, "4 0 2 3 1 6 5 5 2 0 4 3 1 6");
}

/* A position and a key, however many elements there are. */
static void test_state_is_small(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset =
        leat_dataset_global_shuffle(leat_dataset_range(0, 50000000, 1, NULL, &err), &seed_3, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *data = NULL, *before = NULL, *after = NULL;
    size_t size = 0;
    leat_iterator_save_report report;
    dataset_take(iterator, 5000, &before);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, &report, &err), LEAT_OK);
    assert_in_range(size, 1, 160);
    assert_int_equal(report.replay_elements, 0);
    free(before);
    before = NULL;
    dataset_take(iterator, 10, &before);
    leat_iterator_free(iterator);
    iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
    dataset_take(iterator, 10, &after);
    assert_string_equal(after, before);
    leat_iterator_free(iterator);
    leat_text_free(data);
    leat_dataset_unref(dataset);
    free(before);
    free(after);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The words of a text in order. */
static void sort_words(char *text) {
    char *words[64], *copy = strdup(text), *rest = copy;
    size_t count = 0;
    for (char *word = NULL; (word = strtok_r(rest, " ", &rest)) != NULL && count < 64;)
        words[count++] = word;
    qsort((void *)words, count, sizeof *words, by_text);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        strcat(text, i == 0 ? "" : " ");
        strcat(text, words[i]);
    }
    free(copy);
}

/* In the first epoch each element has the numbers of its index, in the next it has others. */
static void test_random_functions(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *plain = noisy(7, &err);
    leat_dataset *dataset = leat_dataset_global_shuffle(leat_dataset_ref(plain), &seed_3, &err);
    char *expected = dataset_text(plain, NULL, -1), *found = dataset_text(dataset, NULL, -1);
    assert_string_not_equal(found, expected);
    sort_words(found);
    sort_words(expected);
    assert_string_equal(found, expected);
    dataset = leat_dataset_repeat(dataset, 2, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *first = NULL, *second = NULL;
    dataset_take(iterator, 7, &first);
    dataset_take(iterator, 7, &second);
    sort_words(first);
    sort_words(second);
    assert_string_equal(first, expected);
    assert_string_not_equal(second, expected);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    leat_dataset_unref(plain);
    free(expected);
    free(found);
    free(first);
    free(second);
}

/* What stands in the way is named. */
static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *inputs[] = {
        leat_dataset_repeat(leat_dataset_range(0, 3, 1, NULL, NULL), -1, NULL),
        leat_dataset_batch(leat_dataset_range(0, 3, 1, NULL, NULL), 2, NULL, NULL),
        leat_dataset_take(
            leat_dataset_window(leat_dataset_range(0, 3, 1, NULL, NULL), 2, NULL, NULL), 1, NULL),
        leat_dataset_range(0, 0, 1, NULL, NULL),
        NULL,
    };
    static const struct {
        leat_status code;
        leat_reason reason;
        const char *keyword;
    } expected[] = {{LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "-1"},
                    {LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "drop_remainder"},
                    {LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "window"},
                    {LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0"},
                    {LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0"}};
    for (int i = 0; i < 5; i++) {
        err = (leat_error){0};
        assert_null(leat_dataset_global_shuffle(inputs[i], NULL, &err));
        assert_refused(&err, expected[i].code, expected[i].reason, expected[i].keyword);
    }
}

/* Operators below run, and are shown. */
static void test_explain(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_global_shuffle(noisy(4000, &err), &seed_3, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *text = NULL;
    assert_int_equal(dataset_take(iterator, -1, &text), 4000);
    char *table = leat_iterator_explain(iterator, &err);
    assert_non_null(strstr(table, "  map "));
    assert_non_null(strstr(table, "    range "));
    leat_text_free(table);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    free(text);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_everywhere), TEST(test_state_is_small), TEST(test_random_functions),
        TEST(test_refused),    TEST(test_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
