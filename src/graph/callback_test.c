/* Callbacks: results, failures, the registry, and one call at a time. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"
#include <pthread.h>

static leat_spec *int_spec(void) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
}

static leat_status doubles(void *context, const leat_element *in, leat_element *out,
                           leat_error *err) {
    if (context != NULL)
        ++*(int *)context;
    leat_tensor result = leat_scalar_int64(2 * *(const int64_t *)in->tensors[0].data);
    leat_status status = leat_element_set(out, in->spec, &result, err);
    leat_tensor_unref(&result);
    return status;
}

static leat_status refuses(void *context, const leat_element *in, leat_element *out,
                           leat_error *err) {
    (void)in;
    (void)out;
    if (context != NULL && err != NULL)
        snprintf(err->text, sizeof err->text, "%s", (const char *)context);
    return LEAT_DATA_LOSS;
}

static leat_status forgets(void *context, const leat_element *in, leat_element *out,
                           leat_error *err) {
    (void)context;
    (void)in;
    (void)out;
    (void)err;
    return LEAT_OK;
}

static leat_status wrong_dtype(void *context, const leat_element *in, leat_element *out,
                               leat_error *err) {
    (void)context;
    (void)in;
    leat_spec *spec = leat_spec_tensor(LEAT_BOOL, LEAT_SCALAR, err);
    leat_tensor result = leat_scalar_bool(true);
    leat_status status = leat_element_set(out, spec, &result, err);
    leat_tensor_unref(&result);
    leat_spec_unref(spec);
    return status;
}

static void count_release(void *context) {
    ++*(int *)context;
}

static leat_function *function_of(leat_callback callback, void *context, const char *name,
                                  uint32_t flags) {
    leat_error err = {0};
    leat_function *function =
        LEAT_CALLBACK(callback, context, NULL, name, flags, int_spec(), int_spec(), &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

static leat_status run(const leat_function *function, int64_t x, int64_t *result, leat_error *err) {
    leat_tensor in = leat_scalar_int64(x), out;
    leat_status status = leati_interpret(function, &in, NULL, &out, err);
    leat_tensor_unref(&in);
    if (status == LEAT_OK) {
        *result = *(int64_t *)out.data;
        leat_tensor_unref(&out);
    }
    return status;
}

static void test_results(void **state) {
    (void)state;
    int calls = 0;
    int64_t result;
    leat_error err = {0};
    leat_function *function = function_of(doubles, &calls, "doubles", 0);
    assert_true(leati_graph_function_has(function, LEATI_IMPURE));
    assert_int_equal(run(function, 21, &result, &err), LEAT_OK);
    assert_int_equal(result, 42);
    assert_int_equal(calls, 1);
    leat_function_unref(function);

    function = function_of(doubles, NULL, NULL, LEAT_PURE);
    assert_false(leati_graph_function_has(function, LEATI_IMPURE));
    int64_t numbers[3] = {1, 2, 3};
    leati_operand in = {.data = (char *)numbers, .row_stride = 8, .dtype = LEAT_INT64, .count = 1};
    leati_operand out;
    assert_int_equal(leati_interpret_rows(function, 3, &in, NULL, &out, NULL, &err), LEAT_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(*(int64_t *)(void *)(out.data + i * out.row_stride), 2 * (i + 1));
    leat_buffer_unref(out.owner);
    leat_function_unref(function);
}

static void run_fails(leat_callback callback, void *context, leat_status code, leat_reason reason,
                      const char *keyword) {
    leat_error err = {0};
    int64_t result;
    leat_function *function = function_of(callback, context, "mine", 0);
    assert_int_equal(run(function, 1, &result, &err), code);
    assert_refused(&err, code, reason, keyword);
    assert_int_equal(run(function, 1, &result, &(leat_error){0}), code);
    leat_function_unref(function);
}

static void test_failures(void **state) {
    (void)state;
    char text[] = "the disk is wet";
    run_fails(refuses, text, LEAT_DATA_LOSS, LEAT_REASON_CALLBACK, "wet");
    run_fails(refuses, NULL, LEAT_DATA_LOSS, LEAT_REASON_CALLBACK, "\"mine\"");
    run_fails(forgets, NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "\"mine\"");
    leat_error err = {0};
    int64_t result;
    leat_function *function = function_of(wrong_dtype, NULL, "mine", 0);
    assert_int_equal(run(function, 1, &result, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "\"mine\"");
    leat_function_unref(function);
}

static void test_release(void **state) {
    (void)state;
    int released = 0;
    leat_error err = {0};
    leat_function *function = LEAT_CALLBACK(doubles, &released, count_release, "f", LEAT_PURE,
                                            int_spec(), int_spec(), &err);
    leat_function *pruned = leati_graph_function_prune(function, &err);
    leat_function_unref(function);
    assert_int_equal(released, 0);
    leat_function_unref(pruned);
    assert_int_equal(released, 1);
    assert_null(leat_function_from_callback(NULL, &released, count_release, "f", 0, int_spec(),
                                            int_spec(), &err));
    assert_int_equal(released, 2);
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_function_from_callback(doubles, &released, count_release, "f", 0, NULL,
                                            int_spec(), &err));
    assert_int_equal(released, 3);
}

static void test_registry(void **state) {
    (void)state;
    leat_error err = {0};
    int calls = 0, other = 0;
    int64_t result;
    leat_function *function = function_of(doubles, &calls, "twice", LEAT_PURE);
    assert_null(leat_function_to_json(function, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "\"twice\"");

    assert_int_equal(leat_callback_register("twice", doubles, &calls, 0, &err), LEAT_OK);
    assert_int_equal(leat_callback_register("twice", doubles, &other, 0, &err), LEAT_OK);
    char *text = leat_function_to_json(function, &err);
    assert_non_null(text);
    leat_function *copy = leat_function_from_json(text, &err);
    assert_non_null(copy);
    /* What counts is how the name is registered now. */
    assert_true(leati_graph_function_has(copy, LEATI_IMPURE));
    assert_int_equal(run(copy, 4, &result, &err), LEAT_OK);
    assert_int_equal(result, 8);
    assert_int_equal(calls, 0);
    assert_int_equal(other, 1);
    leat_function_unref(copy);

    copy = leat_function_from_json("{\"callback\": \"twice\","
                                   " \"input\": {\"dtype\": \"int64\", \"shape\": []},"
                                   " \"output\": {\"dtype\": \"int64\", \"shape\": []}}",
                                   &err);
    assert_non_null(copy);
    leat_function_unref(copy);
    leat_text_free(text);
    leat_function_unref(function);
    assert_int_equal(leat_callback_register("", doubles, NULL, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_callback_register("twice", NULL, NULL, 0, &err), LEAT_OK);
    assert_int_equal(leat_callback_register("twice", NULL, NULL, 0, &err), LEAT_OK);
}

