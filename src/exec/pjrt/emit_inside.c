/* Functions among attributes (branches, bodies of loops), printed where they are called.
 *
 * Happy path: the function is inferred again for the types of its arguments, simplified as a step
 * is, and its nodes are appended to what is being printed. What only shapes are read of is not
 * printed. Failures: shapes that are not known, operations that are not there, memory. No locks. */
#include "exec/pjrt/emit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "graph/support/control/branch.h"
#include "graph/variable_ops.h"
#include <string.h>

/* ---- what is needed ---- */

static void mark_needed(leati_emit_inside *inside) {
    const leati_simple *simple = &inside->simple;
    for (int32_t o = 0; o < simple->num_outputs; o++)
        inside->value_needed[simple->outputs[o]] = true;
    for (int32_t n = simple->num_nodes; n-- > 0;) {
        const leati_simple_node *node = &simple->nodes[n];
        bool needed = (node->flags & LEATI_STATEFUL) != 0;
        for (int32_t o = 0; o < node->num_outputs; o++)
            needed = needed || inside->value_needed[node->first_output + o];
        inside->node_needed[n] = needed;
        for (int32_t i = 0; needed && i < node->num_inputs; i++)
            if (leati_emit_reads(node->source->op, i))
                inside->value_needed[node->inputs[i]] = true;
    }
}

const leat_tensor *leati_emit_known(const leati_emit *emit, int index) {
    const leati_simple *simple = emit->simple;
    int32_t v = emit->node->inputs[index], constant = simple->values[v].constant;
    if (constant >= 0)
        return &simple->constants[constant];
    return emit->known != NULL && v < simple->function->body.num_arguments ? emit->known[v] : NULL;
}

/* ---- functions ---- */

/* The function for these types, simplified. */
static leat_status simplify(const leati_emit *emit, const char *name, const leat_object *object,
                            const leati_hlo_value *arguments, leati_simple *out, leat_error *err) {
    int count = (int)((const leat_function *)(const void *)object)->body.num_arguments;
    leati_type *types = leati_alloc((size_t)count + 1, sizeof *types);
    if (types == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < count; i++) {
        leati_hlo_type type = leati_hlo_type_of(&emit->hlo, arguments[i]);
        types[i] = (leati_type){.dtype = type.dtype, .shape = type.shape};
    }
    leat_function *function = leati_branch_specialise(name, object, types, count, err);
    leati_free(types);
    if (function == NULL)
        return err->code;
    leat_status status = leati_simplify(function, out, err);
    leat_function_unref(function);
    if (status == LEAT_OK)
        status = leati_simplify_check(out, err);
    return status == LEAT_OK ? LEAT_OK : leati_prefix(err, "%s", name);
}

const leat_object *leati_emit_function(const leati_emit *emit, const char *name) {
    leat_object *const *object = leati_emit_attribute(emit, name);
    return object == NULL ? NULL : *object;
}

leat_status leati_emit_inside_init(leati_emit *emit, const char *name, const leat_object *function,
                                   const leati_hlo_value *arguments,
                                   const leat_tensor *const *known, leati_emit_inside *out,
                                   leat_error *err) {
    if (!leati_graph_object_is_function(function))
        return leati_fail(err, LEAT_INTERNAL, "%s is no function", name);
    LEATI_TRY(simplify(emit, name, function, arguments, &out->simple, err));
    const leati_simple *simple = &out->simple;
    size_t count = (size_t)simple->function->body.num_arguments;
    out->known = leati_alloc_zero(count + 1, sizeof *out->known);
    out->node_needed = leati_alloc_zero((size_t)simple->num_nodes + 1, sizeof(bool));
    out->value_needed = leati_alloc_zero((size_t)simple->num_values + 1, sizeof(bool));
    if (out->known == NULL || out->node_needed == NULL || out->value_needed == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; known != NULL && i < count; i++)
        out->known[i] = known[i];
    mark_needed(out);
    return LEAT_OK;
}

