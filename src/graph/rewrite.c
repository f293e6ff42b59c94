/* Functions made from functions: without dead nodes, for concrete argument types, inside another
 * graph. The original stays as it is; node numbers are kept, so that random operations draw the
 * same values after a rewrite. No locks. */
#include "core/spec.h"
#include "graph/function.h"
#include "graph/variable_ops.h"
#include <string.h>

/* Appends a copy of `node` to `body`, its inputs renamed by `map`; records its outputs in `map`. */
static leat_status copy_node(const leati_node *node, leati_body *body, int32_t *map,
                             leat_error *err) {
    int32_t few[16] = {0}, *inputs = few;
    if (node->num_inputs > 16)
        inputs = leati_alloc((size_t)node->num_inputs, sizeof *inputs);
    if (inputs == NULL)
        return leati_no_memory(err);
    for (int32_t i = 0; i < node->num_inputs; i++)
        inputs[i] = map[node->inputs[i]];
    /* Inference runs again, so the copy's shapes follow from the types that its arguments have
     * now. */
    leat_status status = leati_body_add_node(body, node->op, node->args, inputs, node->num_inputs,
                                             node->number, err);
    if (inputs != few)
        leati_free(inputs);
    if (status != LEAT_OK)
        return status;
    leati_node *copy = &body->nodes[body->num_nodes - 1];
    copy->reverse = node->reverse;
    /* How many outputs there are may depend on shapes (unstack); `map` speaks of the old ones. */
    if (copy->num_outputs != node->num_outputs)
        return leati_fail(err, LEAT_INTERNAL, "op %s has %d outputs here and %d before",
                          node->op->name, (int)copy->num_outputs, (int)node->num_outputs);
    for (int32_t i = 0; i < node->num_outputs; i++)
        map[node->first_output + i] = copy->first_output + i;
    return LEAT_OK;
}

void leati_function_mark_needed(const leat_function *function, bool *node_needed,
                                bool *value_needed) {
    /* Nodes are in trace order, so one pass from the last to the first suffices. */
    const leati_body *body = &function->body;
    for (int32_t i = 0; i < function->num_outputs; i++)
        value_needed[function->outputs[i]] = true;
    for (size_t i = body->num_nodes; i-- > 0;) {
        const leati_node *node = &body->nodes[i];
        /* A random node may go: its draws are keyed by its number, so others do not notice. */
        bool needed = (leati_body_node_flags(node) & (LEATI_STATEFUL | LEATI_IMPURE)) != 0;
        for (int32_t k = 0; k < node->num_outputs; k++)
            needed = needed || value_needed[node->first_output + k];
        node_needed[i] = needed;
        for (int32_t k = 0; needed && k < node->num_inputs; k++)
            value_needed[node->inputs[k]] = true;
    }
}

/* Room for one rewrite of a function. */
struct rewrite {
    int32_t *map; /* value of the original to value of the copy */
    bool *node_needed, *value_needed;
};

static leat_status rewrite_init(struct rewrite *rewrite, const leati_body *body, leat_error *err) {
    rewrite->map = leati_alloc(body->num_values, sizeof *rewrite->map);
    rewrite->node_needed = leati_alloc_zero(body->num_nodes, sizeof(bool));
    rewrite->value_needed = leati_alloc_zero(body->num_values, sizeof(bool));
    if (rewrite->map == NULL || rewrite->node_needed == NULL || rewrite->value_needed == NULL)
        return leati_no_memory(err);
    /* Arguments keep their ids, unless the caller maps them to something else. */
    for (size_t i = 0; i < body->num_values; i++)
        rewrite->map[i] = i < (size_t)body->num_arguments ? (int32_t)i : -1;
    return LEAT_OK;
}

static void rewrite_fini(struct rewrite *rewrite) {
    leati_free(rewrite->map);
    leati_free(rewrite->node_needed);
    leati_free(rewrite->value_needed);
}

