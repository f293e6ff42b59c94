/* Building a recorded pipeline with the reader that `leat run` uses, and iterating it. */
#include "golden.h"
#include <stdlib.h>
#include <string.h>

/* ---- transformations ---- */

/* apply is no operator of the table: it calls one of these. */
static leat_dataset *square_and_keep_even(void *context, leat_dataset *input, leat_error *err) {
    (void)context;
    leat_function *square = golden_function("square", leat_dataset_spec(input), err);
    leat_dataset *squares = leat_dataset_map(input, square, NULL, err);
    leat_function *even =
        squares == NULL ? NULL : golden_function("is_even", leat_dataset_spec(squares), err);
    return leat_dataset_filter(squares, even, err);
}

static leat_dataset *take_2(void *context, leat_dataset *input, leat_error *err) {
    (void)context;
    return leat_dataset_take(input, 2, err);
}

static leat_dataset *return_none(void *context, leat_dataset *input, leat_error *err) {
    (void)context;
    (void)err;
    leat_dataset_unref(input);
    return NULL;
}

static bool is_apply(const json_t *node) {
    return strcmp(golden_text(node, "op"), "apply") == 0;
}

static leat_transformation transformation_of(const json_t *node) {
    static const struct {
        const char *name;
        leat_transformation function;
    } named[] = {{"square_and_keep_even", square_and_keep_even},
                 {"take_2", take_2},
                 {"return_none", return_none}};
    const char *name = golden_text(json_object_get(node, "args"), "transformation_func");
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(name, named[i].name) == 0)
            return named[i].function;
    return NULL;
}

/* ---- names ---- */

static bool is_node(const json_t *json) {
    return json_object_get(json, "op") != NULL || json_object_get(json, "ref") != NULL;
}

static void check_function(golden_case *c, const leati_dataset_op *op, const char *argument,
                           const json_t *value) {
    const char *name = json_string_value(value), *lacks = NULL;
    if (name == NULL)
        return;
    if (!golden_function_known(name, &lacks))
        golden_fail(c, "function %s, argument %s of %s, is of an unknown kind", name, argument,
                    op->name);
    else if (lacks != NULL)
        golden_missing(c, "operation %s, for function %s", lacks, name);
}

static void check_arguments(golden_case *c, const leati_dataset_op *op, const json_t *args) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)args, name, value) {
        const leati_row *row = leati_rows_find(op->rows, name);
        if (row == NULL)
            golden_missing(c, "argument %s of %s", name, op->name);
        else if (is_node(value) && (row->flags & LEATI_NODE) == 0)
            golden_missing(c, "a dataset as argument %s of %s", name, op->name);
        else if (row->type == LEATI_ROW_FUNCTION)
            check_function(c, op, name, value);
        if (is_node(value))
            golden_check_names(c, value);
    }
}

void golden_check_names(golden_case *c, const json_t *node) {
    const char *name = json_string_value(json_object_get(node, "op"));
    if (name != NULL && is_apply(node)) {
        if (transformation_of(node) == NULL)
            golden_fail(c, "transformation %s is of an unknown kind",
                        golden_text(json_object_get(node, "args"), "transformation_func"));
    } else if (name != NULL) {
        const leati_dataset_op *op = leati_op_find(name);
        if (op == NULL)
            golden_missing(c, "operator %s", name);
        else
            check_arguments(c, op, json_object_get(node, "args"));
    }
    const char *key = NULL;
    json_t *child = NULL;
    const json_t *inputs = json_object_get(node, "inputs");
    if (json_object_get(node, "input") != NULL)
        golden_check_names(c, json_object_get(node, "input"));
    /* Inputs are a list or a tree; a tree's inner nodes look like nodes without "op". */
    if (inputs == NULL && name == NULL)
        inputs = json_object_get(node, "tuple") != NULL ? json_object_get(node, "tuple")
                                                        : json_object_get(node, "dict");
    for (size_t i = 0; i < json_array_size(inputs); i++)
        golden_check_names(c, json_array_get(inputs, i));
    if (!json_is_object(inputs))
        return;
    if (json_object_get(inputs, "tuple") != NULL || json_object_get(inputs, "dict") != NULL) {
        golden_check_names(c, inputs);
        return;
    }
    json_object_foreach((json_t *)inputs, key, child) {
        golden_check_names(c, child);
    }
}

