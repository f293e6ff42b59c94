/* Which part of a step runs where, and each stage's program.
 *
 * Happy path: a node goes into the first stage in which its inputs are there. Random numbers, which
 * are the CPU's, and exchanges between replicas are the host's: what it makes is there one stage
 * later. Reads and writes of variables keep their order. A program's arguments are found as its
 * nodes are printed; what a later stage, the host or the caller needs of it are its results.
 * Failures: those of emitters, no memory. No locks. */
#include "exec/pjrt/stage.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/tensor.h"
#include <string.h>

/* ---- where ---- */

/* Random numbers, and pictures changed by some, that the device does not draw. */
static bool is_drawn(const leati_simple *simple, const leati_simple_node *node) {
    const leati_tensor_op *op = node->source->op;
    if ((node->flags & LEATI_RANDOM) ||
        (op->types != NULL && strstr(op->types, "Tseed") != NULL && !leati_emit_has(op)))
        return true;
    return strcmp(leati_graph_op_family(op), "random") == 0 &&
           (!leati_emit_has(op) || simple->values[node->first_output].type->dtype != LEAT_FLOAT32);
}

/* Does the host do it? With one replica nothing is exchanged, and the device does. */
static bool is_for_host(const leati_simple *simple, const leati_simple_node *node,
                        const leati_call_context *context) {
    return is_drawn(simple, node) || ((node->flags & LEATI_NO_EAGER) && context->num_replicas > 1);
}

/* Does the host lack what the node needs: variables of the device, in a branch or loop? */
static bool is_for_neither(const leati_simple_node *node, bool host) {
    const leati_row *row = node->source->op->rows;
    bool inside = false;
    for (; row != NULL && row->type != LEATI_ROW_END; row++)
        inside = inside || row->type == LEATI_ROW_FUNCTION;
    return host && inside && (node->flags & LEATI_STATEFUL) != 0;
}

static int32_t *zeros(int32_t count) {
    return leati_alloc_zero((size_t)count + 1, sizeof(int32_t));
}

/* Adds the node to the graph, with its arguments for inputs, and finishes it. */
static leat_function *finish_node(leat_graph *graph, const leati_simple_node *node, int32_t *ids,
                                  leat_value *values, leat_error *err) {
    for (int32_t i = 0; i < node->num_inputs; i++)
        ids[i] = leat_graph_argument(graph, i).id;
    int32_t first =
        leati_graph_add(graph, node->source->op, node->source->args, ids, node->num_inputs);
    if (first >= 0)
        /* Random numbers go by it. */
        graph->body.nodes[graph->body.num_nodes - 1].number = node->source->number;
    for (int32_t o = 0; o < node->num_outputs; o++)
        values[o] = (leat_value){.graph = graph, .id = first < 0 ? -1 : first + o};
    return leat_graph_finish(graph, values, node->num_outputs, NULL, err);
}

/* The node alone, whose inputs are the function's arguments. */
static leat_function *function_of(const leati_simple *simple, const leati_simple_node *node,
                                  leat_error *err) {
    size_t count = (size_t)node->num_inputs;
    leat_spec **components = leati_alloc(count + 1, sizeof(leat_spec *));
    leat_value *values = leati_alloc((size_t)node->num_outputs + 1, sizeof *values);
    int32_t *ids = leati_alloc(count + 1, sizeof *ids);
    leat_function *function = NULL;
    if (components != NULL && values != NULL && ids != NULL) {
        for (size_t i = 0; i < count; i++) {
            const leati_type *type = simple->values[node->inputs[i]].type;
            components[i] = leat_spec_tensor(type->dtype, type->shape, err);
        }
        /* It takes the components, and says what is missing of them. */
        leat_spec *spec = leat_spec_tuple(components, node->num_inputs, err);
        leat_graph *graph = spec == NULL ? NULL : leat_graph_new(spec, err);
        leat_spec_unref(spec);
        if (graph != NULL)
            function = finish_node(graph, node, ids, values, err);
    } else {
        leati_no_memory(err);
    }
    leati_free(components);
    leati_free(values);
    leati_free(ids);
    return function;
}