/* Outputs of `from` in the names of `to`. */
static leat_status map_outputs(const leat_function *from, const int32_t *map, leat_function *to,
                               leat_error *err) {
    leat_status status = leati_function_set_outputs(to, from->outputs, from->num_outputs, err);
    for (int32_t i = 0; status == LEAT_OK && i < to->num_outputs; i++)
        to->outputs[i] = map[to->outputs[i]];
    return status;
}

/* Copies nodes into `to`, whose arguments and input spec are set, and ends it. */
static leat_status copy_function(const leat_function *from, bool all, leat_function *to,
                                 leat_error *err) {
    struct rewrite rewrite = {0};
    leat_status status = rewrite_init(&rewrite, &from->body, err);
    if (status == LEAT_OK && !all)
        leati_function_mark_needed(from, rewrite.node_needed, rewrite.value_needed);
    for (size_t i = 0; status == LEAT_OK && i < from->body.num_nodes; i++)
        if (all || rewrite.node_needed[i])
            status = copy_node(&from->body.nodes[i], &to->body, rewrite.map, err);
    if (status == LEAT_OK)
        status = map_outputs(from, rewrite.map, to, err);
    rewrite_fini(&rewrite);
    /* The structure is the original's; dtypes and shapes are those that inference found now. */
    if (status == LEAT_OK)
        status = leati_function_set_spec(to, from->output, err);
    if (status == LEAT_OK)
        leati_function_seal(to);
    return status;
}

leat_function *leati_graph_function_prune(const leat_function *function, leat_error *err) {
    leat_function *copy = leati_function_new(err);
    if (copy == NULL)
        return NULL;
    copy->input = leat_spec_ref(function->input);
    if (leati_body_add_arguments(&copy->body, function->input, err) != LEAT_OK ||
        copy_function(function, false, copy, err) != LEAT_OK) {
        leat_function_unref(copy);
        return NULL;
    }
    return copy;
}

/* What is known from either of two compatible shapes. */
static leat_shape intersect(const leat_shape *a, const leat_shape *b) {
    /* An unknown rank says nothing, so the other one holds. */
    if (a->rank < 0 || b->rank < 0)
        return a->rank < 0 ? *b : *a;
    leat_shape both = *b;
    for (int32_t i = 0; i < both.rank; i++)
        if (both.dims[i] == LEAT_UNKNOWN_DIM)
            both.dims[i] = a->dims[i];
    return both;
}

/* Argument `index` of `function` with the caller's type; it must be one that the function takes. */
static leat_status specialise_argument(const leat_function *function, int32_t index,
                                       const leati_type *type, leat_function *copy,
                                       leat_error *err) {
    const leati_type *declared = &function->body.values[index].type;
    char expected[128], found[128];
    if (type->dtype != declared->dtype || !leati_shape_compatible(&declared->shape, &type->shape))
        return leati_refuse(
            err, SHAPE, "argument %d is %s of shape %s, but the function takes %s of shape %s",
            (int)index, leat_dtype_name(type->dtype), leati_shape_text(&type->shape, found),
            leat_dtype_name(declared->dtype), leati_shape_text(&declared->shape, expected));
    leati_type merged = *type;
    merged.shape = intersect(&declared->shape, &type->shape);
    /* A caller that knows tensors alone leaves the elements of a dataset as they were declared. */
    if (merged.element == NULL)
        merged.element = declared->element;
    return leati_body_add_argument(&copy->body, &merged, err);
}

/* The input spec of the original with the argument types of the copy. */
static leat_status specialise_input(const leat_function *function, leat_function *copy,
                                    leat_error *err) {
    int32_t count = copy->body.num_arguments;
    leat_dtype *dtypes = leati_alloc((size_t)count, sizeof *dtypes);
    leat_shape *shapes = leati_alloc((size_t)count, sizeof *shapes);
    leat_error failure = {0};
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(&failure);
    } else {
        for (int32_t i = 0; i < count; i++) {
            dtypes[i] = copy->body.values[i].type.dtype;
            shapes[i] = copy->body.values[i].type.shape;
        }
        copy->input = leati_spec_like(function->input, dtypes, shapes, &failure);
    }
    leati_free(dtypes);
    leati_free(shapes);
    if (failure.code != LEAT_OK)
        *err = failure;
    return failure.code;
}

