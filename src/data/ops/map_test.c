/* map, sequential and parallel. Expected outcomes are TensorFlow's (golden cases map). */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

static leat_dataset *range_of(int64_t n, leat_error *err) {
    return leat_dataset_range(0, n, 1, NULL, err);
}

static leat_value int_constant(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static int trace_square(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_multiply(x, x);
    return 1;
}

static int trace_add_one(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), int_constant(graph, 1));
    return 1;
}

/* x, but division by zero where x mod modulus == remainder. */
struct faults {
    int64_t modulus, remainder;
};

static int trace_fail(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct faults *f = context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_value zero_if_bad = leat_op_subtract(leat_op_floormod(x, int_constant(graph, f->modulus)),
                                              int_constant(graph, f->remainder));
    leat_value one = int_constant(graph, 1);
    leat_value nothing =
        leat_op_subtract(leat_op_floordiv(one, zero_if_bad), leat_op_floordiv(one, zero_if_bad));
    outputs[0] = leat_op_add(x, nothing);
    return 1;
}

/* A pair of x and a vector of x mod 3 values. */
static int trace_pair(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = x;
    outputs[1] = leat_op_stack((leat_value[]){x, x}, 2, 0);
    return 2;
}

/* What a test maps, and how. */
struct mapped {
    leat_tracer tracer;
    void *context;
    int64_t n;
    int64_t parallel;
    bool faulty_input, impure_input, shuffled_input, empty_input;
    int64_t repeat, batch, take;
};

static leat_dataset *apply(leat_dataset *input, leat_tracer tracer, void *context, int64_t parallel,
                           leat_error *err) {
    leat_dataset_map_options options = {
        LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = parallel == 0 ? LEAT_UNSET : parallel};
    leat_function *function = LEAT_TRACE(tracer, context, leat_dataset_spec(input), err);
    return leat_dataset_map(input, function, &options, err);
}

static leat_dataset *map_some(void *context, leat_error *err) {
    const struct mapped *m = context;
    leat_dataset *dataset = range_of(m->n, err);
    if (m->shuffled_input) {
        dataset = leat_dataset_shuffle(
            dataset, 5,
            &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)},
            err);
    }
    dataset = m->faulty_input ? dataset_faults(dataset, 5, 2, err) : dataset;
    dataset = m->impure_input ? dataset_impure(dataset, err) : dataset;
    dataset = apply(dataset, m->tracer, m->context, m->parallel, err);
    dataset = m->batch > 0 ? leat_dataset_batch(dataset, m->batch, NULL, err) : dataset;
    dataset = m->take > 0 ? leat_dataset_take(dataset, m->take, err) : dataset;
    return m->repeat > 0 ? leat_dataset_repeat(dataset, m->repeat, err) : dataset;
}

static const int64_t parallelisms[] = {0, 1, 2, 8, LEAT_AUTOTUNE};

/* The same outcomes in every form. */
static void check_all(struct mapped m, const char *expected) {
    for (size_t i = 0; i < sizeof(parallelisms) / sizeof(parallelisms[0]); i++) {
        m.parallel = parallelisms[i];
        dataset_check(map_some, &m, expected);
    }
}

static void test_values(void **state) {
    (void)state;
    check_all((struct mapped){.tracer = trace_square, .n = 9}, "0 1 4 9 16 25 36 49 64");
    check_all((struct mapped){.tracer = trace_square, .n = 0}, "");
    check_all((struct mapped){.tracer = trace_add_one, .n = 3, .repeat = 2}, "1 2 3 1 2 3");
    check_all((struct mapped){.tracer = trace_pair, .n = 3}, "(0,[0,0]) (1,[1,1]) (2,[2,2])");
    check_all((struct mapped){.tracer = trace_square, .n = 9, .batch = 4},
              "[0,1,4,9] [16,25,36,49] [64]");
    check_all((struct mapped){.tracer = trace_square, .n = 50, .take = 3}, "0 1 4");
}

static void test_failing_rows(void **state) {
    (void)state;
    struct faults on_3 = {100, 3}, odd = {2, 1}, all = {1, 0}, mod_4 = {4, 3};
    check_all((struct mapped){.tracer = trace_fail, .context = &on_3, .n = 9},
              "0 1 2 !INVALID_ARGUMENT 4 5 6 7 8");
    check_all((struct mapped){.tracer = trace_fail, .context = &odd, .n = 6},
              "0 !INVALID_ARGUMENT 2 !INVALID_ARGUMENT 4 !INVALID_ARGUMENT");
    check_all((struct mapped){.tracer = trace_fail, .context = &all, .n = 3},
              "!INVALID_ARGUMENT !INVALID_ARGUMENT !INVALID_ARGUMENT");
    check_all(
        (struct mapped){
            .tracer = trace_fail, .context = &mod_4, .n = 11, .faulty_input = true, .repeat = 2},
        "0 1 !INVALID_ARGUMENT !INVALID_ARGUMENT 4 5 6 !INVALID_ARGUMENT 8 9 10 "
        "0 1 !INVALID_ARGUMENT !INVALID_ARGUMENT 4 5 6 !INVALID_ARGUMENT 8 9 10");
}

