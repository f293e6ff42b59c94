/* What operations make of the types of their inputs, against TensorFlow's shape functions as
 * recorded (tests/conform/types.json, by tools/record/input_types.py): a good case of each
 * operation with inputs of other ranks, sizes and dtypes, and with sizes that are not known. What
 * TensorFlow refuses while a graph is built is refused here, and what it takes has outputs of the
 * dtypes and static shapes that it says.
 *
 * The same types are then run, of zeros and without known ranks: kernels refuse what inference
 * does.
 *
 * Deviations are lines of the file, by operation and with a reason: "takes" (types that TensorFlow
 * refuses), "refuses" (types that it takes), "shape" (a shape that says more or less). Each must
 * occur. */
#include "support/cmocka.h"

#include "conform.h"
#include "support/golden.h"

#include "core/json.h"
#include "core/spec.h"
#include "graph/graph.h"
#include "graph/interpret.h"
#include "support/refused.h"

#include <leat/leat.h>
#include <string.h>

#define FILE_NAME LEATI_SOURCE_DIR "/tests/conform/types.json"

enum { MOST_VALUES = 64 };

struct trial {
    const char *op;
    char *attributes;
    int num_inputs;
};

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct trial *trial = context;
    leat_value inputs[MOST_VALUES];
    for (int i = 0; i < trial->num_inputs; i++)
        inputs[i] = leat_graph_argument(graph, i);
    return leat_graph_call(graph, trial->op, trial->attributes, inputs, trial->num_inputs, outputs,
                           LEAT_MAX_OUTPUTS);
}

static leat_spec *read_type(const json_t *json, bool ranks, leat_error *err) {
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    const json_t *sizes = json_array_get(json, 1);
    if (ranks)
        shape.rank = (int32_t)json_array_size(sizes);
    for (int32_t d = 0; d < shape.rank; d++) {
        const json_t *size = json_array_get(sizes, (size_t)d);
        shape.dims[d] = json_is_null(size) ? LEAT_UNKNOWN_DIM : json_integer_value(size);
    }
    const char *dtype = json_string_value(json_array_get(json, 0));
    return leat_spec_tensor(leat_dtype_from_name(dtype), shape, err);
}

/* The operation over arguments of these types, or of these dtypes and ranks that are not known;
 * NULL where it refuses them. */
static leat_function *trace_with(const json_t *line, const json_t *inputs, bool ranks,
                                 leat_error *err) {
    leat_spec *children[MOST_VALUES];
    struct trial trial = {.op = golden_text(line, "op"),
                          .attributes = json_dumps(json_object_get(line, "attributes"), 0),
                          .num_inputs = (int)json_array_size(inputs)};
    assert_true(trial.num_inputs <= MOST_VALUES);
    for (int i = 0; i < trial.num_inputs; i++)
        children[i] = read_type(json_array_get(inputs, (size_t)i), ranks, err);
    leat_spec *spec = leat_spec_tuple(children, trial.num_inputs, err);
    leat_function *function = LEAT_TRACE(trace, &trial, spec, err);
    leat_spec_unref(spec);
    free(trial.attributes);
    return function;
}

static leat_function *trace_over(const json_t *line, const json_t *inputs, leat_error *err) {
    return trace_with(line, inputs, true, err);
}

/* The types of the outputs, as the file has them. */
static json_t *types_of(const leat_function *function) {
    const leat_spec *spec = leat_function_output(function);
    json_t *all = json_array();
    for (int i = 0; i < leat_spec_num_components(spec); i++) {
        leat_shape shape = leat_spec_component_shape(spec, i);
        json_t *sizes = shape.rank < 0 ? json_null() : json_array();
        for (int32_t d = 0; d < shape.rank; d++)
            json_array_append_new(sizes,
                                  shape.dims[d] < 0 ? json_null() : json_integer(shape.dims[d]));
        const char *dtype = leat_dtype_name(leat_spec_component_dtype(spec, i));
        json_array_append_new(all, json_pack("[so]", dtype, sizes));
    }
    return all;
}

/* The deviation's line; NULL: there is none. */
static json_t *deviation_of(const json_t *all, const char *op, const char *deviation) {
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *line = json_array_get(all, i);
        if (strcmp(golden_text(line, "deviation"), deviation) == 0 &&
            strcmp(golden_text(line, "op"), op) == 0)
            return line;
    }
    return NULL;
}

