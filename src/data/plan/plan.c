/* Plans as JSON: the node format of docs/PLANS.md, read and written by the operators' rows.
 *
 * {"op": name, "args": {...}, "input": node} or "inputs": a list of nodes, or a tree of them for
 * operators that take one (zip). An argument that may be a dataset (LEATI_NODE) is read as one more
 * input. Nodes are built depth first: inputs left to right, then datasets among the arguments, then
 * the operator, because operators without a seed of their own draw one when they are made. Depth is
 * bounded; unknown names are INVALID_ARGUMENT naming operator and argument. */
#include "data/plan/dataset.h"
#include "graph/json.h"
#include <string.h>

enum { MOST_DEPTH = 500, MOST_INPUTS = 4096 }; /* reading recurses */

/* The inputs that a node has so far; owned until the node takes them. */
typedef struct inputs {
    leat_dataset **list;
    size_t count, capacity;
} inputs;

static void inputs_fini(inputs *in) {
    for (size_t i = 0; i < in->count; i++)
        leat_dataset_unref(in->list[i]);
    leati_free(in->list);
}

/* Takes `dataset` (given; NULL: a failure already reported). */
static leat_status inputs_add(inputs *in, leat_dataset *dataset, leat_error *err) {
    if (dataset == NULL)
        return err->code;
    leat_status status =
        in->count == MOST_INPUTS
            ? leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                         "a plan node with more than %d inputs; split it into several", MOST_INPUTS)
        : leati_grow((void **)&in->list, &in->capacity, in->count + 1, sizeof(dataset))
            ? LEAT_OK
            : leati_no_memory(err);
    if (status != LEAT_OK) {
        leat_dataset_unref(dataset);
        return status;
    }
    in->list[in->count++] = dataset;
    return LEAT_OK;
}

static leat_dataset *read_node(const json_t *json, const leati_plan_reader *reader, int depth,
                               leat_error *err);

static leat_status read_tree(const json_t *json, const leati_plan_reader *reader, int depth,
                             inputs *in, leat_spec **structure, leat_error *err);

/* The key that follows `last` (NULL: the first one): components stand in the order of sorted keys,
 * which json_object_foreach does not promise. */
static const char *next_key(const json_t *dict, const char *last) {
    const char *best = NULL, *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)dict, key, value) {
        bool after = last == NULL || strcmp(key, last) > 0;
        if (after && (best == NULL || strcmp(key, best) < 0))
            best = key;
    }
    return best;
}

/* The children of a tuple or a dict, whose `keys` are set. */
static leat_status read_children(const json_t *json, const leati_plan_reader *reader, int depth,
                                 inputs *in, size_t count, const char **keys, leat_spec **children,
                                 leat_error *err) {
    const json_t *tuple = json_object_get(json, "tuple"), *dict = json_object_get(json, "dict");
    for (size_t i = 0; i < count; i++) {
        if (tuple == NULL)
            keys[i] = next_key(dict, i > 0 ? keys[i - 1] : NULL);
        const json_t *child =
            tuple != NULL ? json_array_get(tuple, i) : json_object_get(dict, keys[i]);
        LEATI_TRY(read_tree(child, reader, depth + 1, in, &children[i], err));
    }
    return LEAT_OK;
}