/* ---- building ---- */

static leat_function *read_function(void *context, const json_t *json, const char *op,
                                    const char *argument, const leat_spec *input, leat_error *err) {
    (void)context;
    const char *name = json_string_value(json);
    if (name != NULL)
        return golden_function(name, input, err);
    leati_fail(err, LEAT_INVALID_ARGUMENT, "argument %s of %s is no name of a function", argument,
               op);
    return NULL;
}

static leat_dataset *read_ref(void *context, const char *name, leat_error *err) {
    const golden_pipeline *pipeline = context;
    const json_t *place = json_object_get(pipeline->named, name);
    if (place != NULL)
        return leat_dataset_ref(pipeline->lets[json_integer_value(place)]);
    leati_fail(err, LEAT_INVALID_ARGUMENT, "nothing is named %s", name);
    return NULL;
}

static leat_dataset *read_plan(golden_pipeline *pipeline, const json_t *node, leat_error *err) {
    leati_plan_reader reader = {.context = pipeline, .function = read_function, .ref = read_ref};
    if (is_apply(node)) /* at the root of a plan alone */
        return leat_dataset_apply(read_plan(pipeline, json_object_get(node, "input"), err),
                                  transformation_of(node), NULL, err);
    return leati_plan_read(node, &reader, err);
}

static leat_status run_once(leat_dataset *dataset, leat_error *err) {
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, err);
    leat_element element = {0};
    leat_status status = LEAT_OK;
    if (iterator == NULL)
        return err->code;
    while (status == LEAT_OK)
        status = leat_iterator_next(iterator, &element, err);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    if (status != LEAT_OUT_OF_RANGE)
        return status;
    *err = (leat_error){0};
    return LEAT_OK;
}

static leat_status save(leat_dataset *dataset, const json_t *action, leat_error *err) {
    const json_t *args = json_object_get(action, "args");
    const char *shard = json_string_value(json_object_get(args, "shard_func"));
    leat_function *function =
        shard == NULL ? NULL : golden_function(shard, leat_dataset_spec(dataset), err);
    leat_dataset_save_options options = {
        LEAT_DATASET_SAVE_DEFAULTS,
        .compression = json_string_value(json_object_get(args, "compression")),
        .shard_func = function};
    if (shard != NULL && function == NULL)
        return err->code;
    leat_status status = leat_dataset_save(dataset, golden_text(action, "path"), &options, err);
    leat_function_unref(function);
    return status;
}

static leat_status run_action(golden_pipeline *pipeline, const json_t *action, leat_error *err) {
    leat_dataset *dataset = read_plan(pipeline, json_object_get(action, "pipeline"), err);
    leat_status status = dataset == NULL ? err->code
                         : strcmp(golden_text(action, "action"), "save") == 0
                             ? save(dataset, action, err)
                             : run_once(dataset, err);
    leat_dataset_unref(dataset);
    return status;
}

static leat_status build(golden_pipeline *pipeline, const json_t *json, leat_error *err) {
    const json_t *lets = json_object_get(json, "let"), *before = json_object_get(json, "before");
    pipeline->named = json_object();
    pipeline->lets = calloc(json_array_size(lets) + 1, sizeof *pipeline->lets);
    for (size_t i = 0; i < json_array_size(lets); i++) {
        const json_t *let = json_array_get(lets, i);
        leat_dataset *dataset = read_plan(pipeline, json_object_get(let, "node"), err);
        if (dataset == NULL)
            return err->code;
        pipeline->lets[pipeline->num_lets] = dataset;
        json_object_set_new(pipeline->named, golden_text(let, "name"),
                            json_integer((json_int_t)pipeline->num_lets++));
    }
    for (size_t i = 0; i < json_array_size(before); i++) {
        leat_status status = run_action(pipeline, json_array_get(before, i), err);
        if (status != LEAT_OK)
            return status;
    }
    pipeline->dataset = read_plan(pipeline, json_object_get(json, "pipeline"), err);
    return pipeline->dataset == NULL ? err->code : LEAT_OK;
}

