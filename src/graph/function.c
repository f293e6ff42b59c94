/* Finished functions: made from a graph, immutable from then on, shared by reference count.
 *
 * Failures: leat_graph_finish reports the first error of the building; outputs that are no values
 * of the graph, or a structure with another number of components, are INVALID_ARGUMENT. No locks:
 * nothing changes after leati_function_seal. */
#include "graph/function.h"
#include "base/hash.h"
#include "core/spec.h"
#include "graph/draws.h"
#include <stdio.h>
#include <string.h>

static void function_free(leat_object *object) {
    leat_function *function = (leat_function *)(void *)object;
    leati_body_fini(&function->body);
    leat_spec_unref(function->input);
    leat_spec_unref(function->output);
    leati_free(function->outputs);
    leati_draws_free(function->draws);
    leati_free(function);
}

static uint64_t function_hash(const leat_object *object, uint64_t seed) {
    const uint64_t *fingerprint = &((const leat_function *)(const void *)object)->fingerprint;
    return leati_hash(fingerprint, sizeof *fingerprint, seed);
}

static const leati_object_type function_type = {
    .name = "function", .free = function_free, .hash = function_hash};

leat_function *leati_function_new(leat_error *err) {
    leat_function *function = leati_alloc_zero(1, sizeof *function);
    if (function == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leati_object_init(&function->object, &function_type);
    return function;
}

leat_function *leat_function_ref(leat_function *function) {
    return leati_object_ref(function);
}

void leat_function_unref(leat_function *function) {
    leati_object_unref(function);
}

const leat_spec *leat_function_input(const leat_function *function) {
    return function != NULL ? function->input : NULL;
}

const leat_spec *leat_function_output(const leat_function *function) {
    return function != NULL ? function->output : NULL;
}

bool leati_graph_object_is_function(const leat_object *object) {
    return object != NULL && object->type == &function_type;
}

bool leati_graph_function_has(const leat_function *function, uint32_t flags) {
    return (function->flags & flags) != 0;
}

void leati_graph_function_describe_node(const leat_function *function, int32_t node, char *text,
                                        size_t size) {
    snprintf(text, size, "op %s (node %d)", function->body.nodes[node].op->name, (int)node);
}

/* Hash of everything that decides what the function computes. */
static uint64_t fingerprint(const leat_function *function) {
    const leati_body *body = &function->body;
    uint64_t hash = (uint64_t)body->num_arguments;
    for (int32_t i = 0; i < body->num_arguments; i++) {
        const leati_type *type = &body->values[i].type;
        const char *name = leat_dtype_name(type->dtype);
        /* Names, not the enums' numbers, and no padding: the hash is saved with states and must not
         * change with the library. */
        hash = leati_hash(name, strlen(name), hash);
        /* An unknown rank has no dimensions to hash. */
        hash = leati_hash(&type->shape.rank, sizeof type->shape.rank, hash);
        if (type->shape.rank > 0)
            hash = leati_hash(type->shape.dims, (size_t)type->shape.rank * sizeof(int64_t), hash);
    }
    for (size_t i = 0; i < body->num_nodes; i++) {
        const leati_node *node = &body->nodes[i];
        int64_t numbers[2] = {node->op->version, node->number};
        hash = leati_hash(node->op->name, strlen(node->op->name), hash);
        hash = leati_hash(numbers, sizeof numbers, hash);
        hash = leati_hash(node->inputs, (size_t)node->num_inputs * sizeof *node->inputs, hash);
        hash = leati_rows_hash(node->op->rows, node->args, hash);
    }
    return leati_hash(function->outputs, (size_t)function->num_outputs * sizeof(int32_t), hash);
}

void leati_function_seal(leat_function *function) {
    /* What holds for the whole as soon as it holds for one node. "Elementwise" would have to hold
     * for all of them. */
    const uint32_t kept = LEATI_RANDOM | LEATI_STATEFUL | LEATI_IMPURE | LEATI_NO_EAGER |
                          LEATI_COSTLY | LEATI_REPLAYS;
    function->flags = 0;
    for (size_t i = 0; i < function->body.num_nodes; i++)
        function->flags |= leati_body_node_flags(&function->body.nodes[i]) & kept;
    function->fingerprint = fingerprint(function);
}

leat_status leati_function_set_outputs(leat_function *function, const int32_t *outputs,
                                       int num_outputs, leat_error *err) {
    function->outputs = leati_alloc((size_t)num_outputs, sizeof *outputs);
    if (function->outputs == NULL)
        return leati_no_memory(err);
    if (num_outputs)
        memcpy(function->outputs, outputs, (size_t)num_outputs * sizeof *outputs);
    function->num_outputs = num_outputs;
    return LEAT_OK;
}

/* The spec of one value: a tensor, or a dataset where its elements are known. Owned. */
static leat_spec *spec_of_type(const leati_type *type, leat_error *err) {
    /* A dataset is told from other objects by its elements' spec alone. */
    if (type->dtype == LEAT_OBJECT && type->element != NULL)
        return leat_spec_dataset(leat_spec_ref(type->element), err);
    return leat_spec_tensor(type->dtype, type->shape, err);
}

leat_spec *leati_function_spec_of_types(const leati_type *types, int count, leat_error *err) {
    leat_spec **children = leati_alloc_zero((size_t)count, sizeof(leat_spec *));
    if (children == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    /* A NULL child makes leat_spec_tuple release the others and keep the error. */
    for (int i = 0; i < count; i++)
        children[i] = i && children[i - 1] == NULL ? NULL : spec_of_type(&types[i], err);
    leat_spec *spec = leat_spec_tuple(children, count, err);
    leati_free(children);
    return spec;
}

/* Leaves that are no tensors are kept as the structure says them; do they have the values' dtypes?
 */
static leat_status check_leaves(const leat_spec *spec, const leati_type *types, int count,
                                leat_error *err) {
    for (int i = 0; i < count; i++)
        if (leat_spec_component_dtype(spec, i) != types[i].dtype)
            return leati_refuse(
                err, DTYPE, "component %d of the result is %s, but output %d of the function is %s",
                i, leat_dtype_name(leat_spec_component_dtype(spec, i)), i,
                leat_dtype_name(types[i].dtype));
    return LEAT_OK;
}

/* The output spec of values arranged like `structure`. Owned. */
static leat_spec *structured_spec(const leati_type *types, int count, const leat_spec *structure,
                                  leat_error *err) {
    if (leat_spec_num_components(structure) != count) {
        leati_refuse(
            err, STRUCTURE,
            "the structure of the result has %d components, but the function has %d outputs",
            leat_spec_num_components(structure), count);
        return NULL;
    }
    leat_dtype *dtypes = leati_alloc((size_t)count, sizeof *dtypes);
    leat_shape *shapes = leati_alloc((size_t)count, sizeof *shapes);
    leat_spec *spec = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err);
    } else {
        for (int i = 0; i < count; i++) {
            dtypes[i] = types[i].dtype;
            shapes[i] = types[i].shape;
        }
        spec = leati_spec_like(structure, dtypes, shapes, err);
        if (spec != NULL && check_leaves(spec, types, count, err) != LEAT_OK) {
            leat_spec_unref(spec);
            spec = NULL;
        }
    }
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

leat_status leati_function_set_spec(leat_function *function, const leat_spec *structure,
                                    leat_error *err) {
    int count = function->num_outputs;
    leati_type *types = leati_alloc((size_t)count, sizeof *types);
    if (types == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < count; i++)
        types[i] = function->body.values[function->outputs[i]].type;
    /* The status is read from it, and the caller's `err` may be NULL. */
    leat_error failure = {0};
    if (structure != NULL)
        function->output = structured_spec(types, count, structure, &failure);
    else if (count == 1)
        function->output = spec_of_type(&types[0], &failure);
    else
        function->output = leati_function_spec_of_types(types, count, &failure);
    leati_free(types);
    if (function->output != NULL)
        return LEAT_OK;
    *err = failure;
    /* A spec that is NULL without an error would otherwise be success. */
    return failure.code != LEAT_OK ? failure.code : LEAT_INTERNAL;
}

/* An argument-less function still has an input spec: the empty tuple. */
static leat_status set_input(leat_function *function, leat_spec *input, leat_error *err) {
    leat_error failure = {0};
    function->input = input != NULL ? leat_spec_ref(input) : leat_spec_tuple(NULL, 0, &failure);
    if (function->input != NULL)
        return LEAT_OK;
    *err = failure;
    return failure.code;
}

static leat_status check_outputs(const leat_graph *graph, const leat_value *outputs,
                                 int num_outputs, leat_error *err) {
    /* First, because outputs are failed values then, and what failed before is the cause. */
    if (graph->error.code != LEAT_OK) {
        *err = graph->error;
        return graph->error.code;
    }
    for (int i = 0; i < num_outputs; i++)
        if (outputs[i].graph != graph || outputs[i].id < 0 ||
            (size_t)outputs[i].id >= graph->body.num_values)
            return leati_refuse(err, VALUE, "output %d is not a value of this graph", i);
    return LEAT_OK;
}

static leat_function *finish(leat_graph *graph, const leat_value *outputs, int num_outputs,
                             const leat_spec *structure, leat_error *err) {
    if (check_outputs(graph, outputs, num_outputs, err) != LEAT_OK)
        return NULL;
    leat_function *function = leati_function_new(err);
    int32_t *ids = leati_alloc((size_t)num_outputs, sizeof *ids);
    if (function == NULL || ids == NULL) {
        /* leati_function_new has told of its own failure. */
        if (function != NULL)
            leati_no_memory(err);
        goto fail;
    }
    for (int i = 0; i < num_outputs; i++)
        ids[i] = outputs[i].id;
    if (leati_body_order(&graph->body, ids, num_outputs, err) != LEAT_OK)
        goto fail;
    function->body = graph->body;
    /* The nodes have moved, so freeing the graph leaves them alone. */
    graph->body = (leati_body){0};
    if (set_input(function, graph->input, err) != LEAT_OK ||
        leati_function_set_outputs(function, ids, num_outputs, err) != LEAT_OK ||
        leati_function_set_spec(function, structure, err) != LEAT_OK)
        goto fail;
    leati_function_seal(function);
    leati_free(ids);
    return function;
fail:
    leati_free(ids);
    leat_function_unref(function);
    return NULL;
}

leat_function *leat_graph_finish(leat_graph *graph, const leat_value *outputs, int num_outputs,
                                 const leat_spec *structure, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (graph == NULL) {
        if (err->code == LEAT_OK)
            leati_refuse(err, VALUE, "graph is NULL");
        return NULL;
    }
    leat_function *function = finish(graph, outputs, num_outputs, structure, err);
    leat_graph_free(graph);
    return function;
}

static int too_many_outputs(leat_graph *graph, int count) {
    char text[96];
    snprintf(text, sizeof text, "the tracer has %d outputs; at most %d are possible", count,
             LEAT_MAX_OUTPUTS);
    leat_graph_fail(graph, LEAT_UNIMPLEMENTED, text);
    return -1;
}

leat_function *leat_function_trace_structured(leat_tracer tracer, void *context,
                                              const leat_spec *input, leat_spec *structure,
                                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_function *function = NULL;
    leat_value outputs[LEAT_MAX_OUTPUTS];
    if (input == NULL || tracer == NULL) {
        if (err->code == LEAT_OK)
            leati_refuse(err, VALUE, "%s of the function to trace is NULL",
                         tracer != NULL ? "the input spec" : "the tracer");
        leat_spec_unref(structure);
        return NULL;
    }
    leat_graph *graph = leat_graph_new(input, err);
    if (graph != NULL) {
        int count = tracer(context, graph, outputs, LEAT_MAX_OUTPUTS);
        /* Kept only where the tracer has set no error: the first one stays. */
        if (count < 0)
            leat_graph_fail(graph, LEAT_UNKNOWN, "the tracer failed without a text");
        if (count > LEAT_MAX_OUTPUTS)
            count = too_many_outputs(graph, count);
        function = leat_graph_finish(graph, outputs, count, structure, err);
    }
    leat_spec_unref(structure);
    return function;
}

leat_function *leat_function_trace(leat_tracer tracer, void *context, const leat_spec *input,
                                   leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leat_function_trace_structured(tracer, context, input, NULL, err);
}

leat_function *leat_function_at(leat_function *function, const char *file, int line) {
    const char *name = file != NULL ? strrchr(file, '/') : NULL;
    if (function != NULL && file != NULL)
        snprintf(function->place, sizeof function->place, "%.48s:%d",
                 name != NULL ? name + 1 : file, line);
    return function;
}

void leat_text_free(char *text) {
    leati_free(text);
}
