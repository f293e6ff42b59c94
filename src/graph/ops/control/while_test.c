/* while: loops over numbers, vectors that grow and texts; inference, gradient, JSON, and errors. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

/* ---- loops: (count, x, limit, factor), of which the last two do not change ---- */

static leat_value int64(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_scalar_int64(value);
    leat_value constant = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return constant;
}

static int below_limit(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_less(leat_graph_argument(graph, 0), leat_graph_argument(graph, 2));
    return 1;
}

/* x * factor + count */
static int scale(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value count = leat_graph_argument(graph, 0), x = leat_graph_argument(graph, 1);
    outputs[0] = leat_op_add(count, int64(graph, 1));
    outputs[1] = leat_op_add(leat_op_multiply(x, leat_graph_argument(graph, 3)),
                             leat_op_cast(count, LEAT_FLOAT64));
    return 2;
}

/* x * x * factor: a derivative that depends on the iteration */
static int square(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 1);
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), int64(graph, 1));
    outputs[1] = leat_op_multiply(leat_op_square(x), leat_graph_argument(graph, 3));
    return 2;
}

/* The vector and its sum behind it. */
static int grow(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 1);
    leat_value sum = leat_op_expand_dims(leat_op_reduce_sum(x, NULL, 0, false), 0);
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), int64(graph, 1));
    outputs[1] = leat_op_multiply(leat_op_concat((leat_value[]){x, sum}, 2, 0),
                                  leat_graph_argument(graph, 3));
    return 2;
}

/* Fails where the count is two below the limit. */
static int divide_by_rest(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value count = leat_graph_argument(graph, 0), limit = leat_graph_argument(graph, 2);
    leat_value rest = leat_op_subtract(leat_op_subtract(limit, int64(graph, 2)), count);
    outputs[0] =
        leat_op_add(leat_op_add(count, int64(graph, 1)), leat_op_floordiv(int64(graph, 0), rest));
    outputs[1] = leat_graph_argument(graph, 1);
    return 2;
}

static int noisy(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value noise = leat_op_random_uniform(
        graph, LEAT_SHAPE(2),
        &(leat_op_random_uniform_options){LEAT_OP_RANDOM_UNIFORM_DEFAULTS, .dtype = LEAT_FLOAT64});
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), int64(graph, 1));
    outputs[1] = leat_op_multiply(leat_op_add(leat_graph_argument(graph, 1), noise),
                                  leat_graph_argument(graph, 3));
    return 2;
}

static const leat_shape any_vector = {.rank = 1, .dims = {LEAT_UNKNOWN_DIM}};

static leat_spec *loop_spec(leat_shape shape) {
    return test_spec(4, (leat_dtype[]){LEAT_INT64, LEAT_FLOAT64, LEAT_INT64, LEAT_FLOAT64},
                     (leat_shape[]){LEAT_SCALAR, shape, LEAT_SCALAR, LEAT_SCALAR});
}

typedef struct loop {
    leat_tracer body, cond;
    leat_shape inside, outside; /* of x: as the functions take it, and as it comes */
    leat_op_while_options options;
    leat_function *functions[2];
} loop;