/* Reads a tree of nodes; *structure becomes a spec of the same tree (leaves are placeholders). */
static leat_status read_tree(const json_t *json, const leati_plan_reader *reader, int depth,
                             inputs *in, leat_spec **structure, leat_error *err) {
    const json_t *tuple = json_object_get(json, "tuple"), *dict = json_object_get(json, "dict");
    if (depth > MOST_DEPTH)
        return leati_refuse(err, VALUE, "a plan deeper than %d nodes", MOST_DEPTH);
    if (tuple == NULL && dict == NULL) {
        /* Any spec of one component would do: only the form of the tree is looked at. */
        *structure = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
        return *structure == NULL ? err->code
                                  : inputs_add(in, read_node(json, reader, depth + 1, err), err);
    }
    size_t count = tuple != NULL ? json_array_size(tuple) : json_object_size(dict);
    leat_spec **children = leati_alloc_zero(count + 1, sizeof(*children));
    const char **keys = leati_alloc_zero(count + 1, sizeof(*keys));
    leat_status status = children == NULL || keys == NULL
                             ? leati_no_memory(err)
                             : read_children(json, reader, depth, in, count, keys, children, err);
    if (status == LEAT_OK) {
        *structure = tuple != NULL ? leat_spec_tuple(children, (int)count, err)
                                   : leat_spec_dict(keys, children, (int)count, err);
        const json_t *tag = json_object_get(json, "tag");
        if (tag != NULL)
            *structure = leat_spec_tagged(*structure, json_integer_value(tag), err);
        status = *structure == NULL ? err->code : LEAT_OK;
    } else {
        /* A tree that was made has taken the children, also where it failed. */
        for (size_t i = 0; i < count && children != NULL; i++)
            leat_spec_unref(children[i]);
    }
    leati_free(children);
    leati_free(keys);
    return status;
}

static leat_status read_inputs(const json_t *json, const leati_plan_reader *reader, int depth,
                               const leati_dataset_op *op, inputs *in, leat_spec **structure,
                               leat_error *err) {
    const json_t *one = json_object_get(json, "input"), *many = json_object_get(json, "inputs");
    if (one != NULL)
        return inputs_add(in, read_node(one, reader, depth + 1, err), err);
    if (json_is_array(many)) {
        leat_status status = LEAT_OK;
        for (size_t i = 0; i < json_array_size(many) && status == LEAT_OK; i++) {
            status =
                inputs_add(in, read_node(json_array_get(many, i), reader, depth + 1, err), err);
        }
        return status;
    }
    if (json_is_object(many)) {
        if (op->structure_argument == NULL) {
            return leati_refuse(err, VALUE, "%s: \"inputs\" is a tree; expected a list of nodes",
                                op->name);
        }
        return read_tree(many, reader, depth, in, structure, err);
    }
    return LEAT_OK;
}

/* An argument is a node if it is an object with "op" or "ref", and its row allows one. */
static bool is_node(const json_t *json) {
    return json_is_object(json) &&
           (json_object_get(json, "op") != NULL || json_object_get(json, "ref") != NULL);
}

/* The row that says whether argument `row` is an input, or NULL (LEATI_NODE). */
static const leati_row *marker(const leati_dataset_op *op, const leati_row *row) {
    char name[64];
    snprintf(name, sizeof(name), "%s_is_input", row->name);
    return leati_rows_find(op->rows, name);
}

static int mark_input(const leati_dataset_op *op, const leati_row *row, json_t *args) {
    const leati_row *mark = marker(op, row);
    return mark == NULL ? 0 : json_object_set_new(args, mark->name, json_true());
}

/* Moves the datasets among the arguments to the inputs and returns the remaining arguments (owned).
 */
static json_t *split_arguments(const json_t *args, const leati_plan_reader *reader, int depth,
                               const leati_dataset_op *op, inputs *in, leat_error *err) {
    /* A copy, because what becomes an input is taken out, and the JSON is the caller's. */
    json_t *rest = leati_json_copy(args, err);
    if (rest == NULL)
        return NULL;
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++) {
        const json_t *value = json_object_get(rest, row->name);
        if ((row->flags & LEATI_NODE) == 0 || !is_node(value))
            continue;
        if (inputs_add(in, read_node(value, reader, depth + 1, err), err) != LEAT_OK) {
            json_decref(rest);
            return NULL;
        }
        json_object_del(rest, row->name);
        if (mark_input(op, row, rest) != 0) {
            leati_no_memory(err);
            json_decref(rest);
            return NULL;
        }
    }
    return rest;
}

/* What the functions' reader needs to know of the node that is being read. */
typedef struct function_context {
    const leati_plan_reader *reader;
    const leati_dataset_op *op;
    const void *args;
    const inputs *in;
} function_context;

