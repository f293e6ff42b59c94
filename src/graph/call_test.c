/* leat_graph_call: attributes that inputs give, known and computed, seeds resolved in calls, and
 * inputs that are computed in another dtype. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/refused.h"

static leat_graph *two_arguments(leat_shape second) {
    const leat_dtype dtypes[] = {LEAT_FLOAT32, LEAT_INT64};
    const leat_shape shapes[] = {LEAT_SHAPE(6), second};
    leat_spec *spec = test_spec(2, dtypes, shapes);
    leat_graph *graph = leat_graph_new(spec, NULL);
    leat_spec_unref(spec);
    return graph;
}

/* tf.reshape(x, shape) where the shape is an argument: its rank is known, the run binds it. */
static void test_computed(void **state) {
    (void)state;
    leat_error err = {0};
    leat_graph *graph = two_arguments(LEAT_SHAPE(2));
    leat_value in[] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    leat_value out[LEAT_MAX_OUTPUTS];
    assert_int_equal(leat_graph_call(graph, "reshape", "{\"shape\": {\"input\": 1}}", in, 2, out,
                                     LEAT_MAX_OUTPUTS),
                     1);
    leat_shape shape = leat_value_shape(out[0]);
    assert_int_equal(shape.rank, 2);
    assert_int_equal(shape.dims[0], LEAT_UNKNOWN_DIM);
    leat_function *function = leat_graph_finish(graph, out, 1, NULL, &err);
    assert_non_null(function);
    leat_tensor tensors[] = {
        TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(6), float, 1, 2, 3, 4, 5, 6),
        TEST_TENSOR(LEAT_INT64, LEAT_SHAPE(2), int64_t, 3, -1),
    };
    leat_tensor result;
    assert_int_equal(leati_interpret(function, tensors, NULL, &result, &err), LEAT_OK);
    assert_int_equal(result.rank, 2);
    assert_int_equal(result.dims[0], 3);
    assert_int_equal(result.dims[1], 2);
    leat_tensor_unref(&result);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_function_unref(function);
}

/* A constant becomes the attribute: shapes are known, and gradients flow. */
static void test_constant(void **state) {
    (void)state;
    leat_graph *graph = two_arguments(LEAT_SCALAR);
    leat_tensor dims = TEST_TENSOR(LEAT_INT32, LEAT_SHAPE(2), int32_t, 2, -1);
    leat_value in[] = {leat_graph_argument(graph, 0), leat_graph_tensor(graph, &dims)};
    leat_value out[LEAT_MAX_OUTPUTS], gradient;
    assert_int_equal(leat_graph_call(graph, "reshape", "{\"shape\": {\"input\": 1}}", in, 2, out,
                                     LEAT_MAX_OUTPUTS),
                     1);
    leat_shape shape = leat_value_shape(out[0]);
    assert_int_equal(shape.dims[1], 3);
    leat_value_gradients(out[0], in, 1, &gradient);
    assert_true(gradient.id >= 0);
    leat_tensor_unref(&dims);
    leat_graph_free(graph);
}

