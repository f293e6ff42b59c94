/* Every tensor operation against its recorded cases, tests/conform/ops/<name>.json.
 *
 * A line of graph/ops.def without a file fails, and so does a file without a line. Each case runs
 * with static shapes, with unknown dimensions and with unknown ranks; after a round trip through
 * JSON; with attributes that inputs give; by leat_function_call; and over several rows, strided and
 * constant, where every row must be what it is alone. Failures have code, reason and keyword, and
 * name the failing row. Gradients are compared with central differences, in float64 where the
 * operation has it, with known and unknown shapes. Each case runs once for each of its allocations,
 * which fails. values.json has further cases. */
#include "support/cmocka.h"

#include "conform.h"
#include "ops_case.h"
#include "ops_rows.h"

#include "support/graph.h"
#include "support/refused.h"
#include "support/torture.h"

#include <dirent.h>
#include <leat/bind.h>
#include <stdio.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform/ops"

static const char *const ops[] = {
#define X(family, file, name) #name,
#include "graph/ops.def"
#undef X
};
enum { NUM_OPS = sizeof ops / sizeof *ops };

/* ---- one element ---- */

static const char *const shapes_names[NUM_SHAPES] = {
    "static shapes",  "unknown dimensions",   "unknown ranks",      "even dimensions",
    "odd dimensions", "ranks of even inputs", "ranks of odd inputs"};

static void expect_outputs(const op_case *c, const char *how, leat_tensor *outputs, int count) {
    if (count != c->num_outputs)
        fail_msg("%s %s, %s: %d outputs; expected %d", c->op, c->name, how, count, c->num_outputs);
    for (int i = 0; i < count; i++)
        expect_tensor(c, how, i, &c->outputs[i], &outputs[i], c->tolerance);
    unref_all(outputs, count);
}

/* What inference promised must be what came. */
static void expect_inference(const op_case *c, const char *how, const leat_function *function) {
    const leat_spec *spec = leat_function_output(function);
    for (int i = 0; i < c->num_outputs; i++) {
        leat_shape promised = leat_spec_component_shape(spec, i);
        leat_shape real = leat_tensor_shape(&c->outputs[i]);
        char texts[2][128];
        if (!leati_shape_compatible(&promised, &real) ||
            leat_spec_component_dtype(spec, i) != c->outputs[i].dtype)
            fail_msg("%s %s, %s: inference promised %s %s; expected %s %s", c->op, c->name, how,
                     leat_dtype_name(leat_spec_component_dtype(spec, i)),
                     leati_shape_text(&promised, texts[0]), leat_dtype_name(c->outputs[i].dtype),
                     leati_shape_text(&real, texts[1]));
    }
}

static void copy_inputs(const op_case *c, leat_tensor *copies) {
    leat_error err = {0};
    for (int i = 0; i < c->num_inputs; i++)
        assert_int_equal(leat_tensor_copy_of(c->inputs[i].dtype, leat_tensor_shape(&c->inputs[i]),
                                             c->inputs[i].data, &copies[i], &err),
                         LEAT_OK);
}

/* The outputs must live on without the inputs. */
static void check_values(const op_case *c, case_shapes shapes) {
    leat_error err = {0};
    const char *how = shapes_names[shapes];
    leat_tensor inputs[MAX_VALUES], outputs[MAX_VALUES];
    leat_function *function = case_build(c, shapes, 0, &err);
    if (function == NULL)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    expect_inference(c, how, function);
    copy_inputs(c, inputs);
    if (leati_interpret(function, inputs, NULL, outputs, &err) != LEAT_OK)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    unref_all(inputs, c->num_inputs);
    expect_outputs(c, how, outputs, function->num_outputs);
    leat_function_unref(function);
}

static void check_round_trip(const op_case *c) {
    leat_error err = {0};
    leat_tensor outputs[MAX_VALUES];
    leat_function *function = case_build(c, SHAPES_STATIC, 0, &err);
    assert_non_null(function);
    char *text = leat_function_to_json(function, &err);
    if (text == NULL)
        fail_msg("%s %s, to JSON: %s", c->op, c->name, err.text);
    leat_function *copy = leat_function_from_json(text, &err);
    if (copy == NULL)
        fail_msg("%s %s, from JSON: %s", c->op, c->name, err.text);
    assert_true(copy->fingerprint == function->fingerprint);
    if (leat_function_call(copy, c->inputs, c->num_inputs, outputs, c->num_outputs, &err) !=
        LEAT_OK)
        fail_msg("%s %s, by leat_function_call: %s", c->op, c->name, err.text);
    expect_outputs(c, "after JSON, by leat_function_call", outputs, c->num_outputs);
    leat_text_free(text);
    leat_function_unref(copy);
    leat_function_unref(function);
}

