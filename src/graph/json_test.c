/* Functions as JSON: round trips, what cannot travel, and text from outside. */
#include "support/cmocka.h"

#include "core/json.h"
#include "graph/json.h"
#include "graph/node_args.h"
#include "graph/variable.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

static int mixed(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_tensor half = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(2), float, .5f, -1e-30f);
    leat_tensor words = TEST_TENSOR(LEAT_STRING, LEAT_SCALAR, leat_string, {"a\0b", 3});
    outputs[0] = leat_op_cast(leat_op_multiply(x, leat_graph_tensor(graph, &half)), LEAT_FLOAT64);
    outputs[1] = leat_graph_tensor(graph, &words);
    outputs[2] = x;
    leat_tensor_unref(&half);
    leat_tensor_unref(&words);
    return 3;
}

static leat_function *trace_mixed(void) {
    leat_error err = {0};
    leat_spec *input = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(LEAT_UNKNOWN_DIM), &err);
    leat_spec *parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] = leat_spec_ref(input);
    leat_spec *structure = leat_spec_dict((const char *const[]){"c", "a", "b"}, parts, 3, &err);
    leat_function *function = LEAT_TRACE_STRUCTURED(mixed, NULL, input, structure, &err);
    leat_spec_unref(input);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

static void test_round_trip(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = trace_mixed();
    char *text = leat_function_to_json(function, &err);
    if (text == NULL)
        fail_msg("%s", err.text);
    leat_function *copy = leat_function_from_json(text, &err);
    if (copy == NULL)
        fail_msg("%s", err.text);
    assert_true(copy->fingerprint == function->fingerprint);
    assert_true(leat_spec_equal(copy->input, function->input));
    assert_true(leat_spec_equal(copy->output, function->output));
    char *again = leat_function_to_json(copy, &err);
    assert_string_equal(text, again);

    leat_tensor in = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(2), float, 3, 1), out[3];
    assert_int_equal(leati_interpret(copy, &in, NULL, out, &err), LEAT_OK);
    assert_true(((double *)out[0].data)[0] == 1.5);
    assert_true(((double *)out[0].data)[1] == (double)-1e-30f);
    const leat_string *word = out[1].data;
    assert_int_equal(word->size, 3);
    assert_memory_equal(word->data, "a\0b", 3);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&out[i]);
    leat_tensor_unref(&in);
    leat_text_free(text);
    leat_text_free(again);
    leat_function_unref(copy);
    leat_function_unref(function);
}

/* Arguments are written where they differ from their defaults. */
static void test_the_written_form(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(3), &err);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    leat_value x = leat_graph_argument(graph, 0), sum = leat_op_add(x, x);
    sum = leat_op_reduce_sum(leat_op_reduce_sum(sum, NULL, 0, true), NULL, 0, false);
    leat_function *function = leat_graph_finish(graph, &sum, 1, NULL, &err);
    json_t *found = leati_json_write_function(function, &err);
    const char *text = "{\"input\": {\"dtype\": \"int64\", \"shape\": [3]},"
                       " \"output\": {\"dtype\": \"int64\", \"shape\": []},"
                       " \"nodes\": [{\"op\": \"add\", \"version\": 1, \"attrs\": {},"
                       "              \"inputs\": [0, 0], \"number\": 0},"
                       "             {\"op\": \"reduce_sum\", \"version\": 1,"
                       "              \"attrs\": {\"keepdims\": true},"
                       "              \"inputs\": [1], \"number\": 1},"
                       "             {\"op\": \"reduce_sum\", \"version\": 1, \"attrs\": {},"
                       "              \"inputs\": [2], \"number\": 2}],"
                       " \"outputs\": [3]}";
    json_t *expected = leati_json_parse(text, strlen(text), &err);
    assert_true(json_equal(found, expected));
    json_decref(found);
    json_decref(expected);
    leat_function_unref(function);
}

static void read_fails(const char *text, leat_status code, leat_reason reason,
                       const char *keyword) {
    leat_error err = {0};
    leat_function *function = leat_function_from_json(text, &err);
    assert_null(function);
    assert_refused(&err, code, reason, keyword);
}

#define SCALAR "{\"dtype\": \"float32\", \"shape\": []}"
#define WITH_NODE(NODE)                                                                            \
    "{\"input\": " SCALAR ", \"output\": " SCALAR ", \"nodes\": [" NODE "], \"outputs\": [0]}"