struct gate_test {
    leat_function *function;
    int inside, most; /* written only inside the callback, so the gate itself guards them */
    int depth;
};

static leat_status counts_inside(void *context, const leat_element *in, leat_element *out,
                                 leat_error *err) {
    struct gate_test *test = context;
    test->inside++;
    test->most = test->inside > test->most ? test->inside : test->most;
    sched_yield();
    test->inside--;
    return leat_element_set(out, in->spec, in->tensors, err);
}

static void *calls_often(void *context) {
    struct gate_test *test = context;
    for (int i = 0; i < 200; i++) {
        int64_t result;
        if (run(test->function, i, &result, &(leat_error){0}) != LEAT_OK || result != i)
            test->most = 100;
    }
    return NULL;
}

static void test_one_call_at_a_time(void **state) {
    (void)state;
    struct gate_test test = {0};
    test.function = function_of(counts_inside, &test, "gate", 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, calls_often, &test);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(test.most, 1);
    leat_function_unref(test.function);
}

static leat_status calls_itself(void *context, const leat_element *in, leat_element *out,
                                leat_error *err) {
    struct gate_test *test = context;
    int64_t x = *(const int64_t *)in->tensors[0].data, inner = 0;
    if (x > 0) {
        leat_status status = run(test->function, x - 1, &inner, err);
        if (status != LEAT_OK)
            return status;
    }
    leat_tensor sum = leat_scalar_int64(x + inner);
    leat_status status = leat_element_set(out, in->spec, &sum, err);
    leat_tensor_unref(&sum);
    return status;
}

static void test_a_callback_may_call_itself(void **state) {
    (void)state;
    struct gate_test test = {0};
    int64_t result;
    test.function = function_of(calls_itself, &test, "recursive", 0);
    assert_int_equal(run(test.function, 4, &result, &(leat_error){0}), LEAT_OK);
    assert_int_equal(result, 10);
    leat_function_unref(test.function);
}

static leat_status build_and_run(void *context, leat_error *err) {
    (void)context;
    leat_function *function =
        LEAT_CALLBACK(forgets, NULL, NULL, "f", 0, leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                      leat_spec_tuple(NULL, 0, err), err);
    if (function == NULL)
        return torture_code(err);
    const int64_t x = 1;
    leat_tensor in = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &x);
    leat_status status = leati_interpret(function, &in, NULL, NULL, err);
    leat_function_unref(function);
    if (status != LEAT_OK)
        return status;
    status = leat_callback_register("f", forgets, NULL, 0, err);
    leat_status forgotten = leat_callback_register("f", NULL, NULL, 0, err);
    return status != LEAT_OK ? status : forgotten;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    torture_run_tolerant(build_and_run, NULL); /* an arena may do with a smaller chunk */
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_results),
        TEST(test_failures),
        TEST(test_release),
        TEST(test_registry),
        TEST(test_one_call_at_a_time),
        TEST(test_a_callback_may_call_itself),
        TEST(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
