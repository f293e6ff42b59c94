/* Plans over objects of the caller, and elements by rows. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/bind.h>
#include <leat/data_ops.h>
#include <leat/ops.h>

#define RANGE(STOP) "{\"op\": \"range\", \"args\": {\"stop\": " STOP "}}"

/* ---- plans ---- */

static int trace_twice(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_add(x, x);
    return 1;
}

static leat_function *find_function(void *context, int64_t number, const char *op,
                                    const char *argument, const leat_spec *input, leat_error *err) {
    *(int *)context += 1;
    assert_int_equal(number, 7);
    assert_string_equal(op, "map");
    assert_string_equal(argument, "map_func");
    return LEAT_TRACE(trace_twice, NULL, input, err);
}

static void check_built(const char *plan, const leat_bindings *bindings, const char *expected) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_build(plan, bindings, &err);
    if (dataset == NULL)
        fail_msg("%s: %s", plan, err.text);
    char *text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, expected);
    free(text);
    leat_dataset_unref(dataset);
}

static void check_refused(const char *plan, const leat_bindings *bindings, leat_reason reason,
                          const char *keyword) {
    leat_error err = {0};
    assert_null(leat_dataset_build(plan, bindings, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void test_references(void **state) {
    (void)state;
    leat_error err = {0};
    int calls = 0;
    leat_dataset *datasets[2] = {leat_dataset_range(0, 2, 1, NULL, &err),
                                 leat_dataset_range(5, 7, 1, NULL, &err)};
    leat_element element = {0};
    const int64_t values[3] = {3, 1, 4};
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(3), values);
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(3), &err);
    assert_int_equal(leat_element_set(&element, spec, &tensor, &err), LEAT_OK);
    const leat_bindings bindings = {.datasets = datasets,
                                    .num_datasets = 2,
                                    .elements = &element,
                                    .num_elements = 1,
                                    .function = find_function,
                                    .context = &calls};
    check_built("{\"op\": \"concatenate\", \"inputs\": [{\"ref\": \"1\"}, {\"ref\": \"0\"}]}",
                &bindings, "5 6 0 1");
    check_built("{\"op\": \"from_tensor_slices\", \"args\": {\"tensors\": {\"given\": 0}}}",
                &bindings, "3 1 4");
    check_built(
        "{\"op\": \"map\", \"args\": {\"map_func\": {\"function\": 7}}, \"input\": " RANGE("3") "}",
        &bindings, "0 2 4");
    assert_true(calls > 0);
    check_built(RANGE("2"), NULL, "0 1");
    static const char *const names[] = {"2", "-1", "x", "", "1x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char plan[128], keyword[16];
        snprintf(plan, sizeof plan,
                 "{\"op\": \"take\", \"args\": {\"count\": 1}, \"input\": {\"ref\": \"%s\"}}",
                 names[i]);
        snprintf(keyword, sizeof keyword, "\"%s\"", names[i]);
        check_refused(plan, &bindings, LEAT_REASON_VALUE, keyword);
        check_refused(plan, NULL, LEAT_REASON_VALUE, "0");
    }
    check_refused("{\"op\": \"from_tensor_slices\", \"args\": {\"tensors\": {\"given\": 1}}}",
                  &bindings, LEAT_REASON_VALUE, "1");
    check_refused("{\"op\": \"from_tensor_slices\", \"args\": {\"tensors\": {\"given\": -1}}}",
                  &bindings, LEAT_REASON_VALUE, "-1");
    check_refused(NULL, &bindings, LEAT_REASON_VALUE, "plan");
    check_refused("{", &bindings, LEAT_REASON_VALUE, "1");
    assert_null(leat_dataset_build(NULL, NULL, NULL));
    leat_dataset_unref(datasets[0]);
    leat_dataset_unref(datasets[1]);
    leat_spec_unref(spec);
    leat_element_fini(&element);
}

/* ---- rows ---- */

static void test_rows_of_scalars(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, 10, 1, NULL, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    int64_t next = 0, n = 5;
    leat_tensor out;
    leat_status status;
    while ((status = leat_iterator_next_rows(iterator, 3, &out, &n, &err)) == LEAT_OK) {
        assert_in_range(n, 1, 3);
        assert_int_equal(out.rank, 1);
        assert_int_equal(out.dims[0], n);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(((const int64_t *)out.data)[i], next++);
        leat_tensor_unref(&out);
    }
    assert_int_equal(status, LEAT_OUT_OF_RANGE);
    assert_int_equal(n, 0);
    assert_int_equal(next, 10);
    n = 5;
    assert_int_equal(leat_iterator_next_rows(iterator, 0, &out, &n, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "most");
    assert_int_equal(n, 0);
    assert_int_equal(leat_iterator_next_rows(NULL, 1, &out, &n, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "iterator");
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* The first rows of a dataset (given), up to 4. */
static int64_t first_rows(leat_dataset *dataset, leat_tensor *out) {
    leat_error err = {0};
    int64_t n = 0;
    assert_non_null(dataset);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    if (leat_iterator_next_rows(iterator, 4, out, &n, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return n;
}

static void test_rows_of_shapes(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor out;
    /* Batches of 2, 2 and 1: as many as have one shape, or one at a time. */
    int64_t n = first_rows(
        leat_dataset_batch(leat_dataset_range(0, 5, 1, NULL, &err), 2, NULL, &err), &out);
    assert_in_range(n, 1, 2);
    assert_int_equal(out.rank, 2);
    assert_int_equal(out.dims[0], n);
    assert_int_equal(out.dims[1], 2);
    assert_int_equal(((const int64_t *)out.data)[1], 1);
    leat_tensor_unref(&out);
    /* No room for a new axis, and no stacking of datasets. */
    n = first_rows(
        leat_dataset_from_json(
            "{\"op\": \"repeat\", \"args\": {\"count\": 3}, \"input\": {\"op\": "
            "\"from_tensors\", \"args\": {\"tensors\": {\"dtype\": \"int64\", \"shape\": "
            "[1, 1, 1, 1, 1, 1, 1, 2], \"data\": [8, 9]}}}}",
            &err),
        &out);
    assert_int_equal(n, 1);
    assert_int_equal(out.rank, LEAT_MAX_RANK);
    assert_int_equal(((const int64_t *)out.data)[1], 9);
    leat_tensor_unref(&out);
    n = first_rows(leat_dataset_window(leat_dataset_range(0, 5, 1, NULL, &err), 2, NULL, &err),
                   &out);
    assert_int_equal(n, 1);
    assert_int_equal(out.dtype, LEAT_OBJECT);
    assert_int_equal(out.rank, 0);
    leat_tensor_unref(&out);
    /* Rows that do not lie behind each other, and strings with their text. */
    n = first_rows(
        leat_dataset_from_json(
            "{\"op\": \"repeat\", \"args\": {\"count\": 3}, \"input\": {\"op\": "
            "\"from_tensors\", \"args\": {\"tensors\": {\"dtype\": \"string\", \"shape\": "
            "[2], \"data\": [\"one\", \"another\"]}}}}",
            &err),
        &out);
    assert_in_range(n, 1, 3);
    for (int64_t i = 0; i < n; i++) {
        const leat_string *row = (const leat_string *)out.data + 2 * i;
        assert_int_equal(row[1].size, 7);
        assert_memory_equal(row[1].data, "another", 7);
    }
    leat_tensor_unref(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_references), TEST(test_rows_of_scalars),
                                       TEST(test_rows_of_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