static leat_status add_host(leati_pjrt_step *step, const leati_simple_node *node, int32_t stage,
                            leat_error *err) {
    leati_pjrt_host *host = &step->hosts[step->num_hosts++];
    *host = (leati_pjrt_host){.node = node, .stage = stage};
    host->function = function_of(&step->simple, node, err);
    return host->function == NULL ? leati_simplify_blame(&step->simple, node, err) : LEAT_OK;
}

leat_status leati_pjrt_assign_stages(leati_pjrt_step *step, const leati_call_context *context,
                                     leat_error *err) {
    const leati_simple *simple = &step->simple;
    /* Of each value, the first stage in which it is there. */
    int32_t *there = zeros(simple->num_values);
    step->stage_of = zeros(simple->num_nodes);
    step->on_host = leati_alloc_zero((size_t)simple->num_nodes + 1, sizeof *step->on_host);
    step->hosts = leati_alloc_zero((size_t)simple->num_nodes + 1, sizeof *step->hosts);
    leat_status status = LEAT_OK;
    int32_t last_state = 0, last_host = -1;
    if (there == NULL || step->stage_of == NULL || step->on_host == NULL || step->hosts == NULL)
        status = leati_no_memory(err);
    for (int32_t n = 0; n < simple->num_nodes && status == LEAT_OK; n++) {
        const leati_simple_node *node = &simple->nodes[n];
        bool host = is_for_host(simple, node, context), state = (node->flags & LEATI_STATEFUL) != 0;
        int32_t stage = host && node->num_inputs == 0 ? -1 : 0;
        for (int32_t i = 0; i < node->num_inputs; i++)
            stage = LEATI_MAX(stage, there[node->inputs[i]]);
        /* Exchanges in their order, the same on all replicas. */
        if (host && state)
            stage = LEATI_MAX(stage, last_host);
        else if (state)
            stage = LEATI_MAX(stage, last_state);
        if (host && state)
            last_host = stage;
        else if (state)
            last_state = stage;
        step->stage_of[n] = stage;
        step->on_host[n] = host;
        for (int32_t o = 0; o < node->num_outputs; o++)
            there[node->first_output + o] = stage + host;
        step->num_stages = LEATI_MAX(step->num_stages, stage + host);
        if (is_for_neither(node, host)) {
            (void)leati_fail(
                err, LEAT_UNIMPLEMENTED,
                "variables beside random numbers without a seed, or beside an exchange "
                "of replicas, in a branch or loop are not there on this device; draw "
                "outside, or with a seed");
            status = leati_simplify_blame(simple, node, err);
        } else if (host) {
            status = add_host(step, node, stage, err);
        }
    }
    /* Numbers of stages are those of the last one so far. */
    step->num_stages++;
    leati_free(there);
    return status;
}

/* ---- programs ---- */

typedef struct printer {
    leati_pjrt_step *step;
    int32_t stage;
    leati_emit emit;
    leati_hlo_value *numbers; /* of the function's values in this program; -1: not there */
    leati_hlo_value *inputs;  /* numbers of the arguments */
    leati_pjrt_slot *slots;   /* where they come from */
    size_t num_inputs, room;
    leati_hlo_value *results;
    leati_pjrt_slot *goals;
    size_t num_results;
} printer;

/* A new argument of the program. */
static leati_hlo_value add_input(printer *p, leati_pjrt_place place, int32_t index,
                                 leat_dtype dtype, const leat_shape *shape) {
    leati_hlo_value number = leati_hlo_argument(&p->emit.hlo, dtype, shape);
    p->slots[p->num_inputs] = (leati_pjrt_slot){place, index};
    p->inputs[p->num_inputs++] = number;
    return number;
}

/* Constants of more values are arguments: as text they would make the program large. */
enum { SMALL_CONSTANT = 64 };

