/* The reference interpreter: views, strings, shapes that depend on data, texts of failures. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

static leat_function *finish(leat_graph *graph, const leat_value *outputs, int count) {
    leat_error err = {0};
    leat_function *function = leat_graph_finish(graph, outputs, count, NULL, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

static leat_graph *graph_of(leat_dtype dtype, leat_shape shape) {
    leat_spec *spec = leat_spec_tensor(dtype, shape, NULL);
    leat_graph *graph = leat_graph_new(spec, NULL);
    leat_spec_unref(spec);
    return graph;
}

/* Results outlive function and inputs: identity is a view of the input's own memory. */
static void test_views_keep_their_owner(void **state) {
    (void)state;
    leat_error err = {0};
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_graph *graph = graph_of(LEAT_STRING, LEAT_SHAPE(LEAT_UNKNOWN_DIM));
    leat_value x = leat_graph_argument(graph, 0);
    assert_int_equal(leat_graph_call(graph, "identity", NULL, &x, 1, outputs, LEAT_MAX_OUTPUTS), 1);
    outputs[1] = outputs[0];
    leat_function *function = finish(graph, outputs, 2);
    leat_tensor in = TEST_TENSOR(LEAT_STRING, LEAT_SHAPE(2), leat_string, {"leat", 4}, {"", 0});
    leat_tensor out[2];
    assert_int_equal(leati_interpret(function, &in, NULL, out, &err), LEAT_OK);
    assert_ptr_equal(out[0].data, in.data);
    leat_tensor_unref(&in);
    leat_function_unref(function);
    assert_memory_equal(((leat_string *)out[1].data)[0].data, "leat", 4);
    leat_tensor_unref(&out[0]);
    leat_tensor_unref(&out[1]);
}

static void test_arguments_are_checked(void **state) {
    (void)state;
    leat_error err = {0};
    leat_graph *graph = graph_of(LEAT_FLOAT32, LEAT_SHAPE(LEAT_UNKNOWN_DIM, 2));
    leat_value x = leat_graph_argument(graph, 0);
    leat_function *function = finish(graph, &x, 1);
    leat_tensor in = TEST_TENSOR(LEAT_FLOAT32, LEAT_SHAPE(1, 3), float, 1, 2, 3), out;
    assert_int_equal(leati_interpret(function, &in, NULL, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[1, 3]");
    leati_operand operand = {.dtype = LEAT_FLOAT32}, result;
    assert_int_equal(leati_interpret_rows(function, 1, &operand, NULL, &result, NULL, &err),
                     LEAT_FAILED_PRECONDITION);
    leat_tensor_unref(&in);
    leat_function_unref(function);
}

static void test_failures_name_the_node(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = test_spec(2, (leat_dtype[]){LEAT_INT32, LEAT_INT32},
                                (leat_shape[]){LEAT_SHAPE(LEAT_UNKNOWN_DIM), LEAT_SHAPE(2)});
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    leat_value x = leat_graph_argument(graph, 0);
    leat_value sum = leat_op_add(leat_op_negate(x), leat_graph_argument(graph, 1));
    leat_function *function = finish(graph, &sum, 1);
    leat_tensor in[2] = {TEST_TENSOR(LEAT_INT32, LEAT_SHAPE(3), int32_t, 1, 2, 3),
                         TEST_TENSOR(LEAT_INT32, LEAT_SHAPE(2), int32_t, 1, 2)},
                out;
    assert_int_equal(leati_interpret(function, in, NULL, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "add");
    leat_tensor_unref(&in[0]);
    leat_tensor_unref(&in[1]);
    leat_function_unref(function);
}

/* Rows of one call are the rows alone, also where one operand is shared by all. */
static void test_rows(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = test_spec(2, (leat_dtype[]){LEAT_FLOAT64, LEAT_FLOAT64},
                                (leat_shape[]){LEAT_SHAPE(2), LEAT_SCALAR});
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    leat_value x = leat_graph_argument(graph, 0), y = leat_graph_argument(graph, 1);
    leat_value outputs[2] = {leat_op_exp(leat_op_multiply(x, y)), leat_op_add(x, x)};
    leat_function *function = finish(graph, outputs, 2);
    double vectors[6] = {1, -2, 3, .5, 0, 7}, scalar = .25;
    leati_operand in[2] = {{.data = (char *)vectors,
                            .row_stride = 16,
                            .dtype = LEAT_FLOAT64,
                            .rank = 1,
                            .dims = {2},
                            .count = 2},
                           {.data = (char *)&scalar, .dtype = LEAT_FLOAT64, .count = 1}};
    leati_operand out[2];
    assert_int_equal(leati_interpret_rows(function, 3, in, NULL, out, NULL, &err), LEAT_OK);
    for (int row = 0; row < 3; row++) {
        leat_tensor alone[2], one[2] = {leati_kernel_operand_tensor(&in[0], row),
                                        leati_kernel_operand_tensor(&in[1], row)};
        assert_int_equal(leati_interpret(function, one, NULL, alone, &err), LEAT_OK);
        for (int i = 0; i < 2; i++) {
            assert_memory_equal(alone[i].data, out[i].data + row * out[i].row_stride, 16);
            leat_tensor_unref(&alone[i]);
        }
    }
    leat_buffer_unref(out[0].owner);
    leat_buffer_unref(out[1].owner);
    leat_function_unref(function);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_views_keep_their_owner),
        TEST(test_arguments_are_checked),
        TEST(test_failures_name_the_node),
        TEST(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
