/* group_by_window and group_by_reducer: arguments that are refused, functions that fail, many keys.
 * Expected outcomes are TensorFlow's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../tests/support/torture.h"

#include "../../../tests/support/dataset.h"
#include <leat/ops.h>

/* ---- functions ---- */

static leat_value argument(leat_graph *graph, int index) {
    return leat_graph_argument(graph, index);
}

static leat_value number(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static int same(void *context, leat_graph *graph, leat_value *out) {
    (void)context;
    out[0] = argument(graph, 0);
    return 1;
}

static int modulo(void *context, leat_graph *graph, leat_value *out) {
    out[0] = leat_floormod(argument(graph, 0), number(graph, *(const int64_t *)context));
    return 1;
}

static int to_int32(void *context, leat_graph *graph, leat_value *out) {
    (void)context;
    out[0] = leat_cast(argument(graph, 0), LEAT_INT32);
    return 1;
}

static int zero(void *context, leat_graph *graph, leat_value *out) {
    (void)context;
    out[0] = number(graph, 0);
    return 1;
}

static int sum(void *context, leat_graph *graph, leat_value *out) {
    (void)context;
    out[0] = leat_add(argument(graph, 0), argument(graph, 1));
    return 1;
}

static int pair(void *context, leat_graph *graph, leat_value *out) {
    (void)context;
    out[0] = argument(graph, 0);
    out[1] = argument(graph, 1);
    return 2;
}

/* (key, window) to its batches of `key` elements, which a key of 0 has not. */
static int batches(void *context, leat_graph *graph, leat_value *out) {
    (void)context;
    leat_value window = argument(graph, 1), key = argument(graph, 0);
    out[0] = leat_dataset_value(graph, "batch", NULL, &window, 1, (const char *[]){"batch_size"},
                                &key, 1);
    return 1;
}

static leat_spec *scalar(leat_error *err) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

/* A function of `count` int64 scalars. */
static leat_function *of_scalars(leat_tracer tracer, int count, void *context, leat_error *err) {
    leat_spec *both[2] = {scalar(err), count == 2 ? scalar(err) : NULL};
    leat_spec *input = count == 2 ? leat_spec_tuple(both, 2, err) : both[0];
    leat_function *function = leat_trace(tracer, context, input, err);
    leat_spec_unref(input);
    return function;
}

/* ---- group_by_reducer ---- */

static leat_reducer summing(leat_error *err) {
    return (leat_reducer){of_scalars(zero, 1, NULL, err), of_scalars(sum, 2, NULL, err),
                          of_scalars(same, 1, NULL, err)};
}

static leat_dataset *sums(void *context, leat_error *err) {
    leat_dataset *input = leat_range(0, 9, 1, NULL, err);
    leat_reducer reducer = summing(err);
    return leat_group_by_reducer(dataset_faults(input, 6, 3, err),
                                 of_scalars(modulo, 1, context, err), &reducer, err);
}

static void test_sums(void **state) {
    (void)state;
    int64_t three = 3;
    dataset_check(sums, &three, "!INVALID_ARGUMENT 6 12 15");
    leat_dataset *dataset = dataset_made(sums, &three);
    assert_int_equal(leat_dataset_cardinality(dataset), LEAT_UNKNOWN_CARDINALITY);
    leat_dataset_unref(dataset);
}

/* More keys than any table begins with, downwards and with gaps. */
static void test_many_keys(void **state) {
    (void)state;
    int64_t modulus = -((int64_t)1 << 40), n = 5000;
    leat_error err = {0};
    leat_reducer reducer = summing(&err);
    leat_dataset *dataset = leat_group_by_reducer(
        leat_range(0, n * 3, 3, NULL, &err), of_scalars(modulo, 1, &modulus, &err), &reducer, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    /* Key 0 comes last: the others are x - 2^40. */
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, 3 * ((i + 1) % n));
    }
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void refused(leat_dataset *dataset, const leat_error *err, const char *text) {
    assert_null(dataset);
    assert_int_equal(err->code, LEAT_INVALID_ARGUMENT);
    if (strstr(err->text, text) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err->text, text);
    }
}

