/* reduce and get_single_element: what they give, what they refuse, whose error they hand on. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/torture.h"

#include <leat/leat.h>
#include <string.h>

/* state + element; fails with *context where the element is 3. */
static int add(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value sum = leat_op_add(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    leat_tensor three = leat_scalar_int64(3);
    leat_value fine =
        leat_op_not_equal(leat_graph_argument(graph, 1), leat_graph_tensor(graph, &three));
    leat_tensor_unref(&three);
    outputs[0] = context == NULL
                     ? sum
                     : leat_op_assert(fine, sum, *(leat_status *)context, "three is too much");
    return 1;
}

/* Reduces 0 .. stop - 1 from 100 on. */
static leat_status reduce(int64_t stop, leat_status *code, int64_t *sum, leat_error *err) {
    leat_dataset *dataset = leat_dataset_range(0, stop, 1, NULL, err);
    leat_spec *scalar = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_spec *both =
        leat_spec_tuple((leat_spec *[]){leat_spec_ref(scalar), leat_spec_ref(scalar)}, 2, err);
    leat_function *function = LEAT_TRACE(add, code, both, err);
    assert_non_null(function);
    leat_tensor hundred = leat_scalar_int64(100);
    leat_element state = {0}, out = {0};
    assert_int_equal(leat_element_set(&state, scalar, &hundred, err), LEAT_OK);
    leat_status status = leat_dataset_reduce(dataset, &state, function, &out, err);
    if (status == LEAT_OK)
        memcpy(sum, out.tensors[0].data, sizeof(*sum));
    leat_element_fini(&out);
    leat_element_fini(&state);
    leat_tensor_unref(&hundred);
    leat_function_unref(function);
    leat_spec_unref(both);
    leat_spec_unref(scalar);
    leat_dataset_unref(dataset);
    return status;
}

static void test_reduce(void **state) {
    (void)state;
    static const int64_t sums[][2] = {{0, 100}, {1, 100}, {2, 101}, {5, 110}, {1000, 499600}};
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        leat_error err = {0};
        int64_t sum = 0;
        assert_int_equal(reduce(sums[i][0], NULL, &sum, &err), LEAT_OK);
        assert_int_equal(sum, sums[i][1]);
        assert_int_equal(err.code, LEAT_OK);
    }
}

/* A failing function ends the call with its code; OUT_OF_RANGE would read as an end. */
static void test_reduce_fails(void **state) {
    (void)state;
    leat_status codes[][2] = {{LEAT_DATA_LOSS, LEAT_DATA_LOSS},
                              {LEAT_INVALID_ARGUMENT, LEAT_INVALID_ARGUMENT},
                              {LEAT_OUT_OF_RANGE, LEAT_INTERNAL}};
    for (int i = 0; i < 3; i++) {
        leat_error err = {0};
        int64_t sum = -1;
        assert_int_equal(reduce(3, &codes[i][0], &sum, &err), LEAT_OK);
        assert_int_equal(sum, 103);
        assert_int_equal(reduce(4, &codes[i][0], &sum, &err), codes[i][1]);
        assert_refused(&err, codes[i][1], LEAT_REASON_NONE, i == 2 ? "OUT_OF_RANGE" : "three");
    }
}

static void test_missing(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element out = {0};
    assert_int_equal(leat_dataset_reduce(NULL, &out, NULL, &out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "function");
    leat_error before = {.code = LEAT_NOT_FOUND, .text = "an earlier error"};
    assert_int_equal(leat_dataset_reduce(NULL, &out, NULL, &out, &before), LEAT_NOT_FOUND);
    assert_refused(&before, LEAT_NOT_FOUND, LEAT_REASON_NONE, NULL);
}

/* Of none, one, two elements, and where the second is an error, which comes first. */
static void test_single(void **state) {
    (void)state;
    static const struct {
        int64_t stop;
        leat_status code;
        leat_reason reason;
        const char *keyword;
    } cases[] = {
        {0, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "get_single_element"},
        {1, LEAT_OK, LEAT_REASON_NONE, NULL},
        {2, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "get_single_element"},
    };
    for (int i = 0; i < 3; i++) {
        leat_error err = {0};
        leat_element out = {0};
        leat_dataset *dataset = leat_dataset_range(0, cases[i].stop, 1, NULL, &err);
        assert_int_equal(leat_dataset_get_single_element(dataset, &out, &err), cases[i].code);
        if (cases[i].code != LEAT_OK)
            assert_refused(&err, cases[i].code, cases[i].reason, cases[i].keyword);
        assert_int_equal(out.num_tensors, cases[i].code == LEAT_OK ? 1 : 0);
        leat_element_fini(&out);
        dataset = leat_dataset_assert_cardinality(dataset, 1, &err);
        assert_int_equal(leat_dataset_get_single_element(dataset, &out, &err),
                         i == 1 ? LEAT_OK : LEAT_FAILED_PRECONDITION);
        leat_element_fini(&out);
        leat_dataset_unref(dataset);
    }
}

/* What both need, made before allocations fail. */
struct given {
    leat_dataset *range, *one;
    leat_function *function;
    leat_element state;
};

static leat_status use_both(void *context, leat_error *err) {
    struct given *given = context;
    leat_element out = {0};
    leat_status status =
        leat_dataset_reduce(given->range, &given->state, given->function, &out, err);
    if (status == LEAT_OK) {
        assert_int_equal(*(const int64_t *)out.tensors[0].data, 106);
        status = leat_dataset_get_single_element(given->one, &out, err);
    }
    if (status == LEAT_OK)
        assert_int_equal(*(const int64_t *)out.tensors[0].data, 0);
    leat_element_fini(&out);
    return status;
}

/* Each failed allocation is reported, and the error may be nobody's. */
static void test_without_memory(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *scalar = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_spec *both =
        leat_spec_tuple((leat_spec *[]){leat_spec_ref(scalar), leat_spec_ref(scalar)}, 2, &err);
    struct given given = {.range = leat_dataset_range(0, 4, 1, NULL, &err),
                          .one = leat_dataset_range(0, 1, 1, NULL, &err),
                          .function = LEAT_TRACE(add, NULL, both, &err)};
    leat_tensor hundred = leat_scalar_int64(100);
    assert_int_equal(leat_element_set(&given.state, scalar, &hundred, &err), LEAT_OK);
    assert_int_equal(use_both(&given, &err), LEAT_OK);
    torture_run_tolerant(use_both, &given);
    leat_element out = {0};
    assert_int_equal(leat_dataset_reduce(NULL, &out, NULL, &out, NULL), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_dataset_get_single_element(given.range, &out, NULL),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_dataset_get_single_element(NULL, &out, NULL), LEAT_INVALID_ARGUMENT);
    assert_int_equal(out.num_tensors, 0);
    leat_element_fini(&out);
    leat_element_fini(&given.state);
    leat_tensor_unref(&hundred);
    leat_function_unref(given.function);
    leat_dataset_unref(given.range);
    leat_dataset_unref(given.one);
    leat_spec_unref(both);
    leat_spec_unref(scalar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_reduce_fails),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_single),
        cmocka_unit_test_setup_teardown(test_without_memory, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