static void expect_error(const char *op, const char *attributes, leat_reason reason,
                         const char *keyword) {
    leat_error err = {0};
    leat_graph *graph = two_arguments(LEAT_SCALAR);
    leat_value in[] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    leat_value out[LEAT_MAX_OUTPUTS];
    assert_int_equal(leat_graph_call(graph, op, attributes, in, 2, out, LEAT_MAX_OUTPUTS), -1);
    assert_null(leat_graph_finish(graph, in, 1, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void test_errors(void **state) {
    (void)state;
    expect_error("one_hot", "{\"axis\": {\"input\": 1}}", LEAT_REASON_VALUE, "axis");
    expect_error("reshape", "{\"shape\": {\"input\": 2}}", LEAT_REASON_VALUE, "2");
    expect_error("reshape", "{\"form\": {\"input\": 1}}", LEAT_REASON_VALUE, "form");
    expect_error("one_hot", "{\"depth\": {\"input\": 0}}", LEAT_REASON_DTYPE, "float32");
}

/* Two calls by name under one seed are one stream; the seeds are resolved when the node is made. */
static void test_seeds(void **state) {
    (void)state;
    leat_error err = {0};
    leat_value out[LEAT_MAX_OUTPUTS];
    leat_op_random_uniform_options options = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS,
                                              .seed = &(int64_t){5}};
    leat_graph *graph = leat_graph_new(NULL, NULL);
    assert_int_equal(leat_graph_call(graph, "random_uniform", "{\"shape\": [3], \"seed\": 5}", NULL,
                                     0, out, LEAT_MAX_OUTPUTS),
                     1);
    out[1] = leat_op_random_uniform(graph, LEAT_SHAPE(3), &options);
    leat_function *function = leat_graph_finish(graph, out, 2, NULL, &err);
    assert_non_null(function);
    leat_tensor values[2];
    leati_call_context context = {.num_replicas = 1};
    assert_int_equal(leati_interpret(function, NULL, &context, values, &err), LEAT_OK);
    assert_memory_equal(values[0].data, values[1].data, 3 * sizeof(float));
    leat_tensor_unref(&values[0]);
    leat_tensor_unref(&values[1]);
    leat_function_unref(function);
}

static int plus(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = context != NULL ? leat_op_multiply(x, x) : leat_op_add(x, x);
    return 1;
}

/* cond by its name, with functions that are no JSON. */
static void test_functions(void **state) {
    (void)state;
    leat_error err = {0};
    const char *text = "{\"then_branch\": {\"function\": 1}, \"else_branch\": {\"function\": 0}}";
    leat_shape scalar = LEAT_SCALAR;
    leat_function *functions[2] = {test_trace_float64(plus, NULL, 1, &scalar),
                                   test_trace_float64(plus, &err, 1, &scalar)};
    leat_spec *spec = test_spec(2, (leat_dtype[]){LEAT_BOOL, LEAT_FLOAT64},
                                (leat_shape[]){LEAT_SCALAR, LEAT_SCALAR});
    leat_value in[2], out[LEAT_MAX_OUTPUTS];
    for (int wrong = 0; wrong < 4; wrong++) {
        leat_graph *graph = leat_graph_new(spec, &err);
        for (int i = 0; i < 2; i++)
            in[i] = leat_graph_argument(graph, i);
        leat_function *given[2] = {functions[0], wrong == 2 ? NULL : functions[1]};
        int count = leat_graph_call_functions(
            graph, "cond", wrong == 3 ? "{\"predicate\": {\"function\": 0}}" : text, given,
            wrong == 1 ? 1 : 2, in, 2, out, LEAT_MAX_OUTPUTS);
        assert_int_equal(count, wrong ? -1 : 1);
        leat_function *function = leat_graph_finish(graph, out, 1, NULL, &err);
        if (wrong) {
            assert_null(function);
            assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "argument");
            continue;
        }
        for (int which = 0; which < 2; which++) {
            leat_tensor inputs[2] = {leat_scalar_bool(which), leat_scalar_float64(5)}, result;
            assert_int_equal(leati_interpret(function, inputs, NULL, &result, &err), LEAT_OK);
            assert_true(*(double *)result.data == (which ? 25 : 10));
            leat_tensor_unref(&result);
            leat_tensor_unref(&inputs[0]);
            leat_tensor_unref(&inputs[1]);
        }
        leat_function_unref(function);
    }
    leat_spec_unref(spec);
    leat_function_unref(functions[0]);
    leat_function_unref(functions[1]);
}

/* Output `index` of the operation over these tensors; without data: it refuses them. Owned. */
static leat_tensor computed(const char *op, const leat_tensor *inputs, int count, int index) {
    leat_error err = {0};
    leat_dtype dtypes[2] = {0};
    leat_shape shapes[2] = {{0}};
    leat_value in[2], out[LEAT_MAX_OUTPUTS];
    leat_tensor results[2] = {{0}};
    for (int i = 0; i < count; i++) {
        dtypes[i] = inputs[i].dtype;
        shapes[i] = leat_tensor_shape(&inputs[i]);
    }
    leat_spec *spec = test_spec(count, dtypes, shapes);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    for (int i = 0; i < count; i++)
        in[i] = leat_graph_argument(graph, i);
    int made = leat_graph_call(graph, op, NULL, in, count, out, LEAT_MAX_OUTPUTS);
    leat_function *function = leat_graph_finish(graph, out, made < 0 ? 0 : made, NULL, &err);
    if (function == NULL)
        return results[0];
    assert_int_equal(leati_interpret(function, inputs, NULL, results, &err), LEAT_OK);
    for (int i = 0; i < made; i++)
        if (i != index)
            leat_tensor_unref(&results[i]);
    leat_function_unref(function);
    return results[index];
}

/* A call of more outputs than there is room for says how many, and fills those. */
static void test_capacity(void **state) {
    (void)state;
    leat_graph *graph = two_arguments(LEAT_SCALAR);
    leat_value x = leat_graph_argument(graph, 0), out[3] = {{0}};
    const char *thirds = "{\"num_or_size_splits\": [2, 2, 2]}";
    assert_int_equal(leat_graph_call(graph, "split", thirds, &x, 1, out, 2), 3);
    assert_ptr_equal(out[1].graph, graph);
    assert_null(out[2].graph);
    assert_int_equal(leat_graph_call(graph, "split", thirds, &x, 1, NULL, 0), 3);
    leat_graph_free(graph);
}

/* Halves are computed as float32 and rounded: 1 and 2 of float16 have a softmax of float16. */
static void test_halves(void **state) {
    (void)state;
    leat_tensor inputs[] = {TEST_TENSOR(LEAT_FLOAT16, LEAT_SHAPE(2), uint16_t, 0x3c00, 0x4000)};
    leat_tensor labels[] = {TEST_TENSOR(LEAT_INT32, LEAT_SCALAR, int32_t, 1), inputs[0]};
    leat_tensor result = computed("softmax", inputs, 1, 0);
    assert_int_equal(result.dtype, LEAT_FLOAT16);
    assert_int_equal(((uint16_t *)result.data)[0], 0x344e); /* 0.26894142 */
    leat_tensor_unref(&result);
    for (int i = 0; i < 2; i++) {
        result = computed("sparse_softmax_cross_entropy_with_logits", labels, 2, i);
        assert_int_equal(result.dtype, LEAT_FLOAT16);
        assert_int_equal(result.rank, i);
        leat_tensor_unref(&result);
    }
    leat_tensor_unref(&labels[0]);
    leat_tensor_unref(&inputs[0]);
}

/* Gradients go through both casts: that of a sum of products of halves is a half. */
static void test_gradient_of_halves(void **state) {
    (void)state;
    leat_spec *spec = test_spec(1, (leat_dtype[]){LEAT_FLOAT16}, (leat_shape[]){LEAT_SHAPE(2, 2)});
    leat_graph *graph = leat_graph_new(spec, NULL);
    leat_value x = leat_graph_argument(graph, 0), in[2] = {x, x}, out[LEAT_MAX_OUTPUTS], gradient;
    assert_int_equal(leat_graph_call(graph, "matmul", NULL, in, 2, out, LEAT_MAX_OUTPUTS), 1);
    assert_int_equal(leat_value_dtype(out[0]), LEAT_FLOAT16);
    leat_value_gradients(out[0], &x, 1, &gradient);
    assert_int_equal(leat_value_dtype(gradient), LEAT_FLOAT16);
    leat_spec_unref(spec);
    leat_graph_free(graph);
}

/* Narrow indices, quotients of integers, masks of numbers and sums of strings. */
static void test_other_dtypes(void **state) {
    (void)state;
    leat_tensor values = TEST_TENSOR(LEAT_INT32, LEAT_SHAPE(3), int32_t, 7, 8, 9);
    leat_tensor places = TEST_TENSOR(LEAT_INT16, LEAT_SHAPE(2), int16_t, 2, 0);
    leat_tensor mask = TEST_TENSOR(LEAT_INT16, LEAT_SHAPE(3), int16_t, 0, 5, 0);
    leat_tensor small = TEST_TENSOR(LEAT_UINT8, LEAT_SHAPE(3), uint8_t, 1, 2, 4);
    leat_tensor found = computed("gather", (leat_tensor[]){values, places}, 2, 0);
    assert_int_equal(((int32_t *)found.data)[0], 9);
    leat_tensor_unref(&found);
    found = computed("boolean_mask", (leat_tensor[]){values, mask}, 2, 0);
    assert_int_equal(leat_tensor_count(&found), 1);
    assert_int_equal(((int32_t *)found.data)[0], 8);
    leat_tensor_unref(&found);
    found = computed("divide", (leat_tensor[]){values, values}, 2, 0);
    assert_int_equal(found.dtype, LEAT_FLOAT64);
    leat_tensor_unref(&found);
    found = computed("divide", (leat_tensor[]){small, small}, 2, 0);
    assert_int_equal(found.dtype, LEAT_FLOAT32);
    leat_tensor_unref(&found);
    found = computed("divide", (leat_tensor[]){small, values}, 2, 0);
    assert_null(found.data); /* of two dtypes */
    leat_string ab[] = {{"a", 1}, {"bc", 2}};
    leat_tensor strings[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SCALAR, &ab[i], &strings[i], NULL),
                         LEAT_OK);
    found = computed("add", strings, 2, 0);
    assert_int_equal(((leat_string *)found.data)->size, 3);
    assert_memory_equal(((leat_string *)found.data)->data, "abc", 3);
    leat_tensor_unref(&found);
    leat_tensor *all[] = {&values, &places, &mask, &small, &strings[0], &strings[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        leat_tensor_unref(all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computed),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_gradient_of_halves),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_other_dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
