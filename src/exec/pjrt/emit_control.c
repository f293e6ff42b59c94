/* Branches and loops as StableHLO.
 *
 * A branch names what it takes from outside; a loop carries it, as XLA's own front ends do.
 * Variables that the functions write are results of the operation, those that a loop reads are
 * carried. Random numbers inside are the host's, which then computes the whole node. */
#include "exec/pjrt/emit.h"

#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

/* ---- variables inside ---- */

/* Variables that functions use: numbers in emit->variables. */
typedef struct variables {
    size_t *list;
    leati_hlo_value *before; /* what they were outside */
    int count;
} variables;

static leat_status variables_init(leati_emit *emit, const char *const names[2], bool reads,
                                  variables *out, leat_error *err) {
    *out = (variables){0};
    for (size_t v = 0; v < emit->num_variables; v++)
        emit->variables[v].read_inside = emit->variables[v].written_inside = false;
    for (int i = 0; i < 2; i++)
        leati_emit_touch(emit, names[i]);
    if (emit->num_variables == 0)
        return LEAT_OK;
    out->list = leati_alloc(emit->num_variables, sizeof *out->list);
    out->before = leati_alloc(emit->num_variables, sizeof *out->before);
    if (out->list == NULL || out->before == NULL)
        return leati_no_memory(err);
    for (size_t v = 0; v < emit->num_variables; v++)
        if (emit->variables[v].written_inside || (reads && emit->variables[v].read_inside)) {
            out->before[out->count] = emit->variables[v].now;
            out->list[out->count++] = v;
        }
    return LEAT_OK;
}

static void variables_fini(variables *v) {
    leati_free(v->list);
    leati_free(v->before);
}

/* What they are from here on: values from `first` on, or those from outside. */
static void enter(leati_emit *emit, const variables *v, leati_hlo_value first) {
    for (int i = 0; i < v->count; i++)
        emit->variables[v->list[i]].now = first < 0 ? v->before[i] : first + i;
}

static void leave(const leati_emit *emit, const variables *v, leati_hlo_value *out) {
    for (int i = 0; i < v->count; i++)
        out[i] = emit->variables[v->list[i]].now;
}

/* Constants among the node's inputs from `first` on. Owned; NULL: no memory. */
static const leat_tensor **known_inputs(const leati_emit *emit, int first) {
    const leat_tensor **known = leati_alloc_zero((size_t)emit->num_inputs + 1, sizeof *known);
    for (int i = first; known != NULL && i < emit->num_inputs; i++)
        known[i - first] = leati_emit_known(emit, i);
    return known;
}

/* ---- cond ---- */

static leat_status print_branch(leati_emit *emit, const char *name, const variables *v,
                                const leat_tensor *const *known, leati_text *regions,
                                leat_error *err) {
    leati_emit_inside inside = {0};
    int count = emit->node->num_outputs;
    leati_hlo_value *results = leati_alloc((size_t)(count + v->count) + 1, sizeof *results);
    leati_hlo_region region;
    if (results == NULL)
        return leati_no_memory(err);
    leat_status status = leati_emit_inside_init(emit, name, leati_emit_function(emit, name),
                                                emit->inputs + 1, known, &inside, err);
    leati_hlo_region_begin(&emit->hlo, &region);
    enter(emit, v, -1);
    if (status == LEAT_OK)
        status = leati_emit_inside_print(emit, &inside, emit->inputs + 1, results, err);
    leave(emit, v, results + count);
    leati_hlo_region_end(&emit->hlo, &region, 0, 0, results,
                         status == LEAT_OK ? count + v->count : 0, regions);
    leati_emit_inside_fini(&inside);
    leati_free(results);
    return status;
}

static leat_status print_cond(leati_emit *emit, const variables *v, const leat_tensor *const *known,
                              leat_error *err) {
    int count = emit->node->num_outputs;
    leati_text regions = {0};
    leati_hlo_type *types = leati_alloc((size_t)(count + v->count) + 1, sizeof *types);
    leat_status status = types == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK)
        status = print_branch(emit, "then_branch", v, known, &regions, err);
    if (status == LEAT_OK)
        status = print_branch(emit, "else_branch", v, known, &regions, err);
    for (int i = 0; i < count && status == LEAT_OK; i++)
        types[i] = (leati_hlo_type){leati_emit_dtype(emit, i), *leati_emit_shape(emit, i)};
    for (int i = 0; i < v->count && status == LEAT_OK; i++)
        types[count + i] = leati_hlo_type_of(&emit->hlo, v->before[i]);
    enter(emit, v, -1);
    if (status == LEAT_OK && count + v->count > 0) {
        leati_hlo_value first =
            leati_hlo_if(&emit->hlo, emit->inputs[0], &regions, types, count + v->count);
        for (int i = 0; i < count; i++)
            emit->outputs[i] = first + i;
        enter(emit, v, first + count);
    }
    leati_text_fini(&regions);
    leati_free(types);
    return status;
}

leat_status leati_emit_cond(leati_emit *emit, leat_error *err) {
    static const char *const names[2] = {"then_branch", "else_branch"};
    const leat_tensor **known = known_inputs(emit, 1);
    variables v;
    leat_status status = variables_init(emit, names, false, &v, err);
    if (status == LEAT_OK)
        status = known == NULL ? leati_no_memory(err) : print_cond(emit, &v, known, err);
    variables_fini(&v);
    leati_free(known);
    return status;
}

