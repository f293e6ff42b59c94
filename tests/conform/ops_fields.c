/* What the descriptors say to whoever calls an operation by its name (graph/op.h): every line of
 * the table says it, and the recorded cases agree.
 *
 * Cases with an error and operations without cases (tests/conform/ops_state.c and ops_pictures.c
 * have theirs) are passed over. Halves are put in place of the dtypes of each case, and of
 * attributes that are dtypes, and traced. */
#include "support/cmocka.h"

#include "conform.h"

#include "core/json.h"
#include "core/spec.h"
#include "graph/graph.h"
#include "graph/input_type.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform"

enum { MOST_INPUTS = 16 };

/* ---- every line says it ---- */

static bool is_dtype(const char *name, size_t size) {
    char text[16];
    snprintf(text, sizeof text, "%.*s", (int)size, name);
    return leat_dtype_from_name(text) != LEAT_INVALID;
}

/* Are all names of further dtypes those of dtypes? */
static bool names_dtypes(const leati_input_type *type) {
    const char *at = type->more, *end = at != NULL ? at + type->more_size : NULL;
    if (at != NULL && strncmp(at, "number", type->more_size) == 0)
        return true;
    while (at != NULL && at < end) {
        size_t size = strcspn(at, ", ");
        if (!is_dtype(at, size))
            return false;
        at += size + 1;
    }
    return true;
}

static void check_words(const leati_tensor_op *op) {
    const char *types = op->types, *inputs = op->inputs != NULL ? op->inputs : "";
    int count = 0;
    bool list = false;
    leati_input_type type;
    while (leati_input_type_next(&types, &type)) {
        size_t end = type.size;
        if (list)
            fail_msg("%s: a list of inputs is not the last one", op->name);
        list = type.list;
        if ((type.name[end] == '=' && type.fallback == LEAT_INVALID) || !names_dtypes(&type) ||
            (type.size == 0 && !list))
            fail_msg("%s: \"%s\" has a word that is none", op->name, op->types);
        inputs += strspn(inputs, " ");
        if (*inputs && (*inputs == '*') != list)
            fail_msg("%s: `types` and `inputs` do not agree on lists", op->name);
        inputs += strcspn(inputs, " ");
        count++;
    }
    if (list ? op->max_inputs >= 0 : count != op->max_inputs)
        fail_msg("%s: %d types of %d inputs", op->name, count, op->max_inputs);
}

static void test_said(void **state) {
    (void)state;
    size_t count;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    for (size_t i = 0; i < count; i++) {
        const leati_tensor_op *op = ops[i];
        if (op->types == NULL || op->outputs == NULL || op->halves == LEATI_HALVES_UNSAID ||
            (op->names != NULL && op->checks == LEATI_CHECKS_UNSAID))
            fail_msg("%s does not say `types`, `outputs`, `halves` or `checks`", op->name);
        if (op->of_strings != NULL && leati_graph_op_find(op->of_strings) == NULL)
            fail_msg("%s is no operation, but %s of strings", op->of_strings, op->name);
        if (op->of_shape != NULL && strcmp(op->of_shape, "dimensions") &&
            strcmp(op->of_shape, "size"))
            fail_msg("%s: nothing is %s of a shape", op->name, op->of_shape);
        check_words(op);
    }
}

/* ---- the cases agree ---- */

/* Calls `look` with each case of an operation that has no error; `all` is values.json. */
static void each_case(const leati_tensor_op *op, const json_t *all, void *context,
                      void (*look)(const leati_tensor_op *, const json_t *, void *)) {
    char path[512];
    snprintf(path, sizeof path, FOLDER "/ops/%s.json", op->name);
    json_t *file = json_load_file(path, 0, NULL);
    const json_t *lists[] = {json_object_get(file, "cases"), json_object_get(all, op->name)};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < json_array_size(lists[k]); i++) {
            const json_t *line = json_array_get(lists[k], i);
            if (json_object_get(line, "error") == NULL)
                look(op, line, context);
        }
    json_decref(file);
}

static json_t *read_values(void) {
    json_error_t error;
    json_t *all = json_load_file(FOLDER "/values.json", 0, &error);
    assert_non_null(all);
    return all;
}

static leat_dtype input_dtype(const json_t *line, size_t index) {
    const json_t *input = json_array_get(json_object_get(line, "inputs"), index);
    return leat_dtype_from_name(json_string_value(json_object_get(input, "dtype")));
}

/* How many outputs `outputs` names; -1: it is a list. */
static int num_named(const leati_tensor_op *op) {
    int count = 0;
    for (const char *at = op->outputs; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        count += *at != '\0';
    }
    return op->outputs[0] == '*' ? -1 : count;
}

typedef struct found {
    int cases, most; /* outputs */
} found;

static void check_case(const leati_tensor_op *op, const json_t *line, void *context) {
    found *so_far = context;
    const char *types = op->types;
    leati_input_type kinds[MOST_INPUTS] = {{0}};
    size_t count = json_array_size(json_object_get(line, "inputs"));
    const char *name = json_string_value(json_object_get(line, "name"));
    assert_in_range(count, 0, MOST_INPUTS);
    for (size_t i = 0; i < count; i++) {
        leat_dtype dtype = input_dtype(line, i);
        if (!leati_input_type_next(&types, &kinds[i]))
            kinds[i] = kinds[i - 1]; /* of a list */
        if (kinds[i].dtype && leati_input_type_cast(&kinds[i], dtype) != kinds[i].dtype)
            fail_msg("%s %s: input %zu is %s; its type is %s", op->name, name, i,
                     leat_dtype_name(dtype), leat_dtype_name(kinds[i].dtype));
        for (size_t k = 0; k < i; k++)
            if (kinds[i].size && kinds[k].size == kinds[i].size &&
                memcmp(kinds[k].name, kinds[i].name, kinds[i].size) == 0 &&
                input_dtype(line, k) != dtype)
                fail_msg("%s %s: inputs %zu and %zu are of one type, but %s and %s", op->name, name,
                         k, i, leat_dtype_name(input_dtype(line, k)), leat_dtype_name(dtype));
    }
    int outputs = (int)json_array_size(json_object_get(line, "outputs"));
    so_far->cases++;
    if (outputs > so_far->most)
        so_far->most = outputs;
}

