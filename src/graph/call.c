/* Calling an operation by its name, with attributes as JSON: leat_graph_call.
 *
 * An attribute may be given as {"input": k}: the value of input number k. Where the value is known
 * (a constant, or the graph is eager) it becomes the attribute; else the node is one of `computed`,
 * which binds it in each run. Inputs that give attributes are not inputs of the operation. An
 * attribute {"function": k} is function number k, whatever it calls.
 *
 * Inputs of dtypes that the descriptor says are computed in others (graph/op.h: `types`,
 * `quotient`) are cast first.
 *
 * Failures stand in the graph and name the operation. No locks. */
#include "base/minmax.h"
#include "core/json.h"
#include "core/tensor.h"
#include "graph/body.h"
#include "graph/computed.h"
#include "graph/input_type.h"
#include "graph/node_args.h"
#include <leat/ops.h>

#include <string.h>

/* Values of one call that are not the caller's. They are large and most calls need none, so nothing
 * clears them. */
typedef struct call_values {
    leat_value own[LEAT_MAX_OUTPUTS];    /* the inputs that give no attribute */
    leat_value cast[LEAT_MAX_OUTPUTS];   /* inputs of which some are in other dtypes */
    leat_string bound[LEAT_MAX_OUTPUTS]; /* attributes, and what gives them in each run */
    leat_value values[LEAT_MAX_OUTPUTS];
} call_values;

/* One call on its way. */
typedef struct call {
    leat_graph *graph;
    const leati_tensor_op *op;
    json_t *attributes; /* owned; NULL: none */
    leat_function *const *functions;
    int num_functions;
    const leat_value *inputs;
    int num_inputs, num_bound;
    leat_value *outputs; /* the caller's, room for `capacity` */
    int capacity;
    call_values *at;
} call;

/* The number of the input (or "function") that gives the attribute; -1: it is a value. */
static int64_t given_by(const json_t *attribute, const char *what) {
    const json_t *number = json_object_get(attribute, what);
    /* An object with more members is a value (a spec or an element may have such a key). */
    return json_object_size(attribute) == 1 && json_is_integer(number) ? json_integer_value(number)
                                                                       : -1;
}

/* The tensor of a value that is known while the graph is built. Owned; false: unknown. */
static bool known_value(const leat_graph *graph, int32_t id, leat_tensor *out) {
    /* A value that failed or was never computed is unknown, which is no failure of this call. */
    leat_error ignored = {0};
    if (graph->hook_value != NULL)
        return graph->hook_value(graph->hook_context, id, out, &ignored) == LEAT_OK;
    int32_t node = graph->body.values[id].node;
    const leat_tensor *constant = node < 0 ? NULL : leati_node_constant(&graph->body.nodes[node]);
    if (constant != NULL)
        *out = leat_tensor_ref(constant);
    return constant != NULL;
}

static leat_status bind_attribute(call *c, const char *name, int64_t number, leat_error *err) {
    const leati_row *row = c->op->rows != NULL ? leati_rows_find(c->op->rows, name) : NULL;
    leat_tensor tensor;
    if (row == NULL)
        return leati_refuse(err, VALUE, "there is no argument %s", name);
    if (number < 0 || number >= c->num_inputs || c->inputs[number].graph != c->graph ||
        c->inputs[number].id < 0)
        return leati_refuse(err, VALUE,
                            "argument %s is input %lld; expected one of %d values of this graph",
                            name, (long long)number, c->num_inputs);
    json_t *value = NULL;
    if (known_value(c->graph, c->inputs[number].id, &tensor)) {
        value = leati_json_of_tensor(&tensor, err);
        leat_tensor_unref(&tensor);
        if (value == NULL)
            return err->code != LEAT_OK ? err->code : LEAT_RESOURCE_EXHAUSTED;
    } else if (!(row->flags & LEATI_TENSOR)) {
        return leati_refuse(err, VALUE,
                            "argument %s must be known while the function is traced; found a value "
                            "that the run computes",
                            name);
    } else {
        c->at->bound[c->num_bound] = (leat_string){.data = row->name, .size = strlen(row->name)};
        c->at->values[c->num_bound++] = c->inputs[number];
        /* The attribute is read as it stands here; a placeholder passes the row's checks. */
        value = leati_json_row_placeholder(row);
    }
    return json_object_set_new(c->attributes, name, value) == 0 ? LEAT_OK : leati_no_memory(err);
}