/* ---- while ---- */

/* A loop that is being printed: it carries the node's inputs, variables, and with a limit the
 * number of the iteration. */
typedef struct loop {
    leati_emit_inside cond, body;
    variables variables;
    leati_hlo_loop hlo;
    leati_hlo_value *starts, *next;
    int count;
    int64_t limit; /* negative: none */
} loop;

static leat_status loop_init(leati_emit *emit, loop *l, leat_error *err) {
    static const char *const names[2] = {"cond", "body"};
    const leat_tensor **known = known_inputs(emit, 0);
    leat_status status = known == NULL ? leati_no_memory(err) : LEAT_OK;
    /* A loop's variables change. */
    for (int i = 0; known != NULL && i < emit->node->num_outputs; i++)
        known[i] = NULL;
    if (status == LEAT_OK)
        status = variables_init(emit, names, true, &l->variables, err);
    if (status == LEAT_OK)
        status = leati_emit_inside_init(emit, "cond", leati_emit_function(emit, "cond"),
                                        emit->inputs, known, &l->cond, err);
    if (status == LEAT_OK)
        status = leati_emit_inside_init(emit, "body", leati_emit_function(emit, "body"),
                                        emit->inputs, known, &l->body, err);
    leati_free(known);
    LEATI_TRY(status);
    size_t room = (size_t)(emit->num_inputs + l->variables.count) + 1;
    l->limit = leati_emit_int(emit, "maximum_iterations");
    l->starts = leati_alloc(room, sizeof *l->starts);
    l->next = leati_alloc(room, sizeof *l->next);
    if (l->starts == NULL || l->next == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < emit->num_inputs; i++)
        l->starts[l->count++] = emit->inputs[i];
    for (int i = 0; i < l->variables.count; i++)
        l->starts[l->count++] = l->variables.before[i];
    if (l->limit >= 0)
        l->starts[l->count++] = leati_hlo_fill(&emit->hlo, 0, LEAT_INT64, &LEAT_SCALAR);
    return LEAT_OK;
}

static void loop_fini(loop *l) {
    leati_emit_inside_fini(&l->cond);
    leati_emit_inside_fini(&l->body);
    variables_fini(&l->variables);
    leati_free(l->starts);
    leati_free(l->next);
}

/* The arguments of the region as those of a function. */
static leat_status print_part(leati_emit *emit, loop *l, const leati_emit_inside *inside,
                              leat_error *err) {
    for (int i = 0; i < l->count; i++)
        l->next[i] = l->hlo.first + i;
    leati_hlo_value *arguments = leati_alloc((size_t)l->count + 1, sizeof *arguments);
    if (arguments == NULL)
        return leati_no_memory(err);
    memcpy(arguments, l->next, (size_t)l->count * sizeof *arguments);
    enter(emit, &l->variables, l->hlo.first + emit->num_inputs);
    leat_status status = leati_emit_inside_print(emit, inside, arguments, l->next, err);
    leave(emit, &l->variables, l->next + emit->num_inputs);
    leati_free(arguments);
    return status;
}

/* Whether another iteration follows. */
static leat_status print_condition(leati_emit *emit, loop *l, leati_hlo_value *out,
                                   leat_error *err) {
    leati_hlo *hlo = &emit->hlo;
    LEATI_TRY(print_part(emit, l, &l->cond, err));
    *out = l->next[0];
    for (int i = 0; i < l->variables.count; i++)
        if (l->next[emit->num_inputs + i] != l->hlo.first + emit->num_inputs + i)
            return leati_emit_lacks(emit, "a condition that writes a variable", err);
    if (l->limit < 0)
        return LEAT_OK;
    leati_hlo_value count = l->hlo.first + l->count - 1;
    leati_hlo_value below =
        leati_hlo_compare(hlo, "LT", count, leati_hlo_fill_like(hlo, (double)l->limit, count));
    *out = leati_hlo_binary(hlo, "and", below, *out);
    return LEAT_OK;
}

static leat_status print_loop(leati_emit *emit, loop *l, leat_error *err) {
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value condition = 0;
    leati_hlo_loop_begin(hlo, &l->hlo, l->starts, l->count);
    leat_status status = print_condition(emit, l, &condition, err);
    leati_hlo_loop_body(hlo, &l->hlo, condition);
    if (status == LEAT_OK)
        status = print_part(emit, l, &l->body, err);
    if (status == LEAT_OK && l->limit >= 0) {
        leati_hlo_value count = l->hlo.first + l->count - 1;
        l->next[l->count - 1] =
            leati_hlo_binary(hlo, "add", count, leati_hlo_fill_like(hlo, 1, count));
    }
    /* After a failure the program is not used. */
    leati_hlo_value first = leati_hlo_loop_end(hlo, &l->hlo, l->next);
    enter(emit, &l->variables, status == LEAT_OK ? first + emit->num_inputs : -1);
    for (int i = 0; i < emit->node->num_outputs; i++)
        emit->outputs[i] = first + i;
    return status;
}

leat_status leati_emit_while(leati_emit *emit, leat_error *err) {
    loop l = {0};
    leat_status status = loop_init(emit, &l, err);
    if (status == LEAT_OK)
        status = print_loop(emit, &l, err);
    loop_fini(&l);
    return status;
}
