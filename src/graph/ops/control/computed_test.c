/* computed_gradient: what flows back through operations with computed attributes, for known and
 * unknown shapes, row by row, through JSON, and its errors. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "graph/computed.h"
#include "graph/ops/array/slice.h"
#include "graph/support/picture/colour.h"
#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

/* Squares of a window of 2 x 2 of argument 0 that begins at argument 1. */
static int window(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    int64_t begin[2] = {0}, size[2] = {2, 2};
    struct leati_slice_args args = {.begin = {begin, 2}, .size = {size, 2}};
    leat_string name = {.data = (char *)(uintptr_t) "begin", .size = 5};
    leat_value x = leat_graph_argument(graph, 0), at = leat_graph_argument(graph, 1);
    (void)context;
    int32_t id =
        leati_graph_add_computed(graph, &leati_tensor_op_slice, &args, &x, 1, &name, &at, 1);
    outputs[0] = leat_op_square((leat_value){.graph = graph, .id = id});
    return 1;
}

static int contrast(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    struct leati_adjust_args args = {.amount = 1};
    leat_string name = {.data = (char *)(uintptr_t) "contrast_factor", .size = 15};
    leat_value x = leat_graph_argument(graph, 0), by = leat_graph_argument(graph, 1);
    (void)context;
    int32_t id = leati_graph_add_computed(graph, &leati_tensor_op_adjust_contrast, &args, &x, 1,
                                          &name, &by, 1);
    outputs[0] = (leat_value){.graph = graph, .id = id};
    return 1;
}

static leat_function *trace(leat_tracer tracer, leat_shape first, leat_dtype dtype,
                            leat_shape second, leat_error *err) {
    leat_spec *spec =
        test_spec(2, (leat_dtype[]){LEAT_FLOAT64, dtype}, (leat_shape[]){first, second});
    if (spec == NULL)
        leati_no_memory(err);
    leat_function *function = spec == NULL ? NULL : LEAT_TRACE(tracer, NULL, spec, err);
    leat_spec_unref(spec);
    return function;
}

static void check(const leat_function *function) {
    for (int64_t at = 0; at < 4; at++) {
        leat_tensor inputs[2] = {TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(3, 4), double, 1, -2, 3, .5,
                                             2, 5, -1, 4, 0, 7, 6, -3),
                                 TEST_TENSOR(LEAT_INT64, LEAT_SHAPE(2), int64_t, at % 2, at / 2)};
        test_check_gradient(function, inputs, 2, NULL);
        leat_tensor_unref(&inputs[0]);
        leat_tensor_unref(&inputs[1]);
    }
}

static void test_gradient(void **state) {
    const leat_shape shapes[] = {
        LEAT_SHAPE(3, 4), LEAT_SHAPE(LEAT_UNKNOWN_DIM, 4), {.rank = LEAT_UNKNOWN_RANK}};
    leat_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        leat_function *function = trace(window, shapes[i], LEAT_INT64, LEAT_SHAPE(2), &err);
        if (function == NULL)
            fail_msg("%s", err.text);
        check(function);
        leat_function_unref(function);
    }
}

static void test_json(void **state) {
    leat_error err = {0};
    (void)state;
    leat_function *function = trace(window, LEAT_SHAPE(3, 4), LEAT_INT64, LEAT_SHAPE(2), &err);
    leat_function *reverse = leati_graph_function_gradient(function, &err);
    char *text = reverse == NULL ? NULL : leat_function_to_json(reverse, &err);
    leat_function *copy = text == NULL ? NULL : leat_function_from_json(text, &err);
    if (copy == NULL)
        fail_msg("%s", err.text);
    assert_true(copy->fingerprint == reverse->fingerprint);
    leat_text_free(text);
    leat_function_unref(copy);
    leat_function_unref(reverse);
    leat_function_unref(function);
}

static void test_no_gradient(void **state) {
    leat_error err = {0};
    (void)state;
    leat_function *function = trace(contrast, LEAT_SHAPE(2, 2, 3), LEAT_FLOAT64, LEAT_SCALAR, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    assert_null(leati_graph_function_gradient(function, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "adjust_contrast");
    leat_function_unref(function);
}

static leat_status build_and_run(void *context, leat_error *err) {
    leat_tensor *inputs = context;
    leat_function *function = trace(window, LEAT_SHAPE(3, 4), LEAT_INT64, LEAT_SHAPE(2), err);
    leat_function *reverse = function == NULL ? NULL : leati_graph_function_gradient(function, err);
    leat_status status = err->code;
    leat_tensor out = {0};
    if (reverse != NULL)
        status = leati_interpret(reverse, inputs, NULL, &out, err);
    leat_tensor_unref(&out);
    leat_function_unref(reverse);
    leat_function_unref(function);
    return status;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    leat_tensor inputs[3] = {
        TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(3, 4), double, 1, -2, 3, .5, 2, 5, -1, 4, 0, 7, 6, -3),
        TEST_TENSOR(LEAT_INT64, LEAT_SHAPE(2), int64_t, 1, 1),
        TEST_TENSOR(LEAT_FLOAT64, LEAT_SHAPE(2, 2), double, 1, 2, 3, 4)};
    torture_run_tolerant(build_and_run, inputs); /* an arena may do with a smaller chunk */
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&inputs[i]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_gradient),
        TEST(test_json),
        TEST(test_no_gradient),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
