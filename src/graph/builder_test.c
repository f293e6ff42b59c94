/* The builder: types as inferred, sticky first errors, and what their texts name. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "graph/variable.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

static leat_graph *graph_of_two(leat_shape a, leat_shape b) {
    leat_spec *spec =
        test_spec(2, (leat_dtype[]){LEAT_FLOAT32, LEAT_FLOAT32}, (leat_shape[]){a, b});
    leat_graph *graph = leat_graph_new(spec, NULL);
    leat_spec_unref(spec);
    return graph;
}

static void finish_fails(leat_graph *graph, leat_value value, leat_status code, leat_reason reason,
                         const char *keyword) {
    leat_error err = {0};
    assert_null(leat_graph_finish(graph, &value, 1, NULL, &err));
    assert_refused(&err, code, reason, keyword);
}

static void test_arguments_and_types(void **state) {
    (void)state;
    leat_graph *graph = graph_of_two(LEAT_SHAPE(LEAT_UNKNOWN_DIM, 3), LEAT_SHAPE(3));
    assert_int_equal(leat_graph_num_arguments(graph), 2);
    leat_value sum = leat_op_add(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    leat_shape expected = LEAT_SHAPE(LEAT_UNKNOWN_DIM, 3), found = leat_value_shape(sum);
    assert_int_equal(leat_value_dtype(sum), LEAT_FLOAT32);
    assert_true(leati_shape_equal(&found, &expected));
    leat_error err = {0};
    leat_function *function = leat_graph_finish(graph, &sum, 1, NULL, &err);
    assert_non_null(function);
    assert_int_equal(leat_spec_get_kind(leat_function_output(function)), LEAT_SPEC_TENSOR);
    assert_int_equal(leat_spec_num_components(leat_function_input(function)), 2);
    leat_function_unref(function);
}

static void test_broadcasting_of_unknown_dimensions(void **state) {
    (void)state;
    const int64_t u = LEAT_UNKNOWN_DIM;
    struct {
        leat_shape a, b, expected;
    } cases[] = {
        {LEAT_SHAPE(u, 1), LEAT_SHAPE(4), LEAT_SHAPE(u, 4)},
        {LEAT_SHAPE(u), LEAT_SHAPE(u), LEAT_SHAPE(u)},
        {LEAT_SHAPE(u), LEAT_SHAPE(1), LEAT_SHAPE(u)},
        {LEAT_SHAPE(1), LEAT_SHAPE(0), LEAT_SHAPE(0)},
        {LEAT_SHAPE(2, 1, 3), LEAT_SHAPE(5, 1), LEAT_SHAPE(2, 5, 3)},
        {{.rank = LEAT_UNKNOWN_RANK}, LEAT_SHAPE(3), {.rank = LEAT_UNKNOWN_RANK}},
        {LEAT_SCALAR, LEAT_SHAPE(3), LEAT_SHAPE(3)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        leat_shape found;
        assert_int_equal(
            leati_op_infer_broadcast_shape(&cases[i].a, &cases[i].b, &found, &(leat_error){0}), 0);
        assert_true(leati_shape_equal(&found, &cases[i].expected));
        assert_int_equal(
            leati_op_infer_broadcast_shape(&cases[i].b, &cases[i].a, &found, &(leat_error){0}), 0);
        assert_true(leati_shape_equal(&found, &cases[i].expected));
    }
}

static void test_shapes_that_do_not_broadcast(void **state) {
    (void)state;
    leat_graph *graph = graph_of_two(LEAT_SHAPE(2, 3), LEAT_SHAPE(4));
    leat_value sum = leat_op_add(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    assert_true(sum.id < 0);
    assert_int_equal(leat_value_dtype(sum), LEAT_INVALID);
    /* A failed value passes through, and the first error stays. */
    leat_value next = leat_op_multiply(sum, leat_graph_argument(graph, 7));
    finish_fails(graph, next, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[4]");
}

