/* The gradient of a loop as StableHLO: the loop again, which keeps what the way back reads of each
 * iteration's variables in rows of a stack, and a loop from the last iteration to the first.
 *
 * A stack has as many rows as there can be iterations: maximum_iterations, or the number that
 * follows from constants, where the condition counts integers. Fails where neither is known; and
 * where a stack would have more dimensions than tensors have. */
#include "exec/pjrt/emit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "exec/pjrt/trips.h"
#include <string.h>

typedef struct back {
    leati_emit_inside cond, body, reverse;
    int num_sources, num_variables, num_gradients;
    int64_t limit; /* rows of a stack */
    bool is_exact; /* there are `limit` iterations */
    int *stacked;  /* variables that have a stack */
    int num_stacked;
    leati_hlo_value *starts; /* of a loop */
    leati_hlo_value *next, *arguments;
    leati_hlo_value *stacks; /* behind the way forward */
    leati_hlo_value count;   /* of iterations */
} back;

static leat_status find_limit(leati_emit *emit, back *b, const leat_tensor *const *known,
                              leat_error *err) {
    int64_t named = leati_emit_int(emit, "maximum_iterations"), trips = -1;
    LEATI_TRY(leati_pjrt_count_trips(&b->cond.simple, &b->body.simple, known, b->num_variables,
                                     &trips, err));
    b->is_exact = trips >= 0;
    b->limit = trips >= 0 && (named < 0 || trips < named) ? trips : named;
    if (b->limit < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of a loop whose number of iterations is not known when "
                          "the step is compiled is not there on this device; give the loop "
                          "maximum_iterations");
    return LEAT_OK;
}

static leat_status make_room(leati_emit *emit, back *b, leat_error *err) {
    size_t room = 2 * (size_t)emit->num_inputs + (size_t)b->num_variables + 2;
    b->stacked = leati_alloc_zero((size_t)b->num_variables + 1, sizeof *b->stacked);
    b->starts = leati_alloc(room, sizeof *b->starts);
    b->next = leati_alloc(room, sizeof *b->next);
    b->arguments = leati_alloc(room, sizeof *b->arguments);
    b->stacks = leati_alloc((size_t)b->num_variables + 1, sizeof *b->stacks);
    if (b->stacked == NULL || b->starts == NULL || b->next == NULL || b->arguments == NULL ||
        b->stacks == NULL)
        return leati_no_memory(err);
    return LEAT_OK;
}

static leat_status init_functions(leati_emit *emit, back *b, const leat_tensor **known,
                                  leat_error *err) {
    LEATI_TRY(leati_emit_inside_init(emit, "cond", leati_emit_function(emit, "cond"), emit->inputs,
                                     known, &b->cond, err));
    LEATI_TRY(leati_emit_inside_init(emit, "body", leati_emit_function(emit, "body"), emit->inputs,
                                     known, &b->body, err));
    LEATI_TRY(find_limit(emit, b, known, err));
    /* From here on variables are what an iteration made of them. */
    for (int i = 0; i < b->num_variables; i++)
        known[i] = NULL;
    leati_emit_inside_fini(&b->cond);
    leati_emit_inside_fini(&b->body);
    LEATI_TRY(leati_emit_inside_init(emit, "cond", leati_emit_function(emit, "cond"), emit->inputs,
                                     known, &b->cond, err));
    LEATI_TRY(leati_emit_inside_init(emit, "body", leati_emit_function(emit, "body"), emit->inputs,
                                     known, &b->body, err));
    return leati_emit_inside_init(emit, "reverse", leati_emit_function(emit, "reverse"),
                                  emit->inputs, known, &b->reverse, err);
}

static leat_status init(leati_emit *emit, back *b, leat_error *err) {
    const leat_object *body = leati_emit_function(emit, "body");
    b->num_variables = (int)leati_emit_int(emit, "num_variables");
    b->num_sources = (int)((const leat_function *)(const void *)body)->body.num_arguments;
    b->num_gradients = emit->num_inputs - b->num_sources;
    const leat_tensor **known = leati_alloc_zero((size_t)emit->num_inputs + 1, sizeof *known);
    LEATI_TRY(make_room(emit, b, err));
    if (known == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < b->num_sources; i++)
        known[i] = leati_emit_known(emit, i);
    leat_status status = init_functions(emit, b, known, err);
    leati_free(known);
    LEATI_TRY(status);
    for (int i = 0; i < b->num_variables; i++) {
        if (!b->reverse.value_needed[i])
            continue;
        if (leati_emit_input_shape(emit, i).rank == LEAT_MAX_RANK)
            return leati_emit_lacks(emit, "the gradient of a loop over tensors of 8 dimensions",
                                    err);
        b->stacked[b->num_stacked++] = i;
    }
    return LEAT_OK;
}

static void fini(back *b) {
    leati_emit_inside_fini(&b->cond);
    leati_emit_inside_fini(&b->body);
    leati_emit_inside_fini(&b->reverse);
    leati_free(b->stacked);
    leati_free(b->starts);
    leati_free(b->next);
    leati_free(b->arguments);
    leati_free(b->stacks);
}

/* ---- the way forward ---- */

