/* Loops over datasets inside functions: in a pipeline, in calls, ended early, cancelled. Expected
 * outcomes are TensorFlow's 2.21 for the program in front of each. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

static leat_value number(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static leat_value argument(leat_graph *graph, int index) {
    return leat_graph_argument(graph, index);
}

/* A function of `count` int64 scalars; failures stand in the graph. */
static leat_function *function_of(leat_graph *graph, leat_tracer tracer, int count) {
    leat_error err = {0};
    leat_spec *children[4];
    for (int i = 0; i < count; i++)
        children[i] = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_spec *spec = leat_spec_tuple(children, count, &err);
    leat_function *function = LEAT_TRACE(tracer, NULL, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        leat_graph_fail(graph, err.code, err.text);
    return function;
}

static leat_value range_to(leat_graph *graph, leat_value stop) {
    return leat_graph_dataset_op(graph, "range", NULL, NULL, 0, (const char *[]){"stop"}, &stop, 1);
}

/* A loop whose body is traced for (state, element, x); its result is outputs[0]. */
static int loop(leat_graph *graph, leat_value dataset, leat_tracer tracer, leat_value start,
                leat_value x, const leat_graph_dataset_reduce_options *options,
                leat_value *outputs) {
    leat_function *body = function_of(graph, tracer, 3);
    int made = leat_graph_dataset_reduce(dataset, body, &start, 1, &x, 1, options, outputs);
    leat_function_unref(body);
    return made < 0 ? -1 : 1;
}

/* s + y * x */
static int trace_product(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] =
        leat_op_add(argument(graph, 0), leat_op_multiply(argument(graph, 1), argument(graph, 2)));
    return 1;
}

/* range(x).reduce(0, lambda s, y: s + y * x) */
static int trace_sum(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = argument(graph, 0);
    return loop(graph, range_to(graph, x), trace_product, number(graph, 0), x, NULL, outputs);
}

/* (s * 10 + y, y < x) */
static int trace_until(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value y = argument(graph, 1);
    outputs[0] = leat_op_less(y, argument(graph, 2));
    outputs[1] = leat_op_add(leat_op_multiply(argument(graph, 0), number(graph, 10)), y);
    return 2;
}

/* s = 0; for y in range(9): s = s * 10 + y; if y >= x: break */
static int trace_break(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_graph_dataset_reduce_options options = {LEAT_GRAPH_DATASET_REDUCE_DEFAULTS,
                                                 .can_stop = true};
    return loop(graph, range_to(graph, number(graph, 9)), trace_until, number(graph, 0),
                argument(graph, 0), &options, outputs);
}

/* s + y // (x - 2): fails for x = 2 */
static int trace_quotient(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value by = leat_op_subtract(argument(graph, 2), number(graph, 2));
    outputs[0] = leat_op_add(argument(graph, 0), leat_op_floordiv(argument(graph, 1), by));
    return 1;
}

static int trace_failing(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    return loop(graph, range_to(graph, number(graph, 3)), trace_quotient, number(graph, 0),
                argument(graph, 0), NULL, outputs);
}

struct program {
    leat_tracer tracer;
    int64_t end;
};

static leat_dataset *build(void *context, leat_error *err) {
    const struct program *p = context;
    leat_dataset *dataset = leat_dataset_range(0, p->end, 1, NULL, err);
    leat_function *function = LEAT_TRACE(p->tracer, NULL, leat_dataset_spec(dataset), err);
    return leat_dataset_map(dataset, function, NULL, err);
}

static void check(leat_tracer tracer, int64_t end, const char *expected) {
    struct program p = {.tracer = tracer, .end = end};
    dataset_check(build, &p, expected);
}

static void test_in_pipelines(void **state) {
    (void)state;
    check(trace_sum, 5, "0 0 2 9 24");
    check(trace_break, 3, "0 1 12");
    check(trace_failing, 4, "-2 -3 !INVALID_ARGUMENT 3");
}

/* ---- in calls ---- */

static leat_function *call_of(leat_tracer tracer, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_function *function = LEAT_TRACE(tracer, NULL, spec, err);
    leat_spec_unref(spec);
    return function;
}

/* The function's result for x, or an error. */
static leat_status call(const leat_function *function, int64_t x, leat_cancel *cancel,
                        int64_t *result, leat_error *err) {
    leat_tensor input = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &x), output = {0};
    leat_status status =
        leat_function_call_cancellable(function, &input, 1, &output, 1, cancel, err);
    if (status == LEAT_OK)
        *result = *(const int64_t *)output.data;
    leat_tensor_unref(&output);
    return status;
}

static leat_status call_all(void *context, leat_error *err) {
    (void)context;
    int64_t result = -1;
    leat_function *function = call_of(trace_sum, err);
    leat_status status =
        function == NULL ? torture_code(err) : call(function, 4, NULL, &result, err);
    leat_function_unref(function);
    if (status == LEAT_OK)
        assert_int_equal(result, 24);
    leati_dataset_templates_trim();
    return status;
}

