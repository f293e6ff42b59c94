/* The builders of <leat/data_ops.h>: the plan of each says the arguments that were given and no
 * others, so that the defaults of options are those of the operator's rows; read back it is the
 * same plan. Each builder is called with NULL for its inputs and functions, and with each
 * allocation failing; it takes what it was given every time. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "core/json.h"
#include "data/plan/op.h"
#include "support/refused.h"
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values and specs ---- */

#define ONE_TEXT "{'dtype': 'int64', 'shape': [1], 'data': [8]}"
#define VECTOR_TEXT "{'dtype': 'int64', 'shape': [2], 'data': [1, 2]}"
#define SHAPE_TEXT "{'dtype': 'int64', 'shape': [1], 'data': [5]}"
#define PAD_TEXT "{'dtype': 'int64', 'shape': [], 'data': [9]}"
#define TEXTS_TEXT "{'dtype': 'string', 'shape': [1], 'data': ['p']}"
#define NAME_TEXT "{'dtype': 'string', 'shape': [], 'data': ['a']}"
#define DISTRIBUTION_TEXT "{'dtype': 'float32', 'shape': [2], 'data': [0.25, 0.75]}"
#define OTHER_DISTRIBUTION_TEXT "{'dtype': 'float32', 'shape': [2], 'data': [0.5, 0.5]}"
#define NUMBER_SPEC "{'dtype': 'int64', 'shape': []}"
#define FEATURES_SPEC "{'dict': {'id': {'dtype': 'int64', 'shape': [1]}}}"

#define ELEMENTS(V)                                                                                \
    V(ONE, ONE_TEXT)                                                                               \
    V(ONE_TUPLE, "{'tuple': [" ONE_TEXT "]}")                                                      \
    V(ONE_DICT, "{'dict': {'id': " ONE_TEXT "}}")                                                  \
    V(VECTOR, VECTOR_TEXT)                                                                         \
    V(SHAPE, SHAPE_TEXT)                                                                           \
    V(PAD, PAD_TEXT)                                                                               \
    V(TEXTS, TEXTS_TEXT)                                                                           \
    V(NAME, NAME_TEXT)                                                                             \
    V(DISTRIBUTION, DISTRIBUTION_TEXT)

#define ELEMENT(NAME, TEXT) static leat_element NAME;
ELEMENTS(ELEMENT)
static leat_spec *number_spec, *features_spec, *pair_spec;
static const char *const paths[] = {"a", "b"};
static const char *const records_paths[] = {"files/examples/one.tfrecord",
                                            "files/examples/a.tfrecord"};
static const float distribution[] = {0.25f, 0.75f}, other_distribution[] = {0.5f, 0.5f};

