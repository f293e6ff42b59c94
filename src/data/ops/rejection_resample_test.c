/* rejection_resample: distributions at their edges, arguments that are refused, draws without a
 * seed. Expected outcomes are TensorFlow's. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

static int class_of(void *context, leat_graph *graph, leat_value *out, int capacity) {
    int64_t classes = *(const int64_t *)context;
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &classes);
    leat_value rest =
        leat_op_floormod(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &tensor));
    out[0] = leat_op_cast(rest, LEAT_INT32);
    return 1;
}

static int to_int16(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = leat_op_cast(leat_graph_argument(graph, 0), LEAT_INT16);
    return 1;
}

static int as_text(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = leat_op_as_string(leat_graph_argument(graph, 0), NULL);
    return 1;
}

struct resampled {
    int64_t n, classes; /* of a range, by their remainder */
    float target[3], initial[3];
    int num_classes;
    bool estimated, unseeded;
    leat_tracer tracer;
};

static leat_dataset *resample(void *context, leat_error *err) {
    struct resampled *r = context;
    leat_dataset *input = leat_dataset_range(0, r->n, 1, NULL, err);
    leat_tracer tracer = r->tracer != NULL ? r->tracer : class_of;
    leat_function *function = LEAT_TRACE(tracer, &r->classes, leat_dataset_spec(input), err);
    leat_seed seed = {.given = !r->unseeded, .value = 7};
    return leat_dataset_rejection_resample(
        input, function, r->target, r->estimated ? NULL : r->initial, r->num_classes, seed, err);
}

/* The elements alone, as one text. free() it. */
static char *elements(const char *text) {
    char *out = calloc(1, strlen(text) + 1), *to = out;
    bool inside = false;
    for (; *text != 0; text++) {
        inside = *text == ',' ? true : *text == ')' ? false : inside;
        if ((inside && *text != ',') || *text == ' ')
            *to++ = *text;
    }
    return out;
}

static void expect(struct resampled r, const char *expected) {
    leat_dataset *dataset = dataset_made(resample, &r);
    char *text = dataset_text(dataset, NULL, -1), *found = elements(text);
    assert_string_equal(found, expected);
    free(found);
    free(text);
    leat_dataset_unref(dataset);
}

static void test_shares(void **state) {
    (void)state;
    expect((struct resampled){40, 2, {0.8F, 0.2F}, {1, 0}, .num_classes = 2},
           "0 1 1 2 3 4 5 3 6 7 8 5 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 "
           "30 31 32 33 34 7 35 36 37 38 39");
    expect((struct resampled){40, 2, {0.8F, 0.2F, 0}, {0.5F, 0.5F, 0}, .num_classes = 3},
           "0 2 4 6 8 10 11 12 14 16 18 20 21 22 24 26 28 30 32 34 36 38");
    expect((struct resampled){12, 2, {1, 1}, {0.5F, 0.5F}, .num_classes = 2},
           "0 1 2 3 4 5 6 7 8 9 10 11");
    expect((struct resampled){40, 3, {0.2F, 0.2F, 0.6F}, {0.5F, 0.3F, 0.2F}, .num_classes = 3},
           "2 0 5 1 8 11 14 17 2 20 23 26 3 4 29 5 32 6 7 8 9 10 35 11 38");
}

static void test_cardinality(void **state) {
    (void)state;
    struct resampled same = {12, 2, {0.5F, 0.5F}, {0.5F, 0.5F}, .num_classes = 2};
    struct resampled other = {12, 2, {0.8F, 0.2F}, {0.5F, 0.5F}, .num_classes = 2};
    leat_dataset *dataset = dataset_made(resample, &same);
    assert_int_equal(leat_dataset_cardinality(dataset), 12);
    leat_dataset_unref(dataset);
    dataset = dataset_made(resample, &other);
    assert_int_equal(leat_dataset_cardinality(dataset), LEAT_UNKNOWN_CARDINALITY);
    leat_dataset_unref(dataset);
}

/* Without a seed each dataset draws its own, and a restored iterator goes on with them. */
static void test_unseeded(void **state) {
    (void)state;
    struct resampled r = {
        60, 3, {0.5F, 0.3F, 0.2F}, {0.2F, 0.4F, 0.4F}, .num_classes = 3, .unseeded = true};
    leat_error err = {0};
    leat_dataset *dataset = dataset_made(resample, &r), *other = dataset_made(resample, &r);
    char *texts[2] = {dataset_text(dataset, NULL, -1), dataset_text(other, NULL, -1)};
    assert_string_not_equal(texts[0], texts[1]);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *begin = NULL, *rest = NULL, *again = NULL, *data = NULL;
    size_t size = 0;
    dataset_take(iterator, 9, &begin);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    dataset_take(iterator, -1, &rest);
    leat_iterator_free(iterator);
    iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
    dataset_take(iterator, -1, &again);
    assert_string_equal(rest, again);
    leat_iterator_free(iterator);
    leat_text_free(data);
    free(begin);
    free(rest);
    free(again);
    free(texts[0]);
    free(texts[1]);
    leat_dataset_unref(dataset);
    leat_dataset_unref(other);
}

static void refused(struct resampled r, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    assert_null(resample(&r, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void test_refuses(void **state) {
    (void)state;
    refused((struct resampled){9, 2, {1}, {1}, .num_classes = 1, .tracer = as_text},
            LEAT_REASON_STRUCTURE, "string[]");
    refused(
        (struct resampled){9, 2, {1}, {1}, .num_classes = 1, .estimated = true, .tracer = to_int16},
        LEAT_REASON_STRUCTURE, "int16[]");
    refused((struct resampled){9, 2, {1}, {1}, .num_classes = 0}, LEAT_REASON_SHAPE, "float32[0]");
    leat_error err = {0};
    const char *plan = "{\"op\": \"rejection_resample\", \"args\": {\"class_func\": %s, "
                       "\"target_dist\": [0.5, 0.5], \"initial_dist\": %s, \"seed\": 1}, "
                       "\"input\": {\"op\": \"range\", \"args\": {\"stop\": 3}}}";
    leat_spec *scalar = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    int64_t two = 2;
    leat_function *function = LEAT_TRACE(class_of, &two, scalar, &err);
    char *json = leat_function_to_json(function, &err), text[8192];
    snprintf(text, sizeof(text), plan, json, "[0.2, 0.3, 0.5]");
    assert_null(leat_dataset_from_json(text, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "3");
    snprintf(text, sizeof(text), plan, json, "0.5");
    assert_null(leat_dataset_from_json(text, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "initial_dist");
    err = (leat_error){0};
    assert_null(leat_dataset_rejection_resample(leat_dataset_range(0, 3, 1, NULL, &err), NULL, NULL,
                                                NULL, 0, LEAT_SEED(1), &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "class_func");
    leat_text_free(json);
    leat_function_unref(function);
    leat_spec_unref(scalar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shares, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_cardinality, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_unseeded, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_refuses, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