static void test_reducer_refuses(void **state) {
    (void)state;
    static const struct {
        int which; /* of key, init, reduce, finalize; 4: no reducer */
        leat_tracer tracer;
        int arguments;
        const char *text;
    } wrong[] = {
        {0, NULL, 0, "group_by_reducer: key_func is NULL"},
        {1, NULL, 0, "group_by_reducer: reducer.init_func is NULL"},
        {2, NULL, 0, "group_by_reducer: reducer.reduce_func is NULL"},
        {3, NULL, 0, "group_by_reducer: reducer.finalize_func is NULL"},
        {4, NULL, 0, "group_by_reducer: reducer.init_func is NULL"},
        {0, to_int32, 1, "key_func returns int32[]; expected an int64 scalar"},
        {0, sum, 2, "key_func takes (int64[], int64[]), but the input's elements are int64[]"},
        {1, sum, 2, "init_func takes (int64[], int64[])"},
        {1, to_int32, 1,
         "reduce_func takes (int64[], int64[]), but the input's elements are "
         "(int32[], int64[])"},
        {2, to_int32, 2, "reduce_func returns the state int32[], but the initial state is int64[]"},
        {2, pair, 2, "reduce_func returns the state (int64[], int64[])"},
        {2, same, 1, "reduce_func takes int64[]"},
        {3, sum, 2, "finalize_func takes (int64[], int64[])"},
    };
    int64_t three = 3;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        leat_error err = {0};
        leat_reducer reducer = summing(&err);
        leat_function *key = of_scalars(modulo, 1, &three, &err);
        leat_function **all[] = {&key, &reducer.init_func, &reducer.reduce_func,
                                 &reducer.finalize_func};
        if (wrong[i].which < 4) {
            leat_function **one = all[wrong[i].which];
            leat_function_unref(*one);
            *one = wrong[i].tracer == NULL
                       ? NULL
                       : of_scalars(wrong[i].tracer, wrong[i].arguments, NULL, &err);
        } else {
            for (int k = 1; k < 4; k++) {
                leat_function_unref(*all[k]);
            }
        }
        leat_dataset *input = leat_range(0, 9, 1, NULL, &err);
        refused(leat_group_by_reducer(input, key, wrong[i].which < 4 ? &reducer : NULL, &err), &err,
                wrong[i].text);
    }
    leat_error err = {0};
    refused(leat_dataset_from_json("{\"op\": \"group_by_reducer\", \"args\": {}, \"input\": "
                                   "{\"op\": \"range\", \"args\": {\"stop\": 3}}}",
                                   &err),
            &err, "key_func");
}

/* ---- group_by_window ---- */

static leat_dataset *batched_groups(void *context, leat_error *err) {
    leat_dataset *input = leat_range(0, 7, 1, NULL, err);
    leat_spec *window[2] = {scalar(err), leat_spec_dataset(scalar(err), err)};
    leat_spec *both = leat_spec_tuple(window, 2, err);
    leat_function *reduce = leat_trace(batches, NULL, both, err);
    leat_spec_unref(both);
    int64_t three = 3;
    return leat_group_by_window(input, of_scalars(modulo, 1, &three, err), reduce,
                                *(const int64_t *)context, NULL, err);
}

/* The group of key 0 fails when it is full, and again at each call behind the end. */
static void test_failing_group(void **state) {
    (void)state;
    int64_t size = 2;
    leat_dataset *dataset = dataset_made(batched_groups, &size);
    char *text = dataset_text(dataset, NULL, 6);
    assert_string_equal(text, "!INTERNAL [1] [4] [2,5] !INTERNAL !INTERNAL");
    free(text);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_error err = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_INTERNAL);
    assert_non_null(strstr(err.text, "reduce_func failed with INVALID_ARGUMENT"));
    assert_non_null(strstr(err.text, "batch_size"));
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test_setup_teardown(test_many_keys, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_reducer_refuses, torture_setup, torture_teardown),
        cmocka_unit_test(test_failing_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