static void test_dtypes_do_not_convert(void **state) {
    (void)state;
    leat_spec *spec = test_spec(2, (leat_dtype[]){LEAT_FLOAT32, LEAT_INT64},
                                (leat_shape[]){LEAT_SCALAR, LEAT_SCALAR});
    leat_graph *graph = leat_graph_new(spec, NULL);
    leat_spec_unref(spec);
    leat_value sum = leat_op_add(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    finish_fails(graph, sum, LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "int64");
}

static void test_argument_beyond_the_last(void **state) {
    (void)state;
    leat_graph *graph = graph_of_two(LEAT_SCALAR, LEAT_SCALAR);
    leat_value value = leat_graph_argument(graph, 2);
    finish_fails(graph, value, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "2");
}

static void test_values_of_another_graph(void **state) {
    (void)state;
    leat_graph *one = graph_of_two(LEAT_SCALAR, LEAT_SCALAR);
    leat_graph *other = graph_of_two(LEAT_SCALAR, LEAT_SCALAR);
    leat_value sum = leat_op_add(leat_graph_argument(one, 0), leat_graph_argument(other, 0));
    finish_fails(one, sum, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");
    leat_value mine = leat_graph_argument(other, 0);
    leat_error err = {0};
    assert_null(leat_graph_finish(NULL, &mine, 1, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    leat_graph_free(other);
    leat_graph_free(NULL);
}

/* Handles that no call gave out. */
static void test_forged_values(void **state) {
    (void)state;
    leat_error err = {0};
    leat_graph *graph = graph_of_two(LEAT_SCALAR, LEAT_SCALAR);
    for (int id = 2; id > -3; id -= 3) { /* behind the last one, and a failed one */
        leat_value forged = {.graph = graph, .id = id};
        assert_int_equal(leat_value_dtype(forged), LEAT_INVALID);
        assert_int_equal(leat_value_shape(forged).rank, LEAT_UNKNOWN_RANK);
        assert_null(leat_value_element(forged));
    }
    leat_value last = leat_graph_argument(graph, 1), none = leat_graph_argument(NULL, 0);
    assert_true(leat_value_dtype(last) != LEAT_INVALID);
    assert_true(none.graph == NULL && none.id == -1);
    assert_int_equal(leat_graph_num_arguments(NULL), 0);
    assert_int_equal(leat_graph_num_arguments(graph), 2);
    assert_true(leat_op_add(last, (leat_value){.graph = graph, .id = 2}).id < 0);
    assert_int_equal(leat_graph_take_error(graph, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
    assert_int_equal(leat_graph_take_error(graph, &err), LEAT_OK);
    leat_value outputs[2] = {last, {.graph = graph, .id = 2}};
    assert_null(leat_graph_finish(graph, outputs, 2, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");
}

static void test_calls_by_name(void **state) {
    (void)state;
    leat_value out[LEAT_MAX_OUTPUTS];
    leat_graph *graph = graph_of_two(LEAT_SHAPE(2), LEAT_SHAPE(2));
    leat_value in[2] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    assert_int_equal(leat_graph_call(graph, "add", NULL, in, 2, out, LEAT_MAX_OUTPUTS), 1);
    assert_int_equal(
        leat_graph_call(graph, "cast", "{\"dtype\": \"int32\"}", out, 1, out, LEAT_MAX_OUTPUTS), 1);
    assert_int_equal(leat_value_dtype(out[0]), LEAT_INT32);
    assert_int_equal(leat_graph_call(graph, "add", NULL, in, 1, out, LEAT_MAX_OUTPUTS), -1);
    finish_fails(graph, in[0], LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "add");

    graph = graph_of_two(LEAT_SHAPE(2), LEAT_SHAPE(2));
    assert_int_equal(leat_graph_call(graph, "levitate", NULL, in, 0, out, LEAT_MAX_OUTPUTS), -1);
    finish_fails(graph, in[0], LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"levitate\"");

    graph = graph_of_two(LEAT_SHAPE(2), LEAT_SHAPE(2));
    in[0] = leat_graph_argument(graph, 0);
    assert_int_equal(
        leat_graph_call(graph, "cast", "{\"colour\": 1}", in, 1, out, LEAT_MAX_OUTPUTS), -1);
    finish_fails(graph, in[0], LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "colour");
}

static int fails_without_text(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)graph;
    (void)outputs;
    return -1;
}

static int fails_with_text(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)outputs;
    leat_graph_fail(graph, LEAT_ABORTED, context);
    leat_graph_fail(graph, LEAT_INTERNAL, "too late");
    return -1;
}

static int pair(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    outputs[1] = leat_graph_argument(graph, 0);
    return 2;
}

/* As many outputs as it is asked for beyond the capacity. */
static int fill_up(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    for (int i = 0; i < capacity; i++)
        outputs[i] = leat_graph_argument(graph, 0);
    return capacity + *(const int *)context;
}

static void test_tracing(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    assert_null(leat_function_trace(fails_without_text, NULL, spec, &err));
    assert_int_equal(err.code, LEAT_UNKNOWN);
    char text[] = "because";
    assert_null(leat_function_trace(fails_with_text, text, spec, &err));
    assert_refused(&err, LEAT_ABORTED, LEAT_REASON_NONE, NULL);

    int more = 1;
    err = (leat_error){0};
    assert_null(leat_function_trace(fill_up, &more, spec, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "1025");
    more = 0;
    leat_function_unref(leat_function_trace(fill_up, &more, spec, NULL));

    /* An earlier failure passes through. */
    assert_null(leat_function_trace(pair, NULL, NULL, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);

    leat_function *function = LEAT_TRACE(pair, NULL, spec, &err);
    assert_int_equal(leat_spec_get_kind(leat_function_output(function)), LEAT_SPEC_TUPLE);
    leat_function_unref(function);

    leat_spec *children[2] = {leat_spec_ref(spec), leat_spec_ref(spec)};
    leat_spec *dict = leat_spec_dict((const char *const[]){"b", "a"}, children, 2, &err);
    function = LEAT_TRACE_STRUCTURED(pair, NULL, spec, dict, &err);
    assert_int_equal(leat_spec_get_kind(leat_function_output(function)), LEAT_SPEC_DICT);
    assert_string_equal(leat_spec_key(leat_function_output(function), 0), "a");
    leat_function_unref(function);

    assert_null(leat_function_trace_structured(pair, NULL, spec, leat_spec_ref(spec), &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "2");
    leat_spec_unref(spec);
}

static void test_constants(void **state) {
    (void)state;
    leat_error err = {0};
    leat_graph *graph = leat_graph_new(NULL, &err);
    float values[2] = {1, 2};
    leat_tensor view = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), values);
    leat_value constant = leat_graph_tensor(graph, &view);
    values[0] = 7; /* the constant is a copy: the view has no owner */
    leat_function *function = leat_graph_finish(graph, &constant, 1, NULL, &err);
    assert_non_null(function);
    leat_tensor out;
    assert_int_equal(leati_interpret(function, NULL, NULL, &out, &err), LEAT_OK);
    assert_true(((float *)out.data)[0] == 1.0f && ((float *)out.data)[1] == 2.0f);
    leat_function_unref(function);
    leat_tensor_unref(&out);

    graph = leat_graph_new(NULL, &err);
    leat_tensor invalid = {0};
    finish_fails(graph, leat_graph_tensor(graph, &invalid), LEAT_INVALID_ARGUMENT,
                 LEAT_REASON_VALUE, "constant");
}

static void test_reads_are_shared_until_an_assignment(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor initial = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(2), float, 1, 2);
    leat_variable *variable = leat_variable_new(&initial, NULL, &err);
    leat_graph *graph = leat_graph_new(NULL, &err);
    leat_value first = leat_graph_read(graph, variable);
    assert_int_equal(leat_graph_read(graph, variable).id, first.id);
    leat_graph_assign_add(graph, variable, first);
    leat_value second = leat_graph_read(graph, variable);
    assert_int_not_equal(second.id, first.id);
    leat_graph_assign(graph, variable, leat_op_multiply(second, second));
    leat_value outputs[3] = {first, second, leat_graph_read(graph, variable)};
    leat_function *function = leat_graph_finish(graph, outputs, 3, NULL, &err);
    assert_non_null(function);
    assert_true(leati_graph_function_has(function, LEATI_STATEFUL));
    leat_tensor out[3];
    assert_int_equal(leati_interpret(function, NULL, NULL, out, &err), LEAT_OK);
    /* Values of TensorFlow's resource variables in the same order: 1, 2, 4. */
    assert_true(((float *)out[0].data)[0] == 1 && ((float *)out[1].data)[0] == 2 &&
                ((float *)out[2].data)[0] == 4);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&out[i]);
    leat_function_unref(function);

    graph = leat_graph_new(NULL, &err);
    leat_tensor other = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(3), float, 1, 2, 3);
    leat_graph_assign(graph, variable, leat_graph_tensor(graph, &other));
    finish_fails(graph, leat_graph_read(graph, variable), LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE,
                 "[2]");
    graph = leat_graph_new(NULL, &err);
    finish_fails(graph, leat_graph_read(graph, NULL), LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE,
                 "variable");
    leat_tensor_unref(&other);
    leat_tensor_unref(&initial);
    leat_variable_unref(variable);
}

/* (a + a) / b, where b is added after the sum: what a function turns out to capture. NULL on
 * failure. */
static leat_function *function_of_late_argument(leat_error *err) {
    const leat_dtype dtype = LEAT_FLOAT32;
    const leat_shape scalar = LEAT_SCALAR;
    leat_spec *spec = leat_spec_tensor(dtype, scalar, err);
    leat_spec *input = leat_spec_tuple(&spec, 1, err);
    leat_graph *graph = input != NULL ? leat_graph_new(input, err) : NULL;
    leat_spec_unref(input);
    if (graph == NULL)
        return NULL;
    leat_value a = leat_graph_argument(graph, 0), sum = leat_op_add(a, a);
    spec = leat_spec_tensor(dtype, scalar, err);
    leat_value b = spec != NULL ? leat_graph_add_argument(graph, spec) : sum;
    leat_value out[] = {b, leat_op_divide(sum, b)};
    if (spec == NULL) {
        leat_graph_free(graph);
        return NULL;
    }
    return leat_graph_finish(graph, out, 2, NULL, err);
}

static void test_arguments_that_are_added_later(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = function_of_late_argument(&err);
    assert_non_null(function);
    assert_int_equal(leat_spec_num_components(leat_function_input(function)), 2);
    leat_tensor in[] = {leat_scalar_float32(3), leat_scalar_float32(4)}, out[2];
    assert_int_equal(leati_interpret(function, in, NULL, out, &err), LEAT_OK);
    assert_true(*(const float *)out[0].data == 4);
    assert_true(*(const float *)out[1].data == 1.5F);
    for (int i = 0; i < 2; i++) {
        leat_tensor_unref(&in[i]);
        leat_tensor_unref(&out[i]);
    }
    leat_function_unref(function);
}

/* The argument of that number is found between the values of nodes. */
static void test_numbers_of_added_arguments(void **state) {
    (void)state;
    leat_graph *graph = leat_graph_new(NULL, NULL);
    leat_value first =
        leat_graph_add_argument(graph, leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL));
    leat_value sum = leat_op_add(first, first);
    leat_value second =
        leat_graph_add_argument(graph, leat_spec_tensor(LEAT_BOOL, LEAT_SHAPE(2), NULL));
    assert_int_equal(leat_graph_num_arguments(graph), 2);
    assert_int_equal(leat_graph_argument(graph, 0).id, first.id);
    assert_int_equal(leat_graph_argument(graph, 1).id, second.id);
    assert_int_equal(leat_value_dtype(second), LEAT_BOOL);
    leat_function *function = leat_graph_finish(graph, &sum, 1, NULL, NULL);
    assert_int_equal(leat_spec_component_dtype(leat_function_input(function), 1), LEAT_BOOL);
    leat_function_unref(function);
}

static void test_added_arguments_have_one_component(void **state) {
    (void)state;
    leat_graph *graph = graph_of_two(LEAT_SCALAR, LEAT_SCALAR);
    leat_value value =
        leat_graph_add_argument(graph, test_spec(2, (leat_dtype[]){LEAT_INT64, LEAT_INT64},
                                                 (leat_shape[]){LEAT_SCALAR, LEAT_SCALAR}));
    assert_true(value.id < 0);
    finish_fails(graph, leat_graph_argument(graph, 0), LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE,
                 "added");
}

/* (a + a) / b of (3, 4) is 1.5, and of (4, 1.5) 8 / 1.5. */
static void test_functions_inside_graphs(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = function_of_late_argument(&err);
    leat_graph *graph = graph_of_two(LEAT_SCALAR, LEAT_SCALAR);
    leat_value in[] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)}, out[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leat_graph_inline(graph, function, in, 2, out, 2), 2);
        memcpy(in, out, sizeof in);
    }
    leat_function *both = leat_graph_finish(graph, &out[1], 1, NULL, &err);
    leat_tensor numbers[] = {leat_scalar_float32(3), leat_scalar_float32(4)}, result;
    assert_int_equal(leati_interpret(both, numbers, NULL, &result, &err), LEAT_OK);
    assert_true(*(const float *)result.data == 8 / 1.5F);
    for (int i = 0; i < 2; i++)
        leat_tensor_unref(&numbers[i]);
    leat_tensor_unref(&result);
    leat_function_unref(both);

    graph = graph_of_two(LEAT_SCALAR, LEAT_SCALAR);
    leat_value one = leat_graph_argument(graph, 0);
    assert_int_equal(leat_graph_inline(graph, function, &one, 1, out, 2), -1);
    finish_fails(graph, one, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "arguments");
    leat_function_unref(function);
}