/* The case must fail, while it is built or while it runs; returns the function if it was built. */
static leat_function *check_error(const op_case *c, case_shapes shapes) {
    leat_error err = {0};
    leat_tensor outputs[MAX_VALUES];
    const char *how = shapes_names[shapes];
    leat_function *function = case_build(c, shapes, 0, &err);
    if (function != NULL && leati_interpret(function, c->inputs, NULL, outputs, &err) == LEAT_OK)
        fail_msg("%s %s, %s: no failure; expected %s with \"%s\"", c->op, c->name, how, c->code,
                 c->keyword);
    /* what is known decides which of two mistakes is found first */
    bool first = shapes <= SHAPES_UNKNOWN_RANK;
    expect_error(c, how, first ? c->reason : err.reason, first ? c->keyword : c->op, &err);
    return function;
}

/* ---- gradients ---- */

static op_case in_float64(const op_case *c) {
    op_case wide = *c;
    leat_error err = {0};
    for (int i = 0; i < c->num_inputs; i++) {
        const leat_tensor *from = &c->inputs[i];
        bool single = from->dtype == LEAT_FLOAT32 && !c->single;
        leat_status status =
            single ? leat_tensor_new(LEAT_FLOAT64, leat_tensor_shape(from), &wide.inputs[i], &err)
                   : leat_tensor_copy_of(from->dtype, leat_tensor_shape(from), from->data,
                                         &wide.inputs[i], &err);
        assert_int_equal(status, LEAT_OK);
        for (int64_t k = 0; single && k < leat_tensor_count(from); k++)
            ((double *)wide.inputs[i].data)[k] = value_at(from, k);
    }
    return wide;
}

/* The gradient of the gradient, where there is one. */
static void check_second_gradients(const op_case *wide, const leat_function *function,
                                   const leat_function *reverse) {
    leat_error err = {0};
    leat_tensor arguments[2 * MAX_VALUES], outputs[MAX_VALUES];
    leat_function *second = leati_graph_function_gradient(reverse, &err);
    if (second == NULL && err.code == LEAT_UNIMPLEMENTED)
        return;
    if (second == NULL || leati_interpret(function, wide->inputs, NULL, outputs, &err) != LEAT_OK)
        fail_msg("%s %s, second gradient: %s", wide->op, wide->name, err.text);
    int count = wide->num_inputs;
    memcpy(arguments, wide->inputs, (size_t)count * sizeof *arguments);
    for (int i = 0; i < function->num_outputs; i++) {
        leat_shape shape = leat_tensor_shape(&outputs[i]);
        if (outputs[i].dtype != LEAT_FLOAT64)
            continue;
        assert_int_equal(leat_tensor_new(LEAT_FLOAT64, shape, &arguments[count], &err), LEAT_OK);
        for (int64_t k = 0; k < leat_tensor_count(&outputs[i]); k++)
            ((double *)arguments[count].data)[k] = (double)(k % 5 - 1) / 2 + 0.3 * (i + 1);
        count++;
    }
    if (count <= 8)
        test_check_gradient_within(1e-5, reverse, arguments, count, NULL);
    unref_all(arguments + wide->num_inputs, count - wide->num_inputs);
    unref_all(outputs, function->num_outputs);
    leat_function_unref(second);
}

/* Operations whose gradients are those of others, which say what they need to know. */
static const char composed[] = " image_gradients psnr ";

static void check_gradients(const op_case *c) {
    op_case wide = in_float64(c);
    for (int shapes = SHAPES_STATIC; shapes < NUM_SHAPES; shapes++) {
        leat_error err = {0};
        leat_function *function = case_build(&wide, (case_shapes)shapes, c->gradient_outputs, &err);
        if (function == NULL)
            fail_msg("%s %s in float64: %s", c->op, c->name, err.text);
        leat_function *reverse = leati_graph_function_gradient(function, &err);
        if (reverse != NULL)
            test_check_gradient(function, wide.inputs, wide.num_inputs, NULL);
        if (reverse != NULL && shapes == SHAPES_STATIC && !c->single)
            check_second_gradients(&wide, function, reverse);
        else if (reverse == NULL &&
                 (shapes == SHAPES_STATIC || err.code != LEAT_UNIMPLEMENTED ||
                  (!refused_names(err.text, c->op) && strstr(composed, c->op) == NULL) ||
                  (!refused_names(err.text, "ensure_shape") && !refused_names(err.text, "static"))))
            fail_msg("%s %s, gradient, %s: %s", c->op, c->name, shapes_names[shapes], err.text);
        leat_function_unref(reverse);
        leat_function_unref(function);
    }
    unref_all(wide.inputs, wide.num_inputs);
}

