/* group_by_window, group_by_reducer and bucket_by_sequence_length: arguments that are refused,
 * functions that fail, many keys. Expected outcomes are TensorFlow's. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

/* ---- functions ---- */

static leat_value argument(leat_graph *graph, int index) {
    return leat_graph_argument(graph, index);
}

static leat_value number(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static int same(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = argument(graph, 0);
    return 1;
}

static int modulo(void *context, leat_graph *graph, leat_value *out, int capacity) {
    out[0] = leat_op_floormod(argument(graph, 0), number(graph, *(const int64_t *)context));
    return 1;
}

static int to_int32(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = leat_op_cast(argument(graph, 0), LEAT_INT32);
    return 1;
}

static int zero(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = number(graph, 0);
    return 1;
}

static int sum(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = leat_op_add(argument(graph, 0), argument(graph, 1));
    return 1;
}

static int pair(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = argument(graph, 0);
    out[1] = argument(graph, 1);
    return 2;
}

/* (key, window) to its batches of `key` elements, which a key of 0 has not. */
static int batches(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    leat_value window = argument(graph, 1), key = argument(graph, 0);
    out[0] = leat_graph_dataset_op(graph, "batch", NULL, &window, 1, (const char *[]){"batch_size"},
                                   &key, 1);
    return 1;
}

static leat_spec *scalar(leat_error *err) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

/* A function of `count` int64 scalars. */
static leat_function *of_scalars(leat_tracer tracer, int count, void *context, leat_error *err) {
    leat_spec *both[2] = {scalar(err), count == 2 ? scalar(err) : NULL};
    leat_spec *input = count == 2 ? leat_spec_tuple(both, 2, err) : both[0];
    leat_function *function = LEAT_TRACE(tracer, context, input, err);
    leat_spec_unref(input);
    return function;
}

/* ---- group_by_reducer ---- */

static leat_reducer summing(leat_error *err) {
    return (leat_reducer){of_scalars(zero, 1, NULL, err), of_scalars(sum, 2, NULL, err),
                          of_scalars(same, 1, NULL, err)};
}

static leat_dataset *sums(void *context, leat_error *err) {
    leat_dataset *input = leat_dataset_range(0, 9, 1, NULL, err);
    leat_reducer reducer = summing(err);
    return leat_dataset_group_by_reducer(dataset_faults(input, 6, 3, err),
                                         of_scalars(modulo, 1, context, err), &reducer, err);
}

static void test_sums(void **state) {
    (void)state;
    int64_t three = 3;
    dataset_check(sums, &three, "!INVALID_ARGUMENT 6 12 15");
    leat_dataset *dataset = dataset_made(sums, &three);
    assert_int_equal(leat_dataset_cardinality(dataset), LEAT_UNKNOWN_CARDINALITY);
    leat_dataset_unref(dataset);
}

/* More keys than any table begins with, downwards and with gaps. */
static void test_many_keys(void **state) {
    (void)state;
    int64_t modulus = -((int64_t)1 << 40), n = 5000;
    leat_error err = {0};
    leat_reducer reducer = summing(&err);
    leat_dataset *dataset =
        leat_dataset_group_by_reducer(leat_dataset_range(0, n * 3, 3, NULL, &err),
                                      of_scalars(modulo, 1, &modulus, &err), &reducer, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    /* Key 0 comes last: the others are x - 2^40. */
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, 3 * ((i + 1) % n));
    }
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void refused(leat_dataset *dataset, const leat_error *err, leat_reason reason,
                    const char *keyword) {
    assert_null(dataset);
    assert_refused(err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void test_reducer_refuses(void **state) {
    (void)state;
    static const struct {
        int which; /* of key, init, reduce, finalize; 4: no reducer */
        leat_tracer tracer;
        int arguments;
        leat_reason reason;
        const char *keyword;
    } wrong[] = {
        {0, NULL, 0, LEAT_REASON_VALUE, "key_func"},
        {1, NULL, 0, LEAT_REASON_VALUE, "reducer.init_func"},
        {2, NULL, 0, LEAT_REASON_VALUE, "reducer.reduce_func"},
        {3, NULL, 0, LEAT_REASON_VALUE, "reducer.finalize_func"},
        {4, NULL, 0, LEAT_REASON_VALUE, "reducer.init_func"},
        {0, to_int32, 1, LEAT_REASON_STRUCTURE, "int32[]"},
        {0, sum, 2, LEAT_REASON_STRUCTURE, "key_func"},
        {1, sum, 2, LEAT_REASON_STRUCTURE, "init_func"},
        {1, to_int32, 1, LEAT_REASON_STRUCTURE, "reduce_func"},
        {2, to_int32, 2, LEAT_REASON_STRUCTURE, "int32[]"},
        {2, pair, 2, LEAT_REASON_STRUCTURE, "(int64[], int64[])"},
        {2, same, 1, LEAT_REASON_STRUCTURE, "reduce_func"},
        {3, sum, 2, LEAT_REASON_STRUCTURE, "finalize_func"},
    };
    int64_t three = 3;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        leat_error err = {0};
        leat_reducer reducer = summing(&err);
        leat_function *key = of_scalars(modulo, 1, &three, &err);
        leat_function **all[] = {&key, &reducer.init_func, &reducer.reduce_func,
                                 &reducer.finalize_func};
        if (wrong[i].which < 4) {
            leat_function **one = all[wrong[i].which];
            leat_function_unref(*one);
            *one = wrong[i].tracer == NULL
                       ? NULL
                       : of_scalars(wrong[i].tracer, wrong[i].arguments, NULL, &err);
        } else {
            for (int k = 1; k < 4; k++)
                leat_function_unref(*all[k]);
        }
        leat_dataset *input = leat_dataset_range(0, 9, 1, NULL, &err);
        refused(
            leat_dataset_group_by_reducer(input, key, wrong[i].which < 4 ? &reducer : NULL, &err),
            &err, wrong[i].reason, wrong[i].keyword);
    }
    leat_error err = {0};
    refused(leat_dataset_from_json("{\"op\": \"group_by_reducer\", \"args\": {}, \"input\": "
                                   "{\"op\": \"range\", \"args\": {\"stop\": 3}}}",
                                   &err),
            &err, LEAT_REASON_VALUE, "key_func");
}

/* ---- group_by_window ---- */

static leat_dataset *batched_groups(void *context, leat_error *err) {
    leat_dataset *input = leat_dataset_range(0, 7, 1, NULL, err);
    leat_spec *window[2] = {scalar(err), leat_spec_dataset(scalar(err), err)};
    leat_spec *both = leat_spec_tuple(window, 2, err);
    leat_function *reduce = LEAT_TRACE(batches, NULL, both, err);
    leat_spec_unref(both);
    int64_t three = 3;
    return leat_dataset_group_by_window(input, of_scalars(modulo, 1, &three, err), reduce,
                                        *(const int64_t *)context, NULL, err);
}

/* The group of key 0 fails when it is full, and again at each call behind the end. */
static void test_failing_group(void **state) {
    (void)state;
    int64_t size = 2;
    leat_dataset *dataset = dataset_made(batched_groups, &size);
    char *text = dataset_text(dataset, NULL, 6);
    assert_string_equal(text, "!INTERNAL [1] [4] [2,5] !INTERNAL !INTERNAL");
    free(text);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_error err = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_INTERNAL);
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "INVALID_ARGUMENT");
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "batch_size");
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* ---- memory ---- */

