/* zip, concatenate, enumerate, shard and filter. Expected outcomes are TensorFlow's. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

static leat_dataset *range_of(int64_t start, int64_t stop, leat_error *err) {
    return leat_dataset_range(start, stop, 1, NULL, err);
}

static leat_dataset *shuffled(int64_t n, leat_error *err) {
    return leat_dataset_shuffle(
        range_of(0, n, err), 4,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(3)}, err);
}

/* ---- zip ---- */

struct zipped {
    int64_t first, second;
    bool errors, more_errors, impure, ahead;
    int64_t repeat;
};

static leat_dataset *zip_some(void *context, leat_error *err) {
    const struct zipped *z = context;
    leat_dataset *inputs[2] = {range_of(0, z->first, err), range_of(10, 10 + z->second, err)};
    inputs[0] = z->errors ? dataset_faults(inputs[0], 6, 3, err) : inputs[0];
    inputs[1] = z->more_errors ? dataset_faults(inputs[1], 2, 1, err) : inputs[1];
    inputs[1] = z->impure ? dataset_impure(inputs[1], err) : inputs[1];
    leat_dataset *dataset = leat_dataset_zip(inputs, 2, err);
    dataset = z->ahead ? leat_dataset_prefetch(dataset, 1, err) : dataset;
    return z->repeat == 0 ? dataset : leat_dataset_repeat(dataset, z->repeat, err);
}

static void test_zip(void **state) {
    (void)state;
    dataset_check(zip_some, &(struct zipped){.first = 0, .second = 3}, "");
    dataset_check(zip_some, &(struct zipped){.first = 3, .second = 0}, "");
    dataset_check(zip_some, &(struct zipped){.first = 2, .second = 4}, "(0,10) (1,11)");
    dataset_check(zip_some, &(struct zipped){.first = 4, .second = 2, .impure = true},
                  "(0,10) (1,11)");
    dataset_check(zip_some, &(struct zipped){.first = 3, .second = 2, .repeat = 2},
                  "(0,10) (1,11) (0,10) (1,11)");
    dataset_check(zip_some, &(struct zipped){.first = 6, .second = 6, .errors = true},
                  "(0,10) (1,11) (2,12) !INVALID_ARGUMENT (4,14) (5,15)");
    dataset_check(zip_some,
                  &(struct zipped){.first = 6, .second = 6, .errors = true, .more_errors = true},
                  "(0,10) !INVALID_ARGUMENT (2,12) !INVALID_ARGUMENT (4,14) !INVALID_ARGUMENT");
    /* A step in which the first input has ended is the end, whatever the second one says; one in
     * which the first input fails is an error, and then the end. */
    dataset_check(zip_some,
                  &(struct zipped){.first = 3, .second = 6, .more_errors = true, .impure = true},
                  "(0,10) !INVALID_ARGUMENT (2,12)");
    struct zipped last = {.first = 6, .second = 3, .errors = true};
    dataset_check(zip_some, &last, "(0,10) (1,11) (2,12) !INVALID_ARGUMENT");
    last.ahead = true;
    dataset_check(zip_some, &last, "(0,10) (1,11) (2,12) !INVALID_ARGUMENT");
}

static leat_dataset *zip_nested(void *context, leat_error *err) {
    (void)context;
    leat_shape any = LEAT_SCALAR;
    leat_spec *dict[2] = {leat_spec_tensor(LEAT_INT64, any, err),
                          leat_spec_tensor(LEAT_INT64, any, err)};
    leat_spec *tuple[2] = {leat_spec_tensor(LEAT_INT64, any, err),
                           leat_spec_dict((const char *[]){"x", "y"}, dict, 2, err)};
    leat_spec *structure = leat_spec_tuple(tuple, 2, err);
    if (structure == NULL)
        return NULL;
    leat_dataset *inputs[3] = {shuffled(5, err),
                               leat_dataset_batch(range_of(0, 7, err), 2, NULL, err),
                               range_of(20, 30, err)};
    return leat_dataset_zip_structured(inputs, 3, structure, err);
}

