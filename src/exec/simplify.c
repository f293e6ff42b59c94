/* Prunes a function, merges equal pure nodes, folds constants.
 *
 * Nodes are visited once in trace order. A pure node whose operation, attributes and inputs equal
 * those of an earlier one gives way to it; a pure node of static shapes without any input from
 * outside is computed now. One that fails is left in place, so that the failure shows when and if
 * a row is computed. Failure: no memory, or what pruning says. No locks: the result is immutable.
 */
#include "exec/simplify.h"

#include "core/spec.h"
#include "exec/compute.h"
#include "graph/body.h"
#include <string.h>

/* Constants beyond this many bytes are not made at compile time. */
#define FOLD_LIMIT ((size_t)64 << 20)

struct simplify {
    leati_simple *simple;
    int32_t *same;           /* of each value: the value that stands for it */
    leati_simple_node *seen; /* pure nodes that later ones may equal, folded ones included */
    uint64_t *prints;        /* of each of them: its attributes */
    int32_t num_seen;
    bool *used;         /* of each value: read by a kept node or an output */
    size_t inputs_used; /* of simple->inputs */
};

void leati_simplify_fini(leati_simple *simple) {
    for (int32_t i = 0; i < simple->num_constants; i++)
        leat_tensor_unref(&simple->constants[i]);
    leati_free(simple->constants);
    leati_free(simple->nodes);
    leati_free(simple->values);
    leati_free(simple->outputs);
    leati_free(simple->inputs);
    leat_function_unref(simple->function);
    *simple = (leati_simple){0};
}

leat_status leati_simplify_blame(const leati_simple *simple, const leati_simple_node *node,
                                 leat_error *err) {
    char text[128];
    leati_graph_function_describe_node(simple->function, node->index, text, sizeof text);
    return leati_prefix(err, "%s", text);
}

/* Has the node an attribute that cannot be compared? */
static bool has_object(const leati_tensor_op *op) {
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if (row->type == LEATI_ROW_OBJECT)
            return true;
    return false;
}

static leat_status describe_value(const leati_value *from, leati_simple_value *to,
                                  leat_error *err) {
    *to = (leati_simple_value){.type = &from->type, .count = -1, .constant = -1, .node = -1};
    if (!leati_shape_is_static(&from->type.shape))
        return LEAT_OK;
    to->count = leati_shape_count(&from->type.shape);
    if (to->count < 0 ||
        !leati_mul_size((size_t)to->count, leat_dtype_size(from->type.dtype), &to->row_bytes)) {
        char text[128];
        return leati_refuse(err, SHAPE, "a value of shape %s has more values than memory can hold",
                            leati_shape_text(&from->type.shape, text));
    }
    return LEAT_OK;
}

/* Arrays of the largest size they can need. */
static leat_status simplify_init(struct simplify *pass, leat_error *err) {
    leati_simple *simple = pass->simple;
    const leat_function *function = simple->function;
    const leati_body *body = &function->body;
    size_t inputs = 0;
    for (size_t i = 0; i < body->num_nodes; i++)
        inputs += (size_t)body->nodes[i].num_inputs;
    simple->num_values = (int32_t)body->num_values;
    simple->num_outputs = function->num_outputs;
    simple->nodes = leati_alloc_zero(body->num_nodes, sizeof *simple->nodes);
    simple->values = leati_alloc(body->num_values, sizeof *simple->values);
    simple->constants = leati_alloc_zero(body->num_values, sizeof *simple->constants);
    simple->outputs = leati_alloc((size_t)function->num_outputs, sizeof *simple->outputs);
    simple->inputs = leati_alloc(inputs, sizeof *simple->inputs);
    pass->same = leati_alloc(body->num_values, sizeof *pass->same);
    pass->prints = leati_alloc(body->num_nodes, sizeof *pass->prints);
    pass->seen = leati_alloc(body->num_nodes, sizeof *pass->seen);
    pass->used = leati_alloc_zero(body->num_values, sizeof *pass->used);
    if (simple->nodes == NULL || simple->values == NULL || simple->constants == NULL ||
        simple->outputs == NULL || simple->inputs == NULL || pass->same == NULL ||
        pass->prints == NULL || pass->seen == NULL || pass->used == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < body->num_values; i++) {
        LEATI_TRY(describe_value(&body->values[i], &simple->values[i], err));
        pass->same[i] = (int32_t)i;
    }
    return LEAT_OK;
}

