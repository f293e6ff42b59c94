/* from_generator: when runs are opened and closed, what is refused, what is saved, plans. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"

/* Counts up to `limit`; fails with `code` there, or ends. */
struct counting {
    int64_t limit;
    leat_status code, open_code;
    int opened, closed, released;
    int64_t places[8], given; /* of runs, and of the last value */
};

static leat_status open_run(void *context, const leat_element *args, void **run, leat_error *err) {
    struct counting *c = context;
    if (c->open_code != LEAT_OK)
        return leati_fail(err, c->open_code, "not today");
    if (args->num_tensors > 0)
        c->limit = *(const int64_t *)args->tensors[0].data;
    c->places[c->opened % 8] = 0;
    *run = &c->places[c->opened++ % 8];
    return LEAT_OK;
}

static leat_status next_value(void *context, void *run, leat_element *out, leat_error *err) {
    struct counting *c = context;
    int64_t *place = run;
    if (*place == c->limit)
        return c->code == LEAT_OK ? LEAT_OUT_OF_RANGE : (err->text[0] = 0, c->code);
    c->given = (*place)++;
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &c->given);
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_status status =
        spec == NULL ? torture_code(err) : leat_element_set(out, spec, &tensor, err);
    leat_spec_unref(spec);
    return status;
}

static void close_run(void *context, void *run) {
    struct counting *c = context;
    assert_non_null(run);
    c->closed++;
}

static void release(void *context) {
    ((struct counting *)context)->released++;
}

static const leat_generator functions = {open_run, next_value, close_run};

static leat_spec *numbers(leat_dtype dtype) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(dtype, LEAT_SCALAR, &err);
    assert_non_null(spec);
    return spec;
}

static leat_dataset *made(struct counting *c, const char *name, uint32_t flags) {
    leat_error err = {0};
    leat_dataset_from_generator_options options = {
        LEAT_DATASET_FROM_GENERATOR_DEFAULTS, LEAT_DATASET_FROM_GENERATOR_DEFAULTS, .name = name,
        .flags = flags, .release = release};
    leat_dataset *dataset =
        leat_dataset_from_generator(&functions, c, &options, numbers(LEAT_INT64), &err);
    assert_non_null(dataset);
    return dataset;
}

static void expect(leat_dataset *dataset, int64_t most, const char *expected) {
    char *text = dataset_text(dataset, NULL, most);
    assert_string_equal(text, expected);
    free(text);
}

/* A run begins with the first element and ends with the last, with an epoch, or with the iterator.
 */
static void test_runs(void **state) {
    (void)state;
    struct counting c = {.limit = 3};
    leat_error err = {0};
    leat_dataset *dataset = made(&c, NULL, 0);
    assert_int_equal(leat_dataset_cardinality(dataset), LEAT_UNKNOWN_CARDINALITY);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(c.opened, 0);
    char *text = NULL;
    dataset_take(iterator, 2, &text);
    assert_int_equal(c.opened, 1);
    assert_int_equal(c.closed, 0);
    leat_iterator_free(iterator);
    assert_int_equal(c.closed, 1);
    expect(dataset, -1, "0 1 2");
    assert_int_equal(c.opened, 2);
    assert_int_equal(c.closed, 2);
    dataset = leat_dataset_repeat(leat_dataset_take(dataset, 2, &err), 3, &err);
    expect(dataset, -1, "0 1 0 1 0 1");
    assert_int_equal(c.opened, 5);
    assert_int_equal(c.closed, 5);
    assert_int_equal(c.released, 0);
    leat_dataset_unref(dataset);
    assert_int_equal(c.released, 1);
    free(text);
}

static void test_failures(void **state) {
    (void)state;
    struct counting c = {.limit = 2, .code = LEAT_DATA_LOSS};
    leat_error err = {0};
    leat_element element = {0};
    leat_dataset *dataset = made(&c, "counting", 0);
    expect(dataset, -1, "0 1 !DATA_LOSS");
    assert_int_equal(c.closed, 1);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    while (leat_iterator_next(iterator, &element, &err) == LEAT_OK) {
    }
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_CALLBACK, "\"counting\"");
    leat_iterator_free(iterator);
    c.open_code = LEAT_NOT_FOUND;
    c.opened = c.closed = 0;
    expect(dataset, -1, "!NOT_FOUND");
    assert_int_equal(c.closed, 0);
    leat_element_fini(&element);
    leat_dataset_unref(dataset);
    /* Values that are no numbers of the signature. */
    struct counting other = {.limit = 2};
    dataset = leat_dataset_from_generator(&functions, &other, NULL, numbers(LEAT_STRING), &err);
    expect(dataset, -1, "!INVALID_ARGUMENT !INVALID_ARGUMENT");
    leat_dataset_unref(dataset);
}