leat_status golden_build(const json_t *json, golden_pipeline *out, leat_error *err) {
    const json_t *seed = json_object_get(json, "global_seed");
    *out = (golden_pipeline){0};
    if (seed != NULL)
        leat_seed_set(json_integer_value(seed));
    else
        leat_seed_clear();
    leat_status status = build(out, json, err);
    if (status != LEAT_OK)
        golden_pipeline_fini(out);
    return status;
}

void golden_pipeline_fini(golden_pipeline *pipeline) {
    leat_dataset_unref(pipeline->dataset);
    for (size_t i = 0; i < pipeline->num_lets; i++)
        leat_dataset_unref(pipeline->lets[i]);
    free((void *)pipeline->lets);
    json_decref(pipeline->named);
    *pipeline = (golden_pipeline){0};
}

leat_status golden_round_trip(golden_pipeline *pipeline, leat_error *err) {
    char *text = leat_dataset_to_json(pipeline->dataset, err);
    if (text == NULL)
        return err->code;
    leat_dataset *read = leat_dataset_from_json(text, err);
    leat_text_free(text);
    if (read == NULL)
        return err->code;
    leat_dataset_unref(pipeline->dataset);
    pipeline->dataset = read;
    return LEAT_OK;
}

/* ---- iterating ---- */

static bool is_end(leat_status status, const leat_error *err) {
    return status == LEAT_OUT_OF_RANGE && err->reason == LEAT_REASON_END;
}

static json_t *outcome(leat_status status, const leat_element *element, leat_error *err) {
    if (status != LEAT_OK)
        return json_pack("{s:s}", "error", leat_status_name(status));
    json_t *value = leati_json_of_element_with(element, golden_dataset_value, NULL, err);
    return value != NULL ? value : json_pack("{s:s}", "unprintable", err->text);
}

bool golden_iterate(golden_case *c, leat_iterator *iterator, int64_t limit, size_t most,
                    json_t *outcomes) {
    leat_element element = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    bool ended = false, good = true;
    for (int64_t i = 0; (limit < 0 || i < limit) && json_array_size(outcomes) < most; i++) {
        status = leat_iterator_next(iterator, &element, &err);
        if ((ended = is_end(status, &err)))
            break;
        if (c->run->verbose && status != LEAT_OK)
            printf("%s %s: %s\n", c->file, c->name, err.text);
        json_array_append_new(outcomes, outcome(status, &element, &err));
    }
    if (ended) {
        status = leat_iterator_next(iterator, &element, &err);
        if (!is_end(status, &err)) {
            golden_fail(c, "one more call after the end gave %s instead of the end",
                        leat_status_name(status));
            good = false;
        }
    }
    leat_element_fini(&element);
    return good;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A copy with the elements in the order of their text. */
static json_t *sorted(const json_t *list) {
    size_t count = json_array_size(list);
    char **texts = calloc(count + 1, sizeof *texts);
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        texts[i] = leati_json_print(json_array_get(list, i), 0, true, &(leat_error){0});
    qsort((void *)texts, count, sizeof *texts, by_text);
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(out, leati_json_parse(texts[i], strlen(texts[i]), &(leat_error){0}));
        leati_free(texts[i]);
    }
    free((void *)texts);
    return out;
}

static bool compare(golden_case *c, const char *what, const json_t *expected, const json_t *found) {
    size_t count = json_array_size(expected), other = json_array_size(found);
    char texts[2][600];
    for (size_t i = 0; i < count || i < other; i++) {
        const json_t *a = json_array_get(expected, i), *b = json_array_get(found, i);
        if (a != NULL && b != NULL && golden_json_equal(a, b))
            continue;
        golden_json_text(a, texts[0], sizeof texts[0]);
        golden_json_text(b, texts[1], sizeof texts[1]);
        golden_fail(c, "%s %zu of %zu: expected %s, found %s", what, i, count,
                    a == NULL ? "the end" : texts[0], b == NULL ? "the end" : texts[1]);
        return false;
    }
    return true;
}

bool golden_compare(golden_case *c, const char *what, const json_t *expected, const json_t *found,
                    bool unordered) {
    if (!unordered)
        return compare(c, what, expected, found);
    json_t *a = sorted(expected), *b = sorted(found);
    bool same = compare(c, what, a, b);
    json_decref(a);
    json_decref(b);
    return same;
}