/* Makes a function from what a plan says, again for other shapes as long as the operator asks. */
static leat_function *make_function(const function_context *c, const leati_row *row,
                                    const json_t *json, const leat_spec *first, leat_error *err) {
    leat_spec *input = leat_spec_ref(first);
    for (;;) {
        leat_error failure = {0};
        leat_function *function =
            c->reader->function(c->reader->context, json, c->op->name, row->name, input, err);
        leat_spec *other = function == NULL || c->op->function_again == NULL
                               ? NULL
                               : c->op->function_again(function, input, row, &failure);
        leat_spec_unref(input);
        if (other == NULL && failure.code == LEAT_OK)
            return function;
        leat_function_unref(function);
        if (other == NULL) {
            *err = failure;
            return NULL;
        }
        input = other;
    }
}

static leat_object *read_function(void *context, const leati_row *row, const json_t *json,
                                  leat_error *err) {
    const function_context *c = context;
    leat_spec *input = NULL;
    if (c->op->function_input != NULL) {
        input = c->op->function_input(c->args, c->in->list, (int)c->in->count, row, err);
    } else if (c->in->count > 0) {
        input = leat_spec_ref(c->in->list[0]->spec);
    } else {
        leati_refuse(err, VALUE, "%s: argument %s is a function, but there is no input",
                     c->op->name, row->name);
    }
    if (input == NULL)
        return NULL;
    leat_function *function = NULL;
    if (c->reader != NULL && c->reader->function != NULL)
        function = make_function(c, row, json, input, err);
    else
        function = leati_json_read_function(json, err);
    leat_spec_unref(input);
    return (leat_object *)function;
}

static leat_status read_given(void *context, int64_t number, leat_element *out, leat_error *err) {
    const leati_plan_reader *reader = ((const function_context *)context)->reader;
    if (reader == NULL || reader->given == NULL) {
        return leati_refuse(err, VALUE,
                            "a plan refers to given tensors number %lld, but none are given here",
                            (long long)number);
    }
    return reader->given(reader->context, number, out, err);
}

static leat_dataset *make_node(const leati_dataset_op *op, const json_t *json,
                               const leati_plan_reader *reader, int depth, leat_error *err) {
    inputs in = {0};
    leat_spec *structure = NULL;
    leat_dataset *dataset = NULL;
    json_t *args_json = NULL;
    void *args = leati_alloc_zero(1, op->args_size);
    leat_status status = args == NULL ? leati_no_memory(err)
                                      : read_inputs(json, reader, depth, op, &in, &structure, err);
    if (status == LEAT_OK) {
        args_json = split_arguments(json_object_get(json, "args"), reader, depth, op, &in, err);
        status = args_json == NULL ? err->code : LEAT_OK;
    }
    if (status == LEAT_OK) {
        function_context context = {.reader = reader, .op = op, .args = args, .in = &in};
        leati_json_functions functions = {
            .context = &context, .given = read_given, .read = read_function};
        status = leati_json_to_rows(args_json, op->rows, args, op->name, &functions, err);
    }
    if (status == LEAT_OK && structure != NULL) {
        const leati_row *row = leati_rows_find(op->rows, op->structure_argument);
        leat_spec **argument = (leat_spec **)((char *)args + row->offset);
        leat_spec_unref(*argument); /* a plan may also say it among "args" */
        *argument = structure;
        structure = NULL;
    }
    if (status == LEAT_OK) {
        dataset = leati_dataset_new(op, args, in.list, (int)in.count, err);
        in.count = 0; /* given */
    }
    if (args != NULL)
        leati_rows_fini(op->rows, args);
    leati_free(args);
    leat_spec_unref(structure);
    json_decref(args_json);
    inputs_fini(&in);
    return dataset;
}