/* Zeros for all rows of a variable's stack. */
static leati_hlo_value empty_stack(leati_emit *emit, const back *b, int variable) {
    leat_shape one = leati_emit_input_shape(emit, variable), all = {.rank = 1};
    all.dims[0] = LEATI_MAX(b->limit, 1); /* a loop that never runs is printed as well */
    for (int32_t d = 0; d < one.rank; d++)
        all.dims[all.rank++] = one.dims[d];
    return leati_hlo_fill(&emit->hlo, 0, leati_emit_input_dtype(emit, variable), &all);
}

/* It carries the number of the iteration, the loop's inputs, and stacks. */
static leat_status print_forward(leati_emit *emit, back *b, leat_error *err) {
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_loop loop;
    leati_hlo_value condition = 0;
    int count = 1 + b->num_sources + b->num_stacked;
    b->starts[0] = leati_hlo_number(hlo, 0);
    memcpy(b->starts + 1, emit->inputs, (size_t)b->num_sources * sizeof *b->starts);
    for (int i = 0; i < b->num_stacked; i++)
        b->starts[1 + b->num_sources + i] = empty_stack(emit, b, b->stacked[i]);
    leati_hlo_loop_begin(hlo, &loop, b->starts, count);
    for (int i = 0; i < b->num_sources; i++)
        b->arguments[i] = loop.first + 1 + i;
    leat_status status = leati_emit_inside_print(emit, &b->cond, b->arguments, &condition, err);
    leati_hlo_value below =
        leati_hlo_compare(hlo, "LT", loop.first, leati_hlo_number(hlo, b->limit));
    leati_hlo_loop_body(hlo, &loop, leati_hlo_binary(hlo, "and", below, condition));
    for (int i = 0; i < count; i++)
        b->next[i] = loop.first + i;
    for (int i = 0; i < b->num_sources; i++)
        b->arguments[i] = loop.first + 1 + i;
    for (int i = 0; i < b->num_stacked; i++)
        b->next[1 + b->num_sources + i] = leati_hlo_set_row(
            hlo, loop.first + 1 + b->num_sources + i, loop.first, b->arguments[b->stacked[i]]);
    if (status == LEAT_OK)
        status = leati_emit_inside_print(emit, &b->body, b->arguments, b->next + 1, err);
    b->next[0] = leati_hlo_binary(hlo, "add", loop.first, leati_hlo_number(hlo, 1));
    leati_hlo_value first = leati_hlo_loop_end(hlo, &loop, b->next);
    b->count = first;
    for (int i = 0; i < b->num_stacked; i++)
        b->stacks[i] = first + 1 + b->num_sources + i;
    return status;
}

/* ---- the way back ---- */

/* It carries how many iterations are left, gradients, invariants and stacks. */
static leat_status print_back(leati_emit *emit, back *b, leat_error *err) {
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_loop loop;
    int gradients = 1, invariants = gradients + b->num_gradients;
    int stacks = invariants + b->num_sources - b->num_variables, count = stacks + b->num_stacked;
    b->starts[0] = b->count;
    for (int i = 0; i < b->num_gradients; i++)
        b->starts[gradients + i] = emit->inputs[b->num_sources + i];
    for (int i = b->num_variables; i < b->num_sources; i++)
        b->starts[invariants + i - b->num_variables] = emit->inputs[i];
    for (int i = 0; i < b->num_stacked; i++)
        b->starts[stacks + i] = b->stacks[i];
    leati_hlo_loop_begin(hlo, &loop, b->starts, count);
    leati_hlo_loop_body(hlo, &loop,
                        leati_hlo_compare(hlo, "GT", loop.first, leati_hlo_number(hlo, 0)));
    for (int i = 0; i < count; i++)
        b->next[i] = loop.first + i;
    b->next[0] = leati_hlo_binary(hlo, "subtract", loop.first, leati_hlo_number(hlo, 1));
    /* A variable without a stack is not read. */
    for (int i = 0; i < b->num_variables; i++)
        b->arguments[i] = -1;
    for (int i = 0; i < b->num_stacked; i++)
        b->arguments[b->stacked[i]] = leati_hlo_row(hlo, loop.first + stacks + i, b->next[0]);
    for (int i = b->num_variables; i < b->num_sources; i++)
        b->arguments[i] = loop.first + invariants + i - b->num_variables;
    for (int i = 0; i < b->num_gradients; i++)
        b->arguments[b->num_sources + i] = loop.first + gradients + i;
    leat_status status =
        leati_emit_inside_print(emit, &b->reverse, b->arguments, b->next + gradients, err);
    leati_hlo_value first = leati_hlo_loop_end(hlo, &loop, b->next);
    for (int i = 0; i < b->num_gradients; i++)
        emit->outputs[i] = first + gradients + i;
    return status;
}

leat_status leati_emit_while_gradient(leati_emit *emit, leat_error *err) {
    back b = {0};
    leat_status status = init(emit, &b, err);
    /* Where nothing is kept the number of iterations is all that the way forward says. */
    if (status == LEAT_OK && b.num_stacked == 0 && b.is_exact)
        b.count = leati_hlo_number(&emit->hlo, b.limit);
    else if (status == LEAT_OK)
        status = print_forward(emit, &b, err);
    if (status == LEAT_OK)
        status = print_back(emit, &b, err);
    fini(&b);
    return status;
}
