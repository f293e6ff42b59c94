/* Plans as JSON: that a plan comes back as it was, what its nodes refuse, how deep and how wide it
 * may be, and that each failed allocation, jansson's own included, is reported. And fingerprints:
 * every argument of every type counts. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/json.h"

#include "base/text.h"
#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

#define RANGE "{\"op\": \"range\", \"args\": {\"stop\": 5}}"
#define FROM(START) "{\"op\": \"range\", \"args\": {\"start\": " START ", \"stop\": 5}}"

/* The plan on one line. */
static char *line_of(const leat_dataset *dataset, leat_error *err) {
    json_t *json = leati_plan_write(dataset, err);
    char *line = json == NULL ? NULL : leati_json_print(json, 0, false, err);
    json_decref(json);
    return line;
}

static const char *const plans[] = {
    RANGE,
    "{\"op\": \"take\", \"input\": " RANGE ", \"label\": \"some\", \"args\": {\"count\": 2}}",
    "{\"op\": \"concatenate\", \"inputs\": [" FROM("1") ", " FROM("2") "]}",
    "{\"op\": \"zip\", \"inputs\": [" FROM("1") ", " FROM("2") "]}",
    "{\"op\": \"zip\", \"inputs\": {\"dict\": {\"a\": " FROM("1") ", \"b\": {\"tuple\": [" FROM(
        "2") ", " FROM("3") "]}}}}",
    "{\"op\": \"choose_from_datasets\", \"inputs\": [" FROM("1") ", " FROM(
        "2") "], \"args\": {\"choice_dataset_is_input\": true, \"choice_dataset\": {\"op\": "
             "\"range\", \"args\": {\"stop\": 2}}}}",
    ("{\"op\": \"tf_record_dataset\", \"args\": {\"filenames\": {\"op\": \"from_tensor_slices\", "
     "\"args\": {\"tensors\": {\"dtype\": \"string\", \"shape\": [1], \"data\": [\"x\"]}}}}}"),
};

struct trip {
    json_t *json;
    char *line; /* the same as text */
};

/* JSON to a plan and back. */
static leat_status there_and_back(void *context, leat_error *err) {
    const struct trip *trip = context;
    leat_dataset *dataset = leati_plan_read(trip->json, NULL, err);
    char *line = dataset == NULL ? NULL : line_of(dataset, err);
    if (line != NULL)
        assert_string_equal(line, trip->line);
    leat_dataset_unref(dataset);
    leati_free(line);
    return line == NULL ? torture_code(err) : LEAT_OK;
}

static void test_round_trip(void **state) {
    (void)state;
    torture_json(true);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        leat_error err = {0};
        struct trip trip = {.json = json_of(plans[i])};
        trip.line = leati_json_print(trip.json, 0, false, &err);
        if (there_and_back(&trip, &err) != LEAT_OK)
            fail_msg("%s: %s", plans[i], err.text);
        torture_run(there_and_back, &trip);
        leati_free(trip.line);
        json_decref(trip.json);
    }
    torture_json(false);
}

static leat_status to_text(void *context, leat_error *err) {
    char *text = leat_dataset_to_json(context, err);
    leati_free(text);
    return text == NULL ? torture_code(err) : LEAT_OK;
}

static int trace_twice(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_add(x, x);
    return 1;
}

/* Functions are written and read, too. */
static void test_functions(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, 3, 1, NULL, &err);
    leat_function *function = LEAT_TRACE(trace_twice, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_map(
        dataset, function,
        &(leat_dataset_map_options){LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = 2}, &err);
    assert_non_null(dataset);
    torture_json(true);
    torture_run(to_text, dataset);
    torture_json(false);
    char *text = leat_dataset_to_json(dataset, &err);
    leat_dataset *again = leat_dataset_from_json(text, &err);
    char *outcomes = dataset_text(again, NULL, -1);
    assert_string_equal(outcomes, "0 2 4");
    assert_true(leat_dataset_fingerprint(again) == leat_dataset_fingerprint(dataset));
    free(outcomes);
    leati_free(text);
    leat_dataset_unref(again);
    leat_dataset_unref(dataset);
}