static int batch_of_3(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    leat_value window = argument(graph, 1);
    out[0] =
        leat_graph_dataset_op(graph, "batch", "{\"batch_size\": 3}", &window, 1, NULL, NULL, 0);
    return 1;
}

static leat_dataset *large_windows(leat_error *err) {
    leat_spec *window[2] = {scalar(err), leat_spec_dataset(scalar(err), err)};
    leat_spec *both = leat_spec_tuple(window, 2, err);
    leat_function *reduce = LEAT_TRACE(batch_of_3, NULL, both, err);
    leat_spec_unref(both);
    int64_t three = 3;
    return leat_dataset_group_by_window(leat_dataset_range(0, 30000, 1, NULL, err),
                                        of_scalars(modulo, 1, &three, err), reduce, 30000, NULL,
                                        err);
}

static leat_dataset *unique_numbers(leat_error *err) {
    return leat_dataset_unique(leat_dataset_range(0, 30000, 1, NULL, err), err);
}

/* Adds what is left, to the end or the first failure, whose code comes back. */
static leat_status add_up(leat_iterator *iterator, int64_t *sum, int64_t *count) {
    leat_element element = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    while ((status = leat_iterator_next(iterator, &element, &err)) == LEAT_OK) {
        const leat_tensor *tensor = &element.tensors[0];
        int64_t values = leat_tensor_count(tensor);
        for (int64_t i = 0; i < values; i++)
            *sum += ((const int64_t *)tensor->data)[i];
        *count += values;
    }
    leat_element_fini(&element);
    return status;
}

/* What has outgrown the budget fails, at each call, and loses nothing: with more memory it goes on
 * behind the last element. */
static void test_budget(void **state) {
    (void)state;
    static leat_dataset *(*const makers[])(leat_error *) = {unique_numbers, large_windows};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        leat_error err = {0};
        int64_t sum = 0, count = 0;
        char *saved = NULL;
        size_t size = 0;
        leat_dataset *dataset = makers[i](&err);
        assert_non_null(dataset);
        leat_iterator *iterator = dataset_iterate(
            dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .memory_limit = 100000});
        for (int again = 0; again < 3; again++)
            assert_int_equal(add_up(iterator, &sum, &count), LEAT_RESOURCE_EXHAUSTED);
        assert_true(count < 30000);
        assert_int_equal(leat_iterator_save(iterator, &saved, &size, NULL, &err), LEAT_OK);
        leat_iterator_free(iterator);
        iterator = dataset_iterate(dataset, NULL);
        assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_OK);
        assert_int_equal(add_up(iterator, &sum, &count), LEAT_OUT_OF_RANGE);
        assert_int_equal(count, 30000);
        assert_int_equal(sum, 30000LL * 29999 / 2);
        leat_iterator_free(iterator);
        leat_text_free(saved);
        leat_dataset_unref(dataset);
    }
}

