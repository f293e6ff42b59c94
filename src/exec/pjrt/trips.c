/* How often a loop runs, where that follows from constants.
 *
 * Happy path: of the variables that start as constants those are left out whose next value depends
 * on others, until nothing changes; if the condition depends on the rest alone, the loop of the
 * rest is run by the interpreter. What passes through floats is not counted: a device may round
 * them otherwise. Failures: memory; whatever else fails in that run means that the number is not
 * known. No locks. */
#include "exec/pjrt/trips.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/tensor.h"
#include "graph/interpret.h"
#include <string.h>

enum { MOST_TRIPS = 100000 };

typedef struct counted {
    const leati_simple *cond, *body;
    int num_arguments, num_variables;
    bool *counts; /* of each argument: a constant, or a variable that follows from such */
    bool *reads;  /* scratch, of each value of a function */
} counted;

/* Does output `o` depend on arguments alone that count, by way of integers? */
static bool depends_well(const counted *c, const leati_simple *simple, int32_t o) {
    memset(c->reads, 0, (size_t)simple->num_values * sizeof *c->reads);
    c->reads[simple->outputs[o]] = true;
    for (int32_t n = simple->num_nodes; n-- > 0;) {
        const leati_simple_node *node = &simple->nodes[n];
        bool needed = false;
        for (int32_t i = 0; i < node->num_outputs; i++)
            needed = needed || c->reads[node->first_output + i];
        if (needed && (node->flags & (LEATI_RANDOM | LEATI_STATEFUL | LEATI_IMPURE)))
            return false;
        for (int32_t i = 0; needed && i < node->num_inputs; i++)
            c->reads[node->inputs[i]] = true;
    }
    for (int32_t v = 0; v < simple->num_values; v++)
        if (c->reads[v] && (simple->values[v].type->dtype >= LEAT_FLOAT16 ||
                            (v < c->num_arguments && !c->counts[v])))
            return false;
    return true;
}

/* Which variables can be counted; true if the condition can. */
static bool find_counted(const counted *c) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < c->num_variables; i++)
            if (c->counts[i] && !depends_well(c, c->body, i)) {
                c->counts[i] = false;
                changed = true;
            }
    }
    return depends_well(c, c->cond, 0);
}

/* The body's outputs that count, else an argument in their place, so that nothing else is computed.
 * Owned. */
static leat_function *part_of(const counted *c, leat_error *err) {
    const leat_function *body = c->body->function;
    leat_graph *graph = leat_graph_new(body->input, err);
    size_t count = (size_t)(c->num_arguments + body->num_outputs) + 1;
    leat_value *values = leati_alloc(count, sizeof *values), *results = values + c->num_arguments;
    if (graph == NULL || values == NULL) {
        leati_free(values);
        if (graph != NULL)
            leat_function_unref(leat_graph_finish(graph, NULL, 0, NULL, NULL));
        leati_no_memory(err);
        return NULL;
    }
    for (int i = 0; i < c->num_arguments; i++)
        values[i] = leat_graph_argument(graph, i);
    (void)leati_graph_inline(graph, body, values, results);
    for (int i = 0; i < c->num_variables; i++)
        if (!c->counts[i])
            results[i] = leat_graph_argument(graph, i);
    leat_function *all = leat_graph_finish(graph, results, c->num_variables, NULL, err);
    leati_free(values);
    leat_function *part = all == NULL ? NULL : leati_graph_function_prune(all, err);
    leat_function_unref(all);
    return part;
}

/* Runs the loop on `values`, one for each argument, those of variables owned; `next` is room for
 * the variables. */
static int64_t run(const counted *c, const leat_function *part, leat_tensor *values,
                   leat_tensor *next) {
    const leati_call_context context = {.num_replicas = 1};
    for (int64_t trips = 0; trips <= MOST_TRIPS; trips++) {
        leat_tensor more = {0};
        if (leati_interpret(c->cond->function, values, &context, &more, &(leat_error){0}) !=
            LEAT_OK)
            return -1;
        bool goes_on = *(const bool *)more.data;
        leat_tensor_unref(&more);
        if (!goes_on)
            return trips;
        if (leati_interpret(part, values, &context, next, &(leat_error){0}) != LEAT_OK)
            return -1;
        for (int i = 0; i < c->num_variables; i++) {
            leat_tensor_unref(&values[i]);
            values[i] = next[i];
        }
    }
    return -1;
}

static leat_status count_trips(const counted *c, const leat_tensor *const *known, int64_t *out,
                               leat_error *err) {
    size_t count = (size_t)c->num_arguments;
    leat_function *part = part_of(c, err);
    leat_tensor *values = leati_alloc_zero(2 * count + 1, sizeof *values);
    leat_status status = LEAT_OK;
    if (part == NULL || values == NULL)
        status = leati_no_memory(err);
    for (size_t i = 0; i < count && status == LEAT_OK; i++) {
        const leati_type *type = c->body->values[i].type;
        if (c->counts[i])
            values[i] = leat_tensor_ref(known[i]);
        else /* nobody reads it, but it must be there */
            status = leat_tensor_new(type->dtype, type->shape, &values[i], err);
    }
    if (status == LEAT_OK)
        *out = run(c, part, values, values + count);
    for (size_t i = 0; i < count && values != NULL; i++)
        leat_tensor_unref(&values[i]);
    leati_free(values);
    leat_function_unref(part);
    return status;
}

leat_status leati_pjrt_count_trips(const leati_simple *cond, const leati_simple *body,
                                   const leat_tensor *const *known, int num_variables, int64_t *out,
                                   leat_error *err) {
    counted c = {.cond = cond, .body = body, .num_variables = num_variables};
    size_t room = (size_t)cond->num_values + (size_t)body->num_values + 1;
    c.num_arguments = body->function->body.num_arguments;
    c.counts = leati_alloc_zero(room, sizeof *c.counts);
    c.reads = leati_alloc_zero(room, sizeof *c.reads);
    leat_status status = c.counts == NULL || c.reads == NULL ? leati_no_memory(err) : LEAT_OK;
    *out = -1;
    for (int i = 0; status == LEAT_OK && i < c.num_arguments; i++)
        c.counts[i] = known[i] != NULL;
    if (status == LEAT_OK && find_counted(&c))
        status = count_trips(&c, known, out, err);
    leati_free(c.counts);
    leati_free(c.reads);
    return status;
}
