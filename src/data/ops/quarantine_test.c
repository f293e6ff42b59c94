/* quarantine: the lines of its list, limits, and that an element is listed once. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "core/json.h"
#include "data/run/place.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/leat.h>
#include <stdio.h>
#include <string.h>

static int to_number(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_string_to_number(leat_graph_argument(graph, 0), LEAT_INT64);
    return 1;
}

/* Numbers 1, 2, ... where the text has a digit in a line; anything else is bad. */
static leat_dataset *numbers(const char *lines, const char *compression) {
    leat_error err = {0};
    const char *path = scratch_write("numbers.txt", lines, strlen(lines));
    leat_dataset_text_line_options options = {LEAT_DATASET_TEXT_LINE_DEFAULTS,
                                              .compression_type = compression};
    leat_dataset *dataset = leat_dataset_text_line(&path, 1, &options, &err);
    leat_function *function = LEAT_TRACE(to_number, NULL, leat_dataset_spec(dataset), &err);
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = 2};
    dataset =
        leat_dataset_label(leat_dataset_map(dataset, function, &parallel, &err), "number", &err);
    assert_non_null(dataset);
    return dataset;
}

/* The outcomes of `calls` calls, or to the end: numbers, or the errors' texts. */
static void expect_outcomes(leat_iterator *iterator, int calls, const char *expected) {
    char text[4000] = "";
    leat_element element = {0};
    for (int i = 0; i != calls; i++) {
        leat_error err = {0};
        leat_status status = leat_iterator_next(iterator, &element, &err);
        size_t at = strlen(text);
        if (status == LEAT_OUT_OF_RANGE)
            break;
        if (status != LEAT_OK) {
            snprintf(text + at, sizeof(text) - at, "%s: %s|", leat_status_name(status), err.text);
        } else {
            snprintf(text + at, sizeof(text) - at, "%lld ",
                     (long long)*(int64_t *)element.tensors[0].data);
        }
    }
    assert_string_equal(text, expected);
    leat_element_fini(&element);
}

static leat_iterator *iterate(leat_dataset *dataset) {
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    assert_non_null(iterator);
    return iterator;
}

/* Line `number` of the list has these members; "" for none. */
static void expect_line(const char *path, int number, const char *file, int64_t byte,
                        int64_t element) {
    size_t size = 0;
    char *text = (char *)scratch_read(path, &size), *line = text;
    for (int i = 0; i < number; i++) {
        line = strchr(line, '\n');
        assert_non_null(line);
        line++;
    }
    json_t *json = leati_json_parse(line, strcspn(line, "\n"), &(leat_error){0});
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "file")), file);
    assert_int_equal(json_integer_value(json_object_get(json, "byte")), byte);
    assert_int_equal(json_integer_value(json_object_get(json, "element")), element);
    assert_string_equal(json_string_value(json_object_get(json, "code")), "INVALID_ARGUMENT");
    const char *op = json_string_value(json_object_get(json, "operator"));
    assert_non_null(strstr(op, "map \"number\" (quarantine_test.c:"));
    const char *reason = json_string_value(json_object_get(json, "reason"));
    assert_int_equal(strncmp(reason, "op string_to_number (node 0): ", 30), 0);
    json_decref(json);
    free(text);
}

static int count_lines(const char *path) {
    size_t size = 0;
    char *text = (char *)scratch_read(path, &size);
    int count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    assert_true(size == 0 || text[size - 1] == '\n');
    free(text);
    return count;
}

/* Two epochs and a second iterator list each element once. */
static void test_list(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_path("bad.jsonl");
    leat_dataset *dataset =
        leat_dataset_quarantine(numbers("1\nx\n3\n\n5\n", NULL), path, NULL, &err);
    dataset = leat_dataset_repeat(dataset, 2, &err);
    for (int i = 0; i < 2; i++) {
        leat_iterator *iterator = iterate(dataset);
        expect_outcomes(iterator, -1, "1 3 5 1 3 5 ");
        char *table = leat_iterator_explain(iterator, &err);
        assert_non_null(strstr(table, "quarantine"));
        leat_text_free(table);
        leat_iterator_free(iterator);
        assert_int_equal(count_lines(path), 2);
    }
    char file[1024];
    snprintf(file, sizeof(file), "%s/numbers.txt", scratch_folder);
    expect_line(path, 0, file, 2, 1);
    expect_line(path, 1, file, 6, 3);
    leat_dataset_unref(dataset);
}