/* Returns whether the case is as recorded, or a known deviation, which then is marked. */
static bool check_case(const json_t *all, const json_t *line, const json_t *recorded) {
    leat_error err = {0};
    const char *op = golden_text(line, "op");
    const json_t *outputs = json_array_get(recorded, 1);
    leat_function *function = trace_over(line, json_array_get(recorded, 0), &err);
    json_t *found = function != NULL ? types_of(function) : json_null();
    leat_function_unref(function);
    bool right = json_equal(found, outputs);
    const char *how = json_is_null(outputs) ? "takes" : json_is_null(found) ? "refuses" : "shape";
    json_t *deviation = right ? NULL : deviation_of(all, op, how);
    if (deviation != NULL) {
        json_object_set_new(deviation, "found", json_true());
    } else if (!right) {
        char *texts[2] = {json_dumps(recorded, JSON_ENCODE_ANY),
                          json_dumps(found, JSON_ENCODE_ANY)};
        print_message("%s %s: %s: recorded %s, found %s %s\n", op, golden_text(line, "attributes"),
                      how, texts[0], texts[1], err.text);
        free(texts[0]);
        free(texts[1]);
    }
    json_decref(found);
    return right || deviation != NULL;
}

static void test_types(void **state) {
    (void)state;
    golden_run run = {0};
    json_t *all = golden_read_json(&run, FILE_NAME);
    size_t number = 0, wrong = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *line = json_array_get(all, i), *cases = json_object_get(line, "cases");
        for (size_t k = 0; k < json_array_size(cases); k++, number++)
            wrong += !check_case(all, line, json_array_get(cases, k));
    }
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *line = json_array_get(all, i);
        if (json_object_get(line, "deviation") == NULL || json_object_get(line, "found") != NULL)
            continue;
        print_message("no deviation any more: %s %s\n", golden_text(line, "op"),
                      golden_text(line, "deviation"));
        wrong++;
    }
    print_message("%zu cases, %zu wrong\n", number, wrong);
    json_decref(all);
    assert_true(number > 0);
    assert_int_equal(wrong, 0);
}

/* Operations that look at no value. */
static const char blind[] = " identity rank shape size stop_gradient ";

/* The others take values, no objects, and say so. */
static void test_objects(void **state) {
    (void)state;
    golden_run run = {0};
    json_t *all = golden_read_json(&run, FILE_NAME);
    const char *last = "";
    size_t wrong = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *line = json_array_get(all, i);
        const char *op = golden_text(line, "op");
        if (json_object_get(line, "cases") == NULL || strcmp(op, last) == 0)
            continue;
        last = op;
        const json_t *good = json_array_get(json_array_get(json_object_get(line, "cases"), 0), 0);
        for (size_t k = 0; k < json_array_size(good); k++) {
            leat_error err = {0};
            json_t *inputs = json_deep_copy(good);
            json_array_set_new(json_array_get(inputs, k), 0, json_string("object"));
            leat_function *function = trace_over(line, inputs, &err);
            char name[128];
            snprintf(name, sizeof name, " %s ", op);
            if (strstr(blind, name) != NULL
                    ? function == NULL
                    : function != NULL || err.code != LEAT_INVALID_ARGUMENT ||
                          !refused_names(err.text, op)) {
                print_message("%s input %zu: %s\n", op, k, err.text);
                wrong++;
            }
            leat_function_unref(function);
            json_decref(inputs);
        }
    }
    json_decref(all);
    assert_int_equal(wrong, 0);
}

/* Operations that take several numbers of inputs. */
static const char several[] =
    " add_n concat decode_csv draw_bounding_boxes range string_format string_join ";

/* The inputs of an operation, and one less or one more. */
static void test_counts(void **state) {
    (void)state;
    golden_run run = {0};
    json_t *all = golden_read_json(&run, FILE_NAME);
    const char *last = "";
    size_t wrong = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *line = json_array_get(all, i);
        const char *op = golden_text(line, "op");
        char name[128];
        snprintf(name, sizeof name, " %s ", op);
        if (json_object_get(line, "cases") == NULL || strcmp(op, last) == 0 ||
            strstr(several, name) != NULL)
            continue;
        last = op;
        const json_t *good = json_array_get(json_array_get(json_object_get(line, "cases"), 0), 0);
        for (int more = 0; more < 2; more++) {
            json_t *inputs = json_copy((json_t *)(uintptr_t)good);
            size_t count = json_array_size(inputs);
            if (more)
                json_array_append(inputs, json_array_get(good, count - 1));
            else
                json_array_remove(inputs, count - 1);
            leat_error err = {0};
            leat_function *function = trace_over(line, inputs, &err);
            if (function != NULL || err.code != LEAT_INVALID_ARGUMENT ||
                !refused_names(err.text, "inputs")) {
                print_message("%s takes %zu inputs: %s\n", op, json_array_size(inputs), err.text);
                wrong++;
            }
            leat_function_unref(function);
            json_decref(inputs);
        }
    }
    json_decref(all);
    assert_int_equal(wrong, 0);
}