static leat_status check_members(const json_t *json, leat_error *err) {
    const char *key = NULL;
    json_t *value = NULL;
    /* A member that is misspelt must not pass for one that was left out. */
    json_object_foreach((json_t *)json, key, value) {
        if (strcmp(key, "op") != 0 && strcmp(key, "args") != 0 && strcmp(key, "input") != 0 &&
            strcmp(key, "inputs") != 0 && strcmp(key, "label") != 0) {
            return leati_refuse(
                err, VALUE,
                "a plan node has the member \"%s\"; expected op, args, input or inputs, label",
                key);
        }
    }
    const json_t *args = json_object_get(json, "args");
    if (args != NULL && !json_is_object(args))
        return leati_refuse(err, STRUCTURE, "\"args\" of a plan node is not an object");
    return LEAT_OK;
}

static leat_dataset *read_node(const json_t *json, const leati_plan_reader *reader, int depth,
                               leat_error *err) {
    if (depth > MOST_DEPTH) {
        leati_refuse(err, VALUE, "a plan deeper than %d nodes", MOST_DEPTH);
        return NULL;
    }
    const char *ref = json_string_value(json_object_get(json, "ref"));
    if (ref != NULL) {
        if (reader == NULL || reader->ref == NULL) {
            leati_refuse(err, VALUE, "a plan refers to \"%s\", but nothing is named here", ref);
            return NULL;
        }
        return reader->ref(reader->context, ref, err);
    }
    const char *name = json_string_value(json_object_get(json, "op"));
    if (name == NULL) {
        leati_refuse(err, VALUE, "a plan node without \"op\": expected the name of an operator");
        return NULL;
    }
    const leati_dataset_op *op = leati_op_find(name);
    if (op == NULL) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "operator \"%s\" is not in the table; `leat ops` lists what is", name);
        return NULL;
    }
    if (check_members(json, err) != LEAT_OK)
        return NULL;
    leat_dataset *dataset = make_node(op, json, reader, depth, err);
    const char *label = json_string_value(json_object_get(json, "label"));
    return dataset != NULL && label != NULL ? leat_dataset_label(dataset, label, err) : dataset;
}

leat_dataset *leati_plan_read(const json_t *json, const leati_plan_reader *reader,
                              leat_error *err) {
    /* inputs_add and others ask it whether a NULL has been reported. */
    err->code = LEAT_OK;
    return read_node(json, reader, 0, err);
}

/* ---- writing ---- */

static json_t *write_function(void *context, const leat_object *function, leat_error *err) {
    (void)context;
    return leati_json_write_function((const leat_function *)function, err);
}

static json_t *write_node(const leat_dataset *dataset, int depth, leat_error *err);

static json_t *write_tree(const leat_dataset *dataset, const leat_spec *structure, int depth,
                          int *next, leat_error *err) {
    int count = leat_spec_num_children(structure);
    leat_spec_kind kind = leat_spec_get_kind(structure);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT)
        /* Leaves take the inputs in the order in which read_tree made them. */
        return write_node(dataset->inputs[(*next)++], depth + 1, err);
    bool tuple = kind == LEAT_SPEC_TUPLE;
    json_t *children = tuple ? json_array() : json_object();
    for (int i = 0; i < count && children != NULL; i++) {
        json_t *child = write_tree(dataset, leat_spec_child(structure, i), depth, next, err);
        if (child == NULL ||
            (tuple ? json_array_append_new(children, child)
                   : json_object_set_new(children, leat_spec_key(structure, i), child)) != 0) {
            json_decref(children);
            return NULL;
        }
    }
    return children == NULL ? NULL : json_pack("{s:o}", tuple ? "tuple" : "dict", children);
}

const leati_row *leati_plan_input_row(const leat_dataset *dataset) {
    for (const leati_row *row = dataset->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        if ((row->flags & LEATI_NODE) != 0 && dataset->num_inputs > 0) {
            const leati_row *mark = marker(dataset->op, row);
            /* Without a marker the row always is an input; with one the node may hold a value
             * instead. */
            bool given = mark == NULL || *(const bool *)((char *)dataset->args + mark->offset);
            return given ? row : NULL;
        }
    }
    return NULL;
}