static void test_limit(void **state) {
    (void)state;
    leat_error err = {0};
    char path[1024];
    snprintf(path, sizeof(path), "%s", scratch_path("bad.jsonl"));
    leat_dataset_quarantine_options one = {LEAT_DATASET_QUARANTINE_DEFAULTS, .max_errors = 1},
                                    none = {LEAT_DATASET_QUARANTINE_DEFAULTS, .max_errors = 0};
    leat_dataset *dataset =
        leat_dataset_quarantine(numbers("1\nx\n3\ny\n5\n", NULL), path, &one, &err);
    leat_iterator *iterator = iterate(dataset);
    leat_element element = {0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_DATA_LOSS);
    assert_string_equal(err.op, "quarantine");
    assert_int_equal(err.element, 2);
    const char *const keywords[] = {"max_errors", "4", path, "\"number\""};
    for (int k = 0; k < 4; k++)
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, keywords[k]);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    assert_int_equal(count_lines(path), 2);

    dataset = leat_dataset_quarantine(numbers("x\n", NULL), NULL, &none, &err);
    iterator = iterate(dataset);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_DATA_LOSS);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    leat_element_fini(&element);
}

/* The count goes on where it was, and what was listed is not listed again. */
static void test_resume(void **state) {
    (void)state;
    leat_error err = {0};
    char path[1024];
    snprintf(path, sizeof(path), "%s", scratch_path("bad.jsonl"));
    leat_dataset_quarantine_options two = {LEAT_DATASET_QUARANTINE_DEFAULTS, .max_errors = 2};
    leat_dataset *dataset =
        leat_dataset_quarantine(numbers("x\n1\ny\n2\n3\nz\n4\n", NULL), path, &two, &err);
    leat_iterator *iterator = iterate(dataset);
    expect_outcomes(iterator, 2, "1 2 ");
    char *saved = NULL;
    size_t size = 0;
    assert_int_equal(leat_iterator_save(iterator, &saved, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    iterator = iterate(dataset);
    assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_OK);
    leat_element element = {0};
    expect_outcomes(iterator, 1, "3 ");
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "3");
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_text_free(saved);
    leat_dataset_unref(dataset);
    assert_int_equal(count_lines(path), 3);
}

/* A list that cannot be written loses no element: each is an error in its place. */
static void test_no_folder(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_quarantine(numbers("1\nx\n3\n", NULL),
                                                    scratch_path("missing/bad"), NULL, &err);
    leat_iterator *iterator = iterate(dataset);
    leat_element element = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_NOT_FOUND);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, NULL);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"number\"");
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void test_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_quarantine_options few = {LEAT_DATASET_QUARANTINE_DEFAULTS, .max_errors = -3},
                                    more = {LEAT_DATASET_QUARANTINE_DEFAULTS, .max_fraction = 1.5};
    assert_null(leat_dataset_quarantine(leat_dataset_range(0, 3, 1, NULL, &err), NULL, &few, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "-3");
    err = (leat_error){0};
    assert_null(
        leat_dataset_quarantine(leat_dataset_range(0, 3, 1, NULL, &err), NULL, &more, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1.5");
    err = (leat_error){0};
    leat_dataset *plan = leat_dataset_from_json(
        "{\"op\": \"quarantine\", \"args\": {\"path\": \"bad\", \"max_errors\": 3}, "
        "\"input\": {\"op\": \"range\", \"args\": {\"stop\": 3}}}",
        &err);
    assert_non_null(plan);
    leat_dataset_unref(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_list, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_limit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_resume, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_no_folder, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