/* The earlier node that computes the same as `node`; NULL: none. */
static const leati_simple_node *find_equal(const struct simplify *pass,
                                           const leati_simple_node *node, uint64_t print) {
    for (int32_t i = 0; i < pass->num_seen; i++) {
        const leati_simple_node *other = &pass->seen[i];
        if (pass->prints[i] == print && other->source->op == node->source->op &&
            other->num_inputs == node->num_inputs &&
            (node->num_inputs == 0 ||
             memcmp(other->inputs, node->inputs, (size_t)node->num_inputs * sizeof(int32_t)) == 0))
            return other;
    }
    return NULL;
}

/* Is the shape, which is known, all that the node reads of its input? */
static bool reads_shape(const leati_simple *simple, const leati_simple_node *node) {
    return node->source->op->of_shape != NULL && simple->values[node->inputs[0]].count >= 0;
}

/* May the node be computed now? */
static bool foldable(const leati_simple *simple, const leati_simple_node *node) {
    size_t bytes = 0;
    for (int32_t i = 0; i < node->num_inputs; i++)
        if (simple->values[node->inputs[i]].constant < 0 && !reads_shape(simple, node))
            return false;
    for (int32_t i = 0; i < node->num_outputs; i++) {
        const leati_simple_value *value = &simple->values[node->first_output + i];
        if (value->count < 0 || value->type->dtype == LEAT_OBJECT ||
            !leati_add_size(bytes, value->row_bytes, &bytes))
            return false;
    }
    return bytes <= FOLD_LIMIT;
}

/* Computes the node into constants; true if that succeeded. */
static bool fold(leati_simple *simple, const leati_simple_node *node) {
    leat_tensor outputs[LEAT_MAX_OUTPUTS];
    leat_tensor *inputs = leati_alloc((size_t)node->num_inputs, sizeof *inputs);
    if (inputs == NULL)
        return false;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        const leati_simple_value *value = &simple->values[node->inputs[i]];
        inputs[i] = value->constant >= 0
                        ? simple->constants[value->constant]
                        : leat_tensor_view(value->type->dtype, value->type->shape, NULL);
    }
    leati_call_context context = {.num_replicas = 1};
    const leati_value *types = &simple->function->body.values[node->first_output];
    leat_status status =
        leati_compute(node->source, types, inputs, &context, outputs, &(leat_error){0});
    leati_free(inputs);
    for (int32_t i = 0; status == LEAT_OK && i < node->num_outputs; i++) {
        simple->values[node->first_output + i].constant = simple->num_constants;
        simple->constants[simple->num_constants++] = outputs[i];
    }
    return status == LEAT_OK;
}

/* Lets an earlier equal node stand for this one; else later ones may be equal to it. */
static bool merge(struct simplify *pass, const leati_simple_node *node) {
    const leati_node *source = node->source;
    uint64_t print = leati_rows_hash(source->op->rows, source->args, 1);
    const leati_simple_node *equal = find_equal(pass, node, print);
    if (equal == NULL) {
        pass->prints[pass->num_seen] = print;
        pass->seen[pass->num_seen++] = *node;
        return false;
    }
    for (int32_t i = 0; i < node->num_outputs; i++)
        pass->same[node->first_output + i] = equal->first_output + i;
    return true;
}

