/* Eager execution: a graph whose nodes are computed as they are added, and functions called once.
 *
 * An eager graph is a traced graph with a hook that runs each new node by its plain kernel and
 * keeps the tensors of all values; since the nodes are kept too, the graph is its own gradient
 * tape, and leat_value_gradients, which adds nodes, yields numbers. Shapes that inference left open
 * are replaced by those found, so that everything downstream is static. Failures: the kernel's,
 * kept by the graph as its error. No locks: a builder belongs to one thread. */
#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "exec/compute.h"
#include "exec/cpu/single.h"
#include "graph/body.h"
#include "graph/draws.h"
#include "graph/function.h"
#include "graph/graph.h"
#include "graph/interpret.h"
#include "run/cancel.h"
#include "run/crew.h"
#include "run/pool.h"
#include <string.h>

struct eager {
    leat_tensor *tensors; /* of each value; {0}: none. Owned */
    size_t capacity;
    leati_draws *kept; /* of functions that nodes ran; NULL: none yet. Owned */
};

static leat_status refuse_replicas(const leati_node *node, leat_error *err) {
    if (!(leati_body_node_flags(node) & LEATI_NO_EAGER))
        return LEAT_OK;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "%s works between replicas; call it in a function that a strategy runs",
                      node->op->name);
}

/* What a node knows: draws go on from call to call; those inside of functions are kept, so that
 * gradients can draw them again. */
static leat_status context_of(struct eager *eager, const leati_node *node, leati_call_context *out,
                              leat_error *err) {
    *out = (leati_call_context){.num_replicas = 1, .may_wait = true};
    uint32_t flags = leati_body_node_flags(node);
    if (!(flags & LEATI_RANDOM))
        return LEAT_OK;
    out->draws = leati_draws_of_eager();
    if (node->op->flags & LEATI_RANDOM)
        return LEAT_OK;
    if (eager->kept == NULL)
        eager->kept = leati_draws_new(err);
    out->kept = eager->kept;
    return eager->kept != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
}

/* Runs one node of a body on the tensors of its values. */
static leat_status compute_node(struct eager *eager, const leati_body *body, const leati_node *node,
                                leat_error *err) {
    leat_tensor *tensors = eager->tensors;
    leat_status status = refuse_replicas(node, err);
    if (status != LEAT_OK)
        return status;
    /* Nearly every operation does with these, so a call takes no memory for its inputs. */
    leat_tensor few[8], *inputs = few;
    if (node->num_inputs > 8)
        inputs = leati_alloc((size_t)node->num_inputs, sizeof *inputs);
    if (inputs == NULL)
        return leati_no_memory(err);
    for (int32_t i = 0; i < node->num_inputs; i++)
        inputs[i] = tensors[node->inputs[i]];
    leati_call_context context;
    status = context_of(eager, node, &context, err);
    int before = leati_crew_enter(leati_pool_num_cores());
    bool ran = false;
    if (status == LEAT_OK)
        status = leati_single_run(node, &body->values[node->first_output], inputs, &context,
                                  &tensors[node->first_output], &ran, err);
    if (status == LEAT_OK && !ran)
        status = leati_compute(node, &body->values[node->first_output], inputs, &context,
                               &tensors[node->first_output], err);
    leati_crew_leave(before);
    if (inputs != few)
        leati_free(inputs);
    return status;
}

/* ---- eager graphs ---- */

static leat_status eager_node(void *context, leat_graph *graph, int32_t index, leat_error *err) {
    struct eager *eager = context;
    leati_body *body = &graph->body;
    const leati_node *node = &body->nodes[index];
    size_t known = eager->capacity;
    if (!leati_grow((void **)&eager->tensors, &eager->capacity, body->num_values,
                    sizeof *eager->tensors))
        return leati_no_memory(err);
    /* Room beyond the values counts as "no tensor", too: eager_value asks for any number. */
    for (size_t i = known; i < eager->capacity; i++)
        eager->tensors[i] = (leat_tensor){0};
    leat_status status = compute_node(eager, body, node, err);
    for (int32_t i = 0; status == LEAT_OK && i < node->num_outputs; i++) {
        int32_t v = node->first_output + i;
        body->values[v].type.shape = leat_tensor_shape(&eager->tensors[v]);
    }
    return status;
}