/* ---- bucket_by_sequence_length ---- */

static int text_of(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = leat_op_as_string(argument(graph, 0), NULL);
    return 1;
}

static leat_dataset *buckets(leat_tracer length, int arguments, const int64_t *boundaries,
                             int count, const int64_t *sizes,
                             const leat_dataset_bucket_by_sequence_length_options *options,
                             leat_error *err) {
    leat_function *function = length == NULL ? NULL : of_scalars(length, arguments, NULL, err);
    return leat_dataset_bucket_by_sequence_length(leat_dataset_range(0, 9, 1, NULL, err), function,
                                                  boundaries, count, sizes, options, err);
}

static leat_dataset *some_buckets(void *context, leat_error *err) {
    const leat_dataset_bucket_by_sequence_length_options *options = context;
    return buckets(same, 1, (const int64_t[]){2, 5}, 2, (const int64_t[]){2, 2, 3}, options, err);
}

static void test_buckets(void **state) {
    (void)state;
    leat_dataset_bucket_by_sequence_length_options options = {
        LEAT_DATASET_BUCKET_BY_SEQUENCE_LENGTH_DEFAULTS};
    dataset_check(some_buckets, NULL, "[0,1] [2,3] [5,6,7] [4] [8]");
    dataset_check(some_buckets, &options, "[0,1] [2,3] [5,6,7] [4] [8]");
    options.drop_remainder = true;
    dataset_check(some_buckets, &options, "[0,1] [2,3] [5,6,7]");
    options.padding = false;
    dataset_check(some_buckets, &options, "[0,1] [2,3] [5,6,7]");
    /* The batch size is known at run time only, as in TensorFlow. */
    leat_dataset *dataset = dataset_made(some_buckets, &options);
    char text[64];
    leat_spec_print(leat_dataset_spec(dataset), text, sizeof(text));
    assert_string_equal(text, "int64[?]");
    leat_dataset_unref(dataset);
}

static void test_buckets_refuse(void **state) {
    (void)state;
    const int64_t two[] = {2, 5}, three[] = {2, 2, 2}, large[] = {2, (int64_t)1 << 31};
    leat_error err = {0};
    refused(buckets(NULL, 0, two, 2, three, NULL, &err), &err, LEAT_REASON_VALUE,
            "element_length_func");
    err = (leat_error){0};
    refused(buckets(sum, 2, two, 2, three, NULL, &err), &err, LEAT_REASON_STRUCTURE,
            "element_length_func");
    err = (leat_error){0};
    refused(buckets(text_of, 1, two, 2, three, NULL, &err), &err, LEAT_REASON_STRUCTURE,
            "string[]");
    err = (leat_error){0};
    refused(buckets(to_int32, 1, large, 2, three, NULL, &err), &err, LEAT_REASON_VALUE,
            "2147483648");
    err = (leat_error){0};
    refused(buckets(same, 1, two, 2, NULL, NULL, &err), &err, LEAT_REASON_VALUE,
            "bucket_batch_sizes");
    float value = 1;
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &value);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, &err);
    leat_element padding = {.spec = spec, .tensors = &tensor, .num_tensors = 1};
    err = (leat_error){0};
    refused(
        buckets(same, 1, two, 2, three,
                &(leat_dataset_bucket_by_sequence_length_options){
                    LEAT_DATASET_BUCKET_BY_SEQUENCE_LENGTH_DEFAULTS, .padding_values = &padding},
                &err),
        &err, LEAT_REASON_SHAPE, "padding_values");
    leat_spec_unref(spec);
    leati_dataset_templates_trim();
}

/* What the functions say of elements that they cannot place. */
static void test_bucket_errors(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset_bucket_by_sequence_length_options options = {
        LEAT_DATASET_BUCKET_BY_SEQUENCE_LENGTH_DEFAULTS, .pad_to_bucket_boundary = true};
    leat_dataset *dataset = dataset_made(some_buckets, &options);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_status status = LEAT_OK;
    while (status == LEAT_OK)
        status = leat_iterator_next(iterator, &element, &err);
    assert_int_equal(status, LEAT_INTERNAL);
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "\"bucket_by_sequence_length\"");
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "bucket_boundaries");
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    leat_function *length = of_scalars(same, 1, NULL, &err);
    dataset = leat_dataset_bucket_by_sequence_length(
        leat_dataset_range(INT32_MAX, (int64_t)INT32_MAX + 1, 1, NULL, &err), length, NULL, 0,
        (const int64_t[]){1}, NULL, &err);
    iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "bucket");
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* Arguments of dataset values that earlier tests left behind are not this allocator's. */
static int fresh_setup(void **state) {
    leati_dataset_templates_trim();
    return torture_setup(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test_setup_teardown(test_many_keys, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_reducer_refuses, torture_setup, torture_teardown),
        cmocka_unit_test(test_failing_group),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test_setup_teardown(test_buckets_refuse, fresh_setup, torture_teardown),
        cmocka_unit_test(test_bucket_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