/* Splits inputs into those of the operation and those of attributes. */
static leat_status split_inputs(call *c, leat_error *err) {
    bool taken[LEAT_MAX_OUTPUTS] = {false}, any = false;
    const char *name = NULL;
    json_t *attribute = NULL;
    /* The safe form, because bind_attribute replaces the member that is being looked at. */
    void *next = NULL;
    json_object_foreach_safe(c->attributes, next, name, attribute) {
        int64_t number = given_by(attribute, "input");
        if (number < 0)
            continue;
        /* `taken` and `own` have that many places. A call whose inputs are all its own has no such
         * bound. */
        if (c->num_inputs > LEAT_MAX_OUTPUTS)
            return leati_refuse(err, VALUE,
                                "%d inputs, some of which give arguments; expected at most %d",
                                c->num_inputs, LEAT_MAX_OUTPUTS);
        LEATI_TRY(bind_attribute(c, name, number, err));
        /* Two attributes may take one input; it is left out once. */
        taken[number] = any = true;
    }
    if (!any)
        return LEAT_OK;
    int left = 0;
    for (int i = 0; i < c->num_inputs; i++)
        if (!taken[i])
            c->at->own[left++] = c->inputs[i];
    c->inputs = c->at->own;
    c->num_inputs = left;
    return LEAT_OK;
}

/* Input `index` in another dtype. */
static void cast_input(call *c, int index, leat_dtype dtype) {
    /* The caller's list is const, and `own` is kept apart: the first cast copies either. */
    if (c->inputs != c->at->cast) {
        memcpy(c->at->cast, c->inputs, (size_t)c->num_inputs * sizeof *c->inputs);
        c->inputs = c->at->cast;
    }
    c->at->cast[index] = leat_op_cast(c->inputs[index], dtype);
}

/* Integers of one dtype as the floats that their quotient is. */
static void widen_quotient(call *c) {
    leat_dtype dtype = c->num_inputs == 2 ? leat_value_dtype(c->inputs[0]) : LEAT_INVALID;
    /* Mixed dtypes are left alone, so that inference refuses them in its own words. */
    if (!leati_dtype_is_integer(dtype) || leat_value_dtype(c->inputs[1]) != dtype)
        return;
    /* As in tf.truediv: float32 holds all integers of 8 and 16 bits. */
    for (int i = 0; i < 2; i++)
        cast_input(c, i, leat_dtype_size(dtype) < 4 ? LEAT_FLOAT32 : LEAT_FLOAT64);
}

/* What the descriptor says of dtypes. Inputs that are none of this graph's stay for others to
 * refuse. */
static void fit_inputs(call *c) {
    const char *types = c->op->types;
    leati_input_type type = {0};
    if (c->num_inputs > LEAT_MAX_OUTPUTS)
        return;
    for (int i = 0; i < c->num_inputs; i++)
        if (c->inputs[i].graph != c->graph)
            return;
    if (c->op->quotient)
        widen_quotient(c);
    if (types == NULL || strchr(types, '<') == NULL)
        return;
    for (int i = 0; i < c->num_inputs && leati_input_type_next(&types, &type); i++) {
        leat_dtype dtype = leat_value_dtype(c->inputs[i]);
        leat_dtype wide = leati_input_type_cast(&type, dtype);
        if (wide != dtype)
            cast_input(c, i, wide);
    }
}

/* Function attributes that the caller gives: `args` NULL puts a function of nothing in their
 * places, so that they can be read; later `attributes`, the text as it was, says what `args` get.
 */
static leat_status put_functions(const call *c, const json_t *attributes, void *args,
                                 leat_error *err) {
    const char *name = NULL;
    json_t *attribute = NULL;
    json_object_foreach((json_t *)(uintptr_t)attributes, name, attribute) {
        int64_t number = given_by(attribute, "function");
        const leati_row *row = c->op->rows != NULL ? leati_rows_find(c->op->rows, name) : NULL;
        if (number < 0)
            continue;
        if (row == NULL || row->type != LEATI_ROW_FUNCTION || number >= c->num_functions ||
            c->functions[number] == NULL)
            return leati_refuse(err, VALUE,
                                "argument %s is function %lld; expected an argument that is a "
                                "function, and one of %d functions that are not NULL",
                                name, (long long)number, c->num_functions);
        if (args != NULL) {
            leat_object **at = (leat_object **)(void *)((char *)args + row->offset);
            /* The function of nothing that stood in for it while the attributes were read. */
            leati_object_unref(*at);
            *at = leati_object_ref(c->functions[number]);
        } else if (json_object_set_new(
                       c->attributes, name,
                       json_pack("{s:{s:[]}, s:[], s:[]}", "input", "tuple", "nodes", "outputs"))) {
            return leati_no_memory(err);
        }
    }
    return LEAT_OK;
}