static leat_status upload_constant(leati_pjrt_step *step, int32_t c, leat_error *err) {
    leati_device *device = &step->device->base;
    const leat_tensor *tensor = &step->simple.constants[c];
    leat_shape shape = leat_tensor_shape(tensor);
    if (step->constants[c] != NULL)
        return LEAT_OK;
    LEATI_TRY(device->ops->alloc(device, tensor->dtype, &shape, &step->constants[c], err));
    return device->ops->upload(device, tensor->data, step->constants[c], leat_tensor_bytes(tensor),
                               err);
}

/* Makes value v one of the program's. */
static leat_status import(printer *p, int32_t v, leat_error *err) {
    const leati_simple_value *value = &p->step->simple.values[v];
    const leati_type *type = value->type;
    if (p->numbers[v] >= 0)
        return LEAT_OK;
    if (value->constant >= 0 && (value->count <= SMALL_CONSTANT || p->step->is_text)) {
        p->numbers[v] =
            leati_hlo_constant(&p->emit.hlo, &p->step->simple.constants[value->constant]);
        return LEAT_OK;
    }
    if (value->constant >= 0)
        LEATI_TRY(upload_constant(p->step, value->constant, err));
    leati_pjrt_place place = value->constant >= 0 ? LEATI_PJRT_CONSTANT
                             : value->node < 0    ? LEATI_PJRT_ARGUMENT
                                                  : LEATI_PJRT_VALUE;
    p->numbers[v] = add_input(p, place, place == LEATI_PJRT_CONSTANT ? value->constant : v,
                              type->dtype, &type->shape);
    return LEAT_OK;
}

static leat_status print_nodes(printer *p, leat_error *err) {
    const leati_simple *simple = &p->step->simple;
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        const leati_simple_node *node = &simple->nodes[n];
        if (p->step->on_host[n] || p->step->stage_of[n] != p->stage)
            continue;
        for (int32_t i = 0; i < node->num_inputs; i++)
            LEATI_TRY(import(p, node->inputs[i], err));
        LEATI_TRY(leati_emit_node(&p->emit, node, p->numbers, err));
    }
    return LEAT_OK;
}

/* Does somebody else read what node `maker` gives: the host, or a later stage? */
static bool is_kept(const leati_pjrt_step *step, int32_t v) {
    const leati_simple *simple = &step->simple;
    int32_t maker = simple->values[v].node;
    for (int32_t n = maker + 1; n < simple->num_nodes; n++) {
        const leati_simple_node *node = &simple->nodes[n];
        if (!step->on_host[n] && step->stage_of[n] <= step->stage_of[maker])
            continue;
        for (int32_t i = 0; i < node->num_inputs; i++)
            if (node->inputs[i] == v)
                return true;
    }
    bool last = step->stage_of[maker] == step->num_stages - 1;
    for (int32_t o = 0; o < simple->num_outputs && !last; o++)
        if (simple->outputs[o] == v)
            return true;
    return false;
}

static void add_result(printer *p, leati_pjrt_place place, int32_t index, leati_hlo_value number) {
    p->goals[p->num_results] = (leati_pjrt_slot){place, index};
    p->results[p->num_results++] = number;
}

static leat_status find_results(printer *p, leat_error *err) {
    const leati_pjrt_step *step = p->step;
    const leati_simple *simple = &step->simple;
    for (int32_t v = 0; v < simple->num_values; v++) {
        int32_t maker = simple->values[v].node;
        if (maker >= 0 && !step->on_host[maker] && step->stage_of[maker] == p->stage &&
            is_kept(step, v))
            add_result(p, LEATI_PJRT_VALUE, v, p->numbers[v]);
    }
    for (int32_t o = 0; o < simple->num_outputs && p->stage == step->num_stages - 1; o++) {
        LEATI_TRY(import(p, simple->outputs[o], err));
        add_result(p, LEATI_PJRT_RESULT, o, p->numbers[simple->outputs[o]]);
    }
    return LEAT_OK;
}

