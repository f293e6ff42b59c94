/* The builder: arguments, nodes and the first error of a graph under construction.
 *
 * Happy path: leat_graph_new, then operations, each of which ends in leati_graph_add. Failures are
 * sticky: the first one is kept in graph->error and every later call returns a failed value, so a
 * tracer checks nothing and leat_graph_finish reports. A graph belongs to one thread; no locks. */
#include "core/tensor.h"
#include "graph/body.h"
#include "graph/node_args.h"
#include "graph/variable_ops.h"
#include <string.h>

leat_graph *leat_graph_new(const leat_spec *input, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_graph *graph = leati_alloc_zero(1, sizeof *graph);
    if (graph == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    graph->input = input != NULL ? leat_spec_ref(input) : NULL;
    if (leati_body_add_arguments(&graph->body, input, err) != LEAT_OK) {
        leat_graph_free(graph);
        return NULL;
    }
    return graph;
}

void leat_graph_free(leat_graph *graph) {
    if (graph == NULL)
        return;
    if (graph->hook_free != NULL)
        graph->hook_free(graph->hook_context);
    leati_body_fini(&graph->body);
    leat_spec_unref(graph->input);
    leati_free(graph->reads);
    leati_free(graph);
}

static leat_value failed(leat_graph *graph) {
    return (leat_value){.graph = graph, .id = -1};
}

leat_value leati_graph_error(leat_graph *graph, const leat_error *err) {
    /* The first error is the cause; those that follow are its echoes. */
    if (graph != NULL && graph->error.code == LEAT_OK && err->code != LEAT_OK)
        graph->error = *err;
    return failed(graph);
}

bool leati_graph_read_options(leat_graph *graph, void *own, size_t known, const void *given,
                              const char *name) {
    leat_error err = {0};
    if (leati_options_read(own, known, known, given, name, &err) == LEAT_OK)
        return true;
    leati_graph_error(graph, &err);
    return false;
}

leat_value leat_graph_fail(leat_graph *graph, leat_status code, const char *text) {
    leat_error err = {0};
    leati_fail(&err, code != LEAT_OK ? code : LEAT_UNKNOWN, "%s",
               text != NULL ? text : "the tracer failed");
    return leati_graph_error(graph, &err);
}

leat_status leat_graph_take_error(leat_graph *graph, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_error first = graph->error;
    /* The failed values stay -1, so what uses them fails again and says which input it was. */
    graph->error = (leat_error){0};
    if (first.code != LEAT_OK)
        *err = first;
    return first.code;
}

const leat_spec *leat_value_element(leat_value value) {
    bool known =
        value.graph != NULL && value.id >= 0 && (size_t)value.id < value.graph->body.num_values;
    return known ? value.graph->body.values[value.id].type.element : NULL;
}

int leat_graph_num_arguments(const leat_graph *graph) {
    return graph != NULL ? graph->body.num_arguments : 0;
}

leat_value leat_graph_argument(leat_graph *graph, int index) {
    if (graph == NULL)
        return failed(graph);
    if (index < 0 || index >= graph->body.num_arguments) {
        leat_error err = {0};
        leati_fail(&err, LEAT_OUT_OF_RANGE, "argument %d of a function with %d argument%s", index,
                   (int)graph->body.num_arguments, graph->body.num_arguments == 1 ? "" : "s");
        return leati_graph_error(graph, &err);
    }
    /* Those that were added later are between the values of nodes. */
    int32_t id = index;
    for (const leati_value *values = graph->body.values;
         values[id].node >= 0 || values[id].output != index; id++) {
    }
    return (leat_value){.graph = graph, .id = id};
}

/* The input with another child. Owned; `child` is given. */
static leat_spec *longer_input(const leat_spec *input, leat_spec *child, leat_error *err) {
    int count = input != NULL ? leat_spec_num_children(input) : 0;
    leat_spec **children = leati_alloc((size_t)count + 1, sizeof *children);
    if (children == NULL) {
        leat_spec_unref(child);
        leati_no_memory(err);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        children[i] = leat_spec_ref((leat_spec *)leat_spec_child(input, i));
    children[count] = child;
    leat_spec *longer = leat_spec_tuple(children, count + 1, err);
    leati_free(children);
    return longer;
}

leat_value leat_graph_add_argument(leat_graph *graph, leat_spec *spec) {
    leat_error err = {0};
    leat_spec *input = NULL;
    if (graph == NULL || graph->error.code != LEAT_OK) {
        leat_spec_unref(spec);
        return failed(graph);
    }
    if (spec == NULL || leat_spec_num_components(spec) != 1)
        leati_refuse(&err, STRUCTURE, "an added argument has %d components; expected 1",
                     spec != NULL ? leat_spec_num_components(spec) : 0);
    else if (graph->input != NULL && leat_spec_get_kind(graph->input) != LEAT_SPEC_TUPLE)
        leati_refuse(&err, STRUCTURE,
                     "an argument is added to a graph whose input is no tuple; make the input one");
    else if ((input = longer_input(graph->input, leat_spec_ref(spec), &err)) != NULL &&
             leati_body_add_arguments(&graph->body, spec, &err) == LEAT_OK) {
        leat_spec_unref(graph->input);
        graph->input = input;
        leat_spec_unref(spec);
        return (leat_value){.graph = graph, .id = (int32_t)graph->body.num_values - 1};
    }
    leat_spec_unref(input);
    leat_spec_unref(spec);
    return leati_graph_error(graph, &err);
}

/* The value behind a handle, or NULL for a failed one. */
static const leati_value *find_value(leat_value value) {
    if (value.graph == NULL || value.id < 0 || (size_t)value.id >= value.graph->body.num_values)
        return NULL;
    return &value.graph->body.values[value.id];
}

leat_dtype leat_value_dtype(leat_value value) {
    const leati_value *found = find_value(value);
    return found != NULL ? found->type.dtype : LEAT_INVALID;
}

leat_shape leat_value_shape(leat_value value) {
    const leati_value *found = find_value(value);
    return found != NULL ? found->type.shape : (leat_shape){.rank = LEAT_UNKNOWN_RANK};
}

int32_t leati_graph_add(leat_graph *graph, const leati_tensor_op *op, const void *args,
                        const int32_t *inputs, int num_inputs) {
    if (graph == NULL || graph->error.code != LEAT_OK)
        return -1;
    leat_error err = {0};
    if (leati_body_add_node(&graph->body, op, args, inputs, num_inputs, graph->next_number, &err) !=
        LEAT_OK) {
        leati_graph_error(graph, &err);
        return -1;
    }
    /* Only now: a node that is refused uses up no number, so it changes no later node's random
     * numbers. */
    graph->next_number++;
    int32_t node = (int32_t)graph->body.num_nodes - 1;
    graph->body.nodes[node].reverse = graph->reverses;
    leati_graph_note_writes(graph, node);
    if (graph->hook != NULL && graph->hook(graph->hook_context, graph, node, &err) != LEAT_OK) {
        leati_prefix(&err, "op %s (node %d)", op->name, (int)node);
        leati_graph_error(graph, &err);
        return -1;
    }
    return graph->body.nodes[node].first_output;
}

/* Ids of `inputs`; false with the graph's error set where one does not belong to the graph. */
static bool collect_ids(leat_graph *graph, const leati_tensor_op *op, const leat_value *inputs,
                        int num_inputs, int32_t *ids) {
    leat_error err = {0};
    for (int i = 0; i < num_inputs; i++) {
        if (inputs[i].id < 0 || inputs[i].graph != graph) {
            leati_refuse(&err, VALUE, "op %s (node %zu): input %d is %s", op->name,
                         graph->body.num_nodes, i,
                         inputs[i].graph != NULL && inputs[i].graph != graph
                             ? "a value of another graph; pass it as an argument"
                             : "not a value; check the call that should have made it");
            leati_graph_error(graph, &err);
            return false;
        }
        ids[i] = inputs[i].id;
    }
    return true;
}

/* The graph of the first input that has one. */
static leat_graph *graph_of(leat_graph *graph, const leat_value *inputs, int num_inputs) {
    for (int i = 0; i < num_inputs && graph == NULL; i++)
        graph = inputs[i].graph;
    return graph;
}

int32_t leati_graph_add_values(leat_graph *graph, const leati_tensor_op *op, const void *args,
                               const leat_value *inputs, int num_inputs) {
    graph = graph_of(graph, inputs, num_inputs);
    if (graph == NULL || graph->error.code != LEAT_OK)
        return -1;
    /* Nearly all nodes have few inputs; concat and pack may have any number. */
    int32_t few[16] = {0}, *ids = few;
    if (num_inputs > 16)
        ids = leati_alloc((size_t)num_inputs, sizeof *ids);
    if (ids == NULL) {
        leat_error err = {0};
        leati_no_memory(&err);
        leati_graph_error(graph, &err);
        return -1;
    }
    int32_t first = -1;
    if (collect_ids(graph, op, inputs, num_inputs, ids))
        first = leati_graph_add(graph, op, args, ids, num_inputs);
    if (ids != few)
        leati_free(ids);
    return first;
}

leat_value leati_graph_node(leat_graph *graph, const leati_tensor_op *op, const void *args,
                            const leat_value *inputs, int num_inputs) {
    graph = graph_of(graph, inputs, num_inputs);
    return (leat_value){.graph = graph,
                        .id = leati_graph_add_values(graph, op, args, inputs, num_inputs)};
}

leat_value leat_graph_tensor(leat_graph *graph, const leat_tensor *tensor) {
    if (graph == NULL || graph->error.code != LEAT_OK)
        return failed(graph);
    leat_error err = {0};
    leat_value value = failed(graph);
    if (tensor == NULL || tensor->dtype == LEAT_INVALID) {
        leati_tensor_missing(&err, "the constant");
        return leati_graph_error(graph, &err);
    }
    if (leati_graph_constant(graph, tensor, &value, &err) != LEAT_OK)
        return leati_graph_error(graph, &err);
    return value;
}