static void test_inputs(void **state) {
    (void)state;
    struct faults mod_4 = {4, 3};
    check_all((struct mapped){.tracer = trace_fail,
                              .context = &mod_4,
                              .n = 9,
                              .impure_input = true,
                              .faulty_input = true},
              "0 1 !INVALID_ARGUMENT !INVALID_ARGUMENT 4 5 6 !INVALID_ARGUMENT 8");
    /* Every epoch has another order; the parallel forms have that of the sequential one. */
    struct mapped m = {.tracer = trace_add_one, .n = 9, .shuffled_input = true, .repeat = 2};
    leat_dataset *dataset = dataset_made(map_some, &m);
    char *text = dataset_text(dataset, NULL, -1);
    leat_dataset_unref(dataset);
    check_all(m, text);
    free(text);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The outcomes in ascending order. */
static char *sorted(char *text) {
    char *words[64], *result = NULL;
    size_t count = 0;
    for (char *word = strtok(text, " "); word != NULL && count < 64; word = strtok(NULL, " "))
        words[count++] = word;
    qsort(words, count, sizeof(words[0]), compare_texts);
    for (size_t i = 0; i < count; i++)
        dataset_append(&result, words[i]);
    free(text);
    return result;
}

static leat_dataset *map_any_order(void *context, leat_error *err) {
    struct faults *f = context;
    leat_dataset *dataset = dataset_faults(range_of(12, err), 7, 5, err);
    leat_dataset_map_options options = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = 3,
                                        .deterministic = LEAT_CHOICE_FALSE};
    leat_function *function = LEAT_TRACE(trace_fail, f, leat_dataset_spec(dataset), err);
    return leat_dataset_map(dataset, function, &options, err);
}

/* A save loses nothing and repeats nothing, whatever was delivered early. */
static void test_any_order(void **state) {
    (void)state;
    struct faults on_3 = {100, 3};
    for (int64_t k = 0; k < 14; k++) {
        for (uint64_t seed = 1; seed < 20; seed++) {
            leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .verify = seed % 2 == 0,
                                             .verify_seed = seed};
            leat_dataset *dataset = dataset_made(map_any_order, &on_3);
            leat_iterator *iterator = dataset_iterate(dataset, &options);
            char *text = NULL, *data = NULL;
            size_t size = 0;
            leat_error err = {0};
            dataset_append(&text, "");
            dataset_take(iterator, k, &text);
            assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
            leat_iterator_free(iterator);
            iterator = dataset_iterate(dataset, &options);
            assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
            leati_free(data);
            dataset_take(iterator, seed % 3, &text);
            assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
            leat_iterator_free(iterator);
            iterator = dataset_iterate(dataset, &options);
            assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
            leati_free(data);
            dataset_take(iterator, -1, &text);
            leat_iterator_free(iterator);
            leat_dataset_unref(dataset);
            text = sorted(text);
            assert_string_equal(text, "!INVALID_ARGUMENT !INVALID_ARGUMENT 0 1 10 11 2 4 6 7 8 9");
            free(text);
        }
    }
}

/* ---- users' functions ---- */

struct calls {
    int64_t count;
    bool out_of_order;
};

/* x + 10; every third call fails, the last of them with the code that ends an iteration. */
static leat_status call_user(void *context, const leat_element *in, leat_element *out,
                             leat_error *err) {
    struct calls *calls = context;
    int64_t x = *(const int64_t *)in->tensors[0].data;
    calls->out_of_order = calls->out_of_order || x != calls->count;
    calls->count++;
    if (x % 3 == 2) {
        err->code = x == 2 ? LEAT_DATA_LOSS : LEAT_OUT_OF_RANGE;
        snprintf(err->text, sizeof(err->text), "no such thing as %d", (int)x);
        return torture_code(err);
    }
    leat_tensor result = leat_scalar_int64(x + 10);
    leat_status status = leat_element_set(out, in->spec, &result, err);
    leat_tensor_unref(&result);
    return status;
}

static leat_dataset *map_user(struct calls *calls, int64_t parallel, leat_error *err) {
    leat_dataset *dataset = range_of(7, err);
    leat_function *function =
        LEAT_CALLBACK(call_user, calls, NULL, NULL, 0, leat_spec_ref(leat_dataset_spec(dataset)),
                      leat_spec_ref(leat_dataset_spec(dataset)), err);
    leat_dataset_map_options options = {
        LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = parallel == 0 ? LEAT_UNSET : parallel};
    return leat_dataset_label(leat_dataset_map(dataset, function, &options, err), "mine", err);
}

