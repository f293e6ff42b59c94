/* What a binding offers is what TensorFlow offers: the signature of every public operation against
 * the recorded one (tests/conform/signatures.json, by tools/record/signatures.py).
 *
 * Names and order must be the same; a default of TensorFlow's must be the default here. Where
 * TensorFlow has none, one here does no harm. */
#include "support/cmocka.h"

#include "conform.h"

#include "core/json.h"
#include "graph/graph.h"

#include <jansson.h>
#include <leat/data.h>
#include <string.h>

#define FILE_NAME LEATI_SOURCE_DIR "/tests/conform/signatures.json"

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* The line of that name in a list of objects, or NULL. */
static const json_t *named(const json_t *list, const char *name) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(text_of(json_array_get(list, i), "name"), name) == 0)
            return json_array_get(list, i);
    return NULL;
}

/* The default that a binding shows for a parameter; NULL: it must be given. */
static const json_t *default_of(const json_t *operation, const json_t *parameter) {
    const json_t *own = json_object_get(parameter, "default");
    if (own != NULL || strcmp(text_of(parameter, "kind"), "argument") != 0)
        return own;
    return json_object_get(
        named(json_object_get(operation, "arguments"), text_of(parameter, "name")), "default");
}

static bool equal(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static void compare(const json_t *operation, const char *path, const json_t *recorded) {
    const json_t *signature = json_object_get(operation, "signature");
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(signature); i++) {
        const json_t *parameter = json_array_get(signature, i);
        const char *name = text_of(parameter, "name");
        if (strcmp(text_of(parameter, "kind"), "name") == 0)
            continue;
        const json_t *line = json_array_get(recorded, at++);
        const char *expected = line == NULL ? "nothing" : text_of(line, "name");
        if (strcmp(expected, name) != 0)
            fail_msg("tf.%s: parameter %zu is %s; expected %s", path, at, name, expected);
        const json_t *other = json_object_get(line, "default"),
                     *own = default_of(operation, parameter);
        if (other != NULL && (own == NULL || !equal(own, other)))
            fail_msg("tf.%s: the default of %s differs", path, name);
        if (other == NULL && own != NULL && strcmp(text_of(parameter, "kind"), "fixed") == 0)
            fail_msg("tf.%s: %s has no default", path, name);
    }
    if (at != json_array_size(recorded))
        fail_msg("tf.%s has %zu parameters; found %zu", path, json_array_size(recorded), at);
}

/* Every input has a name, and every name of the signature is used once. */
static void check_inputs(const json_t *operation) {
    const json_t *inputs = json_object_get(operation, "inputs");
    int64_t most = json_integer_value(json_object_get(operation, "max_inputs"));
    int64_t count = (int64_t)json_array_size(inputs);
    const json_t *last = json_array_get(inputs, (size_t)(count - 1));
    if (most < 0 ? !json_is_true(json_object_get(last, "list")) : count != most)
        fail_msg("%s: `inputs` does not name the inputs", text_of(operation, "name"));
    const json_t *lists[] = {inputs, json_object_get(operation, "arguments")};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < json_array_size(lists[k]); i++) {
            const char *name = text_of(json_array_get(lists[k], i), "name");
            if (named(json_object_get(operation, "signature"), name) == NULL)
                fail_msg("%s: the signature lacks %s", text_of(operation, "name"), name);
        }
}

static json_t *table_of(char *text) {
    leat_error err = {0};
    assert_non_null(text);
    json_t *table = leati_json_parse(text, strlen(text), &err);
    assert_non_null(table);
    leat_text_free(text);
    return table;
}

static void test_signatures(void **state) {
    (void)state;
    leat_error err = {0};
    json_error_t error;
    json_t *table = table_of(leat_operations_json(&err));
    json_t *recorded = json_load_file(FILE_NAME, 0, &error);
    assert_non_null(recorded);
    size_t paths = 0;
    for (size_t i = 0; i < json_array_size(table); i++) {
        const json_t *operation = json_array_get(table, i);
        const json_t *names = json_object_get(operation, "names");
        for (size_t k = 0; k < json_array_size(names); k++, paths++) {
            const char *path = json_string_value(json_array_get(names, k));
            const json_t *lines = json_object_get(recorded, path);
            if (lines == NULL)
                fail_msg("%s has no line for tf.%s; tools/record/signatures.py writes it",
                         FILE_NAME, path);
            if (!json_is_null(lines)) /* TensorFlow lacks it */
                compare(operation, path, lines);
        }
        if (json_array_size(names) > 0)
            check_inputs(operation);
    }
    assert_true(paths >= json_object_size(recorded) && paths > 90);
    json_decref(recorded);
    json_decref(table);
}

/* The word of a signature for an input that may be left out. */
static bool may_be_left_out(const leati_tensor_op *op, const char *input, size_t size) {
    for (const char *at = op->signature; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        if (strncmp(at, input, size) == 0 && at[size] == '=')
            return true;
        at += strcspn(at, " ");
    }
    return false;
}

/* How many inputs an operation takes follows from their names: a list of any number but none, or
 * all of them. Those that TensorFlow's signature lets out may be left out here, and colors, which
 * its newer drawing of boxes alone takes. */
static void test_numbers_of_inputs(void **state) {
    (void)state;
    size_t count, checked = 0;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    for (size_t i = 0; i < count; i++) {
        const leati_tensor_op *op = ops[i];
        int least = 0, most = 0;
        if (op->names == NULL)
            continue;
        for (const char *at = op->inputs; at != NULL && *at != '\0'; at += strspn(at, " ")) {
            size_t size = strcspn(at, " ");
            bool list = at[0] == '*';
            least += list || !may_be_left_out(op, at, size);
            most = list ? -1 : most + 1;
            at += size;
        }
        least -= strcmp(op->name, "draw_bounding_boxes") == 0;
        if (op->min_inputs < least || op->min_inputs > (most < 0 ? least : most) ||
            op->max_inputs != most)
            fail_msg("%s takes %d to %d inputs; expected %d to %d", op->name, op->min_inputs,
                     op->max_inputs, least, most);
        checked++;
    }
    assert_true(checked > 90);
}

/* Words with a default must be JSON: a mistake would read as null. */
static void test_defaults_are_json(void **state) {
    (void)state;
    size_t count;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    for (size_t i = 0; i < count; i++) {
        const char *at = ops[i]->signature;
        while (at != NULL && (at = strchr(at, '=')) != NULL) {
            leat_error err = {0};
            size_t size = strcspn(++at, " ");
            json_t *json = leati_json_parse(at, size, &err);
            if (json == NULL)
                fail_msg("%s: %.*s is no JSON", ops[i]->name, (int)size, at);
            json_decref(json);
        }
    }
}

static void test_dataset_operators(void **state) {
    (void)state;
    leat_error err = {0};
    json_t *table = table_of(leat_dataset_operators_json(&err));
    const json_t *map = named(table, "map");
    const json_t *calls = named(json_object_get(map, "arguments"), "num_parallel_calls");
    assert_int_equal(json_integer_value(json_object_get(map, "num_inputs")), 1);
    assert_true(json_is_null(json_object_get(calls, "default")));
    assert_true(json_is_true(json_object_get(calls, "autotune")));
    assert_true(json_is_true(
        json_object_get(named(json_object_get(map, "arguments"), "map_func"), "required")));
    json_decref(table);
}

int conform_signatures(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_numbers_of_inputs),
        cmocka_unit_test(test_defaults_are_json),
        cmocka_unit_test(test_dataset_operators),
    };
    return cmocka_run_group_tests_name("signatures", tests, NULL, NULL);
}