/* Fills outputs from the values of the node that starts at `first`; how many it has. */
static int fill_outputs(const call *c, int32_t first) {
    leat_graph *graph = c->graph;
    int count = graph->body.nodes[graph->body.num_nodes - 1].num_outputs;
    for (int i = 0; i < count && i < c->capacity; i++)
        c->outputs[i] = (leat_value){.graph = graph, .id = first + i};
    return graph->error.code != LEAT_OK ? -1 : count;
}

static int add_node(call *c, const void *args) {
    leat_graph *graph = c->graph;
    int32_t first = c->num_bound == 0
                        ? leati_graph_add_values(graph, c->op, args, c->inputs, c->num_inputs)
                        : leati_graph_add_computed(graph, c->op, args, c->inputs, c->num_inputs,
                                                   c->at->bound, c->at->values, c->num_bound);
    /* A node without outputs has no first one, and is none the less there. */
    return first < 0 && graph->error.code != LEAT_OK ? -1 : fill_outputs(c, first);
}

/* Reads the attributes and adds the node; `given` are the attributes as the caller wrote them. */
static int make_call(call *c, const json_t *given) {
    leat_graph *graph = c->graph;
    leat_error err = {0};
    void *args = NULL;
    int count = -1;
    leat_status status = put_functions(c, given, NULL, &err);
    if (status == LEAT_OK)
        status = split_inputs(c, &err);
    if (status == LEAT_OK)
        status = leati_node_args_read(graph, c->op, c->attributes, 0, &args, &err);
    if (status == LEAT_OK) {
        /* `given` still says which function was meant; c->attributes has stand-ins in those
         * places. */
        status = args != NULL ? put_functions(c, given, args, &err) : LEAT_OK;
        if (status == LEAT_OK) {
            fit_inputs(c);
            count = add_node(c, args);
        }
        leati_node_args_free(c->op, args);
    }
    if (status != LEAT_OK) {
        leati_prefix(&err, "op %s (node %zu)", c->op->name, graph->body.num_nodes);
        leati_graph_error(graph, &err);
    }
    return count;
}

/* The operation of that name, or the one that it is of strings; NULL: there is none. */
static const leati_tensor_op *operation_over(const char *name, const leat_value *inputs,
                                             int num_inputs) {
    const leati_tensor_op *op = leati_graph_op_find(name);
    if (op == NULL || op->of_strings == NULL)
        return op;
    for (int i = 0; i < num_inputs; i++)
        if (leat_value_dtype(inputs[i]) != LEAT_STRING)
            return op;
    return leati_graph_op_find(op->of_strings);
}

int leat_graph_call_functions(leat_graph *graph, const char *operation, const char *attributes,
                              leat_function *const *functions, int num_functions,
                              const leat_value *inputs, int num_inputs, leat_value *outputs,
                              int capacity) {
    if (graph == NULL || graph->error.code != LEAT_OK)
        return -1;
    leat_error err = {0};
    call_values values;
    call c = {.graph = graph,
              .at = &values,
              .functions = functions,
              .num_functions = num_functions,
              .inputs = inputs,
              .num_inputs = num_inputs,
              .outputs = outputs,
              .capacity = capacity};
    json_t *given = NULL;
    int count = -1;
    c.op = operation_over(operation, inputs, num_inputs);
    if (c.op == NULL) {
        leati_fail(&err, LEAT_NOT_FOUND,
                   "no tensor operation is called \"%s\"; `leat ops` lists them",
                   operation != NULL ? operation : "(null)");
    } else if (attributes != NULL) {
        given = leati_json_parse(attributes, strlen(attributes), &err);
        c.attributes = given != NULL ? leati_json_copy(given, &err) : NULL;
        if (err.code != LEAT_OK)
            leati_prefix(&err, "op %s (node %zu)", c.op->name, graph->body.num_nodes);
    }
    if (err.code != LEAT_OK)
        leati_graph_error(graph, &err);
    else
        count = make_call(&c, given);
    json_decref(c.attributes);
    json_decref(given);
    return count;
}

int leat_graph_call(leat_graph *graph, const char *operation, const char *attributes,
                    const leat_value *inputs, int num_inputs, leat_value *outputs, int capacity) {
    return leat_graph_call_functions(graph, operation, attributes, NULL, 0, inputs, num_inputs,
                                     outputs, capacity);
}