static void test_refuses(void **state) {
    (void)state;
    struct counting c = {.limit = 2};
    leat_dataset_from_generator_options options = {LEAT_DATASET_FROM_GENERATOR_DEFAULTS,
                                                   .release = release};
    leat_generator nothing = {0};
    leat_error err = {0};
    assert_null(leat_dataset_from_generator(NULL, &c, &options, numbers(LEAT_INT64), &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "generator");
    err = (leat_error){0};
    assert_null(leat_dataset_from_generator(&nothing, &c, &options, numbers(LEAT_INT64), &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "NULL");
    err = (leat_error){0};
    assert_null(leat_dataset_from_generator(&functions, &c, &options, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "output_signature");
    assert_int_equal(c.released, 3);
    assert_int_equal(leat_generator_register("", &functions, &c, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_generator_register("g", &nothing, &c, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_null(leat_dataset_from_json("{\"op\": \"from_generator\", \"args\": {\"generator\": "
                                       "\"g\", \"output_signature\": {\"dtype\": \"int64\", "
                                       "\"shape\": []}}}",
                                       &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"g\"");
    err = (leat_error){0};
    assert_null(leat_dataset_from_json("{\"op\": \"from_generator\", \"args\": "
                                       "{\"output_signature\": {\"dtype\": \"int64\", "
                                       "\"shape\": []}}}",
                                       &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "generator");
}

/* A plan names its generator, which must be registered to be written and to be read. */
static void test_plans(void **state) {
    (void)state;
    struct counting c = {.limit = 2}, other = {.limit = 9};
    leat_error err = {0};
    leat_dataset *anonymous = made(&c, NULL, 0), *named = made(&c, "plans", 0);
    assert_null(leat_dataset_to_json(anonymous, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
    assert_null(leat_dataset_to_json(named, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
    assert_int_equal(leat_generator_register("plans", &functions, &other, 0, &err), LEAT_OK);
    int64_t limit = 4;
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &limit);
    leat_spec *scalar = numbers(LEAT_INT64), *spec = leat_spec_tuple(&scalar, 1, &err);
    leat_element args = {.spec = spec, .tensors = &tensor, .num_tensors = 1};
    leat_dataset *with_args = leat_dataset_from_generator(
        &functions, &c,
        &(leat_dataset_from_generator_options){LEAT_DATASET_FROM_GENERATOR_DEFAULTS,
                                               .name = "plans", .args = &args},
        numbers(LEAT_INT64), &err);
    char *text = leat_dataset_to_json(with_args, &err);
    leat_dataset *read = leat_dataset_from_json(text, &err);
    assert_non_null(read);
    assert_true(leat_dataset_fingerprint(read) == leat_dataset_fingerprint(with_args));
    expect(read, -1, "0 1 2 3");
    assert_int_equal(other.opened, 1);
    assert_int_equal(leat_generator_register("plans", NULL, NULL, 0, &err), LEAT_OK);
    leat_text_free(text);
    leat_spec_unref(spec);
    leat_dataset_unref(read);
    leat_dataset_unref(with_args);
    leat_dataset_unref(named);
    leat_dataset_unref(anonymous);
}

static void test_saving(void **state) {
    (void)state;
    struct counting c = {.limit = 5};
    leat_error err = {0};
    char *data = NULL, *text = NULL;
    size_t size = 0;
    leat_dataset *impure = made(&c, NULL, 0), *pure = made(&c, NULL, LEAT_PURE);
    leat_iterator *iterator = dataset_iterate(impure, NULL);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "LEAT_PURE");
    leat_iterator_free(iterator);
    iterator = dataset_iterate(pure, NULL);
    leat_iterator_save_report report = {0};
    dataset_take(iterator, 3, &text);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, &report, &err), LEAT_OK);
    assert_int_equal(report.replay_elements, 3);
    leat_iterator_free(iterator);
    iterator = dataset_iterate(pure, NULL);
    assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
    dataset_take(iterator, -1, &text);
    assert_string_equal(text, "0 1 2 3 4");
    leat_iterator_free(iterator);
    /* One that gives fewer than it did is no pure one. That is found by the restore or with the
     * next element, as far ahead as the generator was when its state was saved. */
    c.limit = 2;
    iterator = dataset_iterate(pure, NULL);
    leat_status status = leat_iterator_restore(iterator, data, size, &err);
    if (status == LEAT_OK) {
        dataset_take(iterator, -1, &text);
        assert_string_equal(text, "0 1 2 3 4 !DATA_LOSS");
    } else {
        assert_int_equal(status, LEAT_DATA_LOSS);
    }
    leat_iterator_free(iterator);
    assert_int_equal(c.opened, c.closed);
    leat_text_free(data);
    free(text);
    leat_dataset_unref(impure);
    leat_dataset_unref(pure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_failures, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_refuses, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_plans, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_saving, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