static leat_status index_of_variable(leati_pjrt_step *step, leat_variable *variable, int32_t *out,
                                     leat_error *err) {
    size_t i = 0;
    while (i < step->num_variables && step->variables[i] != variable)
        i++;
    if (i == step->num_variables) {
        if (!leati_grow((void **)&step->variables, &step->variable_capacity, i + 1,
                        sizeof *step->variables))
            return leati_no_memory(err);
        step->variables[step->num_variables++] = variable;
    }
    *out = (int32_t)i;
    return LEAT_OK;
}

/* Arguments and results for the variables that the nodes met. */
static leat_status add_variables(printer *p, leat_error *err) {
    for (size_t i = 0; !p->step->is_text && i < p->emit.num_variables; i++) {
        const leati_emit_variable *met = &p->emit.variables[i];
        int32_t index = 0;
        LEATI_TRY(index_of_variable(p->step, met->variable, &index, err));
        p->slots[p->num_inputs] = (leati_pjrt_slot){LEATI_PJRT_VARIABLE, index};
        p->inputs[p->num_inputs++] = met->argument;
        if (met->written)
            add_result(p, LEATI_PJRT_VARIABLE, index, met->now);
    }
    return LEAT_OK;
}

/* Room for all values and variables, each at most once an argument and a result. */
static leat_status make_room(printer *p, leat_error *err) {
    const leati_simple *simple = &p->step->simple;
    size_t room = 2 * (size_t)simple->num_values + (size_t)simple->num_outputs + 1;
    for (int32_t n = 0; n < simple->num_nodes; n++)
        room += (simple->nodes[n].flags & LEATI_STATEFUL) != 0 ? 3 : 0;
    p->numbers = leati_alloc((size_t)simple->num_values + 1, sizeof *p->numbers);
    p->inputs = leati_alloc(room, sizeof *p->inputs);
    p->slots = leati_alloc(room, sizeof *p->slots);
    p->results = leati_alloc(room, sizeof *p->results);
    p->goals = leati_alloc(room, sizeof *p->goals);
    if (p->numbers == NULL || p->inputs == NULL || p->slots == NULL || p->results == NULL ||
        p->goals == NULL)
        return leati_no_memory(err);
    for (int32_t v = 0; v < simple->num_values; v++)
        p->numbers[v] = -1;
    return LEAT_OK;
}

static leat_status print_stage(printer *p, leat_error *err) {
    LEATI_TRY(make_room(p, err));
    for (int32_t a = 0; p->step->is_text && a < p->step->simple.function->body.num_arguments; a++)
        LEATI_TRY(import(p, a, err));
    LEATI_TRY(print_nodes(p, err));
    LEATI_TRY(find_results(p, err));
    return add_variables(p, err);
}

char *leati_pjrt_print_stage(leati_pjrt_step *step, int32_t stage,
                             const leati_call_context *context, leat_error *err) {
    leati_pjrt_stage *made = &step->stages[stage];
    printer p = {.step = step, .stage = stage};
    p.emit = (leati_emit){.simple = &step->simple, .context = context, .is_text = step->is_text};
    char *text = NULL;
    if (print_stage(&p, err) == LEAT_OK) {
        text = leati_hlo_take(&p.emit.hlo, p.inputs, p.num_inputs, p.results, p.num_results, 1);
        made->in = leati_alloc_zero(p.num_inputs + 1, sizeof *made->in);
        made->out = leati_alloc_zero(p.num_results + 1, sizeof *made->out);
        if (text == NULL || made->in == NULL || made->out == NULL) {
            leati_free(text);
            text = NULL;
            leati_no_memory(err);
        }
    }
    made->inputs = p.slots;
    made->num_inputs = p.num_inputs;
    made->outputs = p.goals;
    made->num_outputs = p.num_results;
    leati_hlo_fini(&p.emit.hlo);
    leati_free(p.emit.variables);
    leati_free(p.numbers);
    leati_free(p.inputs);
    leati_free(p.results);
    return text;
}