static void test_text_from_outside(void **state) {
    (void)state;
    read_fails("[1]", LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "object");
    read_fails("{", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");
    read_fails("{\"input\": " SCALAR "}", LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE,
               "\"nodes\"");
    read_fails("{\"nodes\": [], \"outputs\": []}", LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, NULL);
    read_fails(WITH_NODE("{}"), LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "\"op\"");
    read_fails(WITH_NODE("{\"op\": \"levitate\", \"inputs\": []}"), LEAT_UNIMPLEMENTED,
               LEAT_REASON_NONE, "\"levitate\"");
    read_fails(WITH_NODE("{\"op\": \"add\", \"version\": 99, \"inputs\": [0, 0]}"),
               LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "99");
    read_fails(WITH_NODE("{\"op\": \"add\", \"inputs\": [0, 1]}"), LEAT_INVALID_ARGUMENT,
               LEAT_REASON_VALUE, "\"inputs\"");
    read_fails(WITH_NODE("{\"op\": \"add\", \"inputs\": [0, -1]}"), LEAT_INVALID_ARGUMENT,
               LEAT_REASON_VALUE, "\"inputs\"");
    read_fails(WITH_NODE("{\"op\": \"add\", \"inputs\": [0]}"), LEAT_INVALID_ARGUMENT,
               LEAT_REASON_VALUE, "add");
    read_fails(WITH_NODE("{\"op\": \"add\", \"inputs\": [0, 0], \"attrs\": {\"x\": 1}}"),
               LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "x");
    read_fails(WITH_NODE("{\"op\": \"add\", \"inputs\": [0, 0], \"number\": 9223372036854775807}"),
               LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"number\"");
    read_fails(WITH_NODE("{\"op\": \"read_variable\", \"inputs\": []}"), LEAT_INVALID_ARGUMENT,
               LEAT_REASON_VALUE, "variable");
    read_fails(WITH_NODE("{\"op\": \"call\", \"inputs\": [0], \"attrs\": {\"name\": \"nobody\", "
                         "\"input\": " SCALAR ", \"output\": " SCALAR "}}"),
               LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"nobody\"");
    read_fails("{\"callback\": \"nobody\", \"input\": " SCALAR ", \"output\": " SCALAR "}",
               LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"nobody\"");
    read_fails("{\"input\": " SCALAR ", \"nodes\": [], \"outputs\": [1]}", LEAT_INVALID_ARGUMENT,
               LEAT_REASON_VALUE, "\"outputs\"");
    read_fails("{\"input\": " SCALAR ", \"output\": {\"tuple\": []}, \"nodes\": [], "
               "\"outputs\": [0]}",
               LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "0");
    read_fails(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "NULL");
}

/* A function whose only node is a cond over the function one level further in. */
static char *nested_text(int depth) {
    const char *open = "{\"input\": {\"dtype\": \"bool\", \"shape\": []}, \"outputs\": [0], "
                       "\"nodes\": [{\"op\": \"cond\", \"inputs\": [0, 0], \"attrs\": "
                       "{\"then_branch\": ";
    const char *leaf = "{\"input\": {\"dtype\": \"bool\", \"shape\": []}, \"outputs\": [0], "
                       "\"nodes\": []}";
    const char *middle = ", \"else_branch\": ", *close = "}}]}";
    size_t each = strlen(open) + strlen(middle) + strlen(leaf) + strlen(close);
    char *text = malloc((size_t)depth * each + strlen(leaf) + 1);
    char *at = text;
    for (int i = 0; i < depth; i++)
        at += sprintf(at, "%s", open);
    at += sprintf(at, "%s", leaf);
    for (int i = 0; i < depth; i++)
        at += sprintf(at, "%s%s%s", middle, leaf, close);
    return text;
}

static void test_nesting_is_bounded(void **state) {
    (void)state;
    leat_error err = {0};
    char *text = nested_text(LEATI_MAX_NESTING - 1);
    leat_function *function = leat_function_from_json(text, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    char *written = leat_function_to_json(function, &err);
    assert_non_null(written);
    leat_text_free(written);
    leat_function_unref(function);
    free(text);
    text = nested_text(LEATI_MAX_NESTING);
    read_fails(text, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "12");
    free(text);
}

static void test_variables_do_not_travel(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor one = leat_scalar_float32(1);
    leat_variable *variable = leat_variable_new(
        &one, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = "bias"}, &err);
    leat_graph *graph = leat_graph_new(NULL, &err);
    leat_value read = leat_graph_read(graph, variable);
    leat_function *function = leat_graph_finish(graph, &read, 1, NULL, &err);
    assert_null(leat_function_to_json(function, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "\"bias\"");
    assert_null(leat_function_describe(function, NULL, 0, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "\"bias\"");
    char *text = leat_function_describe(function, &variable, 1, &err);
    assert_non_null(strstr(text, "\"types\": [{\"dtype\": \"float32\", \"shape\": []}], "
                                 "\"variables\": [0]"));
    leat_text_free(text);
    leat_function_unref(function);
    leat_variable_unref(variable);
    leat_tensor_unref(&one);
}

static leat_status write_and_read(void *context, leat_error *err) {
    char *described = leat_function_describe(context, NULL, 0, err);
    leat_text_free(described);
    if (described == NULL)
        return torture_code(err);
    char *text = leat_function_to_json(context, err);
    leat_function *copy = text != NULL ? leat_function_from_json(text, err) : NULL;
    leat_text_free(text);
    leat_function_unref(copy);
    return copy != NULL ? LEAT_OK : torture_code(err);
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = trace_mixed();
    torture_run(write_and_read, function);
    leat_function_unref(function);
    char *text = nested_text(3);
    function = leat_function_from_json(text, &err);
    free(text);
    torture_run(write_and_read, function);
    leat_function_unref(function);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_the_written_form),
        TEST(test_text_from_outside),
        TEST(test_nesting_is_bounded),
        TEST(test_variables_do_not_travel),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
