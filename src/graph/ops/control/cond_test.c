/* cond: both branches, row by row, inference, gradient, JSON, and its errors. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "graph/variable.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

static int cube(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] =
        leat_op_multiply(leat_op_square(x), leat_op_multiply(x, leat_graph_argument(graph, 1)));
    return 1;
}

static int ratio(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_divide(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    return 1;
}

static leat_function *branch(leat_tracer tracer) {
    return test_trace_float64(
        tracer, NULL, 2, (leat_shape[]){{.rank = LEAT_UNKNOWN_RANK}, {.rank = LEAT_UNKNOWN_RANK}});
}

/* Inputs are the predicate, a vector and a scalar. */
static leat_spec *cond_spec(leat_shape shape) {
    return test_spec(3, (leat_dtype[]){LEAT_BOOL, LEAT_FLOAT64, LEAT_FLOAT64},
                     (leat_shape[]){LEAT_SCALAR, shape, LEAT_SCALAR});
}

static int choose(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_function **branches = context;
    leat_value inputs[2] = {leat_graph_argument(graph, 1), leat_graph_argument(graph, 2)};
    return leat_op_cond(leat_graph_argument(graph, 0), branches[0], branches[1], inputs, 2,
                        outputs);
}

static leat_function *trace_cond(leat_shape shape) {
    leat_error err = {0};
    leat_function *branches[2] = {branch(cube), branch(ratio)};
    leat_spec *spec = cond_spec(shape);
    leat_function *function = LEAT_TRACE(choose, branches, spec, &err);
    leat_spec_unref(spec);
    leat_function_unref(branches[0]);
    leat_function_unref(branches[1]);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

static void run_both(const leat_function *function) {
    for (int which = 0; which < 2; which++) {
        leat_error err = {0};
        leat_tensor inputs[3] = {leat_scalar_bool(which == 1),
                                 TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 3, -2),
                                 leat_scalar_float64(4)},
                    out;
        assert_int_equal(leati_interpret(function, inputs, NULL, &out, &err), LEAT_OK);
        const double *values = out.data;
        assert_true(which ? values[0] == 108 && values[1] == -32
                          : values[0] == .75 && values[1] == -.5);
        leat_tensor_unref(&out);
        test_check_gradient(function, inputs, 3, NULL);
        for (int i = 0; i < 3; i++)
            leat_tensor_unref(&inputs[i]);
    }
}

static void test_both_branches(void **state) {
    (void)state;
    const leat_shape shapes[] = {
        LEAT_SHAPE(2), LEAT_SHAPE(LEAT_UNKNOWN_DIM), {.rank = LEAT_UNKNOWN_RANK}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        leat_function *function = trace_cond(shapes[i]);
        leat_shape found = leat_spec_shape(leat_function_output(function));
        assert_true(leati_shape_equal(&found, &shapes[i]));
        assert_int_equal(function->flags, 0);
        run_both(function);
        leat_function_unref(function);
    }
}

static void test_json(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = trace_cond(LEAT_SHAPE(LEAT_UNKNOWN_DIM));
    char *text = leat_function_to_json(function, &err);
    assert_non_null(text);
    leat_function *copy = leat_function_from_json(text, &err);
    if (copy == NULL)
        fail_msg("%s", err.text);
    assert_true(copy->fingerprint == function->fingerprint);
    run_both(copy);
    leat_text_free(text);
    leat_function_unref(copy);
    leat_function_unref(function);
}

/* Four rows with their own predicates in one call, against the rows alone. */
static void test_rows(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = trace_cond(LEAT_SHAPE(2));
    bool predicates[4] = {true, false, false, true};
    double vectors[8] = {1, 2, 3, 4, 5, 6, 7, 8}, scalar = 2;
    leati_operand inputs[3] = {
        {.data = (char *)predicates, .row_stride = 1, .dtype = LEAT_BOOL, .count = 1},
        {.data = (char *)vectors,
         .row_stride = 16,
         .dtype = LEAT_FLOAT64,
         .rank = 1,
         .dims = {2},
         .count = 2},
        {.data = (char *)&scalar, .dtype = LEAT_FLOAT64, .count = 1}};
    leati_operand out;
    int64_t failed_row;
    assert_int_equal(leati_interpret_rows(function, 4, inputs, NULL, &out, &failed_row, &err), 0);
    for (int row = 0; row < 4; row++)
        for (int k = 0; k < 2; k++) {
            double x = vectors[2 * row + k], expected = predicates[row] ? x * x * x * 2 : x / 2;
            assert_true(((double *)(void *)(out.data + row * out.row_stride))[k] == expected);
        }
    leat_buffer_unref(out.owner);
    leat_function_unref(function);
}

