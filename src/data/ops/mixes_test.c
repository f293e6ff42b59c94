/* The builders of the operators that mix datasets and of sources of numbers. Expected values are
 * TensorFlow's (golden cases of the operators); those of choose_from_datasets and AUTOTUNE follow
 * the rules. */
#include "support/cmocka.h"

#include "run/pool.h"
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <stdio.h>
#include <string.h>

/* Takes the dataset (given) and compares its first elements; `ends` says whether the end follows.
 */
static void expect(leat_dataset *dataset, const int64_t *values, int count, bool ends) {
    leat_error err = {0};
    leat_element element = {0};
    assert_non_null(dataset);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    assert_non_null(iterator);
    for (int i = 0; i < count; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, values[i]);
    }
    if (ends)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

#define EXPECT(dataset, ends, ...)                                                                 \
    expect(dataset, (const int64_t[]){__VA_ARGS__},                                                \
           (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ends)

/* range(x) */
static int trace_range(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value stop = leat_graph_argument(graph, 0);
    outputs[0] =
        leat_graph_dataset_op(graph, "range", NULL, NULL, 0, (const char *[]){"stop"}, &stop, 1);
    return 1;
}

static leat_function *range_function(void) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *function = LEAT_TRACE(trace_range, NULL, spec, &err);
    leat_spec_unref(spec);
    assert_non_null(function);
    return function;
}

static void test_interleave(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_interleave_options options = {LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = 2};
    leat_dataset_interleave_options parallel = {LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = 3,
                                                .num_parallel_calls = 2};
    EXPECT(leat_dataset_interleave(leat_dataset_range(0, 4, 1, NULL, &err), range_function(),
                                   &options, &err),
           true, 0, 0, 1, 0, 1, 2);
    EXPECT(leat_dataset_interleave(leat_dataset_range(0, 8, 1, NULL, &err), range_function(),
                                   &parallel, &err),
           true, 0, 0, 0, 1, 1, 0, 2, 1, 0, 2, 1, 0, 3, 2, 1, 3, 2, 0, 4, 3, 1, 4, 2, 5, 3, 4, 5,
           6);
    leat_dataset_parallel_interleave_options legacy = {
        LEAT_DATASET_PARALLEL_INTERLEAVE_DEFAULTS, .block_length = 1, .prefetch_input_elements = 1};
    EXPECT(leat_dataset_parallel_interleave(leat_dataset_range(0, 7, 1, NULL, &err),
                                            range_function(), 2, &legacy, &err),
           true, 0, 0, 1, 0, 1, 0, 2, 1, 2, 0, 3, 1, 2, 0, 3, 1, 4, 2, 3, 4, 5);
    /* With no element for its place, an ended dataset leaves the rest of its block to the next. */
    legacy = (leat_dataset_parallel_interleave_options){LEAT_DATASET_PARALLEL_INTERLEAVE_DEFAULTS,
                                                        .block_length = 2};
    EXPECT(leat_dataset_parallel_interleave(leat_dataset_range(2, 6, 1, NULL, &err),
                                            range_function(), 7, &legacy, &err),
           true, 0, 1, 0, 1, 0, 1, 0, 1, 2, 2, 2, 3, 3, 4);
    legacy.block_length = 3;
    EXPECT(leat_dataset_parallel_interleave(leat_dataset_range(1, 7, 1, NULL, &err),
                                            range_function(), 3, &legacy, &err),
           true, 0, 0, 1, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 3, 4, 0, 1, 2, 3, 4, 5);
}

/* cycle_length AUTOTUNE is the number of cores, and stays so in a written plan. */
static void test_cycle_of_cores(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_interleave(leat_dataset_range(0, 4, 1, NULL, &err),
                                                    range_function(), NULL, &err);
    char *text = leat_dataset_to_json(dataset, &err);
    char expected[64];
    snprintf(expected, sizeof(expected), "\"cycle_length\": %d", leati_pool_num_cores());
    assert_non_null(text);
    assert_non_null(strstr(text, expected));
    leat_text_free(text);
    leat_dataset_unref(dataset);
}

static void test_interleave_refuses(void **state) {
    (void)state;
    static const leat_dataset_interleave_options wrong[] = {
        {LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = -2},
        {LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = 2, .block_length = -1},
        {LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = 2, .num_parallel_calls = 3},
    };
    for (int i = 0; i < 3; i++) {
        leat_error err = {0};
        assert_null(leat_dataset_interleave(leat_dataset_range(0, 4, 1, NULL, &err),
                                            range_function(), &wrong[i], &err));
        assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    }
}

static void test_numbers(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_random_options options = {LEAT_DATASET_RANDOM_DEFAULTS, .seed = LEAT_SEED(42)};
    EXPECT(leat_dataset_random(&options, &err), false, 2985944072, 4132877644, 929418493,
           249609589);
    options.rerandomize_each_iteration = true;
    EXPECT(leat_dataset_random(&options, &err), false, 1632911145, 3351202991, 521718116,
           340051048);
    EXPECT(leat_dataset_counter(10, -2, NULL, &err), false, 10, 8, 6, 4);
    assert_null(leat_dataset_counter(0.5, 1, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

static void three(leat_dataset *inputs[3]) {
    leat_error err = {0};
    inputs[0] = leat_dataset_range(0, 5, 1, NULL, &err);
    inputs[1] = leat_dataset_range(10, 13, 1, NULL, &err);
    inputs[2] = leat_dataset_range(20, 28, 1, NULL, &err);
}

static void test_choose(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *inputs[3];
    three(inputs);
    EXPECT(leat_dataset_choose_from_datasets(
               inputs, 3, leat_dataset_repeat(leat_dataset_range(0, 3, 1, NULL, &err), -1, &err),
               NULL, &err),
           true, 0, 10, 20, 1, 11, 21, 2, 12, 22, 3);
    three(inputs);
    assert_null(leat_dataset_choose_from_datasets(inputs, 3, NULL, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

static void test_sample(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *inputs[3];
    leat_dataset_sample_from_datasets_options options = {LEAT_DATASET_SAMPLE_FROM_DATASETS_DEFAULTS,
                                                         .seed = LEAT_SEED(7)};
    three(inputs);
    EXPECT(leat_dataset_sample_from_datasets(inputs, 3, &options, &err), true, 10, 0, 20, 1, 11, 12,
           21, 2, 22, 23, 24, 3, 4, 25, 26, 27);
    three(inputs);
    options.stop_on_empty_dataset = true;
    EXPECT(leat_dataset_sample_from_datasets(inputs, 3, &options, &err), true, 10, 0, 20, 1, 11,
           12);
}

/* TensorFlow draws for ever where only datasets of weight 0 have elements left; the end is due. */
static void test_sample_of_no_weight_ends(void **state) {
    (void)state;
    leat_error err = {0};
    double weights[3] = {0, 1, 0};
    leat_shape shape = {.rank = 1, .dims = {3}};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT64, shape, weights);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT64, shape, &err);
    leat_element element = {.spec = spec, .tensors = &tensor, .num_tensors = 1};
    leat_dataset_sample_from_datasets_options options = {
        LEAT_DATASET_SAMPLE_FROM_DATASETS_DEFAULTS, .weights = &element, .seed = LEAT_SEED(11)};
    leat_dataset *inputs[3];
    three(inputs);
    EXPECT(leat_dataset_sample_from_datasets(inputs, 3, &options, &err), true, 10, 11, 12);
    leat_spec_unref(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interleave),
        cmocka_unit_test(test_cycle_of_cores),
        cmocka_unit_test(test_interleave_refuses),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_sample_of_no_weight_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
