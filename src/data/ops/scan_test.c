/* scan with random numbers: each call draws the next ones, in every epoch and after a restore; and
 * its plan's arguments in any order. Expected outcomes are TensorFlow's; everything else:
 * tests/conform/data/scan.json. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include <leat/ops.h>

/* (state, x): (state + x, two random numbers) */
static int trace_noise(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    outputs[1] = leat_op_random_uniform(
        graph, LEAT_SHAPE(2),
        &(leat_op_random_uniform_options){LEAT_OP_RANDOM_UNIFORM_DEFAULTS, .seed = &(int64_t){5}});
    return 2;
}

static leat_dataset *scan_noise(void *context, leat_error *err) {
    (void)context;
    static const int64_t zero = 0;
    leat_dataset *dataset = leat_dataset_range(0, 3, 1, NULL, err);
    leat_spec *scalar = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_spec *input =
        leat_spec_tuple((leat_spec *[]){leat_spec_ref(scalar), leat_spec_ref(scalar)}, 2, err);
    leat_function *function = input == NULL ? NULL : LEAT_TRACE(trace_noise, NULL, input, err);
    leat_element initial = {0};
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &zero);
    if (function != NULL && leat_element_set(&initial, scalar, &tensor, err) == LEAT_OK) {
        dataset = leat_dataset_scan(dataset, &initial, function, err);
    } else {
        leat_dataset_unref(dataset);
        leat_function_unref(function);
        dataset = NULL;
    }
    leat_element_fini(&initial);
    leat_spec_unref(input);
    leat_spec_unref(scalar);
    return leat_dataset_repeat(dataset, 2, err);
}

/* tf.random.uniform([2], seed=5) in a scan of range(3), twice. */
static void test_random_numbers(void **state) {
    (void)state;
    dataset_check(scan_noise, NULL, NULL);
    static const float expected[] = {0.388311267F, 0.663682818F, 0.429072618F, 0.958278298F,
                                     0.707471013F, 0.497052789F, 0.393914104F, 0.174812436F,
                                     0.335848451F, 0.752895713F, 0.250608802F, 0.257910848F};
    leat_dataset *dataset = dataset_made(scan_noise, NULL);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OK);
        assert_memory_equal(element.tensors[0].data, expected + 2 * i, 2 * sizeof(float));
    }
    assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

#define SCALAR "{\"dtype\": \"int64\", \"shape\": []}"
#define SUM                                                                                        \
    "\"scan_func\": {\"input\": {\"tuple\": [" SCALAR ", " SCALAR "]}, "                           \
    "\"output\": {\"tuple\": [" SCALAR ", " SCALAR "]}, "                                          \
    "\"nodes\": [{\"op\": \"add\", \"inputs\": [0, 1]}], \"outputs\": [2, 2]}"
#define STATE "\"initial_state\": {\"dtype\": \"int64\", \"shape\": [], \"data\": [10]}"

/* A plan's arguments stand in any order, though the function's depend on the state. */
static void test_arguments_in_any_order(void **state) {
    (void)state;
    static const char *const orders[] = {STATE ", " SUM, SUM ", " STATE};
    for (int i = 0; i < 2; i++) {
        char plan[1024];
        leat_error err = {0};
        leat_element element = {0};
        snprintf(plan, sizeof plan,
                 "{\"op\": \"scan\", \"args\": {%s}, \"input\": {\"op\": \"range\", \"args\": "
                 "{\"start\": 5, \"stop\": 6}}}",
                 orders[i]);
        leat_dataset *dataset = leat_dataset_from_json(plan, &err);
        if (dataset == NULL)
            fail_msg("%s", err.text);
        leat_iterator *iterator = dataset_iterate(dataset, NULL);
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, 15);
        leat_element_fini(&element);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_numbers, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_arguments_in_any_order, torture_setup,
                                        torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