static leat_function *trace(leat_tracer tracer, leat_shape shape) {
    leat_error err = {0};
    leat_spec *spec = loop_spec(shape);
    leat_function *function = LEAT_TRACE(tracer, NULL, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

static int call_loop(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    loop *l = context;
    leat_value arguments[4];
    for (int i = 0; i < 4; i++)
        arguments[i] = leat_graph_argument(graph, i);
    return leat_op_while(l->functions[0], l->functions[1], arguments, 2, arguments + 2, 2,
                         &l->options, outputs);
}

static leat_function *try_loop(loop l, leat_error *err) {
    l.functions[0] = trace(l.cond != NULL ? l.cond : below_limit, l.inside);
    l.functions[1] = trace(l.body, l.inside);
    leat_spec *spec = loop_spec(l.outside);
    leat_function *function = LEAT_TRACE(call_loop, &l, spec, err);
    leat_spec_unref(spec);
    leat_function_unref(l.functions[0]);
    leat_function_unref(l.functions[1]);
    return function;
}

static leat_function *make_loop(loop l) {
    leat_error err = {0};
    leat_function *function = try_loop(l, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

static const leat_op_while_options no_limit = {LEAT_OP_WHILE_DEFAULTS};

static void inputs_of(leat_tensor *inputs, int64_t limit) {
    inputs[0] = leat_scalar_int64(0);
    inputs[1] = TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 1, -.5);
    inputs[2] = leat_scalar_int64(limit);
    inputs[3] = leat_scalar_float64(.75);
}

static void release(leat_tensor *tensors, int count) {
    for (int i = 0; i < count; i++)
        leat_tensor_unref(&tensors[i]);
}

/* Runs the loop up to `limit`; the count must be `count` and x these `n` numbers. */
static void expect(const leat_function *function, int64_t limit, int64_t count, int n,
                   const double *x) {
    leat_error err = {0};
    leat_tensor inputs[4], out[2];
    inputs_of(inputs, limit);
    if (leati_interpret(function, inputs, NULL, out, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(*(int64_t *)out[0].data, count);
    assert_int_equal(leat_tensor_count(&out[1]), n);
    for (int i = 0; i < n; i++)
        assert_true(((double *)out[1].data)[i] == x[i]);
    release(out, 2);
    release(inputs, 4);
}

static void test_iterations(void **state) {
    (void)state;
    leat_shape shapes[] = {LEAT_SHAPE(2), any_vector, {.rank = LEAT_UNKNOWN_RANK}};
    for (int i = 0; i < 3; i++) {
        leat_function *function =
            make_loop((loop){scale, NULL, shapes[i], shapes[i], no_limit, {0}});
        leat_shape found = leat_spec_component_shape(leat_function_output(function), 1);
        assert_true(leati_shape_equal(&found, &shapes[i]));
        assert_int_equal(function->flags, 0);
        expect(function, 0, 0, 2, (double[]){1, -.5});
        expect(function, 1, 1, 2, (double[]){.75, -.375});
        expect(function, 3, 3, 2, (double[]){3.171875, 2.5390625});
        leat_function_unref(function);
    }
}

/* A limit ends the loop without an error, as in TensorFlow; 0 iterations are none. */
static void test_maximum(void **state) {
    (void)state;
    for (int64_t most = 0; most < 3; most++) {
        leat_op_while_options options = {LEAT_OP_WHILE_DEFAULTS, .maximum_iterations = most};
        leat_function *function =
            make_loop((loop){scale, NULL, LEAT_SHAPE(2), LEAT_SHAPE(2), options, {0}});
        const double x[3][2] = {{1, -.5}, {.75, -.375}, {1.5625, .71875}};
        expect(function, 100, most, 2, x[most]);
        leat_function_unref(function);
    }
}

static void test_growing_vector(void **state) {
    (void)state;
    leat_function *function =
        make_loop((loop){grow, NULL, any_vector, LEAT_SHAPE(2), no_limit, {0}});
    leat_shape found = leat_spec_component_shape(leat_function_output(function), 1);
    assert_true(leati_shape_equal(&found, &any_vector));
    expect(function, 2, 2, 4, (double[]){.5625, -.28125, .28125, .5625});
    leat_function_unref(function);

    leat_spec *invariants = test_spec(2, (leat_dtype[]){LEAT_INT64, LEAT_FLOAT64},
                                      (leat_shape[]){LEAT_SCALAR, any_vector});
    leat_op_while_options options = {LEAT_OP_WHILE_DEFAULTS, .shape_invariants = invariants};
    function = make_loop((loop){grow, NULL, any_vector, LEAT_SHAPE(2), options, {0}});
    expect(function, 2, 2, 4, (double[]){.5625, -.28125, .28125, .5625});
    leat_function_unref(function);
    leat_spec_unref(invariants);
}

static void check_gradients(const leat_function *function, int64_t most,
                            const leati_call_context *context) {
    for (int64_t limit = 0; limit <= most; limit++) {
        leat_tensor inputs[4];
        inputs_of(inputs, limit);
        test_check_gradient(function, inputs, 4, context);
        release(inputs, 4);
    }
}

static void test_gradient(void **state) {
    (void)state;
    const leat_tracer bodies[] = {scale, square, square};
    for (int i = 0; i < 3; i++) {
        leat_shape shape = i == 1 ? any_vector : LEAT_SHAPE(2);
        leat_function *function =
            make_loop((loop){bodies[i], NULL, shape, LEAT_SHAPE(2), no_limit, {0}});
        check_gradients(function, 4, NULL);
        leat_error err = {0};
        leat_function *once = leati_graph_function_gradient(function, &err);
        assert_non_null(once);
        assert_null(leati_graph_function_gradient(once, &err));
        assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "while_gradient");
        leat_function_unref(once);
        leat_function_unref(function);
    }
}

/* Each iteration draws other numbers, and the way back draws the same again. */
static void test_random_body(void **state) {
    (void)state;
    leat_error err = {0};
    leati_call_context context = {.seed = 3, .seed2 = 4, .ordinal = 5, .num_replicas = 1};
    leat_function *function =
        make_loop((loop){noisy, NULL, LEAT_SHAPE(2), LEAT_SHAPE(2), no_limit, {0}});
    assert_true(leati_graph_function_has(function, LEATI_RANDOM));
    check_gradients(function, 3, &context);
    double noise[2] = {0};
    for (int limit = 1; limit < 3; limit++) {
        leat_tensor inputs[4], out[2];
        inputs_of(inputs, limit);
        assert_int_equal(leati_interpret(function, inputs, &context, out, &err), LEAT_OK);
        noise[limit - 1] = *(double *)out[1].data;
        release(out, 2);
        release(inputs, 4);
    }
    /* x1 = (1 + a) / 4 * 3; x2 = (x1 + b) / 4 * 3: b is not a. */
    double a = noise[0] / .75 - 1, b = noise[1] / .75 - noise[0];
    assert_true(a >= 0 && a < 1 && b >= 0 && b < 1 && fabs(a - b) > 1e-9);
    leat_function_unref(function);
}

static void test_json(void **state) {
    (void)state;
    leat_error err = {0};
    leat_op_while_options options = {LEAT_OP_WHILE_DEFAULTS, .maximum_iterations = 2};
    leat_function *function =
        make_loop((loop){scale, NULL, any_vector, LEAT_SHAPE(2), options, {0}});
    leat_function *reverse = leati_graph_function_gradient(function, &err);
    leat_function *originals[2] = {function, reverse};
    for (int i = 0; i < 2; i++) {
        char *text = leat_function_to_json(originals[i], &err);
        leat_function *copy = text != NULL ? leat_function_from_json(text, &err) : NULL;
        if (copy == NULL)
            fail_msg("%s", err.text);
        assert_true(copy->fingerprint == originals[i]->fingerprint);
        if (i == 0)
            expect(copy, 100, 2, 2, (double[]){1.5625, .71875});
        leat_text_free(text);
        leat_function_unref(copy);
        leat_function_unref(originals[i]);
    }
}

/* Rows of one call end after different numbers of iterations. */
static void test_rows(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function =
        make_loop((loop){square, NULL, LEAT_SHAPE(2), LEAT_SHAPE(2), no_limit, {0}});
    int64_t zero = 0, limits[3] = {2, 0, 1}, failed_row;
    double x[6] = {1, 2, 3, 4, 5, 6}, factor = 2;
    leati_operand inputs[4] = {
        {.data = (char *)&zero, .dtype = LEAT_INT64, .count = 1},
        {.data = (char *)x,
         .row_stride = 16,
         .dtype = LEAT_FLOAT64,
         .rank = 1,
         .dims = {2},
         .count = 2},
        {.data = (char *)limits, .row_stride = 8, .dtype = LEAT_INT64, .count = 1},
        {.data = (char *)&factor, .dtype = LEAT_FLOAT64, .count = 1}};
    leati_operand out[2];
    assert_int_equal(leati_interpret_rows(function, 3, inputs, NULL, out, &failed_row, &err), 0);
    const double expected[6] = {8, 128, 3, 4, 50, 72};
    for (int i = 0; i < 6; i++)
        assert_true(((double *)(void *)(out[1].data + i / 2 * out[1].row_stride))[i % 2] ==
                    expected[i]);
    leat_buffer_unref(out[0].owner);
    leat_buffer_unref(out[1].owner);
    leat_function_unref(function);
}

static int append_letter(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    if (context != NULL) {
        leat_value length = leat_op_string_length(x, NULL);
        outputs[0] = leat_op_less(length, leat_op_cast(int64(graph, 3), leat_value_dtype(length)));
        return 1;
    }
    leat_tensor letter = leat_scalar_string("a");
    outputs[0] = leat_op_string_join((leat_value[]){x, leat_graph_tensor(graph, &letter)}, 2, "-");
    leat_tensor_unref(&letter);
    return 1;
}

static void test_strings(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, &err);
    leat_function *cond = LEAT_TRACE(append_letter, spec, spec, &err);
    leat_function *body = LEAT_TRACE(append_letter, NULL, spec, &err);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_value x = leat_graph_argument(graph, 0), out;
    assert_int_equal(leat_op_while(cond, body, &x, 1, NULL, 0, NULL, &out), 1);
    leat_function *function = leat_graph_finish(graph, &out, 1, NULL, &err);
    leat_tensor in = leat_scalar_string(""), result;
    assert_int_equal(leati_interpret(function, &in, NULL, &result, &err), LEAT_OK);
    leat_tensor_unref(&in);
    const leat_string *text = result.data;
    assert_int_equal(text->size, 4);
    assert_memory_equal(text->data, "-a-a", 4);
    leat_tensor_unref(&result);
    leat_spec_unref(spec);
    leat_function_unref(cond);
    leat_function_unref(body);
    leat_function_unref(function);
}

/* ---- failures ---- */

static int to_float(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    scale(context, graph, outputs, capacity);
    outputs[0] = leat_op_cast(outputs[0], LEAT_FLOAT64);
    return 2;
}

static int one_output(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    scale(context, graph, outputs, capacity);
    return 1;
}

static int not_bool(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

static int vector_cond(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 1);
    outputs[0] = leat_op_less(x, x);
    return 1;
}

static void loop_fails(loop l, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    assert_null(try_loop(l, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void test_functions_that_do_not_fit(void **state) {
    (void)state;
    leat_shape two = LEAT_SHAPE(2);
    loop_fails((loop){to_float, NULL, two, two, no_limit, {0}}, LEAT_REASON_DTYPE, "float64");
    loop_fails((loop){one_output, NULL, two, two, no_limit, {0}}, LEAT_REASON_VALUE, "1");
    loop_fails((loop){scale, not_bool, two, two, no_limit, {0}}, LEAT_REASON_SHAPE, "int64");
    loop_fails((loop){scale, vector_cond, two, two, no_limit, {0}}, LEAT_REASON_SHAPE, "[2]");
    loop_fails((loop){scale, one_output, two, two, no_limit, {0}}, LEAT_REASON_SHAPE, "int64");
    loop_fails((loop){scale, scale, two, two, no_limit, {0}}, LEAT_REASON_SHAPE, "2");
    loop_fails((loop){grow, NULL, two, two, no_limit, {0}}, LEAT_REASON_SHAPE, "[2]");
    loop_fails((loop){scale, NULL, two, LEAT_SHAPE(3), no_limit, {0}}, LEAT_REASON_SHAPE, "[3]");
    leat_spec *invariants = test_spec(2, (leat_dtype[]){LEAT_INT64, LEAT_FLOAT64},
                                      (leat_shape[]){LEAT_SCALAR, LEAT_SHAPE(2)});
    leat_op_while_options options = {LEAT_OP_WHILE_DEFAULTS, .shape_invariants = invariants};
    loop_fails((loop){grow, NULL, any_vector, two, options, {0}}, LEAT_REASON_SHAPE, "[2]");
    loop_fails((loop){scale, NULL, any_vector, LEAT_SHAPE(3), options, {0}}, LEAT_REASON_SHAPE,
               "[3]");
    leat_spec_unref(invariants);
    invariants = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
    options.shape_invariants = invariants;
    loop_fails((loop){scale, NULL, two, two, options, {0}}, LEAT_REASON_STRUCTURE,
               "shape_invariants");
    leat_spec_unref(invariants);
}

static void test_null_functions(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = loop_spec(LEAT_SHAPE(2));
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_value x = leat_graph_argument(graph, 0), out;
    assert_int_equal(leat_op_while(NULL, NULL, &x, 1, NULL, 0, NULL, &out), -1);
    assert_null(leat_graph_finish(graph, &x, 1, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "while");
    leat_spec_unref(spec);
}

/* The iteration that fails, forwards and on the way back. */
static void test_failing_iteration(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function =
        make_loop((loop){divide_by_rest, NULL, LEAT_SHAPE(2), LEAT_SHAPE(2), no_limit, {0}});
    leat_function *reverse = leati_graph_function_gradient(function, &err);
    assert_non_null(reverse);
    leat_tensor inputs[5], out[2];
    inputs_of(inputs, 5);
    inputs[4] = TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2), double, 1, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leati_interpret(i ? reverse : function, inputs, NULL, out, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "3");
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "body");
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "floordiv");
    }
    release(inputs, 5);
    leat_function_unref(function);
    leat_function_unref(reverse);
}

static leat_status build_and_run(void *context, leat_error *err) {
    loop *l = context;
    leat_spec *spec = NULL;
    leat_spec *children[4] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                              leat_spec_tensor(LEAT_FLOAT64, LEAT_SHAPE(2), err),
                              leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                              leat_spec_tensor(LEAT_FLOAT64, LEAT_SCALAR, err)};
    spec = leat_spec_tuple(children, 4, err);
    leat_function *function = spec != NULL ? LEAT_TRACE(call_loop, l, spec, err) : NULL;
    leat_function *reverse = function != NULL ? leati_graph_function_gradient(function, err) : NULL;
    leat_spec_unref(spec);
    leat_function_unref(function);
    if (reverse == NULL)
        return torture_code(err);
    const int64_t counts[2] = {0, 3};
    const double numbers[3] = {1, 2, 3};
    leat_tensor in[5] = {leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &counts[0]),
                         leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(2), numbers),
                         leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &counts[1]),
                         leat_tensor_view(LEAT_FLOAT64, LEAT_SCALAR, numbers),
                         leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(3), numbers)};
    in[4] = leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(2), numbers);
    leat_tensor out[2];
    leat_status status = leati_interpret(reverse, in, NULL, out, err);
    leat_function_unref(reverse);
    if (status == LEAT_OK)
        release(out, 2);
    return status;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    loop l = {.body = square, .options = no_limit};
    l.functions[0] = trace(below_limit, LEAT_SHAPE(2));
    l.functions[1] = trace(square, LEAT_SHAPE(2));
    torture_run_tolerant(build_and_run, &l); /* an arena may do with a smaller chunk */
    leat_function_unref(l.functions[0]);
    leat_function_unref(l.functions[1]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_iterations),
        TEST(test_maximum),
        TEST(test_growing_vector),
        TEST(test_gradient),
        TEST(test_random_body),
        TEST(test_json),
        TEST(test_rows),
        TEST(test_strings),
        TEST(test_functions_that_do_not_fit),
        TEST(test_null_functions),
        TEST(test_failing_iteration),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
