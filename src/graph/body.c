/* Nodes and values of a graph. Appending a node is the one place where arity, attributes and types
 * are checked, so that a graph that exists is well typed, whether it was traced, read from JSON or
 * rewritten.
 *
 * Failure: nothing is appended, and the text starts with the operation and the number the node
 * would have had. No locks: a body belongs to one builder, or is immutable. */
#include "graph/body.h"
#include "core/spec.h"
#include "graph/halves.h"
#include <string.h>

leat_status leati_body_add_argument(leati_body *body, const leati_type *type, leat_error *err) {
    size_t needed = body->num_values + 1;
    if (!leati_grow((void **)&body->values, &body->value_capacity, needed, sizeof *body->values))
        return leati_no_memory(err);
    leati_value *value = &body->values[body->num_values++];
    *value = (leati_value){.type = *type, .node = -1, .output = body->num_arguments++};
    /* Every value has a reference of its own: what the caller's type borrows from may go first. */
    value->type.element = type->element != NULL ? leat_spec_ref(type->element) : NULL;
    return LEAT_OK;
}

leat_status leati_body_add_arguments(leati_body *body, const leat_spec *input, leat_error *err) {
    int count = input != NULL ? leat_spec_num_components(input) : 0;
    for (int i = 0; i < count; i++) {
        leati_type type = {.dtype = leat_spec_component_dtype(input, i),
                           .shape = leat_spec_component_shape(input, i),
                           .element = leati_spec_component_element(input, i)};
        LEATI_TRY(leati_body_add_argument(body, &type, err));
    }
    return LEAT_OK;
}

static void renumber(const int32_t *places, int32_t *ids, int count) {
    for (int i = 0; i < count; i++)
        ids[i] = places[ids[i]];
}

leat_status leati_body_order(leati_body *body, int32_t *ids, int count, leat_error *err) {
    size_t num_arguments = (size_t)body->num_arguments, first = 0;
    while (first < num_arguments && body->values[first].node < 0)
        first++;
    if (first == num_arguments)
        return LEAT_OK;
    int32_t *places = leati_alloc(body->num_values, sizeof *places);
    leati_value *values = leati_alloc(body->num_values, sizeof *values);
    if (places == NULL || values == NULL) {
        leati_free(places);
        leati_free(values);
        return leati_no_memory(err);
    }
    size_t next = num_arguments;
    for (size_t v = 0; v < body->num_values; v++) {
        const leati_value *value = &body->values[v];
        places[v] = value->node < 0 ? value->output : (int32_t)next++;
        values[places[v]] = *value;
    }
    memcpy(body->values, values, body->num_values * sizeof *values);
    /* A node's outputs stay beside each other, since all that is between them are its own. */
    for (size_t n = 0; n < body->num_nodes; n++) {
        leati_node *node = &body->nodes[n];
        renumber(places, node->inputs, node->num_inputs);
        if (node->num_outputs > 0)
            node->first_output = places[node->first_output];
    }
    renumber(places, ids, count);
    leati_free(places);
    leati_free(values);
    return LEAT_OK;
}

static leat_status check_inputs(const leati_body *body, const leati_tensor_op *op,
                                const int32_t *inputs, int num_inputs, leat_error *err) {
    if (num_inputs < op->min_inputs || (op->max_inputs >= 0 && num_inputs > op->max_inputs)) {
        /* The sentence says what there is to say: one number, a lower bound, or both bounds. */
        if (op->max_inputs == op->min_inputs)
            return leati_refuse(err, VALUE, "expected %d inputs, found %d", op->min_inputs,
                                num_inputs);
        if (op->max_inputs < 0)
            return leati_refuse(err, VALUE, "expected at least %d inputs, found %d", op->min_inputs,
                                num_inputs);
        return leati_refuse(err, VALUE, "expected %d to %d inputs, found %d", op->min_inputs,
                            op->max_inputs, num_inputs);
    }
    /* Text from outside may name any value. Only earlier ones are taken, so a body has no cycles
     * and one pass in order can run it. */
    for (int i = 0; i < num_inputs; i++)
        if (inputs[i] < 0 || (size_t)inputs[i] >= body->num_values)
            return leati_refuse(err, VALUE,
                                "input %d is value %d; expected one of the %zu values before it", i,
                                (int)inputs[i], body->num_values);
    return LEAT_OK;
}

/* Runs the operation's rule into `outputs` (room for LEAT_MAX_OUTPUTS); leati_op_infer_fini
 * releases what `call` keeps. */
static leat_status infer(const leati_body *body, const leati_tensor_op *op, const void *args,
                         const int32_t *inputs, int num_inputs, leati_type *outputs,
                         leati_infer_call *call, leat_error *err) {
    leati_type *types = leati_alloc((size_t)num_inputs, sizeof *types);
    if (types == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < num_inputs; i++)
        types[i] = body->values[inputs[i]].type;
    *call = (leati_infer_call){.inputs = types,
                               .num_inputs = num_inputs,
                               .args = args,
                               .outputs = outputs,
                               .capacity = LEAT_MAX_OUTPUTS,
                               .body = body,
                               .ids = inputs};
    leat_status status = leati_halves_infer(op, call, err);
    /* The call outlives the array; its `made` does, too, because outputs point into it. */
    call->inputs = NULL;
    leati_free(types);
    return status;
}