static leat_status eager_value(void *context, int32_t value, leat_tensor *out, leat_error *err) {
    const struct eager *eager = context;
    if ((size_t)value >= eager->capacity || !eager->tensors[value].dtype)
        return leati_refuse(err, VALUE, "value %d is not one of this graph", (int)value);
    *out = leat_tensor_ref(&eager->tensors[value]);
    return LEAT_OK;
}

static void eager_free(void *context) {
    struct eager *eager = context;
    for (size_t i = 0; i < eager->capacity; i++)
        leat_tensor_unref(&eager->tensors[i]);
    leati_free(eager->tensors);
    leati_draws_free(eager->kept);
    leati_free(eager);
}

leat_graph *leat_graph_new_eager(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct eager *eager = leati_alloc_zero(1, sizeof *eager);
    if (eager == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_graph *graph = leat_graph_new(NULL, err);
    if (graph == NULL) {
        leati_free(eager);
        return NULL;
    }
    graph->hook = eager_node;
    graph->hook_free = eager_free;
    graph->hook_value = eager_value;
    graph->hook_context = eager;
    return graph;
}

leat_status leat_value_tensor(leat_value value, leat_tensor *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_graph *graph = value.graph;
    if (graph == NULL || out == NULL)
        return leati_refuse(err, VALUE,
                            "the value or the place for its tensor is NULL; expected a value of an "
                            "eager graph");
    if (graph->hook != eager_node)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the value belongs to a traced graph and has no number yet; use a graph "
                          "of leat_graph_new_eager, or call the finished function");
    if (value.id < 0) {
        if (graph->error.code != LEAT_OK)
            *err = graph->error;
        return graph->error.code != LEAT_OK ? graph->error.code
                                            : leati_refuse(err, VALUE, "the value is a failed one");
    }
    return eager_value(graph->hook_context, value.id, out, err);
}

/* ---- functions called once ---- */

static leat_status check_call(const leat_function *function, const leat_tensor *inputs,
                              int num_inputs, int num_outputs, leat_error *err) {
    if (function == NULL)
        return leati_refuse(err, VALUE, "the function is NULL");
    if (num_inputs != function->body.num_arguments || num_outputs != function->num_outputs)
        return leati_refuse(
            err, STRUCTURE, "the function has %d arguments and %d results; %d and %d were given",
            (int)function->body.num_arguments, (int)function->num_outputs, num_inputs, num_outputs);
    for (int i = 0; i < num_inputs; i++)
        LEATI_TRY(leati_spec_check_tensor(function->input, i, &inputs[i], err));
    return LEAT_OK;
}

/* A reference, or a copy where a result could otherwise point into memory that the caller lent: a
 * tensor without an owner that is a result itself, or strings. */
static leat_status secure(const leat_tensor *tensor, bool strings_only, leat_tensor *out,
                          leat_error *err) {
    if (tensor->owner == NULL && (!strings_only || tensor->dtype == LEAT_STRING))
        return leati_tensor_clone(tensor, out, err);
    *out = leat_tensor_ref(tensor);
    return LEAT_OK;
}

/* Secures results in place; on failure none is left. */
static leat_status secure_all(leat_tensor *outputs, int count, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < count; i++) {
        leat_tensor owned;
        status = secure(&outputs[i], false, &owned, err);
        if (status != LEAT_OK)
            break;
        leat_tensor_unref(&outputs[i]);
        outputs[i] = owned;
    }
    for (int i = 0; status != LEAT_OK && i < count; i++)
        leat_tensor_unref(&outputs[i]);
    return status;
}

