/* custom_gradient: its values, what flows back through it, within a branch, JSON, and its errors.
 */
#include "support/cmocka.h"

#include "core/spec.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

#define REVERSE "{\"reverse\": {\"function\": 0}, \"num_results\": %d, \"num_sources\": %d}"

/* Of the result's gradient and a value: ten times their product. */
static int tenfold(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_tensor ten = leat_scalar_float64(10);
    leat_value both =
        leat_op_multiply(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    outputs[0] = leat_op_multiply(both, leat_graph_tensor(graph, &ten));
    leat_tensor_unref(&ten);
    return 1;
}

static int to_int(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_cast(leat_graph_argument(graph, 0), LEAT_INT32);
    return 1;
}

static leat_function *of_two(leat_tracer tracer) {
    return test_trace_float64(tracer, NULL, 2,
                              (leat_shape[]){{.rank = LEAT_UNKNOWN_RANK}, LEAT_SCALAR});
}

/* The square of x, whose gradient is 10 y instead of 2 x. */
static int custom_square(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0), y = leat_graph_argument(graph, 1);
    char attributes[128];
    snprintf(attributes, sizeof attributes, REVERSE, 1, 1);
    leat_function *reverse = context;
    return leat_graph_call_functions(graph, "custom_gradient", attributes, &reverse, 1,
                                     (leat_value[]){leat_op_square(x), x, y}, 3, outputs, capacity);
}

static leat_function *trace_square(void) {
    leat_error err = {0};
    leat_function *reverse = of_two(tenfold);
    leat_spec *spec = test_spec(2, (leat_dtype[]){LEAT_FLOAT64, LEAT_FLOAT64},
                                (leat_shape[]){LEAT_SHAPE(LEAT_UNKNOWN_DIM), LEAT_SCALAR});
    leat_function *function = LEAT_TRACE(custom_square, reverse, spec, &err);
    leat_spec_unref(spec);
    leat_function_unref(reverse);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

/* Of x = [3, -2], y = 4 and the upstream gradients [1, 2]. Through y nothing flows. */
static void check_square(const leat_function *function, double first, double second) {
    leat_error err = {0};
    leat_function *reverse = leati_graph_function_gradient(function, &err);
    if (reverse == NULL)
        fail_msg("%s", err.text);
    leat_tensor inputs[3] = {TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 3, -2),
                             leat_scalar_float64(4),
                             TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 1, 2)};
    leat_tensor out[2];
    assert_int_equal(leati_interpret(function, inputs, NULL, out, &err), LEAT_OK);
    const double *values = out[0].data;
    assert_true(values[0] == 9 && values[1] == 4);
    leat_tensor_unref(&out[0]);
    assert_int_equal(leati_interpret(reverse, inputs, NULL, out, &err), LEAT_OK);
    values = out[0].data;
    assert_true(values[0] == first && values[1] == second);
    assert_true(*(const double *)out[1].data == 0);
    for (int i = 0; i < 2; i++)
        leat_tensor_unref(&out[i]);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&inputs[i]);
    leat_function_unref(reverse);
}

static void test_gradient(void **state) {
    (void)state;
    leat_function *function = trace_square();
    assert_int_equal(function->flags, 0);
    check_square(function, 40, 80);
    leat_function_unref(function);
}

static void test_json(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = trace_square();
    char *text = leat_function_to_json(function, &err);
    leat_function *copy = leat_function_from_json(text, &err);
    if (copy == NULL)
        fail_msg("%s", err.text);
    check_square(copy, 40, 80);
    leat_text_free(text);
    leat_function_unref(copy);
    leat_function_unref(function);
}

static int in_branch(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_function *function = context;
    leat_tensor yes = leat_scalar_bool(true);
    leat_value inputs[2] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    leat_value chosen = leat_graph_tensor(graph, &yes);
    leat_tensor_unref(&yes);
    return leat_op_cond(chosen, function, function, inputs, 2, outputs);
}

static void test_within_a_branch(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *inner = trace_square();
    leat_function *function = LEAT_TRACE(in_branch, inner, leat_function_input(inner), &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    check_square(function, 40, 80);
    leat_function_unref(function);
    leat_function_unref(inner);
}

static void refuses(leat_tracer tracer, int results, int sources, leat_reason reason,
                    const char *keyword) {
    leat_error err = {0};
    leat_function *reverse = of_two(tracer);
    leat_graph *graph = leat_graph_new(leat_function_input(reverse), &err);
    leat_value x = leat_graph_argument(graph, 0), y = leat_graph_argument(graph, 1), out[3];
    char attributes[128];
    snprintf(attributes, sizeof attributes, REVERSE, results, sources);
    assert_int_equal(leat_graph_call_functions(graph, "custom_gradient", attributes, &reverse, 1,
                                               (leat_value[]){x, x, y}, 3, out, 3),
                     -1);
    assert_null(leat_graph_finish(graph, &x, 1, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
    leat_function_unref(reverse);
}

static void test_refused(void **state) {
    (void)state;
    refuses(to_int, 1, 1, LEAT_REASON_DTYPE, "int32");
    refuses(tenfold, 2, 2, LEAT_REASON_VALUE, "sources");
    refuses(tenfold, 1, 2, LEAT_REASON_STRUCTURE, "reverse");
}

static leat_status build_and_differentiate(void *context, leat_error *err) {
    leat_spec *spec = leat_spec_ref(leat_function_input(context));
    leat_function *function = LEAT_TRACE(custom_square, context, spec, err);
    leat_function *reverse = function != NULL ? leati_graph_function_gradient(function, err) : NULL;
    leat_spec_unref(spec);
    leat_function_unref(function);
    if (reverse == NULL)
        return torture_code(err);
    leat_function_unref(reverse);
    return LEAT_OK;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    leat_function *reverse = of_two(tenfold);
    torture_run_tolerant(build_and_differentiate, reverse);
    leat_function_unref(reverse);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_gradient),
        TEST(test_json),
        TEST(test_within_a_branch),
        TEST(test_refused),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
