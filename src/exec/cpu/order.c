/* The order of a step's tasks.
 *
 * Tasks stay where the last of their nodes stood, which keeps the order of effects; a task that an
 * earlier one waits for, because a kernel took nodes from further behind, comes right before that.
 * Only what is pure is taken together, so it may move. Small values, as counters and seeds, are
 * written to their variables as late as nobody sees it: a run that has written goes to its end
 * (stages.c). Failure: no memory. */
#include "exec/cpu/build.h"

#include "base/error.h"
#include <string.h>

struct ordering {
    leati_cpu_build *build;
    int32_t *maker; /* of each value: its task; -1: none */
    int32_t *at;    /* of each node: the task that ends there; -1: none */
    int32_t *stack; /* tasks that wait for others */
    bool *placed;
    leati_cpu_task *sorted;
    int32_t count;
};

/* The task that must have run before value v can be read; -1: none. */
static int32_t maker_of(const struct ordering *o, int32_t v) {
    const leati_cpu_step *step = o->build->step;
    while (step->values[v].place == LEATI_CPU_ALIAS)
        v = step->values[v].index;
    return o->maker[v];
}

/* A task that has to come before `task` and is not there yet; -1: none. */
static int32_t missing(const struct ordering *o, int32_t task) {
    const leati_cpu_task *t = &o->build->step->tasks[task];
    const int32_t *inputs = t->kernel != NULL ? t->inputs : t->node->inputs;
    int32_t count = t->kernel != NULL ? t->num_inputs : t->node->num_inputs;
    for (int32_t i = 0; i < count; i++) {
        int32_t maker = maker_of(o, inputs[i]);
        if (maker >= 0 && maker != task && !o->placed[maker])
            return maker;
    }
    return -1;
}

/* Places a task behind those that it needs; false if they wait for each other. */
static bool place(struct ordering *o, int32_t task) {
    int32_t depth = 0;
    o->stack[depth++] = task;
    while (depth > 0) {
        int32_t top = o->stack[depth - 1], before = missing(o, top);
        if (before >= 0) {
            /* A chain of tasks that wait has no task twice, unless they wait in a circle. */
            if (depth == o->build->step->num_tasks)
                return false;
            o->stack[depth++] = before;
            continue;
        }
        o->sorted[o->count++] = o->build->step->tasks[top];
        o->placed[top] = true;
        depth--;
    }
    return true;
}

static void find_makers(struct ordering *o) {
    const leati_cpu_step *step = o->build->step;
    for (int32_t v = 0; v < step->num_values; v++)
        o->maker[v] = -1;
    for (int32_t n = 0; n < step->simple.num_nodes; n++)
        o->at[n] = -1;
    for (int32_t t = 0; t < step->num_tasks; t++) {
        const leati_cpu_task *task = &step->tasks[t];
        o->at[task->last] = t;
        for (int32_t i = 0; task->kernel != NULL && i < task->num_outputs; i++)
            o->maker[task->outputs[i]] = t;
        for (int32_t i = 0; task->kernel == NULL && i < task->node->num_outputs; i++)
            o->maker[task->node->first_output + i] = t;
    }
}

/* ---- late writes ---- */

enum { SMALL_BYTES = 4096 }; /* which live longer */

/* The variable that the task does nothing but write; NULL: it is another task. */
static const leat_object *written_by(const leati_cpu_step *step, const leati_cpu_task *task) {
    const leati_simple_node *node = task->node;
    const leati_tensor_op *op = node->source->op;
    if (task->kernel != NULL || node->num_outputs > 0 || node->num_inputs != 1 ||
        (op != &leati_tensor_op_assign_variable && op != &leati_tensor_op_assign_add_variable) ||
        step->simple.values[node->inputs[0]].row_bytes > SMALL_BYTES)
        return NULL;
    for (const leati_row *row = op->rows; row->type != LEATI_ROW_END; row++)
        if (row->type == LEATI_ROW_OBJECT)
            return *(leat_object *const *)((const char *)node->source->args + row->offset);
    return NULL;
}

/* May the task read or write the variable, or be seen from outside, as assertions are, behind which
 * nothing is written? */
static bool minds(const leati_cpu_task *task, const leat_object *variable) {
    const leati_simple_node *node = task->node;
    bool effects = (node->flags & (LEATI_IMPURE | LEATI_STATEFUL | LEATI_NO_EAGER)) != 0 &&
                   node->source->op != &leati_tensor_op_replica_id;
    for (const leati_row *row = node->source->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        const void *at = (const char *)node->source->args + row->offset;
        if (row->type == LEATI_ROW_FUNCTION ||
            (row->type == LEATI_ROW_OBJECT && *(leat_object *const *)at == variable))
            return true;
        /* Those of other variables. */
        effects = effects && row->type != LEATI_ROW_OBJECT;
    }
    return effects || (node->flags & LEATI_IMPURE) != 0;
}

static void delay_writes(leati_cpu_step *step) {
    leati_cpu_task *tasks = step->tasks;
    for (int32_t t = step->num_tasks - 2; t >= 0; t--) {
        const leati_cpu_task moved = tasks[t];
        const leat_object *variable = written_by(step, &moved);
        int32_t to = t;
        while (variable != NULL && to + 1 < step->num_tasks && !minds(&tasks[to + 1], variable) &&
               written_by(step, &tasks[to + 1]) == NULL)
            to++;
        memmove(&tasks[t], &tasks[t + 1], (size_t)(to - t) * sizeof *tasks);
        tasks[to] = moved;
    }
}

leat_status leati_cpu_order(leati_cpu_build *build, leat_error *err) {
    leati_cpu_step *step = build->step;
    size_t nodes = (size_t)step->simple.num_nodes, tasks = (size_t)step->num_tasks;
    struct ordering o = {.build = build};
    o.maker = leati_alloc((size_t)step->num_values, sizeof *o.maker);
    o.at = leati_alloc(nodes, sizeof *o.at);
    o.stack = leati_alloc(tasks, sizeof *o.stack);
    o.placed = leati_alloc_zero(tasks, sizeof *o.placed);
    o.sorted = leati_alloc(nodes, sizeof *o.sorted);
    leat_status status = LEAT_OK;
    if (o.maker == NULL || o.at == NULL || o.stack == NULL || o.placed == NULL || o.sorted == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK) {
        find_makers(&o);
        for (size_t n = 0; n < nodes && status == LEAT_OK; n++)
            if (o.at[n] >= 0 && !o.placed[o.at[n]] && !place(&o, o.at[n]))
                status = leati_fail(err, LEAT_INTERNAL, "two tasks wait for each other");
    }
    if (status == LEAT_OK) {
        leati_free(step->tasks);
        step->tasks = o.sorted;
        o.sorted = NULL;
        delay_writes(step);
    }
    leati_free(o.maker);
    leati_free(o.at);
    leati_free(o.stack);
    leati_free(o.placed);
    leati_free(o.sorted);
    return status;
}