/* How a call's random numbers go on from the last one's. `kept` receives a table to be released
 * where gradients inside draw again. */
static leat_status context_of_call(const leat_function *function, leat_cancel *cancel,
                                   leati_call_context *out, leati_draws **kept, leat_error *err) {
    *out = (leati_call_context){
        .num_replicas = 1, .may_wait = true, .single = leati_single_run, .cancel = cancel};
    *kept = NULL;
    if (!leati_graph_function_has(function, LEATI_RANDOM))
        return LEAT_OK;
    out->draws = leati_draws_of_function(function, err);
    if (out->draws != NULL && leati_graph_function_has(function, LEATI_REPLAYS))
        out->kept = *kept = leati_draws_new(err);
    bool failed =
        out->draws == NULL || (leati_graph_function_has(function, LEATI_REPLAYS) && *kept == NULL);
    return failed ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

/* The function itself where a call needs all of its nodes, as nearly always, else a copy of those
 * that it does. Owned. */
static leat_function *needed_part(const leat_function *function, leat_error *err) {
    enum { FEW = 256 };
    const leati_body *body = &function->body;
    bool nodes[FEW], values[FEW];
    size_t needed = 0;
    if (body->num_nodes > FEW || body->num_values > FEW)
        return leati_graph_function_prune(function, err);
    memset(nodes, 0, body->num_nodes);
    memset(values, 0, body->num_values);
    leati_function_mark_needed(function, nodes, values);
    for (size_t i = 0; i < body->num_nodes; i++)
        needed += nodes[i];
    return needed < body->num_nodes ? leati_graph_function_prune(function, err)
                                    : leat_function_ref((leat_function *)(uintptr_t)function);
}

leat_cancel *leat_cancel_new(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_cancel_new(NULL, err);
}

void leat_cancel_fire(leat_cancel *cancel) {
    leati_cancel_fire(cancel);
}

void leat_cancel_free(leat_cancel *cancel) {
    leati_cancel_unref(cancel);
}

leat_status leat_function_call(const leat_function *function, const leat_tensor *inputs,
                               int num_inputs, leat_tensor *outputs, int num_outputs,
                               leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leat_function_call_cancellable(function, inputs, num_inputs, outputs, num_outputs, NULL,
                                          err);
}

leat_status leat_function_call_cancellable(const leat_function *function, const leat_tensor *inputs,
                                           int num_inputs, leat_tensor *outputs, int num_outputs,
                                           leat_cancel *cancel, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = check_call(function, inputs, num_inputs, num_outputs, err);
    if (status != LEAT_OK)
        return status;
    leat_function *pruned = needed_part(function, err);
    if (pruned == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_tensor *tensors = leati_alloc_zero((size_t)num_inputs, sizeof *tensors);
    if (tensors == NULL)
        status = leati_no_memory(err);
    for (int i = 0; status == LEAT_OK && i < num_inputs; i++)
        status = secure(&inputs[i], true, &tensors[i], err);
    for (size_t i = 0; status == LEAT_OK && i < pruned->body.num_nodes; i++)
        status = refuse_replicas(&pruned->body.nodes[i], err);
    leati_call_context context;
    leati_draws *kept = NULL;
    if (status == LEAT_OK)
        status = context_of_call(function, cancel, &context, &kept, err);
    int before = leati_crew_enter(leati_pool_num_cores());
    if (status == LEAT_OK)
        status = leati_interpret(pruned, tensors, &context, outputs, err);
    leati_crew_leave(before);
    leati_draws_free(kept);
    if (status == LEAT_OK)
        status = secure_all(outputs, num_outputs, err);
    for (int i = 0; tensors != NULL && i < num_inputs; i++)
        leat_tensor_unref(&tensors[i]);
    leati_free(tensors);
    leat_function_unref(pruned);
    return status;
}