leat_function *leati_graph_function_specialise(const leat_function *function,
                                               const leati_type *arguments, leat_error *err) {
    leat_function *copy = leati_function_new(err);
    leat_status status = copy != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
    for (int32_t i = 0; status == LEAT_OK && i < function->body.num_arguments; i++)
        status = specialise_argument(function, i, &arguments[i], copy, err);
    if (status == LEAT_OK)
        status = specialise_input(function, copy, err);
    if (status == LEAT_OK)
        status = copy_function(function, true, copy, err);
    if (status == LEAT_OK)
        return copy;
    leat_function_unref(copy);
    return NULL;
}

/* The input spec without the last `count` components: without its last children where these are
 * they, else a plain tuple. Owned. */
static leat_spec *leading_input(const leat_function *function, int count, leat_error *err) {
    const leat_spec *input = function->input;
    int num_children =
        leat_spec_get_kind(input) == LEAT_SPEC_TUPLE ? leat_spec_num_children(input) : 0;
    int num_kept = num_children, dropped = 0;
    /* A child with several components may reach over the border; `dropped` then passes `count`. */
    while (num_kept > 0 && dropped < count)
        dropped += leat_spec_num_components(leat_spec_child(input, --num_kept));
    if (dropped == count && num_children) {
        leat_spec **kept = leati_alloc((size_t)num_kept, sizeof(leat_spec *));
        if (kept == NULL) {
            leati_no_memory(err);
            return NULL;
        }
        for (int i = 0; i < num_kept; i++)
            kept[i] = leat_spec_ref((leat_spec *)(uintptr_t)leat_spec_child(input, i));
        leat_spec *spec = leat_spec_tuple(kept, num_kept, err);
        leati_free(kept);
        return spec;
    }
    int left = function->body.num_arguments - count;
    leati_type *types = leati_alloc((size_t)left, sizeof *types);
    if (types == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    for (int i = 0; i < left; i++)
        types[i] = function->body.values[i].type;
    leat_spec *spec = leati_function_spec_of_types(types, left, err);
    leati_free(types);
    return spec;
}

/* Appends the node that stands for argument `index`, and checks what it gives. */
static leat_status bind_argument(const leat_function *from, int32_t index,
                                 const leati_binding *binding, int64_t number, leati_body *body,
                                 int32_t *value, leat_error *err) {
    const leati_type *declared = &from->body.values[index].type;
    leat_status status =
        leati_body_add_node(body, binding->op, binding->args, NULL, 0, number, err);
    if (status != LEAT_OK)
        return status;
    /* Operations that are bound (constants and their kind) have one output. */
    *value = (int32_t)body->num_values - 1;
    const leati_type *type = &body->values[*value].type;
    char expected[128], found[128];
    if (type->dtype == declared->dtype && leati_shape_compatible(&declared->shape, &type->shape))
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE, "argument %d is %s of shape %s, but the function takes %s of shape %s",
        (int)index, leat_dtype_name(type->dtype), leati_shape_text(&type->shape, found),
        leat_dtype_name(declared->dtype), leati_shape_text(&declared->shape, expected));
}

/* Fills an empty function. */
static leat_status bind_function(const leat_function *from, const leati_binding *bindings,
                                 int count, leat_function *to, leat_error *err) {
    struct rewrite rewrite = {0};
    int32_t left = from->body.num_arguments - count;
    int64_t number = 0;
    /* Bound nodes get numbers behind all others', whose draws they must not share. */
    for (size_t i = 0; i < from->body.num_nodes; i++)
        if (from->body.nodes[i].number >= number)
            number = from->body.nodes[i].number + 1;
    leat_status status = rewrite_init(&rewrite, &from->body, err);
    for (int32_t i = 0; status == LEAT_OK && i < left; i++)
        status = leati_body_add_argument(&to->body, &from->body.values[i].type, err);
    for (int32_t i = 0; status == LEAT_OK && i < count; i++)
        status = bind_argument(from, left + i, &bindings[i], number + i, &to->body,
                               &rewrite.map[left + i], err);
    for (size_t i = 0; status == LEAT_OK && i < from->body.num_nodes; i++)
        status = copy_node(&from->body.nodes[i], &to->body, rewrite.map, err);
    if (status == LEAT_OK)
        status = map_outputs(from, rewrite.map, to, err);
    rewrite_fini(&rewrite);
    if (status == LEAT_OK)
        status = leati_function_set_spec(to, from->output, err);
    return status;
}