/* JSON with single quotes. Owned. */
static json_t *parsed(const char *text) {
    char *copy = strdup(text);
    leat_error err = {0};
    for (char *at = copy; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    json_t *json = leati_json_parse(copy, strlen(copy), &err);
    if (json == NULL)
        fail_msg("%s: %s", copy, err.text);
    free(copy);
    return json;
}

static void read_element(const char *text, leat_element *out) {
    json_t *json = parsed(text);
    assert_int_equal(leati_json_to_element(json, out, &(leat_error){0}), LEAT_OK);
    json_decref(json);
}

static leat_spec *read_spec(const char *text) {
    json_t *json = parsed(text);
    leat_spec *spec = leati_json_to_spec(json, &(leat_error){0});
    assert_non_null(spec);
    json_decref(json);
    return spec;
}

/* ---- functions ---- */

static leat_value argument(leat_graph *graph, int index) {
    return leat_graph_argument(graph, index);
}

static leat_value number(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static int trace_small(leat_graph *graph, leat_value *out) {
    out[0] = leat_op_less(argument(graph, 0), number(graph, 3));
    return 1;
}

static int trace_key(leat_graph *graph, leat_value *out) {
    out[0] = leat_op_floormod(argument(graph, 0), number(graph, 2));
    return 1;
}

static int trace_zero(leat_graph *graph, leat_value *out) {
    out[0] = number(graph, 4);
    return 1;
}

static int trace_class_of(leat_graph *graph, leat_value *out) {
    out[0] = leat_op_cast(leat_op_floormod(argument(graph, 0), number(graph, 2)), LEAT_INT32);
    return 1;
}

static int trace_counting(leat_graph *graph, leat_value *out) {
    leat_value stop = argument(graph, 0);
    out[0] =
        leat_graph_dataset_op(graph, "range", NULL, NULL, 0, (const char *[]){"stop"}, &stop, 1);
    return 1;
}

static int trace_constant(leat_graph *graph, leat_value *out) {
    leat_dataset *dataset = leat_dataset_range(3, 5, 1, NULL, NULL);
    out[0] = leat_graph_dataset(graph, dataset);
    leat_dataset_unref(dataset);
    return 1;
}

static int trace_length(leat_graph *graph, leat_value *out) {
    leat_value in = argument(graph, 0), size;
    leat_graph_call(graph, "size", "{\"out_type\": \"int32\"}", &in, 1, &size, 1);
    out[0] = size;
    return 1;
}

static int trace_sum(leat_graph *graph, leat_value *out) {
    out[0] = leat_op_add(argument(graph, 0), argument(graph, 1));
    return 1;
}

static int trace_running(leat_graph *graph, leat_value *out) {
    out[0] = leat_op_add(argument(graph, 0), argument(graph, 1));
    out[1] = argument(graph, 0);
    return 2;
}

static int trace_batches(leat_graph *graph, leat_value *out) {
    leat_value window = argument(graph, 1);
    out[0] =
        leat_graph_dataset_op(graph, "batch", "{\"batch_size\": 2}", &window, 1, NULL, NULL, 0);
    return 1;
}

#define PAIR_SPEC "{'tuple': [" NUMBER_SPEC ", " NUMBER_SPEC "]}"
#define SHARD_SPEC "{'dataset': " NUMBER_SPEC "}"
#define NUMBERED_SPEC "{'dataset': " PAIR_SPEC "}"
#define FUNCTIONS(V)                                                                               \
    V(small, NUMBER_SPEC)                                                                          \
    V(key, NUMBER_SPEC)                                                                            \
    V(zero, NUMBER_SPEC)                                                                           \
    V(class_of, NUMBER_SPEC)                                                                       \
    V(counting, NUMBER_SPEC)                                                                       \
    V(constant, NUMBER_SPEC)                                                                       \
    V(length, "{'dtype': 'int64', 'shape': [2]}")                                                  \
    V(sum, PAIR_SPEC)                                                                              \
    V(running, "{'tuple': [{'dtype': 'int64', 'shape': [1]}, " NUMBER_SPEC "]}")                   \
    V(batches, "{'tuple': [" NUMBER_SPEC ", " SHARD_SPEC "]}")                                     \
    V(reader, "{'dataset': " SHARD_SPEC "}")                                                       \
    V(numbered_reader, "{'dataset': " NUMBERED_SPEC "}")

static int trace_reader(leat_graph *graph, leat_value *out);
static int trace_numbered_reader(leat_graph *graph, leat_value *out);

#define PLACE(NAME, SPEC) NAME##_place,
enum { FUNCTIONS(PLACE) NUM_FUNCTIONS };
static leat_function *functions[NUM_FUNCTIONS];
#define FUNCTION_NAME(NAME, SPEC) #NAME,
static const char *const function_names[] = {FUNCTIONS(FUNCTION_NAME)};

typedef int (*trace_function)(leat_graph *graph, leat_value *out);

static int trace_any(void *context, leat_graph *graph, leat_value *out, int capacity) {
    return (*(trace_function *)context)(graph, out);
}

static leat_function *traced(trace_function trace, const char *text) {
    leat_error err = {0};
    leat_spec *spec = read_spec(text);
    leat_function *function = LEAT_TRACE(trace_any, &trace, spec, &err);
    if (function == NULL)
        fail_msg("%s: %s", text, err.text);
    leat_spec_unref(spec);
    return function;
}

static int trace_same(leat_graph *graph, leat_value *out) {
    out[0] = argument(graph, 0);
    return 1;
}

/* The shards one after the other. */
static int one_by_one(leat_graph *graph, const char *shard, leat_value *out) {
    leat_value shards = argument(graph, 0);
    leat_function_argument same = {.name = "map_func", .function = traced(trace_same, shard)};
    out[0] = leat_graph_dataset_call(graph, &(leat_dataset_call){.op = "flat_map",
                                                                 .inputs = &shards,
                                                                 .num_inputs = 1,
                                                                 .functions = &same,
                                                                 .num_functions = 1});
    leat_function_unref(same.function);
    return 1;
}

static int trace_reader(leat_graph *graph, leat_value *out) {
    return one_by_one(graph, SHARD_SPEC, out);
}

static int trace_numbered_reader(leat_graph *graph, leat_value *out) {
    return one_by_one(graph, NUMBERED_SPEC, out);
}

/* ---- inputs ---- */

/* What the builders get in place of a dataset or a function. */
static bool without_inputs, without_functions;

#define f(NAME) (without_functions ? NULL : leat_function_ref(functions[NAME##_place]))

static leat_dataset *numbers(leat_error *err) {
    return without_inputs ? NULL : leat_dataset_range(0, 5, 1, NULL, err);
}

static leat_dataset *batched(leat_error *err) {
    return without_inputs ? NULL : leat_dataset_batch(numbers(err), 2, NULL, err);
}

static leat_dataset *of(const leat_element *element, leat_error *err) {
    return without_inputs ? NULL : leat_dataset_from_tensors(element, err);
}

#define vectors(ERR) of(&VECTOR, ERR)
#define texts(ERR) of(&TEXTS, ERR)
#define names(ERR) of(&NAME, ERR)
#define records(ERR) of(&ONE_DICT, ERR)

/* ---- the tables ---- */

typedef leat_dataset *(*build_function)(leat_error *err);
#define DATASET(LABEL, OP, ARGUMENTS, INPUTS, CALL)                                                \
    static leat_dataset *build_##LABEL(leat_error *err) {                                          \
        return CALL;                                                                               \
    }
#define REFUSED(LABEL, CALL, OP, REASON, KEYWORD) DATASET(LABEL, , , , CALL)
#define OPTIONS(LABEL, TYPE, DEFAULTS, OP, ARGUMENTS, INPUTS, CALL)                                \
    static leat_dataset *with_##LABEL(const TYPE *options, leat_error *err) {                      \
        return CALL;                                                                               \
    }                                                                                              \
    static leat_dataset *build_##LABEL(leat_error *err) {                                          \
        return with_##LABEL(NULL, err);                                                            \
    }                                                                                              \
    static leat_dataset *default_##LABEL(leat_error *err) {                                        \
        return with_##LABEL(&(TYPE){DEFAULTS}, err);                                               \
    }                                                                                              \
    static leat_dataset *sizeless_##LABEL(leat_error *err) {                                       \
        return with_##LABEL(&(TYPE){0}, err);                                                      \
    }
