/* Operations by themselves: what is left to a graph, values, and each allocation that fails. That
 * they give what graphs give is tested over the whole table by tests/conform/ops_test.c. */
#include "support/cmocka.h"

#include "base/error.h"
#include "core/tensor.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/bind.h>
#include <leat/graph.h>

static leat_tensor floats(int64_t count, const float *values) {
    leat_tensor tensor;
    assert_int_equal(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(count), values, &tensor, NULL),
                     LEAT_OK);
    return tensor;
}

static leat_operation *made(const char *name, const char *attributes) {
    leat_error err = {0};
    leat_operation *operation = leat_operation_new(name, attributes, &err);
    if (operation == NULL)
        fail_msg("%s: %s", name, err.text);
    return operation;
}

static void test_computes_again_and_again(void **state) {
    (void)state;
    leat_operation *sum = made("reduce_sum", "{\"axis\": [0], \"keepdims\": true}");
    for (int count = 1; count < 4; count++) {
        leat_tensor x = floats(count, (const float[]){1, 2, 4}), out;
        assert_int_equal(leat_operation_run(sum, &x, 1, &out, 1), 1);
        assert_int_equal(out.rank, 1);
        assert_true(((const float *)out.data)[0] == (float)((1 << count) - 1));
        leat_tensor_unref(&x);
        leat_tensor_unref(&out);
    }
    leat_operation_free(sum);
    leat_operation_free(NULL);
}

static void test_leaves_to_a_graph_what_takes_one(void **state) {
    (void)state;
    leat_operation *add = made("add", NULL), *quotient = made("divide", NULL);
    leat_tensor two = floats(2, (const float[]){1, 2}), three = floats(3, (const float[]){1, 2, 3});
    leat_tensor whole = leat_scalar_int64(3), text = leat_scalar_string("a"), out[2];
    assert_int_equal(leat_operation_run(add, (leat_tensor[]){two, three}, 2, out, 2), -1);
    assert_int_equal(leat_operation_run(add, (leat_tensor[]){two, whole}, 2, out, 2), -1);
    assert_int_equal(leat_operation_run(add, (leat_tensor[]){text, text}, 2, out, 2), -1);
    assert_int_equal(leat_operation_run(add, &two, 1, out, 2), -1);
    assert_int_equal(leat_operation_run(add, (leat_tensor[]){two, two}, 2, out, 0), -1);
    assert_int_equal(leat_operation_run(quotient, (leat_tensor[]){whole, whole}, 2, out, 2), -1);
    leat_tensor_unref(&two);
    leat_tensor_unref(&three);
    leat_tensor_unref(&whole);
    leat_tensor_unref(&text);
    leat_operation_free(add);
    leat_operation_free(quotient);
}

static void test_refuses_what_needs_an_order(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_operation_new("random_uniform", "{\"shape\": [2]}", &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "graph");
    err = (leat_error){0};
    assert_null(leat_operation_new("no_such", NULL, &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "no_such");
    err = (leat_error){0};
    assert_null(leat_operation_new("reduce_sum", "{\"axes\": 1}", &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_operation_new(NULL, NULL, NULL));
}

static leat_status make_and_run(void *context, leat_error *err) {
    const leat_tensor *inputs = context;
    leat_tensor out;
    leat_operation *operation = leat_operation_new("concat", "{\"axis\": 0}", err);
    if (operation == NULL)
        return torture_code(err);
    int count = leat_operation_run(operation, inputs, 2, &out, 1);
    leat_operation_free(operation);
    if (count < 0) /* only memory is short here, of which a run does not tell */
        return leati_no_memory(err);
    assert_int_equal(out.dims[0], 5);
    leat_tensor_unref(&out);
    return LEAT_OK;
}

static void test_each_allocation_fails(void **state) {
    (void)state;
    leat_tensor inputs[2] = {floats(2, (const float[]){1, 2}), floats(3, (const float[]){1, 2, 3})};
    torture_run(make_and_run, inputs);
    leat_tensor_unref(&inputs[0]);
    leat_tensor_unref(&inputs[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_computes_again_and_again),
        TEST(test_leaves_to_a_graph_what_takes_one),
        TEST(test_refuses_what_needs_an_order),
        TEST(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