/* The case has values, and no gradient. */
static void check_no_gradient(const op_case *c) {
    op_case wide = in_float64(c);
    leat_error err = {0};
    leat_function *function = case_build(&wide, SHAPES_STATIC, c->gradient_outputs, &err);
    assert_non_null(function);
    leat_function *reverse = leati_graph_function_gradient(function, &err);
    if (reverse != NULL || !is_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, c->no_gradient))
        fail_msg("%s %s: the gradient", c->op, c->name);
    leat_function_unref(function);
    unref_all(wide.inputs, wide.num_inputs);
}

/* Computed without a graph, where that may be, it gives the same; a case that fails is never one of
 * these. Attributes that inputs give take a graph. */
static void check_operation(const op_case *c) {
    leat_error err = {0};
    leat_tensor inputs[MAX_VALUES], outputs[MAX_VALUES];
    leat_operation *operation = leat_operation_new(c->op, c->attributes, &err);
    if (operation == NULL) {
        bool given = c->attributes != NULL && strstr(c->attributes, "\"input\"") != NULL;
        if (err.code != LEAT_UNIMPLEMENTED && c->code == NULL && !given)
            fail_msg("%s %s, by itself: %s", c->op, c->name, err.text);
        return;
    }
    copy_inputs(c, inputs);
    int count = leat_operation_run(operation, inputs, c->num_inputs, outputs, MAX_VALUES);
    unref_all(inputs, c->num_inputs);
    leat_operation_free(operation);
    if (count >= 0 && c->code != NULL)
        fail_msg("%s %s, by itself: expected %s", c->op, c->name, c->code);
    if (count >= 0)
        expect_outputs(c, "by itself", outputs, count);
}

static void check_good(const op_case *c) {
    check_operation(c);
    for (int shapes = SHAPES_STATIC; shapes < NUM_SHAPES; shapes++)
        check_values(c, (case_shapes)shapes);
    check_round_trip(c);
    check_rows(c);
    if (c->gradient)
        check_gradients(c);
    if (c->no_gradient != NULL)
        check_no_gradient(c);
}

/* ---- attributes that the run computes ---- */

/* The attribute's value as a tensor of int64, float64, bool or string. False: there is none. */
static bool attribute_tensor(const leati_row *row, const json_t *value, leat_tensor *out) {
    bool is_list = row->type == LEATI_ROW_INTS || row->type == LEATI_ROW_FLOATS;
    const char *dtype = row->type == LEATI_ROW_FLOAT || row->type == LEATI_ROW_FLOATS ? "float64"
                        : row->type == LEATI_ROW_STRING                               ? "string"
                        : row->type == LEATI_ROW_BOOL                                 ? "bool"
                        : row->type == LEATI_ROW_INT || is_list                       ? "int64"
                                                                                      : NULL;
    leat_error err = {0};
    if (dtype == NULL || json_is_array(value) != is_list || json_is_null(value) ||
        json_is_object(value))
        return false;
    json_t *shape = json_array(), *data = json_array();
    if (is_list) {
        (void)json_array_append_new(shape, json_integer((json_int_t)json_array_size(value)));
        (void)json_array_extend(data, (json_t *)(uintptr_t)value);
    } else {
        (void)json_array_append(data, (json_t *)(uintptr_t)value);
    }
    json_t *json = json_pack("{s:s, s:o, s:o}", "dtype", dtype, "shape", shape, "data", data);
    if (leati_json_to_tensor(json, out, &err) != LEAT_OK)
        fail_msg("%s: %s", row->name, err.text);
    json_decref(json);
    return true;
}

/* Makes `name` a further input, if it may be one. */
static void give_as_input(op_case *c, json_t *attributes, const leati_row *row) {
    const json_t *value = json_object_get(attributes, row->name);
    if (value == NULL || !(row->flags & LEATI_TENSOR) || c->num_inputs == MAX_VALUES ||
        !attribute_tensor(row, value, &c->inputs[c->num_inputs]))
        return;
    (void)json_object_set_new(attributes, row->name, json_pack("{s:i}", "input", c->num_inputs));
    c->gradient = c->gradient && c->inputs[c->num_inputs].dtype != LEAT_FLOAT64;
    c->num_inputs++;
}