leat_function *leati_graph_function_bind(const leat_function *function,
                                         const leati_binding *bindings, int count,
                                         leat_error *err) {
    if (count < 0 || count > function->body.num_arguments) {
        leati_refuse(err, VALUE,
                     "%d values are captured by a function of %d arguments; they are its last ones",
                     count, (int)function->body.num_arguments);
        return NULL;
    }
    leat_function *copy = leati_function_new(err);
    if (copy == NULL)
        return NULL;
    copy->input = leading_input(function, count, err);
    if (copy->input == NULL || bind_function(function, bindings, count, copy, err) != LEAT_OK) {
        leat_function_unref(copy);
        return NULL;
    }
    /* Errors still name the line where the user wrote the function. */
    memcpy(copy->place, function->place, sizeof copy->place);
    leati_function_seal(copy);
    return copy;
}

bool leati_graph_inline(leat_graph *graph, const leat_function *function,
                        const leat_value *arguments, leat_value *outputs) {
    if (graph == NULL || graph->error.code != LEAT_OK)
        return false;
    struct rewrite rewrite = {0};
    leat_error err = {0};
    leat_status status = rewrite_init(&rewrite, &function->body, &err);
    for (int32_t i = 0; status == LEAT_OK && i < function->body.num_arguments; i++) {
        /* An id beyond the values is refused by the node that takes it. */
        if (arguments[i].graph != graph || arguments[i].id < 0)
            status = leati_refuse(&err, VALUE,
                                  "argument %d of a function is not a value of this graph", (int)i);
        rewrite.map[i] = arguments[i].id;
    }
    for (size_t i = 0; status == LEAT_OK && i < function->body.num_nodes; i++) {
        status = copy_node(&function->body.nodes[i], &graph->body, rewrite.map, &err);
        if (status == LEAT_OK)
            leati_graph_note_writes(graph, (int32_t)graph->body.num_nodes - 1);
        if (status == LEAT_OK && graph->hook != NULL)
            status =
                graph->hook(graph->hook_context, graph, (int32_t)graph->body.num_nodes - 1, &err);
    }
    for (int32_t i = 0; status == LEAT_OK && i < function->num_outputs; i++)
        outputs[i] = (leat_value){.graph = graph, .id = rewrite.map[function->outputs[i]]};
    /* Inlined nodes keep their numbers, so nodes that follow must not get one of these. */
    for (size_t i = 0; status == LEAT_OK && i < function->body.num_nodes; i++)
        if (graph->next_number <= function->body.nodes[i].number)
            graph->next_number = function->body.nodes[i].number + 1;
    rewrite_fini(&rewrite);
    if (status != LEAT_OK)
        leati_graph_error(graph, &err);
    return status == LEAT_OK;
}

int leat_graph_inline(leat_graph *graph, const leat_function *function, const leat_value *inputs,
                      int num_inputs, leat_value *outputs, int capacity) {
    leat_error err = {0};
    if (graph == NULL || graph->error.code != LEAT_OK)
        return -1;
    if (function == NULL || num_inputs != function->body.num_arguments ||
        function->num_outputs > capacity)
        leati_refuse(&err, VALUE,
                     "expected a function of %d arguments with at most %d outputs, found one of %d "
                     "with %d",
                     num_inputs, capacity, function != NULL ? (int)function->body.num_arguments : 0,
                     function != NULL ? (int)function->num_outputs : 0);
    else if (leati_graph_inline(graph, function, inputs, outputs))
        return function->num_outputs;
    leati_graph_error(graph, &err);
    return -1;
}
