/* flat_map, and datasets as values inside functions. Expected outcomes are TensorFlow's (golden
 * cases flat_map). */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

static leat_dataset *range_of(int64_t n, leat_error *err) {
    return leat_dataset_range(0, n, 1, NULL, err);
}

static leat_value int_constant(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static leat_value range_to(leat_graph *graph, leat_value stop) {
    return leat_graph_dataset_op(graph, "range", NULL, NULL, 0, (const char *[]){"stop"}, &stop, 1);
}

/* range(x) */
static int trace_range(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = range_to(graph, leat_graph_argument(graph, 0));
    return 1;
}

/* range(12 // (3 - x)): fails for 3. */
static int trace_fail(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_value rest = leat_op_subtract(int_constant(graph, 3), x);
    outputs[0] = range_to(graph, leat_op_floordiv(int_constant(graph, 3), rest));
    return 1;
}

/* range(x).shuffle(4, seed=7) */
static int trace_shuffled(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value range = range_to(graph, leat_graph_argument(graph, 0));
    outputs[0] = leat_graph_dataset_op(graph, "shuffle", "{\"buffer_size\": 4, \"seed\": 7}",
                                       &range, 1, NULL, NULL, 0);
    return 1;
}

/* 6 // (y - 2): fails for 2. */
static int trace_inner(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value y = leat_graph_argument(graph, 0);
    outputs[0] =
        leat_op_floordiv(int_constant(graph, 6), leat_op_subtract(y, int_constant(graph, 2)));
    return 1;
}

/* range(x).map(6 // (y - 2), num_parallel_calls=AUTOTUNE).prefetch(2): inside a function both run
 * inline. */
static int trace_parallel(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *function = LEAT_TRACE(trace_inner, NULL, spec, &err);
    leat_spec_unref(spec);
    char *json = function == NULL ? NULL : leat_function_to_json(function, &err);
    leat_function_unref(function);
    if (json == NULL) {
        leat_graph_fail(graph, err.code, err.text);
        return -1;
    }
    size_t size = strlen(json) + 128;
    char *args = malloc(size);
    snprintf(args, size, "{\"map_func\": %s, \"num_parallel_calls\": \"AUTOTUNE\"}", json);
    leat_text_free(json);
    leat_value range = range_to(graph, leat_graph_argument(graph, 0));
    leat_value map = leat_graph_dataset_op(graph, "map", args, &range, 1, NULL, NULL, 0);
    free(args);
    outputs[0] =
        leat_graph_dataset_op(graph, "prefetch", "{\"buffer_size\": 2}", &map, 1, NULL, NULL, 0);
    return 1;
}

struct flattened {
    leat_tracer tracer;
    int64_t n;
    bool faulty, impure;
    int64_t repeat, prefetch;
};

static leat_dataset *flatten(void *context, leat_error *err) {
    const struct flattened *f = context;
    leat_dataset *dataset = range_of(f->n, err);
    dataset = f->faulty ? dataset_faults(dataset, 5, 2, err) : dataset;
    dataset = f->impure ? dataset_impure(dataset, err) : dataset;
    leat_function *function = LEAT_TRACE(f->tracer, NULL, leat_dataset_spec(dataset), err);
    dataset = leat_dataset_flat_map(dataset, function, err);
    dataset = f->prefetch > 0 ? leat_dataset_prefetch(dataset, f->prefetch, err) : dataset;
    return f->repeat > 0 ? leat_dataset_repeat(dataset, f->repeat, err) : dataset;
}

static void check(struct flattened f, const char *expected) {
    dataset_check(flatten, &f, expected);
    f.prefetch = 3;
    dataset_check(flatten, &f, expected);
}

static void test_values(void **state) {
    (void)state;
    check((struct flattened){.tracer = trace_range, .n = 5}, "0 0 1 0 1 2 0 1 2 3");
    check((struct flattened){.tracer = trace_range, .n = 0}, "");
    check((struct flattened){.tracer = trace_range, .n = 3, .repeat = 2}, "0 0 1 0 0 1");
    check((struct flattened){.tracer = trace_shuffled, .n = 5}, "0 0 1 1 2 0 0 2 1 3");
}

static void test_errors(void **state) {
    (void)state;
    check((struct flattened){.tracer = trace_fail, .n = 5}, "0 0 0 1 2 !INVALID_ARGUMENT");
    check((struct flattened){.tracer = trace_range, .n = 5, .faulty = true, .impure = true},
          "0 !INVALID_ARGUMENT 0 1 2 0 1 2 3");
    check((struct flattened){.tracer = trace_parallel, .n = 5},
          "-3 -3 -6 -3 -6 !INVALID_ARGUMENT -3 -6 !INVALID_ARGUMENT 6");
}

static int trace_double(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_add(x, x);
    return 1;
}

/* Parallel maps above, below and inside, each behind a prefetch: one thread is enough for all. */
static void test_pool_of_one(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS,
                                         .num_parallel_calls = LEAT_AUTOTUNE};
    leat_dataset *dataset = leat_dataset_repeat(range_of(50, &err), 20, &err);
    dataset = leat_dataset_map(
        dataset, LEAT_TRACE(trace_double, NULL, leat_dataset_spec(dataset), &err), &parallel, &err);
    dataset = leat_dataset_prefetch(dataset, 2, &err);
    leat_function *function = LEAT_TRACE(trace_parallel, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_prefetch(leat_dataset_flat_map(dataset, function, &err), 1, &err);
    dataset = leat_dataset_map(
        dataset, LEAT_TRACE(trace_double, NULL, leat_dataset_spec(dataset), &err), &parallel, &err);
    dataset = leat_dataset_prefetch(dataset, LEAT_AUTOTUNE, &err);
    assert_non_null(dataset);
    leat_iterator *iterator = dataset_iterate(
        dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .num_threads = 1});
    leat_element element = {0};
    int64_t good = 0, bad = 0;
    leat_status status = LEAT_OK;
    while ((status = leat_iterator_next(iterator, &element, &err)) != LEAT_OUT_OF_RANGE) {
        good += status == LEAT_OK;
        bad += status == LEAT_INVALID_ARGUMENT;
    }
    /* 0 + 2 + ... + 98 inner elements an epoch; one of them fails wherever there are 3. */
    assert_int_equal(good + bad, 20 * 2450);
    assert_int_equal(bad, 20 * 48);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void test_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = range_of(3, &err);
    leat_function *function = LEAT_TRACE(trace_double, NULL, leat_dataset_spec(dataset), &err);
    assert_null(leat_dataset_flat_map(dataset, function, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "int64[]");
    err = (leat_error){0};
    assert_null(leat_dataset_flat_map(range_of(3, &err), NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

static int teardown(void **state) {
    leati_dataset_templates_trim();
    return torture_teardown(state);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_values), TEST(test_errors), TEST(test_pool_of_one),
                                       TEST(test_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