static int write_inputs(const leat_dataset *dataset, int depth, json_t *node, json_t *args,
                        leat_error *err) {
    if ((dataset->op->flags & LEATI_OP_OWN_INPUTS) != 0)
        return 0;
    const leati_row *structure =
        dataset->op->structure_argument == NULL
            ? NULL
            : leati_rows_find(dataset->op->rows, dataset->op->structure_argument);
    const leat_spec *tree =
        structure == NULL ? NULL : *(leat_spec **)((char *)dataset->args + structure->offset);
    if (tree != NULL) {
        int next = 0;
        json_object_del(args, structure->name);
        json_t *inputs_json = write_tree(dataset, tree, depth, &next, err);
        return inputs_json == NULL ? -1 : json_object_set_new(node, "inputs", inputs_json);
    }
    const leati_row *last = leati_plan_input_row(dataset);
    int count = dataset->num_inputs - (last != NULL);
    if (last != NULL) {
        json_t *value = write_node(dataset->inputs[count], depth + 1, err);
        if (value == NULL || json_object_set_new(args, last->name, value) != 0)
            return -1;
    }
    /* An operator of any number of inputs has a list even where it is one. */
    if (count == 1 && dataset->op->num_inputs == 1) {
        json_t *input = write_node(dataset->inputs[0], depth + 1, err);
        return input == NULL ? -1 : json_object_set_new(node, "input", input);
    }
    /* A source has neither "input" nor "inputs". */
    json_t *list = count == 0 ? NULL : json_array();
    for (int i = 0; i < count; i++) {
        json_t *input = write_node(dataset->inputs[i], depth + 1, err);
        if (input == NULL || json_array_append_new(list, input) != 0) {
            json_decref(list);
            return -1;
        }
    }
    return count == 0 ? 0 : json_object_set_new(node, "inputs", list);
}

static json_t *write_node(const leat_dataset *dataset, int depth, leat_error *err) {
    leati_json_functions functions = {.write = write_function};
    if (depth > MOST_DEPTH) { /* nobody could read it */
        leati_refuse(err, VALUE, "a plan deeper than %d nodes", MOST_DEPTH);
        return NULL;
    }
    if (dataset->op->writable != NULL && dataset->op->writable(dataset, err) != LEAT_OK)
        return NULL;
    json_t *args = leati_json_of_rows(dataset->op->rows, dataset->args, false, &functions, err);
    if (args == NULL)
        return NULL;
    json_t *node = json_pack("{s:s}", "op", dataset->op->name);
    leat_error local = {0};
    bool failed = node == NULL || write_inputs(dataset, depth, node, args, &local) != 0;
    if (!failed && dataset->label != NULL)
        failed = json_object_set_new(node, "label", json_string(dataset->label)) != 0;
    if (!failed && json_object_size(args) > 0)
        failed = json_object_set(node, "args", args) != 0;
    json_decref(args);
    if (failed) {
        json_decref(node);
        if (local.code == LEAT_OK)
            leati_no_memory(&local);
        *err = local;
        return NULL;
    }
    return node;
}

json_t *leati_plan_write(const leat_dataset *dataset, leat_error *err) {
    return write_node(dataset, 0, err);
}

char *leat_dataset_to_json(const leat_dataset *dataset, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (dataset == NULL) {
        leati_refuse(err, VALUE, "leat_dataset_to_json: dataset is NULL");
        return NULL;
    }
    json_t *json = leati_plan_write(dataset, err);
    if (json == NULL)
        return NULL;
    char *text = leati_json_print(json, 2, false, err);
    json_decref(json);
    return text;
}

leat_dataset *leat_dataset_from_json(const char *text, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_stop_scope before = leati_stop_enter_local();
    leat_dataset *dataset = leat_dataset_from_trusted_json(text, err);
    leati_stop_leave(before);
    return dataset;
}

leat_dataset *leat_dataset_from_trusted_json(const char *text, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (text == NULL) {
        leati_refuse(err, VALUE, "a plan's text is NULL");
        return NULL;
    }
    json_t *json = leati_json_parse(text, strlen(text), err);
    if (json == NULL)
        return NULL;
    leat_dataset *dataset = leati_plan_read(json, NULL, err);
    json_decref(json);
    return dataset;
}
