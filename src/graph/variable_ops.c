/* Variables inside graphs: what the operations on them share, and the builder's reads and
 * assignments.
 *
 * A variable is an attribute of its node, never a value, so a graph is bound to its variables. Each
 * replica works on its own copy (by context->replica). Assignments combine the replicas' values
 * first where the variable's aggregation says so (reference: tf.distribute's mirrored variables);
 * sync-on-read ones are local. Failures are the builder's. No locks: a step owns the copies. */
#include "graph/variable_ops.h"
#include "core/buffer.h"
#include "core/spec.h"
#include "graph/body.h"
#include <leat/ops.h>
#include <string.h>

const leati_row leati_variable_rows[] = {
    {.name = "variable",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_variable_args, variable),
     .doc = "The variable."},
    {0},
};

leat_status leati_variable_of(const void *args, leat_variable **out, leat_error *err) {
    leat_object *object = ((const struct leati_variable_args *)args)->variable;
    if (!leati_variable_is_object(object))
        return leati_refuse(err, VALUE, "the attribute \"variable\" is %s",
                            object != NULL ? object->type->name
                                           : "missing; call leat_graph_read with one");
    *out = (leat_variable *)(void *)object;
    return LEAT_OK;
}

leat_status leati_variable_host_copy(const leati_kernel_call *call, void **out, leat_error *err) {
    leat_variable *variable = NULL;
    LEATI_TRY(leati_variable_of(call->args, &variable, err));
    if (variable->is_replaced)
        return leati_fail(
            err, LEAT_UNIMPLEMENTED,
            "variable %s has no fixed shape, so nothing writes into its value; assign "
            "a new one, or make it without unknown dimensions",
            variable->name);
    int mine = call->context != NULL ? call->context->replica - call->context->first_replica : 0;
    /* Outside of its strategy's steps, and where one copy serves all replicas, that is the
     * first. */
    if (mine < 0 || mine >= variable->num_copies)
        mine = 0;
    leat_buffer *copy = variable->copies[mine];
    if (copy->device != NULL)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "variable %s lies on a device; use it inside a step of its strategy",
                          variable->name);
    *out = copy->data;
    return LEAT_OK;
}

leat_status leati_variable_infer_assign(leati_infer_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    LEATI_TRY(leati_variable_of(call->args, &variable, err));
    const leati_type *value = &call->inputs[0];
    char found[128], expected[128];
    if (value->dtype != variable->dtype || !leati_shape_compatible(&variable->shape, &value->shape))
        return leati_refuse(err, SHAPE,
                            "variable %s is %s of shape %s; the value is %s of shape %s",
                            variable->name, leat_dtype_name(variable->dtype),
                            leati_shape_text(&variable->shape, expected),
                            leat_dtype_name(value->dtype), leati_shape_text(&value->shape, found));
    return LEAT_OK;
}

leat_status leati_variable_check_operand(const leat_variable *variable,
                                         const leati_operand *operand, leat_error *err) {
    leat_shape shape = {.rank = operand->rank};
    char found[128], expected[128];
    memcpy(shape.dims, operand->dims, sizeof shape.dims);
    if (leati_variable_takes(variable, &shape))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "variable %s has shape %s; the value assigned to it has shape %s",
                        variable->name, leati_shape_text(&variable->shape, expected),
                        leati_shape_text(&shape, found));
}

struct leati_read {
    const leat_variable *variable; /* borrowed: the node holds a reference */
    int32_t value;
};

/* The remembered read of a variable; NULL if there is none since the last assignment. */
static struct leati_read *find_read(leat_graph *graph, const leat_variable *variable) {
    for (size_t i = 0; i < graph->num_reads; i++)
        if (graph->reads[i].variable == variable)
            return &graph->reads[i];
    return NULL;
}

static void forget_read(leat_graph *graph, const leat_object *variable) {
    struct leati_read *read = find_read(graph, (const leat_variable *)(const void *)variable);
    /* Their order does not matter: the last one fills the gap. */
    if (read != NULL)
        *read = graph->reads[--graph->num_reads];
}