/* Zeros, or texts without bytes, of all the types. False where a size is not known. */
static bool make_zeros(const json_t *inputs, leat_tensor *out) {
    leat_error err = {0};
    int count = (int)json_array_size(inputs);
    memset(out, 0, (size_t)count * sizeof *out);
    for (int i = 0; i < count; i++) {
        leat_spec *spec = read_type(json_array_get(inputs, (size_t)i), true, &err);
        leat_shape shape = leat_spec_component_shape(spec, 0);
        leat_dtype dtype = leat_spec_component_dtype(spec, 0);
        leat_spec_unref(spec);
        for (int32_t d = 0; d < shape.rank; d++)
            if (shape.dims[d] < 0)
                return false;
        assert_int_equal(leat_tensor_new(dtype, shape, &out[i], &err), LEAT_OK);
        memset(out[i].data, 0, leat_tensor_bytes(&out[i]));
    }
    return true;
}

/* What comes out fits what was promised. */
static bool are_promised(const leat_function *function, const leat_tensor *outputs) {
    const leat_spec *spec = leat_function_output(function);
    bool fit = true;
    for (int i = 0; i < leat_spec_num_components(spec); i++) {
        leat_shape promised = leat_spec_component_shape(spec, i);
        leat_shape found = leat_tensor_shape(&outputs[i]);
        fit = fit && leati_shape_compatible(&promised, &found) &&
              leat_spec_component_dtype(spec, i) == outputs[i].dtype;
    }
    return fit;
}

/* What is refused with known shapes is refused when it runs, too; else zeros give what was
 * promised, or an error of their values. */
static bool check_run(const json_t *line, const json_t *inputs, const leat_tensor *zeros) {
    leat_error refused = {0}, err = {0};
    leat_tensor outputs[MOST_VALUES];
    leat_function *known = trace_over(line, inputs, &refused);
    leat_function *function = trace_with(line, inputs, false, &err);
    bool ran = function != NULL && leati_interpret(function, zeros, NULL, outputs, &err) == LEAT_OK;
    bool right = ran ? known != NULL && are_promised(known, outputs)
                     : refused_names(err.text, golden_text(line, "op")) &&
                           err.code != LEAT_INTERNAL && (known != NULL || err.code == refused.code);
    for (int i = 0; ran && i < function->num_outputs; i++)
        leat_tensor_unref(&outputs[i]);
    if (!right) {
        char *text = json_dumps(inputs, 0);
        print_message("%s %s over %s: known shapes: %s %s; when it runs: %s %s\n",
                      golden_text(line, "op"), golden_text(line, "attributes"), text,
                      leat_status_name(refused.code), refused.text, leat_status_name(err.code),
                      err.text);
        free(text);
    }
    leat_function_unref(known);
    leat_function_unref(function);
    return right;
}

/* The recorded types in functions that do not know ranks. */
static void test_runs(void **state) {
    (void)state;
    golden_run run = {0};
    json_t *all = golden_read_json(&run, FILE_NAME);
    size_t number = 0, wrong = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *line = json_array_get(all, i), *cases = json_object_get(line, "cases");
        for (size_t k = 0; k < json_array_size(cases); k++) {
            const json_t *inputs = json_array_get(json_array_get(cases, k), 0);
            leat_tensor zeros[MOST_VALUES];
            bool known = make_zeros(inputs, zeros);
            if (known) {
                number++;
                wrong += !check_run(line, inputs, zeros);
            }
            for (size_t z = 0; z < json_array_size(inputs); z++)
                leat_tensor_unref(&zeros[z]);
        }
    }
    print_message("%zu cases, %zu wrong\n", number, wrong);
    json_decref(all);
    assert_true(number > 0);
    assert_int_equal(wrong, 0);
}

int conform_types(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_objects),
                                       cmocka_unit_test(test_counts)};
    return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