/* Deep copy of the attributes (or the defaults), checked. Owned by the node. */
static leat_status copy_args(const leati_tensor_op *op, const void *args, void **out,
                             leat_error *err) {
    *out = leati_alloc_zero(1, op->args_size ? op->args_size : 1);
    if (*out == NULL)
        return leati_no_memory(err);
    if (op->rows == NULL)
        return LEAT_OK;
    leat_status status = args != NULL ? leati_rows_copy(op->rows, args, *out, err)
                                      : leati_rows_defaults(op->rows, *out, err);
    if (status != LEAT_OK) {
        leati_free(*out);
        *out = NULL;
        return status;
    }
    status = leati_rows_check(op->rows, *out, op->name, err);
    if (status != LEAT_OK) {
        leati_rows_fini(op->rows, *out);
        leati_free(*out);
        *out = NULL;
    }
    return status;
}

static void free_args(const leati_tensor_op *op, void *args) {
    if (args != NULL && op->rows != NULL)
        leati_rows_fini(op->rows, args);
    leati_free(args);
}

/* Moves a checked node and its output types into the arrays. */
static leat_status append(leati_body *body, leati_node *node, const leati_type *outputs,
                          int num_outputs, leat_error *err) {
    size_t values = body->num_values + (size_t)num_outputs;
    if (values > INT32_MAX)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "the graph has more than %d values",
                          INT32_MAX);
    /* Both arrays grow before either changes: a failure leaves the body as it was. */
    if (!leati_grow((void **)&body->nodes, &body->node_capacity, body->num_nodes + 1,
                    sizeof *body->nodes) ||
        !leati_grow((void **)&body->values, &body->value_capacity, values, sizeof *body->values))
        return leati_no_memory(err);
    node->first_output = (int32_t)body->num_values;
    node->num_outputs = num_outputs;
    for (int i = 0; i < num_outputs; i++) {
        leati_value *value = &body->values[body->num_values++];
        *value = (leati_value){.type = outputs[i], .node = (int32_t)body->num_nodes, .output = i};
        if (outputs[i].element != NULL)
            value->type.element = leat_spec_ref(outputs[i].element);
    }
    body->nodes[body->num_nodes++] = *node;
    return LEAT_OK;
}

leat_status leati_body_add_node(leati_body *body, const leati_tensor_op *op, const void *args,
                                const int32_t *inputs, int num_inputs, int64_t number,
                                leat_error *err) {
    leati_type outputs[LEAT_MAX_OUTPUTS];
    leati_infer_call call = {0};
    leati_node node = {.op = op, .num_inputs = num_inputs, .number = number};
    /* In this order, because each step relies on the last: `infer` reads types of inputs that
     * exist, by attributes that are within their rows' bounds. */
    leat_status status = check_inputs(body, op, inputs, num_inputs, err);
    if (status != LEAT_OK)
        goto named;
    status = copy_args(op, args, &node.args, err);
    if (status != LEAT_OK)
        goto named;
    status = infer(body, op, node.args, inputs, num_inputs, outputs, &call, err);
    if (status != LEAT_OK)
        goto named;
    node.inputs = leati_alloc((size_t)num_inputs, sizeof *node.inputs);
    if (node.inputs == NULL) {
        status = leati_no_memory(err);
        goto named;
    }
    /* `inputs` may be NULL then, which memcpy does not take. */
    if (num_inputs)
        memcpy(node.inputs, inputs, (size_t)num_inputs * sizeof *node.inputs);
    status = append(body, &node, outputs, call.num_outputs, err);
    if (status == LEAT_OK) {
        /* The values have references of their own to what inference made. */
        leati_op_infer_fini(&call);
        return LEAT_OK;
    }
named:
    leati_op_infer_fini(&call);
    leati_free(node.inputs);
    free_args(op, node.args);
    leati_prefix(err, "op %s (node %zu)", op->name, body->num_nodes);
    return status;
}

static void pop_node(leati_body *body) {
    leati_node *node = &body->nodes[--body->num_nodes];
    while (body->num_values > (size_t)node->first_output) {
        const leat_spec *element = body->values[--body->num_values].type.element;
        leat_spec_unref((leat_spec *)element);
    }
    free_args(node->op, node->args);
    leati_free(node->inputs);
}

void leati_body_fini(leati_body *body) {
    /* From the last to the first: a node's outputs are then the last values, and arguments
     * remain. */
    while (body->num_nodes)
        pop_node(body);
    while (body->num_values) {
        const leat_spec *element = body->values[--body->num_values].type.element;
        leat_spec_unref((leat_spec *)element);
    }
    leati_free(body->nodes);
    leati_free(body->values);
    *body = (leati_body){0};
}

uint32_t leati_body_node_flags(const leati_node *node) {
    const leati_tensor_op *op = node->op;
    uint32_t flags = op->node_flags != NULL ? op->node_flags(node->args) : op->flags;
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++) {
        if (row->type != LEATI_ROW_FUNCTION)
            continue;
        /* A node that calls a function is what that function is: random, stateful, impure. */
        const leat_function *function =
            *(leat_function *const *)(const void *)((const char *)node->args + row->offset);
        if (function != NULL)
            flags |= function->flags;
    }
    return flags;
}
