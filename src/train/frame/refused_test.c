/* What layers, losses, metrics, optimizers, initializers and schedules take and refuse, by the
 * lines of tests/parts.def. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "support/refused.h"
#include "support/torture.h"
#include "support/train.h"
#include <leat/train.h>

enum what { IS_REFUSED = 0, IS_BUILT, IS_CALLED, IS_KEPT };

static const struct line {
    enum what what;
    const char *sort, *name, *arguments, *shapes;
    const char *text; /* of the result, or a keyword of the error */
    leat_status code;
    leat_reason reason;
} lines[] = {
#define LINE(WHAT, SORT, NAME, ARGUMENTS, SHAPES, TEXT, CODE, REASON)                              \
    {WHAT, SORT, NAME, ARGUMENTS, SHAPES, TEXT, LEAT_##CODE, LEAT_REASON_##REASON},
#define REFUSED(SORT, NAME, ARGUMENTS, REASON, KEYWORD)                                            \
    LINE(IS_REFUSED, SORT, NAME, ARGUMENTS, NULL, KEYWORD, INVALID_ARGUMENT, REASON)
#define LACKS(SORT, NAME, ARGUMENTS, KEYWORD)                                                      \
    LINE(IS_REFUSED, SORT, NAME, ARGUMENTS, NULL, KEYWORD, UNIMPLEMENTED, NONE)
#define BUILDS(SORT, NAME, ARGUMENTS) LINE(IS_BUILT, SORT, NAME, ARGUMENTS, NULL, NULL, OK, NONE)
#define CALLED(SORT, NAME, ARGUMENTS, SHAPES, TEXT)                                                \
    LINE(IS_CALLED, SORT, NAME, ARGUMENTS, SHAPES, TEXT, OK, NONE)
#define FAILS(SORT, NAME, ARGUMENTS, SHAPES, REASON, KEYWORD)                                      \
    LINE(IS_CALLED, SORT, NAME, ARGUMENTS, SHAPES, KEYWORD, INVALID_ARGUMENT, REASON)
#define KEEPS(SORT, NAME, ARGUMENTS, SHAPES, TEXT)                                                 \
    LINE(IS_KEPT, SORT, NAME, ARGUMENTS, SHAPES, TEXT, OK, NONE)
#include "support/parts.def"
};

/* The arguments as a JSON object. */
static leat_part *part_of(const struct line *line, leat_error *err) {
    char text[600];
    snprintf(text, sizeof text, "{%s}", line->arguments);
    for (char *at = text; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    return leat_part_new(line->sort, line->name, text, err);
}

static void expect_refused(const struct line *line, const leat_error *err) {
    if (!is_refused(err, line->code, line->reason, line->text))
        fail_msg("%s {%s} %s", line->name, line->arguments,
                 line->shapes == NULL ? "" : line->shapes);
}

/* "i5,-1;2" as the specs of an int32 [5, ?] and a float32 [2]; `*` is an unknown rank. */
static int specs_of(const char *text, leat_spec **out) {
    int count = 0;
    for (bool more = true; more; text++) {
        leat_shape shape = LEAT_SCALAR;
        leat_dtype dtype = *text == 'i' ? LEAT_INT32 : LEAT_FLOAT32;
        text += *text == 'i';
        for (; *text != ';' && *text != '\0'; text += *text == ',') {
            if (*text == '*') {
                shape.rank = LEAT_UNKNOWN_RANK;
                text++;
            } else {
                shape.dims[shape.rank++] = strtol(text, (char **)(uintptr_t)&text, 10);
            }
        }
        out[count++] = leat_spec_tensor(dtype, shape, NULL);
        more = *text == ';';
    }
    return count;
}

/* What the part keeps for these inputs, as zeros. */
static int states_of(const leat_part *part, leat_graph *graph, const leat_shape *shapes, int count,
                     leat_value *out, leat_error *err) {
    char *text = leat_part_states_json(part, shapes, count, err);
    json_t *states = text == NULL ? NULL : json_loads(text, 0, NULL), *state;
    size_t index;
    leat_text_free(text);
    json_array_foreach(states, index, state) {
        const json_t *dims = json_object_get(state, "shape");
        leat_shape shape = {.rank = (int32_t)json_array_size(dims)};
        for (int32_t d = 0; d < shape.rank; d++)
            shape.dims[d] = json_integer_value(json_array_get(dims, (size_t)d));
        out[index] = leat_op_zeros(graph, shape, leat_dtype_from_name(arrays_text(state, "dtype")));
    }
    int found = (int)json_array_size(states);
    json_decref(states);
    return found;
}

/* The call in a graph of such arguments: the shape of the result, or the error. */
static leat_shape call(const struct line *line, const leat_part *part, leat_error *err) {
    leat_spec *specs[8];
    leat_value inputs[8], states[8], updates[8], out;
    leat_shape shapes[8];
    int count = specs_of(line->shapes, specs);
    leat_spec *spec = leat_spec_tuple(specs, count, err);
    leat_graph *graph = leat_graph_new(spec, err);
    leat_spec_unref(spec);
    for (int i = 0; i < count; i++) {
        inputs[i] = leat_graph_argument(graph, i);
        shapes[i] = leat_value_shape(inputs[i]);
    }
    bool metric = strcmp(line->sort, "metric") == 0;
    int takes = metric && count == 3 ? 2 : metric && strcmp(line->name, "Mean") == 0 ? 1 : count;
    if (metric && strcmp(line->name, "Sum") == 0)
        takes = 1;
    leat_error ignored = {0};
    int kept = states_of(part, graph, shapes, takes, states, metric ? &ignored : err);
    if (metric) {
        kept = kept == 0 ? states_of(part, graph, NULL, 0, states, &ignored) : kept;
        leat_part_update(part, inputs, count, states, kept, updates);
        leat_error found = {0};
        if (leat_graph_take_error(graph, &found) != LEAT_OK)
            *err = found;
        else
            out = leat_part_result(part, updates, kept);
    } else if (err->code == LEAT_OK) {
        out = leat_part_call(part, inputs, count, states, kept, true, updates);
    }
    leat_shape shape = LEAT_SCALAR;
    if (err->code == LEAT_OK && leat_graph_take_error(graph, err) == LEAT_OK)
        shape = leat_value_shape(out);
    leat_graph_free(graph);
    return shape;
}

static void check_call(const struct line *line, const leat_part *part) {
    leat_error err = {0};
    char text[128];
    leat_shape shape = call(line, part, &err);
    if (line->code != LEAT_OK)
        expect_refused(line, &err);
    else if (err.code != LEAT_OK || strcmp(leati_shape_text(&shape, text), line->text) != 0)
        fail_msg("%s {%s} %s: expected %s, found %s %s", line->name, line->arguments, line->shapes,
                 line->text, err.code == LEAT_OK ? text : "", err.text);
}

/* Names of the weights for inputs of this shape, - before those that are not trainable. */
static void check_kept(const struct line *line, const leat_part *part) {
    leat_error err = {0};
    leat_spec *specs[8];
    char found[300] = "";
    int count = specs_of(line->shapes, specs);
    leat_spec *spec = leat_spec_tuple(specs, count, &err);
    leat_graph *graph = leat_graph_new(spec, &err);
    leat_shape shape = leat_value_shape(leat_graph_argument(graph, 0));
    char *text = leat_part_states_json(part, &shape, 1, &err);
    json_t *states = json_loads(text, 0, NULL), *state;
    size_t index;
    json_array_foreach(states, index, state) {
        size_t size = strlen(found);
        bool trainable = json_is_true(json_object_get(state, "trainable"));
        snprintf(found + size, sizeof found - size, "%s%s%s", size > 0 ? " " : "",
                 trainable ? "" : "-", arrays_text(state, "name"));
    }
    if (strcmp(found, line->text) != 0)
        fail_msg("%s {%s} keeps %s, expected %s", line->name, line->arguments, found, line->text);
    json_decref(states);
    leat_text_free(text);
    leat_graph_free(graph);
    leat_spec_unref(spec);
}

static void lines_hold(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        leat_error err = {0};
        leat_part *part = part_of(&lines[i], &err);
        if (lines[i].what == IS_REFUSED)
            expect_refused(&lines[i], &err);
        else if (part == NULL)
            fail_msg("%s {%s}: %s", lines[i].name, lines[i].arguments, err.text);
        else if (lines[i].what == IS_CALLED)
            check_call(&lines[i], part);
        else if (lines[i].what == IS_KEPT)
            check_kept(&lines[i], part);
        leat_part_free(part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_hold, torture_setup, torture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