static leat_status add_argument_and_finish(void *context, leat_error *err) {
    (void)context;
    leat_function *function = function_of_late_argument(err);
    leat_function_unref(function);
    return function != NULL ? LEAT_OK : torture_code(err);
}

static leat_status call_read_and_finish(void *context, leat_error *err) {
    leat_value out[LEAT_MAX_OUTPUTS];
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(2), err);
    leat_graph *graph = spec != NULL ? leat_graph_new(spec, err) : NULL;
    leat_spec_unref(spec);
    if (graph == NULL)
        return torture_code(err);
    const float numbers[2] = {1, 2};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), numbers);
    leat_value in[2] = {leat_graph_argument(graph, 0), leat_graph_tensor(graph, &tensor)};
    leat_graph_call(graph, "add", NULL, in, 2, in, 1);
    leat_graph_call(graph, "cast", "{\"dtype\": \"float64\"}", in, 1, out, LEAT_MAX_OUTPUTS);
    leat_graph_assign_add(graph, context, leat_graph_read(graph, context));
    out[1] = leat_graph_read(graph, context);
    leat_function *function = leat_graph_finish(graph, out, 2, NULL, err);
    leat_function_unref(function);
    return function != NULL ? LEAT_OK : torture_code(err);
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    leat_tensor initial = leat_scalar_float32(1);
    leat_variable *variable = leat_variable_new(&initial, NULL, NULL);
    torture_run(call_read_and_finish, variable);
    torture_run(add_argument_and_finish, NULL);
    leat_tensor_unref(&initial);
    leat_variable_unref(variable);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_arguments_and_types),
        TEST(test_broadcasting_of_unknown_dimensions),
        TEST(test_shapes_that_do_not_broadcast),
        TEST(test_dtypes_do_not_convert),
        TEST(test_argument_beyond_the_last),
        TEST(test_arguments_that_are_added_later),
        TEST(test_numbers_of_added_arguments),
        TEST(test_added_arguments_have_one_component),
        TEST(test_functions_inside_graphs),
        TEST(test_values_of_another_graph),
        TEST(test_forged_values),
        TEST(test_calls_by_name),
        TEST(test_tracing),
        TEST(test_constants),
        TEST(test_reads_are_shared_until_an_assignment),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