/* One call at a time, in order, none ahead of the consumer; OUT_OF_RANGE does not end a map. */
static void test_users_functions(void **state) {
    (void)state;
    for (int64_t parallel = 0; parallel < 3; parallel++) {
        struct calls calls = {0};
        leat_error err = {0};
        leat_dataset *dataset = map_user(&calls, parallel, &err);
        assert_non_null(dataset);
        leat_iterator *iterator = dataset_iterate(dataset, NULL);
        char *text = NULL;
        dataset_append(&text, "");
        for (int64_t k = 1; k <= 5; k++) {
            dataset_take(iterator, 1, &text);
            assert_int_equal(calls.count, k);
        }
        assert_false(calls.out_of_order);
        assert_string_equal(text, "10 11 !DATA_LOSS 13 14");
        leat_element element = {0};
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "map_test");
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "5");
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "5");
        dataset_take(iterator, -1, &text);
        char *table = leat_iterator_explain(iterator, &err);
        assert_non_null(strstr(table, "map \"mine\""));
        leat_text_free(table);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
        assert_int_equal(calls.count, 7);
        free(text);
    }
}

/* ---- random numbers do not depend on threads ---- */

static int trace_random(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0), noise = {0};
    int count = leat_graph_call(graph, "random_uniform", "{\"shape\": [2], \"seed\": 5}", NULL, 0,
                                &noise, 1);
    if (count != 1)
        return -1;
    outputs[0] = x;
    outputs[1] = noise;
    return 2;
}

static void test_random(void **state) {
    (void)state;
    if (leati_graph_op_find("random_uniform") == NULL)
        skip();
    struct mapped m = {.tracer = trace_random, .n = 7, .repeat = 2};
    leat_dataset *dataset = dataset_made(map_some, &m);
    char *text = dataset_text(dataset, NULL, -1);
    leat_dataset_unref(dataset);
    check_all(m, text);
    free(text);
}

/* ---- closing and cancelling at any time ---- */

static leat_dataset *map_long(leat_error *err) {
    leat_dataset *dataset = leat_dataset_repeat(range_of(1000, err), -1, err);
    dataset = apply(dataset, trace_square, NULL, 4, err);
    dataset = leat_dataset_prefetch(dataset, 3, err);
    dataset = apply(dataset, trace_add_one, NULL, LEAT_AUTOTUNE, err);
    return leat_dataset_prefetch(leat_dataset_batch(dataset, 7, NULL, err), LEAT_AUTOTUNE, err);
}

static void test_closing(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = map_long(&err);
    assert_non_null(dataset);
    for (int threads = 1; threads <= 3; threads++) {
        for (int64_t k = 0; k < 30; k++) {
            leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads};
            leat_iterator *iterator = dataset_iterate(dataset, &options);
            leat_element element = {0};
            for (int64_t i = 0; i < k; i++) {
                assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
                assert_int_equal(((const int64_t *)element.tensors[0].data)[0],
                                 (7 * i % 1000) * (7 * i % 1000) + 1);
            }
            if (k % 2 == 1) {
                leat_iterator_cancel(iterator);
                assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_CANCELLED);
                assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_CANCELLED);
            }
            leat_element_fini(&element);
            leat_iterator_free(iterator);
        }
    }
    leat_dataset_unref(dataset);
}

/* ---- arguments ---- */

static void test_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(apply(range_of(3, &err), trace_square, NULL, -2, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "num_parallel_calls");
    err = (leat_error){0};
    assert_null(leat_dataset_map(range_of(3, &err), NULL, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "map_func");
    err = (leat_error){0};
    assert_null(leat_dataset_map(NULL, LEAT_TRACE(trace_square, NULL, NULL, &err), NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    err = (leat_error){0};
    leat_spec *floats = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(2), &err);
    leat_function *function = LEAT_TRACE(trace_square, NULL, floats, &err);
    leat_spec_unref(floats);
    assert_null(leat_dataset_map(range_of(3, &err), function, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "map_func");
}

/* A plan with a parallel map survives JSON. */
static void test_plans(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = apply(range_of(4, &err), trace_square, NULL, LEAT_AUTOTUNE, &err);
    char *json = leat_dataset_to_json(dataset, &err);
    assert_non_null(json);
    leat_dataset *again = leat_dataset_from_json(json, &err);
    assert_non_null(again);
    assert_int_equal(leat_dataset_fingerprint(again), leat_dataset_fingerprint(dataset));
    char *text = dataset_text(again, NULL, -1);
    assert_string_equal(text, "0 1 4 9");
    free(text);
    leat_text_free(json);
    leat_dataset_unref(again);
    leat_dataset_unref(dataset);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_values),    TEST(test_failing_rows),    TEST(test_inputs),
        TEST(test_any_order), TEST(test_users_functions), TEST(test_random),
        TEST(test_closing),   TEST(test_arguments),       TEST(test_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