#include "dataset_builders.def"
#undef DATASET
#undef REFUSED
#undef OPTIONS

static const struct builder {
    const char *label, *operator, * arguments, *inputs;
    build_function build;
} builders[] = {
#define DATASET(LABEL, OP, ARGUMENTS, INPUTS, CALL) {#LABEL, OP, ARGUMENTS, INPUTS, build_##LABEL},
#define REFUSED(LABEL, CALL, OP, REASON, KEYWORD)
#define OPTIONS(LABEL, TYPE, DEFAULTS, OP, ARGUMENTS, INPUTS, CALL)                                \
    {#LABEL, OP, ARGUMENTS, INPUTS, build_##LABEL},                                                \
        {#LABEL " with the defaults", OP, ARGUMENTS, INPUTS, default_##LABEL},
#include "dataset_builders.def"
#undef DATASET
#undef REFUSED
#undef OPTIONS
};

static const struct refusal {
    const char *label, *operator;
    leat_reason reason;
    const char *keyword;
    build_function build;
} refusals[] = {
#define DATASET(LABEL, OP, ARGUMENTS, INPUTS, CALL)
#define REFUSED(LABEL, CALL, OP, REASON, KEYWORD)                                                  \
    {#LABEL, OP, LEAT_REASON_##REASON, KEYWORD, build_##LABEL},
#define OPTIONS(LABEL, TYPE, DEFAULTS, OP, ARGUMENTS, INPUTS, CALL)                                \
    {#LABEL " without a size", #TYPE ".size", LEAT_REASON_VALUE, "0", sizeless_##LABEL},
#include "dataset_builders.def"
#undef DATASET
#undef REFUSED
#undef OPTIONS
};

enum { COUNT = sizeof builders / sizeof *builders };

static int setup(void **state) {
    (void)state;
#define READ_ELEMENT(NAME, TEXT) read_element(TEXT, &(NAME));
    ELEMENTS(READ_ELEMENT)
#define TRACE(NAME, SPEC) functions[NAME##_place] = traced(trace_##NAME, SPEC);
    FUNCTIONS(TRACE)
    number_spec = read_spec(NUMBER_SPEC);
    features_spec = read_spec(FEATURES_SPEC);
    pair_spec = read_spec("{'dict': {'p': {'dataset': " NUMBER_SPEC
                          "}, 'q': {'dataset': " NUMBER_SPEC "}}}");
    return chdir(LEATI_SOURCE_DIR "/tests/golden/data");
}

static int teardown(void **state) {
    (void)state;
#define CLEAR_ELEMENT(NAME, TEXT) leat_element_fini(&(NAME));
    ELEMENTS(CLEAR_ELEMENT)
    for (int i = 0; i < NUM_FUNCTIONS; i++)
        leat_function_unref(functions[i]);
    leat_spec_unref(number_spec);
    leat_spec_unref(features_spec);
    leat_spec_unref(pair_spec);
    return chdir(LEATI_SOURCE_DIR);
}

/* ---- plans ---- */

/* Puts functions in place of their names. */
static void put_functions(json_t *args) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(args, key, value) {
        const char *name = json_is_string(value) ? json_string_value(value) : "";
        for (int i = 0; name[0] == '@' && i < NUM_FUNCTIONS; i++) {
            if (strcmp(name + 1, function_names[i]) != 0)
                continue;
            char *text = leat_function_to_json(functions[i], NULL);
            assert_non_null(text);
            json_object_set_new(args, key, leati_json_parse(text, strlen(text), &(leat_error){0}));
            leat_text_free(text);
            break;
        }
    }
}

/* What the constructor resolves, seeds among them, is written too; builders do not give it. */
static json_t *without_construct(const char *op, json_t *plan) {
    const leati_dataset_op *found = leati_op_find(op);
    json_t *args = json_object_get(plan, "args");
    for (const leati_row *row = found->rows; row->type != LEATI_ROW_END; row++)
        if ((row->flags & LEATI_CONSTRUCT) != 0)
            json_object_del(args, row->name);
    return plan;
}

/* The dataset's plan. Owned; given. */
static json_t *plan_of(const char *op, leat_dataset *dataset, leat_error *err) {
    char *text = dataset == NULL ? NULL : leat_dataset_to_json(dataset, err);
    json_t *plan = text == NULL ? json_object() : leati_json_parse(text, strlen(text), err);
    leat_text_free(text);
    leat_dataset_unref(dataset);
    return without_construct(op, plan);
}

/* The plan that the line says, and what it becomes when it is read and written. Both owned. */
static json_t *expected_plan(const struct builder *b, json_t **again, leat_error *err) {
    char text[4096];
    snprintf(text, sizeof text, "{'op': '%s', 'args': {%s}%s}", b->operator, b->arguments,
             b->inputs);
    json_t *json = parsed(text);
    put_functions(json_object_get(json, "args"));
    char *whole = json_dumps(json, 0);
    *again = plan_of(b->operator, leat_dataset_from_json(whole, err), err);
    free(whole);
    return json;
}

/* Functions, specs and nodes may be written in more words than they were read from. */
static bool is_same(const json_t *expected, const json_t *found) {
    if (json_is_number(expected) && json_is_number(found))
        return json_number_value(expected) == json_number_value(found);
    return found != NULL &&
           (json_is_object(expected) || json_is_array(expected) || json_equal(expected, found));
}

static void report(int *wrong, const char *label, const char *what, const leat_error *err) {
    ++*wrong;
    printf("FAIL %s: %s: %s: %s\n", label, what, leat_status_name(err->code), err->text);
}

static void test_plans(void **state) {
    (void)state;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const struct builder *b = &builders[i];
        leat_error err = {0};
        json_t *again = NULL, *value = NULL, *expected = expected_plan(b, &again, &err);
        json_t *found = plan_of(b->operator, b->build(&err), &err);
        json_t *args = json_object_get(expected, "args"), *written = json_object_get(found, "args");
        const char *key = NULL;
        if (err.code != LEAT_OK || !json_equal(again, found)) {
            report(&wrong, b->label, "other plans", &err);
            char *first = json_dumps(again, 0), *second = json_dumps(found, 0);
            printf("expected %s\nfound    %s\n", first, second);
            free(first);
            free(second);
        }
        json_object_foreach(args, key, value) {
            if (!is_same(value, json_object_get(written, key)))
                report(&wrong, b->label, key, &err);
        }
        json_decref(expected);
        json_decref(again);
        json_decref(found);
    }
    assert_int_equal(wrong, 0);
}

/* ---- what is missing ---- */

static bool names_it(const leat_error *err, const char *operator, leat_reason reason,
                     const char *keyword) {
    return is_refused(err, LEAT_INVALID_ARGUMENT, reason, operator) &&
           is_refused(err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

/* The error names the operator; the first error stays, and a caller may ask for none. */
static void check_missing(int *wrong, const struct builder *b) {
    static const leat_error before = {.code = LEAT_DATA_LOSS, .text = "before"};
    leat_error err = {0}, kept = before;
    leat_dataset *dataset = b->build(&err);
    if (dataset != NULL || !names_it(&err, b->operator, LEAT_REASON_VALUE, "NULL"))
        report(wrong, b->label, "without it", &err);
    if (b->build(&kept) != NULL || memcmp(&kept, &before, sizeof before) != 0)
        report(wrong, b->label, "after an error", &kept);
    if (b->build(NULL) != NULL)
        report(wrong, b->label, "without an error", &err);
}

static void test_missing(void **state) {
    (void)state;
    int wrong = 0;
    torture_begin();
    for (int i = 0; i < COUNT; i++) {
        const struct builder *b = &builders[i];
        bool input = b->inputs[0] != '\0' || strstr(b->arguments, "{'op'") != NULL;
        bool function = strstr(b->arguments, "'@") != NULL && strstr(b->arguments, "path") == NULL;
        without_inputs = input;
        if (input)
            check_missing(&wrong, b);
        without_inputs = false;
        without_functions = function;
        if (function)
            check_missing(&wrong, b);
        without_functions = false;
    }
    torture_end();
    assert_int_equal(wrong, 0);
}

static void test_refused(void **state) {
    (void)state;
    int wrong = 0;
    torture_begin();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        leat_error err = {0};
        leat_dataset *dataset = refusals[i].build(&err);
        if (dataset != NULL ||
            !names_it(&err, refusals[i].operator, refusals[i].reason, refusals[i].keyword))
            report(&wrong, refusals[i].label, "refused", &err);
        leat_dataset_unref(dataset);
        leat_dataset_unref(refusals[i].build(NULL));
    }
    /* Options that cannot be read do not hide why the input is missing. */
    leat_error before = {.code = LEAT_DATA_LOSS, .text = "before"};
    assert_null(leat_dataset_batch(NULL, 2, &(leat_dataset_batch_options){.size = 0}, &before));
    assert_string_equal(before.text, "before");
    torture_end();
    assert_int_equal(wrong, 0);
}

/* ---- memory ---- */

static leat_status build_one(void *context, leat_error *err) {
    leat_dataset *dataset = (*(const build_function *)context)(err);
    leat_status status = dataset == NULL ? torture_code(err) : LEAT_OK;
    leat_dataset_unref(dataset);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    torture_begin();
    for (int i = 0; i < COUNT; i++) {
        build_function build = builders[i].build;
        torture_run_tolerant(build_one, &build);
    }
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans), cmocka_unit_test(test_missing),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