static void test_cases_agree(void **state) {
    (void)state;
    size_t count, checked = 0;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    json_t *all = read_values();
    for (size_t i = 0; i < count; i++) {
        found so_far = {0};
        int named = num_named(ops[i]);
        each_case(ops[i], all, &so_far, check_case);
        if (so_far.cases > 0 && named >= 0 && so_far.most != named)
            fail_msg("%s has %d outputs; `outputs` names %d", ops[i]->name, so_far.most, named);
        checked += so_far.cases > 0;
    }
    json_decref(all);
    assert_true(checked > 300);
}

/* ---- halves ---- */

/* Traces the operation with the inputs in `which`, bits, of dtype `to`; false: it is refused. */
static bool traces(const leati_tensor_op *op, const json_t *line, const json_t *attributes,
                   uint32_t which, leat_dtype to, leat_value *outputs, leat_graph **graph) {
    leat_spec *children[MOST_INPUTS];
    leat_shape unknown = {.rank = LEAT_UNKNOWN_RANK};
    leat_value inputs[MOST_INPUTS];
    leat_error err = {0};
    int count = (int)json_array_size(json_object_get(line, "inputs"));
    for (int i = 0; i < count; i++) {
        leat_dtype dtype = input_dtype(line, (size_t)i);
        children[i] = leat_spec_tensor(which >> i & 1 ? to : dtype, unknown, &err);
    }
    leat_spec *spec = count ? leat_spec_tuple(children, count, &err) : NULL;
    *graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    assert_non_null(*graph);
    for (int i = 0; i < count; i++)
        inputs[i] = leat_graph_argument(*graph, i);
    char *text = attributes != NULL ? json_dumps(attributes, 0) : NULL;
    int made = leat_graph_call(*graph, op->name, text, inputs, count, outputs, LEAT_MAX_OUTPUTS);
    free(text);
    return made >= 0;
}

typedef struct halves {
    int cases, taken;
    leat_dtype half;
} halves;

static void try_inputs(const leati_tensor_op *op, const json_t *line, uint32_t which,
                       halves *so_far) {
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_graph *graph = NULL;
    bool taken =
        traces(op, line, json_object_get(line, "attributes"), which, so_far->half, outputs, &graph);
    leat_dtype made = taken ? leat_value_dtype(outputs[0]) : LEAT_INVALID;
    /* A float64 beside the half may make a float64 of it. */
    if (op->halves == LEATI_HALVES_FLOAT && made == LEAT_FLOAT32)
        fail_msg("%s gives %s of %s", op->name, leat_dtype_name(made),
                 leat_dtype_name(so_far->half));
    so_far->taken += taken;
    leat_graph_free(graph);
}

static void try_halves(const leati_tensor_op *op, const json_t *line, void *context) {
    halves *so_far = context;
    size_t count = json_array_size(json_object_get(line, "inputs"));
    for (size_t i = 0; i < count; i++) {
        uint32_t alike = 0;
        for (size_t k = 0; k < count; k++)
            alike |= (uint32_t)(input_dtype(line, k) == input_dtype(line, i)) << k;
        try_inputs(op, line, alike, so_far);
        try_inputs(op, line, 1U << i, so_far);
    }
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++) {
        if (row->type != LEATI_ROW_DTYPE)
            continue;
        leat_value outputs[LEAT_MAX_OUTPUTS];
        leat_graph *graph = NULL;
        json_t *attributes = json_deep_copy(json_object_get(line, "attributes"));
        attributes = attributes != NULL ? attributes : json_object();
        json_object_set_new(attributes, row->name, json_string(leat_dtype_name(so_far->half)));
        so_far->taken += traces(op, line, attributes, 0, LEAT_INVALID, outputs, &graph);
        leat_graph_free(graph);
        json_decref(attributes);
    }
    so_far->cases++;
}

static void test_halves(void **state) {
    (void)state;
    size_t count, checked = 0;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    json_t *all = read_values();
    for (size_t i = 0; i < count; i++) {
        const leati_tensor_op *op = ops[i];
        for (int k = 0; k < 2; k++) {
            halves so_far = {.half = k ? LEAT_BFLOAT16 : LEAT_FLOAT16};
            each_case(op, all, &so_far, try_halves);
            bool constant = op->min_inputs == 0 && op->max_inputs == 0 && so_far.taken == 0;
            if (so_far.cases == 0 || constant)
                continue; /* no cases, or values from attributes alone */
            if ((so_far.taken > 0) != (op->halves != LEATI_HALVES_NONE))
                fail_msg("%s takes %s in %d ways, but says otherwise", op->name,
                         leat_dtype_name(so_far.half), so_far.taken);
            checked++;
        }
    }
    json_decref(all);
    assert_true(checked > 600);
}

int conform_ops_fields(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_said),
        cmocka_unit_test(test_cases_agree),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests_name("ops_fields", tests, NULL, NULL);
}