/* The same shuffle twice: its iterators share the seed generator. */
static leat_dataset *zip_same(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_shuffle(
        range_of(0, 6, err), 6,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(3)}, err);
    return leat_dataset_zip((leat_dataset *[]){leat_dataset_ref(dataset), dataset}, 2, err);
}

static void test_zip_structures(void **state) {
    (void)state;
    dataset_check(zip_nested, NULL, NULL);
    dataset_check(zip_same, NULL, "(0,0) (1,4) (2,1) (3,5) (4,3) (5,2)");
    leat_dataset *dataset = dataset_made(zip_nested, NULL);
    char text[128];
    leat_spec_print(leat_dataset_spec(dataset), text, sizeof(text));
    assert_string_equal(text, "(int64[], {'x': int64[?], 'y': int64[]})");
    assert_int_equal(leat_dataset_cardinality(dataset), 4);
    leat_dataset_unref(dataset);
    leat_error err = {0};
    assert_null(leat_dataset_zip(NULL, 0, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    err = (leat_error){0};
    assert_null(leat_dataset_zip((leat_dataset *[]){range_of(0, 3, &err), NULL}, 2, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    err = (leat_error){0};
    assert_null(leat_dataset_zip_structured((leat_dataset *[]){range_of(0, 3, &err)}, 1,
                                            leat_spec_tuple(NULL, 0, &err), &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

/* ---- concatenate and enumerate ---- */

struct pair {
    int64_t first, second;
    bool errors;
};

static leat_dataset *concatenate_some(void *context, leat_error *err) {
    const struct pair *p = context;
    leat_dataset *first = range_of(0, p->first, err), *second = range_of(5, 5 + p->second, err);
    if (p->errors) {
        first = dataset_faults(first, 3, 1, err);
        second = dataset_faults(second, 4, 0, err);
    }
    return leat_dataset_repeat(leat_dataset_concatenate(first, second, err), 2, err);
}

static leat_dataset *concatenate_shuffled(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_shuffle(
        range_of(0, 5, err), 5,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(3)}, err);
    return leat_dataset_concatenate(leat_dataset_ref(dataset), dataset, err);
}

static leat_dataset *enumerate_some(void *context, leat_error *err) {
    return leat_dataset_enumerate(
        dataset_faults(leat_dataset_repeat(range_of(0, 3, err), 2, err), 5, 3, err),
        *(int64_t *)context, err);
}

static void test_concatenate_and_enumerate(void **state) {
    (void)state;
    dataset_check(concatenate_some, &(struct pair){2, 3, false}, "0 1 5 6 7 0 1 5 6 7");
    dataset_check(concatenate_some, &(struct pair){0, 1, false}, "5 5");
    dataset_check(concatenate_some, &(struct pair){1, 0, false}, "0 0");
    dataset_check(concatenate_some, &(struct pair){3, 2, true},
                  "0 !INVALID_ARGUMENT 2 !INVALID_ARGUMENT 6 0 !INVALID_ARGUMENT 2 "
                  "!INVALID_ARGUMENT 6");
    dataset_check(concatenate_shuffled, NULL, "4 3 2 1 0 3 4 1 2 0");
    dataset_check(enumerate_some, &(int64_t){-1},
                  "(-1,0) (0,1) (1,2) !INVALID_ARGUMENT (3,1) (4,2)");
    leat_error err = {0};
    leat_dataset *other = leat_dataset_range(
        0, 3, 1,
        &(leat_dataset_range_options){LEAT_DATASET_RANGE_DEFAULTS, .output_type = LEAT_INT32},
        &err);
    assert_null(leat_dataset_concatenate(range_of(0, 3, &err), other, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "int32[]");
}

/* ---- shard ---- */

struct sharded {
    int64_t elements, num_shards, index, modulus, remainder;
};

static leat_dataset *shard_some(void *context, leat_error *err) {
    const struct sharded *s = context;
    leat_dataset *dataset = range_of(0, s->elements, err);
    if (s->modulus > 0)
        dataset = dataset_faults(dataset, s->modulus, s->remainder, err);
    return leat_dataset_shard(dataset, s->num_shards, s->index, err);
}

static leat_dataset *shard_shuffled(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_shuffle(
        range_of(0, 9, err), 9,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(5)}, err);
    return leat_dataset_repeat(leat_dataset_shard(dataset, 2, 0, err), 2, err);
}

static void test_shard(void **state) {
    (void)state;
    dataset_check(shard_some, &(struct sharded){7, 1, 0, 0, 0}, "0 1 2 3 4 5 6");
    dataset_check(shard_some, &(struct sharded){7, 3, 0, 0, 0}, "0 3 6");
    dataset_check(shard_some, &(struct sharded){7, 3, 2, 0, 0}, "2 5");
    dataset_check(shard_some, &(struct sharded){2, 5, 3, 0, 0}, "");
    dataset_check(shard_some, &(struct sharded){8, 2, 1, 8, 3}, "1 !INVALID_ARGUMENT 4 6");
    dataset_check(shard_some, &(struct sharded){8, 2, 0, 8, 3}, "0 2 !INVALID_ARGUMENT 5 7");
    dataset_check(shard_some, &(struct sharded){20, 4, 2, 7, 1},
                  "!INVALID_ARGUMENT 4 !INVALID_ARGUMENT 9 13 !INVALID_ARGUMENT 19");
    dataset_check(shard_shuffled, NULL, NULL);
    static const struct {
        int64_t num_shards, index;
        leat_reason reason;
        const char *keyword;
    } bad[] = {
        {0, 0, LEAT_REASON_VALUE, "0"},
        {-2, 0, LEAT_REASON_VALUE, "-2"},
        {3, 3, LEAT_REASON_VALUE, "3"},
        {3, -1, LEAT_REASON_VALUE, "-1"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        leat_error err = {0};
        assert_null(
            leat_dataset_shard(range_of(0, 4, &err), bad[i].num_shards, bad[i].index, &err));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, bad[i].reason, bad[i].keyword);
    }
    leat_error err = {0};
    leat_dataset *hint = leat_dataset_shard(range_of(0, 4, &err), -1, 0, &err);
    assert_int_equal(leat_dataset_cardinality(hint), LEAT_UNKNOWN_CARDINALITY);
    assert_null(leat_iterator_new(hint, NULL, &err));
    assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    leat_dataset_unref(hint);
}

/* ---- filter ---- */

static int is_even(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    const int64_t numbers[2] = {2, 0};
    leat_tensor views[2] = {leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &numbers[0]),
                            leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &numbers[1])};
    leat_value two = leat_graph_tensor(graph, &views[0]);
    leat_value zero = leat_graph_tensor(graph, &views[1]);
    outputs[0] = leat_op_equal(leat_op_floormod(leat_graph_argument(graph, 0), two), zero);
    return 1;
}

static int not_bool(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

/* Fails on 3, else says whether the number is even. */
static leat_status even_fails_on_3(void *context, const leat_element *in, leat_element *out,
                                   leat_error *err) {
    (void)context;
    int64_t x = *(const int64_t *)in->tensors[0].data;
    if (x == 3) {
        if (err != NULL)
            *err = (leat_error){.code = LEAT_OUT_OF_RANGE, .text = "three"};
        return LEAT_OUT_OF_RANGE;
    }
    leat_spec *spec = leat_spec_tensor(LEAT_BOOL, LEAT_SCALAR, err);
    leat_tensor answer = leat_scalar_bool(x % 2 == 0);
    if (spec != NULL && answer.dtype == LEAT_INVALID)
        *err = (leat_error){.code = LEAT_RESOURCE_EXHAUSTED, .text = "no memory"};
    leat_status status = spec == NULL || answer.dtype == LEAT_INVALID
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leat_element_set(out, spec, &answer, err);
    leat_tensor_unref(&answer);
    leat_spec_unref(spec);
    return status;
}

struct filtered {
    int64_t elements;
    bool errors, impure, callback, shuffled;
};

static leat_dataset *filter_some(void *context, leat_error *err) {
    const struct filtered *f = context;
    leat_dataset *dataset =
        f->shuffled ? shuffled(f->elements, err) : range_of(0, f->elements, err);
    dataset = f->errors ? dataset_faults(dataset, 5, 1, err) : dataset;
    dataset = f->impure ? dataset_impure(dataset, err) : dataset;
    if (dataset == NULL || !f->callback) {
        return leat_dataset_filter(dataset,
                                   LEAT_TRACE(is_even, NULL, leat_dataset_spec(dataset), err), err);
    }
    leat_spec *input = leat_spec_ref(leat_dataset_spec(dataset));
    leat_spec *output = leat_spec_tensor(LEAT_BOOL, LEAT_SCALAR, err);
    return leat_dataset_filter(
        dataset, LEAT_CALLBACK(even_fails_on_3, NULL, NULL, "even", 0, input, output, err), err);
}

static void test_filter(void **state) {
    (void)state;
    dataset_check(filter_some, &(struct filtered){.elements = 9}, "0 2 4 6 8");
    dataset_check(filter_some, &(struct filtered){.elements = 0}, "");
    dataset_check(filter_some, &(struct filtered){.elements = 9, .impure = true}, "0 2 4 6 8");
    dataset_check(filter_some, &(struct filtered){.elements = 9, .errors = true},
                  "0 !INVALID_ARGUMENT 2 4 !INVALID_ARGUMENT 8");
    dataset_check(filter_some, &(struct filtered){.elements = 9, .shuffled = true}, NULL);
    dataset_check(filter_some, &(struct filtered){.elements = 7, .callback = true},
                  "0 2 !INTERNAL 4 6");
}

static void test_filter_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = range_of(0, 3, &err);
    leat_function *function = LEAT_TRACE(not_bool, NULL, leat_dataset_spec(dataset), &err);
    assert_null(leat_dataset_filter(dataset, function, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "int64[]");
    err = (leat_error){0};
    assert_null(leat_dataset_filter(range_of(0, 3, &err), NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "predicate");
    err = (leat_error){0};
    dataset = range_of(0, 3, &err);
    function = LEAT_TRACE(is_even, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_batch(dataset, 2, NULL, &err);
    assert_null(leat_dataset_filter(dataset, function, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "int64[?]");
}

/* ---- plans as text ---- */

static void test_plans(void **state) {
    (void)state;
    struct zipped z = {.first = 2, .second = 4, .repeat = 2};
    struct sharded s = {7, 3, 1, 0, 0};
    struct filtered f = {.elements = 5};
    struct dataset_wanting plans[] = {
        {zip_some, &z, 0},   {zip_nested, NULL, 0},           {zip_same, NULL, 0},
        {shard_some, &s, 0}, {concatenate_shuffled, NULL, 0}, {filter_some, &f, 0},
    };
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        leat_dataset *dataset = dataset_made(plans[i].make, plans[i].context);
        char *plain = dataset_text(dataset, NULL, -1);
        /* A node that two others share is two nodes in the text. */
        if (plans[i].make != zip_same && plans[i].make != concatenate_shuffled)
            dataset_same(dataset_through_json, &plans[i], NULL, plain, -1, "through JSON");
        free(plain);
        leat_dataset_unref(dataset);
        dataset = dataset_made(dataset_through_json, &plans[i]);
        leat_dataset_unref(dataset);
    }
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_zip),   TEST(test_zip_structures), TEST(test_concatenate_and_enumerate),
        TEST(test_shard), TEST(test_filter),         TEST(test_filter_arguments),
        TEST(test_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
