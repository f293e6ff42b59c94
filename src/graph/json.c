/* Functions as JSON and back:
 *
 *     {"input": spec, "output": spec,
 *      "nodes": [{"op": name, "version": n, "attrs": {...}, "inputs": [ids], "number": n}, ...],
 *      "outputs": [ids]}
 *
 * Values are numbered as in the body: arguments first, then the outputs of the nodes in order.
 * Types are not stored; reading infers them again, so text from outside cannot claim wrong ones.
 * Functions nest as attributes, at most LEATI_MAX_NESTING deep. Failures: unknown operations and
 * newer versions are UNIMPLEMENTED, malformed text is INVALID_ARGUMENT naming the node; variables
 * and unregistered callbacks cannot be written. No locks. */
#include "core/json.h"
#include "core/spec.h"
#include "graph/callback.h"
#include "graph/function.h"
#include "graph/json.h"
#include "graph/node_args.h"
#include "graph/variable.h"
#include <string.h>

/* Where a function is written: how deep, and for leat_function_describe the variables, which it
 * numbers (NULL: the text is one to be read again). The depth comes first, as reading has it. */
struct writing {
    int depth;
    leat_variable *const *variables;
    int num_variables;
};

static json_t *write_function(void *context, const leat_object *object, leat_error *err);
static leat_object *read_function(void *context, const leati_row *row, const json_t *json,
                                  leat_error *err);

const leati_json_functions leati_function_json = {.write = write_function, .read = read_function};

/* The same for attributes of `op`; the context is where they are written, or the depth of reading.
 */
static leati_json_functions functions_at(const leati_tensor_op *op, void *context) {
    leati_json_functions functions = {
        .context = context, .write = write_function, .read = read_function};
    if (op->objects != NULL) {
        /* Datasets and the like: the operation's own file knows how to write them. */
        functions.write_object = op->objects->write_object;
        functions.read_object = op->objects->read_object;
    }
    return functions;
}

static leat_status check_depth(int depth, leat_error *err) {
    if (depth < LEATI_MAX_NESTING)
        return LEAT_OK;
    return leati_refuse(err, STRUCTURE, "functions nest deeper than %d", LEATI_MAX_NESTING);
}

/* ---- writing ---- */

static json_t *write_ids(const int32_t *ids, int32_t count, leat_error *err) {
    json_t *array = json_array();
    for (int32_t i = 0; array != NULL && i < count; i++)
        if (json_array_append_new(array, json_integer(ids[i]))) {
            json_decref(array);
            array = NULL;
        }
    if (array == NULL)
        leati_no_memory(err);
    return array;
}

/* The place of a variable among those that are described; -1: it is none of them. */
static int place_of(const struct writing *writing, const leat_object *object) {
    for (int i = 0; i < writing->num_variables; i++)
        if ((const leat_object *)(const void *)writing->variables[i] == object)
            return i;
    return -1;
}

/* Objects live in this process; a callback travels by its name alone, the others not at all. */
static leat_status check_object(const leati_node *node, const leati_row *row,
                                const leat_object *object, const struct writing *writing,
                                leat_error *err) {
    if (object == NULL || place_of(writing, object) >= 0)
        return LEAT_OK;
    /* Before the general sentence, to say what a user can do about it. */
    if (leati_variable_is_object(object))
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "variable \"%s\" lives in this process and cannot be written; pass its "
                          "value as an argument",
                          ((const leat_variable *)(const void *)object)->name);
    if (leati_callback_is_object(object))
        return leati_callback_check_registered(object, err);
    if (row->flags & LEATI_CONSTRUCT)
        return LEAT_OK; /* follows from the other attributes */
    return leati_fail(err, LEAT_UNIMPLEMENTED, "an attribute of op %s lives in this process",
                      node->op->name);
}