static int first_word(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

static int both_words(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value words[2] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    outputs[0] = leat_op_string_join(words, 2, "-");
    return 1;
}

/* Rows of strings, some empty, from both branches. */
static void test_rows_of_strings(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *pair = test_spec(2, (leat_dtype[]){LEAT_STRING, LEAT_STRING},
                                (leat_shape[]){LEAT_SCALAR, LEAT_SCALAR});
    leat_spec *spec = test_spec(3, (leat_dtype[]){LEAT_BOOL, LEAT_STRING, LEAT_STRING},
                                (leat_shape[]){LEAT_SCALAR, LEAT_SCALAR, LEAT_SCALAR});
    leat_function *branches[2] = {LEAT_TRACE(first_word, NULL, pair, &err),
                                  LEAT_TRACE(both_words, NULL, pair, &err)};
    leat_function *function = LEAT_TRACE(choose, branches, spec, &err);
    assert_non_null(function);
    bool predicates[3] = {true, false, true};
    leat_string words[3] = {{"", 0}, {"one", 3}, {"two", 3}}, other = {"more", 4};
    static const char *const expected[3] = {"", "one-more", "two"};
    int64_t each = sizeof(leat_string);
    leati_operand inputs[3] = {
        {.data = (char *)predicates, .row_stride = 1, .dtype = LEAT_BOOL, .count = 1},
        {.data = (char *)words, .row_stride = each, .dtype = LEAT_STRING, .count = 1},
        {.data = (char *)&other, .dtype = LEAT_STRING, .count = 1}};
    leati_operand out;
    int64_t failed_row;
    assert_int_equal(leati_interpret_rows(function, 3, inputs, NULL, &out, &failed_row, &err), 0);
    for (int row = 0; row < 3; row++) {
        const leat_string *found = (const void *)(out.data + row * out.row_stride);
        assert_int_equal(found->size, strlen(expected[row]));
        assert_memory_equal(found->data, expected[row], found->size);
    }
    leat_buffer_unref(out.owner);
    leat_function_unref(function);
    leat_function_unref(branches[0]);
    leat_function_unref(branches[1]);
    leat_spec_unref(pair);
    leat_spec_unref(spec);
}

static int two_outputs(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = outputs[1] = leat_graph_argument(graph, 0);
    return 2;
}

static int to_int(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_cast(leat_graph_argument(graph, 0), LEAT_INT32);
    return 1;
}

static int scalar_of(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_reduce_sum(leat_graph_argument(graph, 0), NULL, 0, false);
    return 1;
}

static void cond_fails(leat_tracer tracer, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    leat_function *branches[2] = {branch(cube), tracer != NULL ? branch(tracer) : NULL};
    leat_spec *spec = cond_spec(LEAT_SHAPE(3));
    assert_null(leat_function_trace(choose, branches, spec, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
    leat_spec_unref(spec);
    leat_function_unref(branches[0]);
    leat_function_unref(branches[1]);
}

static void test_branches_that_disagree(void **state) {
    (void)state;
    leat_error err = {0};
    cond_fails(two_outputs, LEAT_REASON_STRUCTURE, "else_branch");
    cond_fails(to_int, LEAT_REASON_DTYPE, "float64");
    cond_fails(NULL, LEAT_REASON_VALUE, "cond");

    /* Shapes are joined. */
    leat_function *branches[2] = {branch(cube), branch(scalar_of)};
    leat_spec *spec = cond_spec(LEAT_SHAPE(3));
    leat_function *function = LEAT_TRACE(choose, branches, spec, &err);
    assert_int_equal(leat_spec_shape(leat_function_output(function)).rank, LEAT_UNKNOWN_RANK);
    leat_spec_unref(spec);
    leat_function_unref(branches[0]);
    leat_function_unref(branches[1]);
    leat_function_unref(function);
}

static void test_predicates_that_are_none(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *only = branch(cube);
    leat_graph *graph = leat_graph_new(leat_function_input(only), &err);
    leat_value inputs[2] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    leat_value out[LEAT_MAX_OUTPUTS];
    assert_int_equal(leat_op_cond(inputs[0], only, only, inputs, 2, out), -1);
    assert_null(leat_graph_finish(graph, inputs, 1, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "float64");
    graph = leat_graph_new(leat_function_input(only), &err);
    for (int i = 0; i < 2; i++)
        inputs[i] = leat_graph_argument(graph, i);
    leat_value vector = leat_op_equal(inputs[0], inputs[0]);
    assert_int_equal(leat_op_cond(vector, only, only, inputs, 1, out), -1);
    assert_null(leat_graph_finish(graph, inputs, 1, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "then_branch");
    leat_function_unref(only);
}

static int counts_calls(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_tensor one = leat_scalar_float64(1);
    leat_graph_assign_add(graph, context, leat_graph_tensor(graph, &one));
    leat_tensor_unref(&one);
    outputs[0] = leat_graph_read(graph, context);
    return 1;
}

/* Only the chosen branch has its effect; the node counts as stateful, and a read after it is a new
 * one. */
static void test_effects(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor zero = leat_scalar_float64(0);
    leat_variable *variables[2] = {leat_variable_new(&zero, NULL, &err),
                                   leat_variable_new(&zero, NULL, &err)};
    leat_spec *spec = leat_spec_tensor(LEAT_BOOL, LEAT_SCALAR, &err);
    leat_graph *inner[2] = {leat_graph_new(NULL, &err), leat_graph_new(NULL, &err)};
    leat_function *branches[2];
    for (int i = 0; i < 2; i++) {
        leat_value value;
        counts_calls(variables[i], inner[i], &value, 1);
        branches[i] = leat_graph_finish(inner[i], &value, 1, NULL, &err);
    }
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_value out[LEAT_MAX_OUTPUTS], before = leat_graph_read(graph, variables[0]);
    leat_op_cond(leat_graph_argument(graph, 0), branches[0], branches[1], NULL, 0, out);
    assert_int_not_equal(leat_graph_read(graph, variables[0]).id, before.id);
    leat_function *function = leat_graph_finish(graph, out, 1, NULL, &err);
    assert_true(leati_graph_function_has(function, LEATI_STATEFUL));
    leat_tensor predicate = leat_scalar_bool(true), result;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leati_interpret(function, &predicate, NULL, &result, &err), LEAT_OK);
        assert_true(*(double *)result.data == i + 1);
        leat_tensor_unref(&result);
    }
    assert_int_equal(leat_variable_read(variables[1], &result, &err), LEAT_OK);
    assert_true(*(double *)result.data == 0);
    leat_tensor_unref(&result);
    leat_tensor_unref(&predicate);
    leat_tensor_unref(&zero);
    leat_spec_unref(spec);
    leat_function_unref(function);
    for (int i = 0; i < 2; i++) {
        leat_function_unref(branches[i]);
        leat_variable_unref(variables[i]);
    }
}

static int noisy(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value noise = leat_op_random_uniform(
        graph, LEAT_SHAPE(2),
        &(leat_op_random_uniform_options){LEAT_OP_RANDOM_UNIFORM_DEFAULTS, .dtype = LEAT_FLOAT64});
    outputs[0] = leat_op_multiply(leat_graph_argument(graph, 0), noise);
    return 1;
}

/* The gradient draws what the forward branch drew: the central difference sees the same noise. */
static void test_random_branches(void **state) {
    (void)state;
    leat_error err = {0};
    leati_call_context context = {.seed = 3, .seed2 = 4, .ordinal = 5, .num_replicas = 1};
    leat_function *branches[2] = {branch(noisy), branch(ratio)};
    leat_spec *spec = cond_spec(LEAT_SHAPE(2));
    leat_function *function = LEAT_TRACE(choose, branches, spec, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    assert_true(leati_graph_function_has(function, LEATI_RANDOM));
    leat_tensor inputs[3] = {leat_scalar_bool(true),
                             TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 3, -2),
                             leat_scalar_float64(4)};
    test_check_gradient(function, inputs, 3, &context);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&inputs[i]);
    leat_spec_unref(spec);
    leat_function_unref(function);
    leat_function_unref(branches[0]);
    leat_function_unref(branches[1]);
}

static leat_status build_and_run(void *context, leat_error *err) {
    leat_spec *children[3] = {leat_spec_tensor(LEAT_BOOL, LEAT_SCALAR, err),
                              leat_spec_tensor(LEAT_FLOAT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM), err),
                              leat_spec_tensor(LEAT_FLOAT64, LEAT_SCALAR, err)};
    leat_spec *spec = leat_spec_tuple(children, 3, err);
    leat_function *function = spec != NULL ? LEAT_TRACE(choose, context, spec, err) : NULL;
    leat_function *reverse = function != NULL ? leati_graph_function_gradient(function, err) : NULL;
    leat_spec_unref(spec);
    leat_function_unref(function);
    if (reverse == NULL)
        return torture_code(err);
    const bool predicate = true;
    const double numbers[3] = {1, 2, 3};
    leat_tensor in[4] = {leat_tensor_view(LEAT_BOOL, LEAT_SCALAR, &predicate),
                         leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(3), numbers),
                         leat_tensor_view(LEAT_FLOAT64, LEAT_SCALAR, numbers),
                         leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(3), numbers)};
    leat_tensor out[2];
    leat_status status = leati_interpret(reverse, in, NULL, out, err);
    leat_function_unref(reverse);
    for (int i = 0; status == LEAT_OK && i < 2; i++)
        leat_tensor_unref(&out[i]);
    return status;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    leat_function *branches[2] = {branch(cube), branch(ratio)};
    torture_run_tolerant(build_and_run, branches); /* an arena may do with a smaller chunk */
    leat_function_unref(branches[0]);
    leat_function_unref(branches[1]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_both_branches),
        TEST(test_json),
        TEST(test_rows),
        TEST(test_rows_of_strings),
        TEST(test_branches_that_disagree),
        TEST(test_predicates_that_are_none),
        TEST(test_effects),
        TEST(test_random_branches),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