void leati_graph_note_writes(leat_graph *graph, int32_t node) {
    const leati_node *added = &graph->body.nodes[node];
    /* A read has the variable as its attribute, too, but changes nothing. */
    if (!graph->num_reads || added->op == &leati_tensor_op_read_variable)
        return;
    bool inner = false;
    for (const leati_row *row = added->op->rows; row != NULL && row->type != LEATI_ROW_END; row++) {
        const void *at = (const char *)added->args + row->offset;
        inner = inner || row->type == LEATI_ROW_FUNCTION;
        if (row->type == LEATI_ROW_OBJECT)
            forget_read(graph, *(leat_object *const *)at);
    }
    /* A function among the attributes may assign anything. */
    if (inner && (leati_body_node_flags(added) & (LEATI_STATEFUL | LEATI_IMPURE)))
        graph->num_reads = 0;
}

static leat_value fail_null(leat_graph *graph) {
    return leat_graph_fail(graph, LEAT_INVALID_ARGUMENT, "the variable is NULL");
}

leat_value leat_graph_read(leat_graph *graph, leat_variable *variable) {
    if (variable == NULL || graph == NULL || graph->error.code != LEAT_OK)
        return variable != NULL ? (leat_value){.graph = graph, .id = -1} : fail_null(graph);
    /* An eager variable may be assigned outside of the graph between two reads. */
    struct leati_read *read = graph->hook != NULL ? NULL : find_read(graph, variable);
    if (read != NULL)
        return (leat_value){.graph = graph, .id = read->value};
    struct leati_variable_args args = {.variable = &variable->object};
    leat_value value = leati_graph_node(graph, &leati_tensor_op_read_variable, &args, NULL, 0);
    if (value.id < 0 || graph->hook != NULL)
        return value;
    if (!leati_grow((void **)&graph->reads, &graph->read_capacity, graph->num_reads + 1,
                    sizeof *graph->reads)) {
        leat_error err = {0};
        leati_no_memory(&err);
        return leati_graph_error(graph, &err);
    }
    graph->reads[graph->num_reads++] = (struct leati_read){.variable = variable, .value = value.id};
    return value;
}

/* The value that a replica writes: combined over replicas where the variable asks for it. */
static leat_value combine(const leat_variable *variable, leat_value value) {
    if (variable == NULL || variable->num_copies + variable->num_elsewhere < 2 ||
        variable->sync_on_read || variable->aggregation == LEAT_AGGREGATION_NONE)
        return value;
    leat_value combined = {.graph = value.graph, .id = -1};
    if (variable->aggregation == LEAT_AGGREGATION_ONLY_FIRST_REPLICA)
        return leati_graph_node(value.graph, &leati_tensor_op_collective_broadcast, NULL, &value,
                                1);
    leat_op_all_reduce(&value, 1, variable->aggregation, &combined);
    return combined;
}

static void assign(leat_graph *graph, const leati_tensor_op *op, leat_variable *variable,
                   leat_value value) {
    if (variable == NULL) {
        fail_null(graph);
        return;
    }
    if (graph == NULL || graph->error.code != LEAT_OK)
        return;
    struct leati_variable_args args = {.variable = &variable->object};
    leati_graph_node(graph, op, &args, &value, 1);
}

void leat_graph_assign(leat_graph *graph, leat_variable *variable, leat_value value) {
    assign(graph, &leati_tensor_op_assign_variable, variable, combine(variable, value));
}

void leat_graph_assign_add(leat_graph *graph, leat_variable *variable, leat_value value) {
    assign(graph, &leati_tensor_op_assign_add_variable, variable, combine(variable, value));
}

void leat_graph_assign_copy(leat_graph *graph, leat_variable *variable, leat_value value) {
    assign(graph, &leati_tensor_op_assign_variable, variable, value);
}