/* Components of a dict stand in the order of its keys, those of a tree depth first. */
static void test_trees(void **state) {
    (void)state;
    static const struct {
        const char *inputs, *expected;
    } cases[] = {
        {"{\"dict\": {\"c\": " FROM("3") ", \"a\": " FROM("1") ", \"b\": " FROM("2") "}}",
         "{a:1,b:2,c:3} {a:2,b:3,c:4}"},
        {"{\"tuple\": [{\"dict\": {\"z\": " FROM("3") ", \"y\": " FROM("4") "}}, " FROM("2") "]}",
         "({y:4,z:3},2)"},
        {"{\"tuple\": [" FROM("4") "]}", "(4)"},
        {FROM("3"), "3 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        char text[1024];
        snprintf(text, sizeof text, "{\"op\": \"zip\", \"inputs\": %s}", cases[i].inputs);
        leat_dataset *dataset = leat_dataset_from_json(text, &err);
        if (dataset == NULL)
            fail_msg("%s: %s", text, err.text);
        char *outcomes = dataset_text(dataset, NULL, -1);
        assert_string_equal(outcomes, cases[i].expected);
        free(outcomes);
        leat_dataset_unref(dataset);
    }
    leat_error err = {0};
    /* The tree may also stand among the arguments, and may have the caller's word. */
    leat_dataset *dataset = leat_dataset_from_json(
        "{\"op\": \"zip\", \"args\": {\"structure\": {\"tuple\": [{\"dtype\": \"int8\", \"shape\": "
        "[]}]}}, \"inputs\": {\"tuple\": [" RANGE ", {\"dict\": {\"a\": " RANGE
        "}, \"tag\": 5}], \"tag\": 9}}",
        &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    const leat_spec *spec = leat_dataset_spec(dataset);
    assert_int_equal(leat_spec_tag(spec), 9);
    assert_int_equal(leat_spec_num_children(spec), 2);
    assert_int_equal(leat_spec_tag(leat_spec_child(spec, 1)), 5);
    leat_dataset_unref(dataset);
}

static void refused(const char *text, leat_status code, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    assert_null(leat_dataset_from_json(text, &err));
    assert_refused(&err, code, reason, keyword);
}

static void test_refused(void **state) {
    (void)state;
    refused(NULL, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "text");
    refused("5", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"op\"");
    refused("{\"op\": 5}", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"op\"");
    refused("{\"op\": \"rang\"}", LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "\"rang\"");
    refused("{\"op\": \"range\", \"arg\": {}}", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
            "\"arg\"");
    refused("{\"op\": \"range\", \"args\": [1]}", LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE,
            "\"args\"");
    refused("{\"op\": \"take\", \"input\": {\"ref\": \"x\"}, \"args\": {\"count\": 1}}",
            LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"x\"");
    refused("{\"op\": \"from_tensors\", \"args\": {\"tensors\": {\"given\": 4}}}",
            LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "4");
    refused("{\"op\": \"filter\", \"args\": {\"predicate\": {}}}", LEAT_INVALID_ARGUMENT,
            LEAT_REASON_VALUE, "predicate");
    refused("{\"op\": \"zip\", \"inputs\": {\"tuple\": [" RANGE ", {\"op\": \"no\"}]}}",
            LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "\"no\"");
    refused("{\"op\": \"zip\", \"inputs\": {\"tuple\": []}}", LEAT_INVALID_ARGUMENT,
            LEAT_REASON_VALUE, "zip");
    refused("{\"op\": \"concatenate\", \"inputs\": [" RANGE ", 7]}", LEAT_INVALID_ARGUMENT,
            LEAT_REASON_VALUE, "\"op\"");
    refused("{\"op\": \"take\", \"args\": {\"count\": 1}}", LEAT_INVALID_ARGUMENT,
            LEAT_REASON_VALUE, "0");
    leat_error err = {0};
    assert_null(leat_dataset_to_json(NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "dataset");
    assert_null(leat_dataset_spec(NULL));
    assert_int_equal(leat_dataset_cardinality(NULL), LEAT_UNKNOWN_CARDINALITY);
    assert_true(leat_dataset_fingerprint(NULL) == 0);
    assert_null(leat_dataset_label(NULL, "x", &err));
}

/* `levels` nodes, one below the other, or as deep a tree of inputs. */
static void nested(leati_text *text, int levels, bool tree) {
    text->size = 0;
    leati_text_addf(text, "%s", tree ? "{\"op\": \"zip\", \"inputs\": " : "");
    for (int i = 1; i < levels; i++)
        leati_text_addf(text, "%s",
                        tree ? "{\"tuple\": ["
                             : "{\"op\": \"take\", \"args\": {\"count\": 1}, \"input\": ");
    leati_text_addf(text, RANGE);
    for (int i = 1; i < levels; i++)
        leati_text_addf(text, "%s", tree ? "]}" : "}");
    leati_text_addf(text, "%s", tree ? "}" : "");
}

static void test_depth(void **state) {
    (void)state;
    leati_text text = {0};
    leat_error err = {0};
    nested(&text, 501, false);
    leat_dataset *dataset = leat_dataset_from_json(text.data, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    char *outcomes = dataset_text(dataset, NULL, -1);
    assert_string_equal(outcomes, "0");
    free(outcomes);
    leat_dataset_unref(dataset);
    nested(&text, 502, false);
    refused(text.data, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "500");
    nested(&text, 505, true);
    refused(text.data, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "500");
    /* Built by calls it may be deeper, but not without end. */
    for (int levels = 1001; levels <= 1002; levels++) {
        dataset = leat_dataset_range(0, 5, 1, NULL, &err);
        for (int i = 1; i < levels; i++)
            dataset = leat_dataset_label(leat_dataset_skip(dataset, 0, &err), "s", &err);
        assert_non_null(dataset);
        /* Nothing is written that could not be read. */
        assert_null(leati_plan_write(dataset, &err));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "500");
        leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
        assert_int_equal(iterator != NULL, levels <= 1001);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
    }
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1000");
    leati_text_fini(&text);
}

static void test_width(void **state) {
    (void)state;
    leati_text text = {0};
    for (int count = 4096; count <= 4097; count++) {
        leat_error err = {0};
        text.size = 0;
        leati_text_addf(&text, "{\"op\": \"zip\", \"inputs\": [" RANGE);
        for (int i = 1; i < count; i++)
            leati_text_addf(&text, ", " RANGE);
        leati_text_addf(&text, "]}");
        leat_dataset *dataset = leat_dataset_from_json(text.data, &err);
        assert_int_equal(dataset != NULL, count <= 4096);
        if (dataset == NULL)
            assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "4096");
        else
            assert_int_equal(leat_spec_num_children(leat_dataset_spec(dataset)), 4096);
        leat_dataset_unref(dataset);
    }
    leati_text_fini(&text);
}

/* ---- fingerprints ---- */

struct all_args {
    bool flag;
    int8_t tri;
    int64_t count, made;
    double ratio;
    char *text;
    leat_dtype dtype;
    leat_shape shape;
    leat_spec *spec;
    leati_ints ints;
    leati_floats floats;
    leati_strings strings;
    leat_element element;
};

#define ROW(MEMBER, TYPE)                                                                          \
    { .name = #MEMBER, .type = LEATI_ROW_##TYPE, .offset = offsetof(struct all_args, MEMBER) }

static const leati_row all_rows[] = {
    ROW(flag, BOOL),
    ROW(tri, BOOL_OR_NONE),
    ROW(count, INT),
    ROW(ratio, FLOAT),
    ROW(text, STRING),
    ROW(dtype, DTYPE),
    ROW(shape, SHAPE),
    ROW(spec, SPEC),
    ROW(ints, INTS),
    ROW(floats, FLOATS),
    ROW(strings, STRINGS),
    ROW(element, ELEMENT),
    {.name = "made",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     .offset = offsetof(struct all_args, made)},
    {0},
};

static leati_dataset_op all_op = {
    .name = "test_all",
    .version = 1,
    .num_inputs = 1,
    .args_size = sizeof(struct all_args),
    .rows = all_rows,
};

static uint64_t fingerprint_of(const char *args, int64_t made, int64_t stop) {
    leat_error err = {0};
    struct all_args all = {0};
    json_t *json = json_of(args);
    if (leati_json_to_rows(json, all_rows, &all, "test_all", NULL, &err) != LEAT_OK)
        fail_msg("%s: %s", args, err.text);
    all.made = made;
    leat_dataset *input = leat_dataset_range(0, stop, 1, NULL, &err);
    leat_dataset *dataset = leati_dataset_new(&all_op, &all, &input, 1, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    uint64_t fingerprint = leat_dataset_fingerprint(dataset);
    assert_true(fingerprint == leat_dataset_fingerprint(dataset));
    leat_dataset_unref(dataset);
    leati_rows_fini(all_rows, &all);
    json_decref(json);
    return fingerprint;
}

/* No two of these are the same plan. */
static void test_fingerprints(void **state) {
    (void)state;
    static const char *const args[] = {
        "{}",
        "{\"flag\": true}",
        "{\"tri\": true}",
        "{\"count\": 1}",
        "{\"count\": 4294967296}",
        "{\"ratio\": 1}",
        "{\"ratio\": 1.0000000000000002}",
        "{\"text\": \"\"}",
        "{\"text\": \"a\"}",
        "{\"dtype\": \"int8\"}",
        "{\"dtype\": \"uint8\"}",
        "{\"shape\": []}",
        "{\"shape\": [-1]}",
        "{\"shape\": [1, 2]}",
        "{\"shape\": [1, 3]}",
        "{\"spec\": {\"dtype\": \"int8\", \"shape\": [1, 2]}}",
        "{\"spec\": {\"dtype\": \"int8\", \"shape\": [1, 3]}}",
        "{\"ints\": [1]}",
        "{\"ints\": [1, 2]}",
        "{\"ints\": [1, 3]}",
        "{\"floats\": [1]}",
        "{\"floats\": [1, 2]}",
        "{\"floats\": [1, 3]}",
        "{\"strings\": [\"ab\"]}",
        "{\"strings\": [\"a\", \"b\"]}",
        "{\"strings\": [\"a\", \"c\"]}",
        "{\"element\": {\"dtype\": \"int8\", \"shape\": [2], \"data\": [1, 2]}}",
        "{\"element\": {\"dtype\": \"int8\", \"shape\": [2], \"data\": [1, 3]}}",
        "{\"element\": {\"dtype\": \"uint8\", \"shape\": [2], \"data\": [1, 2]}}",
        "{\"element\": {\"dtype\": \"int8\", \"shape\": [2, 1], \"data\": [1, 2]}}",
        "{\"element\": {\"dtype\": \"string\", \"shape\": [2], \"data\": [\"a\", \"b\"]}}",
        "{\"element\": {\"dtype\": \"string\", \"shape\": [2], \"data\": [\"a\", \"c\"]}}",
        "{\"element\": {\"dtype\": \"string\", \"shape\": [2], \"data\": [\"ab\", \"\"]}}",
    };
    enum { COUNT = sizeof args / sizeof *args };
    uint64_t found[COUNT];
    for (int i = 0; i < COUNT; i++) {
        found[i] = fingerprint_of(args[i], 0, 3);
        assert_true(found[i] == fingerprint_of(args[i], 7, 3)); /* what was made does not count */
        assert_true(found[i] != fingerprint_of(args[i], 0, 4)); /* the inputs do */
        for (int k = 0; k < i; k++)
            if (found[k] == found[i])
                fail_msg("%s and %s have one fingerprint", args[k], args[i]);
    }
    all_op.version = 2;
    assert_true(found[0] != fingerprint_of(args[0], 0, 3));
    all_op.version = 1;
}

/* A spec of many features, of which the last has `size` values. */
static uint64_t fingerprint_of_wide(int size) {
    enum { FEATURES = 100 };
    static char text[FEATURES * 64];
    int used = snprintf(text, sizeof text, "{\"spec\": {\"dict\": {");
    for (int i = 0; i < FEATURES; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s\"f%03d\": {\"dtype\": \"int8\", \"shape\": [%d]}", i == 0 ? "" : ", ",
                         i, i == FEATURES - 1 ? size : 1);
    }
    snprintf(text + used, sizeof text - (size_t)used, "}}}");
    return fingerprint_of(text, 0, 3);
}

static void test_wide_fingerprint(void **state) {
    (void)state;
    assert_true(fingerprint_of_wide(1) == fingerprint_of_wide(1));
    assert_true(fingerprint_of_wide(1) != fingerprint_of_wide(2));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_round_trip),   TEST(test_functions),
                                       TEST(test_trees),        TEST(test_refused),
                                       TEST(test_depth),        TEST(test_width),
                                       TEST(test_fingerprints), TEST(test_wide_fingerprint)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
