/* What each task of a step is done for: results, gradients, exchange or update.
 *
 * Happy path: what results are computed from is forward; what else there is serves variables. Of
 * that, what writes them is update, and so is what computes value by value for updates alone: the
 * arithmetic of optimizers. The rest is backward. Failure: no memory. No locks. */
#include "exec/cpu/build.h"

#include "base/error.h"
#include "base/minmax.h"
#include <stdio.h>

const char *const leati_cpu_stage_names[LEATI_CPU_NUM_STAGES] = {"forward", "backward", "reduce",
                                                                 "update"};

static int32_t inputs_of(const leati_cpu_task *task, const int32_t **out) {
    *out = task->kernel != NULL ? task->inputs : task->node->inputs;
    return task->kernel != NULL ? task->num_inputs : task->node->num_inputs;
}

static int32_t outputs_of(const leati_cpu_task *task, int32_t i) {
    return task->kernel != NULL ? task->outputs[i] : task->node->first_output + i;
}

static int32_t num_outputs_of(const leati_cpu_task *task) {
    return task->kernel != NULL ? task->num_outputs : task->node->num_outputs;
}

/* Is one of the task's outputs marked? */
static bool makes_any(const leati_cpu_step *step, const leati_cpu_task *task, const bool *marked) {
    bool any = false;
    for (int32_t i = 0; i < num_outputs_of(task); i++)
        any = any || marked[leati_cpu_root(step, outputs_of(task, i))];
    return any;
}

static void mark_inputs(const leati_cpu_step *step, const leati_cpu_task *task, bool *marked) {
    const int32_t *inputs = NULL;
    int32_t count = inputs_of(task, &inputs);
    for (int32_t i = 0; i < count; i++)
        marked[leati_cpu_root(step, inputs[i])] = true;
}

static bool is_op(const leati_cpu_task *task, const leati_tensor_op *op) {
    return task->node->source->op == op;
}

/* Later tasks are done: `needed` are the values that results need, `kept` those that something
 * other than an update needs. */
static leati_cpu_stage stage_of(const leati_cpu_step *step, const leati_cpu_task *task,
                                const bool *needed, const bool *kept) {
    uint32_t flags = task->node->flags;
    if (is_op(task, &leati_tensor_op_all_reduce))
        return LEATI_CPU_STAGE_REDUCE;
    if (makes_any(step, task, needed) || is_op(task, &leati_tensor_op_read_variable))
        return LEATI_CPU_STAGE_FORWARD;
    if ((flags & LEATI_STATEFUL) ||
        ((flags & LEATI_ELEMENTWISE) && task->kernel == NULL && !makes_any(step, task, kept)))
        return LEATI_CPU_STAGE_UPDATE;
    return LEATI_CPU_STAGE_BACKWARD;
}

/* For the trace, where a stage is one span: what lies between the tasks of the backward pass counts
 * as part of it. */
static void find_backward(leati_cpu_step *step) {
    int32_t first = step->num_tasks, end = step->num_tasks;
    for (int32_t t = 0; t < step->num_tasks; t++) {
        if (step->tasks[t].stage != LEATI_CPU_STAGE_BACKWARD)
            continue;
        first = LEATI_MIN(t, first);
        end = t + 1;
    }
    step->backward_begins = first;
    step->backward_ends = end;
}

leat_status leati_cpu_find_stages(leati_cpu_step *step, leat_error *err) {
    size_t values = (size_t)step->num_values;
    bool *needed = leati_alloc_zero(2 * values, sizeof *needed);
    if (needed == NULL)
        return leati_no_memory(err);
    bool *kept = needed + values;
    for (int32_t i = 0; i < step->simple.num_outputs; i++)
        needed[leati_cpu_root(step, step->simple.outputs[i])] = true;
    /* Backwards, so that all readers of a value are known before its maker. */
    for (int32_t t = step->num_tasks - 1; t >= 0; t--) {
        leati_cpu_task *task = &step->tasks[t];
        task->stage = stage_of(step, task, needed, kept);
        if (makes_any(step, task, needed))
            mark_inputs(step, task, needed);
        if (task->stage != LEATI_CPU_STAGE_UPDATE)
            mark_inputs(step, task, kept);
    }
    leati_free(needed);
    find_backward(step);
    return LEAT_OK;
}

static bool has_effects(const leati_cpu_task *task) {
    return !is_op(task, &leati_tensor_op_read_variable) &&
           !is_op(task, &leati_tensor_op_replica_id) && task->group < 0 &&
           (task->node->flags & (LEATI_STATEFUL | LEATI_IMPURE | LEATI_NO_EAGER)) != 0;
}

void leati_cpu_find_stops(leati_cpu_step *step) {
    const leati_packing *packing = &step->sums.packing;
    int32_t end = 0;
    while (end < step->num_tasks && !has_effects(&step->tasks[end]))
        end++;
    /* That hands over the last of the first all_reduce, whose sums others write once they have
     * them. */
    int32_t whole = -1;
    for (int i = 0; i < packing->num_tensors; i++) {
        const leati_cpu_ready *ready = &step->sums.ready[i];
        if (packing->packs[packing->places[ready->tensor].pack].group == 0)
            whole = LEATI_MAX(ready->task, whole);
    }
    step->stops_before = whole >= 0 ? LEATI_MIN(whole, end) : end;
}

size_t leati_cpu_explain_stages(const leati_cpu_step *step, char *text, size_t size) {
    int64_t ns[LEATI_CPU_NUM_STAGES] = {0};
    size_t length = 0;
    for (int32_t t = 0; t < step->num_tasks; t++)
        ns[step->tasks[t].stage] += step->tasks[t].ns;
    for (int i = 0; i < LEATI_CPU_NUM_STAGES; i++) {
        size_t left = length < size ? size - length : 0;
        int more = snprintf(left ? text + length : NULL, left, "stage: %s %lld\n",
                            leati_cpu_stage_names[i], (long long)ns[i]);
        length += more > 0 ? (size_t)more : 0;
    }
    return length;
}