/* The attributes without the objects that stay in this process, which have been checked. */
static json_t *write_attributes(const leati_node *node, struct writing *writing, leat_error *err) {
    const leati_row *rows = node->op->rows != NULL ? node->op->rows : leati_no_rows;
    leati_json_functions functions = functions_at(node->op, writing);
    char *args = leati_alloc_zero(1, node->op->args_size ? node->op->args_size : 1);
    if (args == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    /* A shallow copy, in which objects are set to NULL; it owns nothing and is only freed. */
    memcpy(args, node->args, node->op->args_size);
    leat_status status = LEAT_OK;
    for (const leati_row *row = rows; status == LEAT_OK && row->type != LEATI_ROW_END; row++)
        if (row->type == LEATI_ROW_OBJECT && node->op->objects == NULL) {
            leat_object **object = (leat_object **)(void *)(args + row->offset);
            status = check_object(node, row, *object, writing, err);
            *object = NULL;
        }
    json_t *json =
        status != LEAT_OK ? NULL : leati_json_of_rows(rows, args, false, &functions, err);
    leati_free(args);
    return json;
}

/* Adds to a node's text what leat_function_describe says besides. False: no memory. */
static bool describe_node(json_t *json, const leat_function *function, const leati_node *node,
                          const struct writing *writing) {
    json_t *types = json_array(), *variables = json_array();
    bool good = types != NULL && variables != NULL;
    for (int32_t i = 0; good && i < node->num_outputs; i++) {
        const leati_type *type = &function->body.values[node->first_output + i].type;
        good = !json_array_append_new(types,
                                      json_pack("{s:s, s:o}", "dtype", leat_dtype_name(type->dtype),
                                                "shape", leati_json_of_shape(&type->shape)));
    }
    for (const leati_row *row = node->op->rows; row != NULL && row->type != LEATI_ROW_END; row++) {
        const char *at = (const char *)node->args + row->offset;
        int place = row->type != LEATI_ROW_OBJECT
                        ? -1
                        : place_of(writing, *(leat_object *const *)(const void *)at);
        if (place >= 0)
            good = good && !json_array_append_new(variables, json_integer(place));
    }
    good = leati_json_put(json, "types", types) && good;
    return leati_json_put(json, "variables", variables) && good;
}

static json_t *write_node(const leat_function *function, const leati_node *node,
                          struct writing *writing, leat_error *err) {
    json_t *attributes = write_attributes(node, writing, err);
    json_t *inputs = attributes != NULL ? write_ids(node->inputs, node->num_inputs, err) : NULL;
    if (inputs == NULL) {
        json_decref(attributes);
        return NULL;
    }
    json_t *json =
        json_pack("{s:s, s:i, s:o, s:o, s:I}", "op", node->op->name, "version", node->op->version,
                  "attrs", attributes, "inputs", inputs, "number", (json_int_t)node->number);
    if (json != NULL &&
        (writing->variables == NULL || describe_node(json, function, node, writing)))
        return json;
    json_decref(json);
    leati_no_memory(err);
    return NULL;
}

static json_t *write_nodes(const leat_function *function, struct writing *writing,
                           leat_error *err) {
    json_t *array = json_array();
    if (array == NULL)
        leati_no_memory(err);
    for (size_t i = 0; array != NULL && i < function->body.num_nodes; i++) {
        const leati_node *node = &function->body.nodes[i];
        json_t *json = write_node(function, node, writing, err);
        if (json != NULL && !json_array_append_new(array, json))
            continue;
        if (json != NULL)
            leati_no_memory(err);
        leati_prefix(err, "op %s (node %zu)", node->op->name, i);
        json_decref(array);
        array = NULL;
    }
    return array;
}

static json_t *write_function(void *context, const leat_object *object, leat_error *err) {
    /* It travels as the context of the rows' functions, since rows know nothing of nesting. */
    struct writing writing = {.depth = -1};
    if (context != NULL)
        writing = *(struct writing *)context;
    writing.depth++;
    const leat_function *function = (const leat_function *)(const void *)object;
    if (!leati_graph_object_is_function(object)) {
        leati_refuse(err, VALUE, "expected a function, found %s",
                     object ? object->type->name : "NULL");
        return NULL;
    }
    if (check_depth(writing.depth, err) != LEAT_OK)
        return NULL;
    json_t *input = leati_json_of_spec(function->input, err);
    json_t *output = input != NULL ? leati_json_of_spec(function->output, err) : NULL;
    json_t *nodes = output != NULL ? write_nodes(function, &writing, err) : NULL;
    json_t *outputs =
        nodes != NULL ? write_ids(function->outputs, function->num_outputs, err) : NULL;
    if (outputs == NULL) {
        json_decref(input);
        json_decref(output);
        json_decref(nodes);
        return NULL;
    }
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "input", input, "output", output, "nodes",
                             nodes, "outputs", outputs);
    if (json == NULL)
        leati_no_memory(err);
    return json;
}

static char *text_of(const leat_function *function, struct writing *writing, leat_error *err) {
    json_t *json = write_function(writing, (const leat_object *)function, err);
    char *text = json != NULL ? leati_json_print(json, 0, false, err) : NULL;
    json_decref(json);
    return text;
}

char *leat_function_to_json(const leat_function *function, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return text_of(function, NULL, err);
}

char *leat_function_describe(const leat_function *function, leat_variable *const *variables,
                             int num_variables, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_variable *const none[1] = {NULL};
    struct writing writing = {-1, num_variables > 0 ? variables : none, num_variables};
    return text_of(function, &writing, err);
}