static void visit(struct simplify *pass, const leati_node *source, int32_t index) {
    leati_simple *simple = pass->simple;
    int32_t *inputs = simple->inputs + pass->inputs_used;
    for (int32_t i = 0; i < source->num_inputs; i++)
        inputs[i] = pass->same[source->inputs[i]];
    pass->inputs_used += (size_t)source->num_inputs;
    leati_simple_node node = {.source = source,
                              .index = index,
                              .flags = leati_body_node_flags(source),
                              .num_inputs = source->num_inputs,
                              .inputs = inputs,
                              .first_output = source->first_output,
                              .num_outputs = source->num_outputs};
    simple->flags |= node.flags;
    bool pure = !(node.flags & (LEATI_RANDOM | LEATI_STATEFUL | LEATI_IMPURE | LEATI_NO_EAGER));
    /* Merged before folded, so that equal constants are computed once. */
    if (pure && !has_object(source->op) && merge(pass, &node))
        return;
    if (pure && foldable(simple, &node) && fold(simple, &node))
        return;
    for (int32_t i = 0; i < node.num_outputs; i++)
        simple->values[node.first_output + i].node = simple->num_nodes;
    simple->nodes[simple->num_nodes++] = node;
}

/* Folding can leave constants that nothing reads any more; they are dropped. */
static void drop_unused_constants(leati_simple *simple, bool *used) {
    for (int32_t i = 0; i < simple->num_nodes; i++)
        for (int32_t k = 0; k < simple->nodes[i].num_inputs; k++)
            used[simple->nodes[i].inputs[k]] = true;
    for (int32_t i = 0; i < simple->num_outputs; i++)
        used[simple->outputs[i]] = true;
    for (int32_t i = 0; i < simple->num_values; i++)
        if (simple->values[i].constant >= 0 && !used[i])
            leat_tensor_unref(&simple->constants[simple->values[i].constant]);
}

leat_status leati_simplify(const leat_function *function, leati_simple *out, leat_error *err) {
    leati_simple simple = {.function = leati_graph_function_prune(function, err)};
    if (simple.function == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    struct simplify pass = {.simple = &simple};
    const leati_body *body = &simple.function->body;
    leat_status status = simplify_init(&pass, err);
    for (size_t i = 0; status == LEAT_OK && i < body->num_nodes; i++)
        visit(&pass, &body->nodes[i], (int32_t)i);
    for (int32_t i = 0; status == LEAT_OK && i < simple.num_outputs; i++)
        simple.outputs[i] = pass.same[simple.function->outputs[i]];
    if (status == LEAT_OK)
        drop_unused_constants(&simple, pass.used);
    leati_free(pass.same);
    leati_free(pass.prints);
    leati_free(pass.seen);
    leati_free(pass.used);
    if (status != LEAT_OK)
        leati_simplify_fini(&simple);
    else
        *out = simple;
    return status;
}

leat_status leati_simplify_check(const leati_simple *simple, leat_error *err) {
    for (int32_t v = 0; v < simple->num_values; v++) {
        const leati_simple_value *value = &simple->values[v];
        bool used = value->node >= 0 || value->constant >= 0;
        leat_status status = LEAT_OK;
        char text[128];
        if (!used && v >= simple->function->body.num_arguments)
            continue;
        if (value->count < 0)
            status = leati_fail(err, LEAT_UNIMPLEMENTED,
                                "a value has shape %s; a step needs every dimension",
                                leati_shape_text(&value->type->shape, text));
        else if (value->type->dtype == LEAT_STRING || value->type->dtype == LEAT_OBJECT)
            status = leati_fail(err, LEAT_UNIMPLEMENTED,
                                "a value is a %s; steps compute numbers, the rest belongs into the "
                                "input pipeline",
                                leat_dtype_name(value->type->dtype));
        if (status != LEAT_OK)
            return value->node < 0 ? status
                                   : leati_simplify_blame(simple, &simple->nodes[value->node], err);
    }
    return LEAT_OK;
}