static void test_in_calls(void **state) {
    (void)state;
    torture_run_tolerant(call_all, NULL); /* what a node's flags are takes memory, too */
}

/* A loop without an end. */
static int trace_forever(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value range = range_to(graph, number(graph, 2));
    leat_value forever = leat_graph_dataset_op(graph, "repeat", NULL, &range, 1, NULL, NULL, 0);
    leat_value x = argument(graph, 0);
    return loop(graph, forever, trace_product, number(graph, 0), x, NULL, outputs);
}

/* A callback that cancels the call in which it runs. */
static leat_status fire(void *context, const leat_element *in, leat_element *out, leat_error *err) {
    leat_cancel_fire(*(leat_cancel **)context);
    return leat_element_set(out, in->spec, in->tensors, err);
}

static leat_cancel *to_fire;

static int trace_firing(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_error err = {0};
    leat_function *callback = LEAT_CALLBACK(fire, &to_fire, NULL, NULL, 0,
                                            leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                                            leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err), &err);
    leat_value range = range_to(graph, number(graph, 2));
    leat_value forever = leat_graph_dataset_op(graph, "repeat", NULL, &range, 1, NULL, NULL, 0);
    leat_function_argument f = {"map_func", callback, NULL, 0};
    leat_value mapped = leat_graph_dataset_call(
        graph,
        &(leat_dataset_call){
            .op = "map", .inputs = &forever, .num_inputs = 1, .functions = &f, .num_functions = 1});
    leat_function_unref(callback);
    leat_value x = argument(graph, 0);
    return loop(graph, mapped, trace_product, number(graph, 0), x, NULL, outputs);
}

static void test_cancelled(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t result = 0;
    leat_tracer tracers[] = {trace_forever, trace_firing};
    for (int i = 0; i < 2; i++) {
        leat_function *function = call_of(tracers[i], &err);
        assert_non_null(function);
        to_fire = leat_cancel_new(&err);
        assert_non_null(to_fire);
        if (i == 0)
            leat_cancel_fire(to_fire);
        assert_int_equal(call(function, 1, to_fire, &result, &err), LEAT_CANCELLED);
        leat_cancel_free(to_fire);
        leat_function_unref(function);
    }
}

/* ---- what others can see ---- */

static int trace_constant(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_dataset *dataset = *(leat_dataset **)context;
    leat_value x = argument(graph, 0);
    return loop(graph, leat_graph_dataset(graph, dataset), trace_product, number(graph, 0), x, NULL,
                outputs);
}

/* A loop over a shuffle that was made outside draws from its generator: never left out. */
static void test_state(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_shuffle_options shuffle = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)};
    leat_dataset *plain = leat_dataset_range(0, 4, 1, NULL, &err);
    leat_dataset *datasets[] = {plain,
                                leat_dataset_shuffle(leat_dataset_ref(plain), 4, &shuffle, &err)};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    for (int i = 0; i < 2; i++) {
        leat_function *function = LEAT_TRACE(trace_constant, &datasets[i], spec, &err);
        int64_t result = 0;
        assert_non_null(function);
        assert_int_equal((function->flags & LEATI_STATEFUL) != 0, i == 1);
        assert_int_equal(call(function, 3, NULL, &result, &err), LEAT_OK);
        assert_int_equal(result, 18);
        leat_function_unref(function);
        leat_dataset_unref(datasets[i]);
    }
    leat_spec_unref(spec);
}

/* ---- failures ---- */

static void fails(leat_function *body, bool over_dataset, int num_variables,
                  const leat_graph_dataset_reduce_options *options, leat_reason reason,
                  const char *keyword) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_value x = argument(graph, 0), outputs[2];
    leat_value over = over_dataset ? range_to(graph, x) : x;
    assert_int_equal(
        leat_graph_dataset_reduce(over, body, &x, num_variables, &x, 1, options, outputs), -1);
    assert_null(leat_graph_finish(graph, &x, 1, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
    leat_spec_unref(spec);
}

static void test_failures(void **state) {
    (void)state;
    leat_error err = {0};
    leat_graph *graph = leat_graph_new(NULL, &err);
    leat_function *sum = function_of(graph, trace_product, 3);
    leat_function *until = function_of(graph, trace_until, 3);
    leat_graph_dataset_reduce_options stops = {LEAT_GRAPH_DATASET_REDUCE_DEFAULTS,
                                               .can_stop = true};
    fails(sum, false, 1, NULL, LEAT_REASON_STRUCTURE, "0");
    fails(sum, true, 0, NULL, LEAT_REASON_VALUE, "2");
    fails(until, true, 1, NULL, LEAT_REASON_VALUE, "2");
    fails(sum, true, 1, &stops, LEAT_REASON_VALUE, "2");
    fails(NULL, true, 1, NULL, LEAT_REASON_VALUE, "NULL");
    leat_function_unref(sum);
    leat_function_unref(until);
    leat_graph_free(graph);
}

static int teardown(void **state) {
    leati_dataset_templates_trim();
    return torture_teardown(state);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_in_pipelines), TEST(test_in_calls),
                                       TEST(test_cancelled), TEST(test_state), TEST(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