/* ---- reading ---- */

leat_status leati_node_args_read(leat_graph *graph, const leati_tensor_op *op, const json_t *json,
                                 int depth, void **out, leat_error *err) {
    const leati_row *rows = op->rows != NULL ? op->rows : leati_no_rows;
    leati_json_functions functions = functions_at(op, &depth);
    /* Without "attrs" all rows have their defaults; a row that must be given is then refused by
     * name. */
    json_t *empty = json != NULL ? NULL : json_object();
    void *args = leati_alloc_zero(1, op->args_size ? op->args_size : 1);
    leat_status status = LEAT_OK;
    if (args == NULL || (json == NULL && empty == NULL))
        status = leati_no_memory(err);
    if (status == LEAT_OK)
        status =
            leati_json_to_rows(json != NULL ? json : empty, rows, args, op->name, &functions, err);
    if (status == LEAT_OK) {
        /* After the rows: the name is one of them. */
        status = leati_callback_resolve(op, args, err);
        if (status == LEAT_OK && op->complete != NULL)
            status = op->complete(graph, args, err);
        if (status != LEAT_OK)
            leati_rows_fini(rows, args);
    }
    json_decref(empty);
    if (status != LEAT_OK) {
        leati_free(args);
        args = NULL;
    }
    *out = args;
    return status;
}

void leati_node_args_free(const leati_tensor_op *op, void *args) {
    if (args != NULL && op->rows != NULL)
        leati_rows_fini(op->rows, args);
    leati_free(args);
}

/* An array of value ids below `limit`, allocated; *count is set. */
static leat_status read_ids(const json_t *json, size_t limit, const char *what, int32_t **out,
                            int *count, leat_error *err) {
    size_t size = json_array_size(json);
    /* The size of what is not an array is 0, so both are asked. */
    if (!json_is_array(json) || size > LEATI_MAX_NODES)
        return leati_refuse(err, STRUCTURE, "\"%s\" is not a list of value numbers", what);
    int32_t *ids = leati_alloc(size, sizeof *ids);
    if (ids == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < size; i++) {
        const json_t *item = json_array_get(json, i);
        json_int_t id = json_is_integer(item) ? json_integer_value(item) : -1;
        if (id < 0 || (uint64_t)id >= limit) {
            leati_free(ids);
            return leati_refuse(err, VALUE,
                                "\"%s\"[%zu] is not the number of one of the %zu values before it",
                                what, i, limit);
        }
        ids[i] = (int32_t)id;
    }
    *out = ids;
    *count = (int)size;
    return LEAT_OK;
}

/* The operation that a node names, in a version that this library knows. */
static leat_status read_op(const json_t *json, const leati_tensor_op **out, leat_error *err) {
    const char *name = json_string_value(json_object_get(json, "op"));
    const json_t *version = json_object_get(json, "version");
    if (name == NULL)
        return leati_refuse(err, STRUCTURE, "\"op\" is missing or not a text");
    const leati_tensor_op *op = leati_graph_op_find(name);
    if (op == NULL)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no tensor operation is called \"%s\"; `leat ops` lists them", name);
    if (version != NULL && (!json_is_integer(version) || json_integer_value(version) < 1))
        return leati_refuse(err, VALUE, "\"version\" is not a positive number");
    if (version != NULL && json_integer_value(version) > op->version)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "op %s has version %lld there and %d here; read it with a newer leat",
                          name, (long long)json_integer_value(version), op->version);
    *out = op;
    return LEAT_OK;
}

/* Of a node that is read; nodes that are added later get higher ones, which must not overflow. */
static const int64_t MAX_NUMBER = INT64_MAX / 2;

static leat_status read_node(const json_t *json, int depth, leati_body *body, leat_error *err) {
    const leati_tensor_op *op = NULL;
    const json_t *attributes = json_object_get(json, "attrs");
    const json_t *number = json_object_get(json, "number");
    void *args = NULL;
    int32_t *inputs = NULL;
    int num_inputs = 0;
    leat_status status = read_op(json, &op, err);
    if (status == LEAT_OK && number != NULL &&
        (!json_is_integer(number) || json_integer_value(number) < 0 ||
         json_integer_value(number) > MAX_NUMBER))
        status = leati_refuse(err, VALUE, "\"number\" is not a number from 0 to %lld",
                              (long long)MAX_NUMBER);
    if (status == LEAT_OK)
        status = read_ids(json_object_get(json, "inputs"), body->num_values, "inputs", &inputs,
                          &num_inputs, err);
    /* No graph: seeds that were drawn when the function was built stand in the text. */
    if (status == LEAT_OK)
        status = leati_node_args_read(NULL, op, attributes, depth, &args, err);
    if (status == LEAT_OK)
        status = leati_body_add_node(
            body, op, args, inputs, num_inputs,
            number != NULL ? json_integer_value(number) : (int64_t)body->num_nodes, err);
    if (args != NULL)
        leati_node_args_free(op, args);
    leati_free(inputs);
    return status;
}