void leati_emit_inside_fini(leati_emit_inside *inside) {
    leati_simplify_fini(&inside->simple);
    leati_free(inside->known);
    leati_free(inside->node_needed);
    leati_free(inside->value_needed);
    *inside = (leati_emit_inside){0};
}

/* ---- printing ---- */

/* Constants are a part of the program. */
static void import(leati_emit *emit, int32_t v, leati_hlo_value *numbers) {
    int32_t constant = emit->simple->values[v].constant;
    if (numbers[v] < 0 && constant >= 0)
        numbers[v] = leati_hlo_constant(&emit->hlo, &emit->simple->constants[constant]);
}

static leat_status print_nodes(leati_emit *emit, const leati_emit_inside *inside,
                               leati_hlo_value *numbers, leati_hlo_value *results,
                               leat_error *err) {
    const leati_simple *simple = &inside->simple;
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        const leati_simple_node *node = &simple->nodes[n];
        if (!inside->node_needed[n])
            continue;
        for (int32_t i = 0; i < node->num_inputs; i++)
            if (leati_emit_reads(node->source->op, i))
                import(emit, node->inputs[i], numbers);
        LEATI_TRY(leati_emit_node(emit, node, numbers, err));
    }
    for (int32_t o = 0; o < simple->num_outputs; o++) {
        import(emit, simple->outputs[o], numbers);
        results[o] = numbers[simple->outputs[o]];
    }
    return LEAT_OK;
}

leat_status leati_emit_inside_print(leati_emit *emit, const leati_emit_inside *inside,
                                    const leati_hlo_value *arguments, leati_hlo_value *results,
                                    leat_error *err) {
    const leati_simple *simple = &inside->simple;
    leati_hlo_value *numbers = leati_alloc((size_t)simple->num_values + 1, sizeof *numbers);
    if (numbers == NULL)
        return leati_no_memory(err);
    for (int32_t v = 0; v < simple->num_values; v++)
        numbers[v] = v < simple->function->body.num_arguments ? arguments[v] : -1;
    /* What is being printed outside goes on afterwards. */
    const leati_simple *outer = emit->simple;
    const leati_simple_node *node = emit->node;
    const leat_tensor *const *known = emit->known;
    const leati_hlo_value *inputs = emit->inputs;
    leati_hlo_value *outputs = emit->outputs;
    int num_inputs = emit->num_inputs;
    const char *text = emit->text;
    emit->simple = simple;
    emit->known = inside->known;
    leat_status status = print_nodes(emit, inside, numbers, results, err);
    emit->simple = outer;
    emit->node = node;
    emit->known = known;
    emit->inputs = inputs;
    emit->outputs = outputs;
    emit->num_inputs = num_inputs;
    emit->text = text;
    leati_free(numbers);
    return status;
}

/* ---- variables ---- */

static void touch(leati_emit *emit, const leat_function *function) {
    for (size_t n = 0; n < function->body.num_nodes; n++) {
        const leati_node *node = &function->body.nodes[n];
        const leati_row *row = node->op->rows;
        for (; row != NULL && row->type != LEATI_ROW_END; row++) {
            leat_object *const *at = (void *)((char *)node->args + row->offset);
            if (row->type == LEATI_ROW_FUNCTION && leati_graph_object_is_function(*at))
                touch(emit, (const leat_function *)(const void *)*at);
            if (row->type != LEATI_ROW_OBJECT || !leati_variable_is_object(*at))
                continue;
            leati_emit_variable *variable =
                leati_emit_variable_at(emit, (leat_variable *)(void *)*at);
            if (variable == NULL)
                return;
            variable->read_inside = true;
            if (node->op != &leati_tensor_op_read_variable)
                variable->written_inside = true;
        }
    }
}

void leati_emit_touch(leati_emit *emit, const char *name) {
    const leat_object *object = leati_emit_function(emit, name);
    if (leati_graph_object_is_function(object))
        touch(emit, (const leat_function *)(const void *)object);
}