/* The case with attributes that inputs give: the one of `row`, or all for NULL. */
static void check_computed(const op_case *original, const leati_tensor_op *op,
                           const leati_row *row) {
    op_case c = *original;
    json_t *attributes = json_loads(c.attributes, 0, NULL);
    for (const leati_row *one = op->rows; one->type != LEATI_ROW_END; one++)
        if (row == NULL || one == row)
            give_as_input(&c, attributes, one);
    c.attributes = json_dumps(attributes, 0);
    if (c.num_inputs > original->num_inputs)
        check_good(&c);
    for (int i = original->num_inputs; i < c.num_inputs; i++)
        leat_tensor_unref(&c.inputs[i]);
    free(c.attributes);
    json_decref(attributes);
}

static void check_all_computed(const op_case *c) {
    const leati_tensor_op *op = leati_graph_op_find(c->op);
    if (c->attributes == NULL || strstr(c->attributes, "\"input\"") != NULL)
        return;
    for (const leati_row *row = op->rows; row->type != LEATI_ROW_END; row++)
        check_computed(c, op, row);
    check_computed(c, op, NULL);
}

/* ---- memory ---- */

static leat_status build_and_run(void *context, leat_error *err) {
    const op_case *c = context;
    leat_tensor outputs[MAX_VALUES];
    leat_function *function = case_build(c, SHAPES_STATIC, 0, err);
    if (function == NULL)
        return torture_code(err);
    leat_status status = leati_interpret(function, c->inputs, NULL, outputs, err);
    if (status == LEAT_OK)
        expect_outputs(c, "with an allocation that fails", outputs, function->num_outputs);
    leat_function_unref(function);
    return status;
}

/* Nothing is written behind memory, that of arenas included, which have no room to spare here; the
 * case may need a chunk that looks like one with room to spare. */
static void check_bounds(op_case *c) {
    leat_error err = {0};
    torture_begin();
    torture_scarce(true);
    leat_status status = build_and_run(c, &err);
    torture_scarce(false);
    if (status != LEAT_OK && status != LEAT_RESOURCE_EXHAUSTED)
        fail_msg("%s %s, with little memory: %s", c->op, c->name, err.text);
    torture_end();
}

/* ---- the table ---- */

static json_t *read_file(const char *op) {
    char path[512];
    (void)snprintf(path, sizeof path, FOLDER "/%s.json", op);
    json_error_t error;
    json_t *file = json_load_file(path, 0, &error);
    if (file == NULL)
        fail_msg("%s: %s; every operation has recorded cases (tests/conform/make_op_cases.py)",
                 path, error.text);
    return file;
}

/* The C file that tests the operation must exist and name it. */
static void check_tested_by(const char *op, const char *path) {
    char full[512], line[512], quoted[80];
    bool named = false;
    (void)snprintf(full, sizeof full, LEATI_SOURCE_DIR "/%s", path);
    (void)snprintf(quoted, sizeof quoted, "%s", op);
    FILE *file = fopen(full, "r");
    if (file == NULL)
        fail_msg("%s is tested by %s, which cannot be opened", op, path);
    while (!named && fgets(line, sizeof line, file) != NULL)
        named = strstr(line, quoted) != NULL;
    (void)fclose(file);
    if (!named)
        fail_msg("%s is tested by %s, which does not name it", op, path);
}

static void check_bad(const op_case *c, const op_case *cases, size_t count) {
    check_operation(c);
    for (int shapes = NUM_SHAPES - 1; shapes >= SHAPES_STATIC; shapes--) {
        leat_function *function = check_error(c, (case_shapes)shapes);
        for (size_t i = 0; shapes == SHAPES_STATIC && function != NULL && i < count; i++)
            if (cases[i].code == NULL && alike(c, &cases[i])) {
                check_failed_row(c, &cases[i], function);
                break;
            }
        leat_function_unref(function);
    }
}

/* Does the case need a library that this build was made without? Some operations know when they
 * see the data. */
static bool is_left_out(const op_case *c) {
    leat_error err = {0};
    leat_tensor outputs[MAX_VALUES];
    leat_function *function = case_build(c, SHAPES_STATIC, 0, &err);
    if (function != NULL && leati_interpret(function, c->inputs, NULL, outputs, &err) == LEAT_OK)
        unref_all(outputs, function->num_outputs);
    leat_function_unref(function);
    return err.code == LEAT_UNIMPLEMENTED && refused_names(err.text, "build");
}

/* The cases of the operation in its file, and those of other dtypes, sizes and ranks, which
 * value_cases.py records. Borrowed from both. */