static leat_status read_body(const json_t *json, int depth, leat_function *function,
                             leat_error *err) {
    const json_t *nodes = json_object_get(json, "nodes");
    size_t count = json_array_size(nodes);
    if (!json_is_array(nodes) || count > LEATI_MAX_NODES)
        return leati_refuse(err, STRUCTURE, "\"nodes\" is not a list of at most %d nodes",
                            LEATI_MAX_NODES);
    leat_status status = leati_body_add_arguments(&function->body, function->input, err);
    for (size_t i = 0; status == LEAT_OK && i < count; i++) {
        status = read_node(json_array_get(nodes, i), depth, &function->body, err);
        if (status != LEAT_OK)
            leati_prefix(err, "node %zu", i);
    }
    int32_t *outputs = NULL;
    int num_outputs = 0;
    if (status == LEAT_OK)
        status = read_ids(json_object_get(json, "outputs"), function->body.num_values, "outputs",
                          &outputs, &num_outputs, err);
    if (status == LEAT_OK)
        status = leati_function_set_outputs(function, outputs, num_outputs, err);
    leati_free(outputs);
    return status;
}

/* {"callback": name, "input": spec, "output": spec}: a registered callback. Owned. */
static leat_function *read_callback(const json_t *json, leat_error *err) {
    leat_function *function = NULL;
    leat_spec *input = leati_json_to_spec(json_object_get(json, "input"), err);
    leat_spec *output =
        input != NULL ? leati_json_to_spec(json_object_get(json, "output"), err) : NULL;
    if (output != NULL)
        function = leati_callback_function_named(
            json_string_value(json_object_get(json, "callback")), input, output, err);
    leat_spec_unref(input);
    leat_spec_unref(output);
    return function;
}

/* Fills an empty function. */
static leat_status read_graph(const json_t *json, int depth, leat_function *function,
                              leat_error *err) {
    const json_t *output = json_object_get(json, "output");
    leat_error failure = {0};
    leat_spec *structure = NULL;
    function->input = leati_json_to_spec(json_object_get(json, "input"), &failure);
    leat_status status =
        function->input != NULL ? read_body(json, depth, function, &failure) : failure.code;
    if (status == LEAT_OK && output != NULL &&
        (structure = leati_json_to_spec(output, &failure)) == NULL)
        status = failure.code;
    if (status == LEAT_OK)
        status = leati_function_set_spec(function, structure, &failure);
    leat_spec_unref(structure);
    if (status != LEAT_OK)
        *err = failure;
    return status;
}

static leat_object *read_function(void *context, const leati_row *row, const json_t *json,
                                  leat_error *err) {
    int depth = context != NULL ? *(int *)context + 1 : 0;
    leat_function *function = NULL;
    (void)row;
    if (!json_is_object(json)) {
        leati_refuse(err, STRUCTURE,
                     "a function is an object with \"input\", \"nodes\" and \"outputs\"");
        return NULL;
    }
    /* It has no functions inside, so depth is no question. */
    if (json_object_get(json, "callback") != NULL)
        return (leat_object *)read_callback(json, err);
    if (check_depth(depth, err) != LEAT_OK || (function = leati_function_new(err)) == NULL)
        return NULL;
    if (read_graph(json, depth, function, err) != LEAT_OK) {
        leat_function_unref(function);
        return NULL;
    }
    /* The fingerprint is computed, never read: text cannot claim another function's. */
    leati_function_seal(function);
    return &function->object;
}

json_t *leati_json_write_function(const leat_function *function, leat_error *err) {
    return write_function(NULL, (const leat_object *)function, err);
}

leat_function *leati_json_read_function(const json_t *json, leat_error *err) {
    return (leat_function *)(void *)read_function(NULL, NULL, json, err);
}

leat_function *leat_function_from_json(const char *text, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (text == NULL) {
        leati_refuse(err, VALUE, "the text of the function is NULL");
        return NULL;
    }
    json_t *json = leati_json_parse(text, strlen(text), err);
    if (json == NULL)
        return NULL;
    leat_object *object = read_function(NULL, NULL, json, err);
    json_decref(json);
    return (leat_function *)(void *)object;
}