static json_t *lines_of(const char *op, json_t *file) {
    static json_t *values;
    if (values == NULL)
        values = json_load_file(LEATI_SOURCE_DIR "/tests/conform/values.json", 0, NULL);
    assert_non_null(values);
    json_t *lines = json_array();
    (void)json_array_extend(lines, json_object_get(file, "cases"));
    (void)json_array_extend(lines, json_object_get(values, op));
    return lines;
}

/* Functions have the same fingerprint where they are written alike, and only there. */
static void check_fingerprints(const op_case *cases, size_t count) {
    char **texts = calloc(count + 1, sizeof *texts);
    uint64_t *prints = calloc(count + 1, sizeof *prints);
    assert_non_null(texts);
    assert_non_null(prints);
    for (size_t i = 0; i < count; i++) {
        leat_error err = {0};
        leat_function *function = cases[i].code != NULL ? NULL : case_build(&cases[i], 0, 0, &err);
        texts[i] = function != NULL ? leat_function_to_json(function, &err) : NULL;
        prints[i] = function != NULL ? function->fingerprint : 0;
        leat_function_unref(function);
        for (size_t k = 0; k < i && texts[i] != NULL; k++)
            if (texts[k] != NULL && (strcmp(texts[i], texts[k]) == 0) != (prints[i] == prints[k]))
                fail_msg("%s: the fingerprints of \"%s\" and \"%s\"", cases[i].op, cases[i].name,
                         cases[k].name);
    }
    for (size_t i = 0; i < count; i++)
        leat_text_free(texts[i]);
    free(texts);
    free(prints);
}

static void test_op(void **state) {
    const char *op = *state;
    json_t *file = read_file(op), *lines = lines_of(op, file);
    const char *tested_by = json_string_value(json_object_get(file, "tested_by"));
    size_t count = json_array_size(lines);
    if (tested_by != NULL)
        check_tested_by(op, tested_by);
    else if (count == 0)
        fail_msg("%s has no case", op);
    op_case *cases = calloc(count + 1, sizeof *cases);
    assert_non_null(cases);
    for (size_t i = 0; i < count; i++)
        case_read(&cases[i], op, json_array_get(lines, i));
    for (size_t i = 0; i < count; i++) {
        if (is_left_out(&cases[i]))
            continue;
        if (cases[i].code != NULL)
            check_bad(&cases[i], cases, count);
        else
            check_good(&cases[i]);
        if (cases[i].code == NULL)
            check_all_computed(&cases[i]);
    }
    check_fingerprints(cases, count);
    for (size_t i = 0; i < count; i++) {
        if (cases[i].code == NULL && !is_left_out(&cases[i])) {
            torture_begin();
            torture_run_tolerant(build_and_run, &cases[i]);
            torture_end();
            check_bounds(&cases[i]);
        }
        case_fini(&cases[i]);
    }
    free(cases);
    json_decref(lines);
    json_decref(file);
}

/* No file is left over from an operation that is gone. */
static void test_no_stray_file(void **state) {
    (void)state;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        bool found = entry->d_name[0] == '.';
        for (int i = 0; i < NUM_OPS && !found; i++) {
            size_t size = strlen(ops[i]);
            found = strncmp(entry->d_name, ops[i], size) == 0 &&
                    strcmp(entry->d_name + size, ".json") == 0;
        }
        if (!found)
            fail_msg("%s is no operation of graph/ops.def", entry->d_name);
    }
    (void)closedir(folder);
}

/* Every line of the table is documented, and its attributes too. */
static void test_documented(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPS; i++) {
        const leati_tensor_op *op = leati_graph_op_find(ops[i]);
        assert_non_null(op);
        assert_string_equal(op->name, ops[i]);
        if (op->version < 1 || op->doc == NULL || op->infer == NULL || op->kernel == NULL)
            fail_msg("%s lacks a version, a documentation, infer or kernel", ops[i]);
        for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
            if (row->doc == NULL || row->doc[0] == '\0')
                fail_msg("%s: attribute %s is not documented", ops[i], row->name);
    }
}

int conform_ops(void) {
    struct CMUnitTest tests[NUM_OPS + 2] = {{0}};
    size_t count = 0, dealt = 0;
    for (int i = 0; i < NUM_OPS; i++)
        if (conform_mine(&dealt))
            tests[count++] = (struct CMUnitTest){
                .name = ops[i], .test_func = test_op, .initial_state = (void *)(uintptr_t)ops[i]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_no_stray_file);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_documented);
    return _cmocka_run_group_tests("ops", tests, count, NULL, NULL);
}
