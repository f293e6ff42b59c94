/* Sums over replicas beside what a step computes.
 *
 * Happy path: the operands of a step's all_reduces are packed (coll/pack.h). A gradient that nobody
 * reads but its all_reduce lies in its pack from the beginning, others are copied there; so do the
 * sums. As soon as the last task that makes or reads a pack's tensors has run, the pack is handed
 * to the collective, and the step computes on; the all_reduce itself only waits. What becomes whole
 * when nothing is left to compute is summed by the step's own thread.
 *
 * One order on all replicas: packs begin in their order, an all_reduce's not before those of the
 * all_reduce before it and not before any other exchange that the function makes earlier. That
 * order follows from the trace and the shapes of gradients alone, so it is the same on replicas
 * whose batches have other shapes, whatever their kernels are. What is added to what does not
 * depend on time either.
 *
 * Failures: what the collective reports, as the failure of the all_reduce. A run that failed may
 * leave sums in progress (exec/device.h). No locks. */
#include "exec/cpu/build.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "graph/ops/replica/all_reduce.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

static bool is_all_reduce(const leati_cpu_task *task) {
    return task->kernel == NULL && task->node->source->op == &leati_tensor_op_all_reduce;
}

/* May the task exchange something with other replicas on its own? */
static bool exchanges(const leati_cpu_task *task) {
    const uint32_t both = LEATI_STATEFUL | LEATI_NO_EAGER;
    return task->kernel == NULL && task->group < 0 && (task->node->flags & both) == both;
}

static leat_status describe_tensors(const leati_cpu_step *step, leati_pack_tensor *tensors,
                                    leat_error *err) {
    for (int32_t t = 0, next = 0; t < step->num_tasks; t++) {
        const leati_simple_node *node = step->tasks[t].node;
        leati_reduction reduction = LEATI_REDUCTION_SUM;
        if (step->tasks[t].group < 0)
            continue;
        if (leati_all_reduce_reduction(node->source->args, &reduction, err) != LEAT_OK)
            return leati_simplify_blame(&step->simple, node, err);
        for (int32_t i = 0; i < node->num_inputs; i++) {
            const leati_simple_value *value = &step->simple.values[node->inputs[i]];
            tensors[next++] = (leati_pack_tensor){.count = value->count,
                                                  .dtype = value->type->dtype,
                                                  .reduction = reduction,
                                                  .group = step->tasks[t].group};
        }
    }
    return LEAT_OK;
}

leat_status leati_cpu_find_sums(leati_cpu_build *build, int64_t bytes_per_pack, leat_error *err) {
    leati_cpu_step *step = build->step;
    int32_t groups = 0;
    size_t count = 0;
    for (int32_t t = 0; t < step->num_tasks; t++) {
        leati_cpu_task *task = &step->tasks[t];
        bool reduces = is_all_reduce(task);
        task->group = reduces ? groups++ : -1;
        count += reduces ? (size_t)task->node->num_inputs : 0;
    }
    if (groups == 0)
        return LEAT_OK;
    leati_pack_tensor *tensors = leati_alloc(count, sizeof *tensors);
    step->sums.ready = leati_alloc(count, sizeof *step->sums.ready);
    leat_status status = tensors == NULL || step->sums.ready == NULL
                             ? leati_no_memory(err)
                             : describe_tensors(step, tensors, err);
    if (status == LEAT_OK)
        status = leati_pack_init(&step->sums.packing, tensors, (int)count, bytes_per_pack, err);
    leati_free(tensors);
    return status;
}

/* ---- places ---- */

/* What the values of a step are used for, by value; only roots count. */
struct uses {
    int32_t *last;    /* task that last makes or reads it, all_reduces aside; -1: none */
    int32_t *summed;  /* how many operands of all_reduces it is */
    int32_t compute;  /* the last task before the present all_reduce that computes */
    int32_t exchange; /* the last one that exchanges on its own; -1: none */
};

static void note_use(const leati_cpu_step *step, struct uses *uses, int32_t v, int32_t task) {
    uses->last[leati_cpu_root(step, v)] = task;
}

static void note_uses(const leati_cpu_step *step, struct uses *uses, int32_t t) {
    const leati_cpu_task *task = &step->tasks[t];
    const leati_simple_node *node = task->node;
    for (int32_t i = 0; task->group >= 0 && i < node->num_inputs; i++)
        uses->summed[leati_cpu_root(step, node->inputs[i])]++;
    if (task->group >= 0)
        return;
    for (int32_t i = 0; task->kernel != NULL && i < task->num_inputs; i++)
        note_use(step, uses, task->inputs[i], t);
    for (int32_t i = 0; task->kernel != NULL && i < task->num_outputs; i++)
        note_use(step, uses, task->outputs[i], t);
    for (int32_t i = 0; task->kernel == NULL && i < node->num_inputs; i++)
        note_use(step, uses, node->inputs[i], t);
    for (int32_t i = 0; task->kernel == NULL && i < node->num_outputs; i++)
        note_use(step, uses, node->first_output + i, t);
}

/* Operand v of the all_reduce `task` may lie in its pack: nobody reads it afterwards. */
static bool lies_in_pack(const leati_cpu_step *step, const struct uses *uses, int32_t v,
                         int32_t task) {
    const leati_cpu_value *value = &step->values[v];
    return value->place == LEATI_CPU_SLAB && value->last == task && uses->summed[v] == 1 &&
           value->first <= uses->last[v] && uses->last[v] < task;
}

static void stretch(leati_cpu_value *memory, int32_t first, int32_t last) {
    memory->first = LEATI_MIN(first, memory->first);
    memory->last = LEATI_MAX(last, memory->last);
}

static void put_into(leati_cpu_step *step, int32_t v, int tensor) {
    leati_pack_place at = step->sums.packing.places[tensor];
    leat_dtype dtype = step->sums.packing.packs[at.pack].dtype;
    leati_cpu_value *memory = &step->values[step->sums.memory[at.pack]];
    leati_cpu_value *value = &step->values[v];
    stretch(memory, value->first, value->last);
    value->place = LEATI_CPU_PART;
    value->index = step->sums.memory[at.pack];
    value->offset = (size_t)at.at * leat_dtype_size(dtype);
}

/* Does the pack wait for the all_reduce `task` itself? Of several one behind the other only the
 * last one's does. */
static bool is_last_pack(const leati_cpu_step *step, int32_t task, int pack) {
    const leati_packing *packing = &step->sums.packing;
    bool more = pack + 1 < packing->num_packs &&
                packing->packs[pack + 1].group == packing->packs[pack].group;
    return !more && (task + 1 == step->num_tasks || step->tasks[task + 1].group < 0);
}

/* Operand `index` of the all_reduce `task`: where it lies, and when it is there. */
static leati_cpu_ready place_operand(leati_cpu_step *step, const struct uses *uses, int32_t task,
                                     int32_t index, int32_t tensor) {
    int32_t v = leati_cpu_root(step, step->tasks[task].node->inputs[index]);
    const leati_cpu_value *value = &step->values[v];
    leati_cpu_ready ready = {.task = task, .tensor = tensor, .value = v};
    if (lies_in_pack(step, uses, v, task)) {
        ready.value = -1;
        ready.task = uses->last[v];
        put_into(step, v, tensor);
    } else if (value->place == LEATI_CPU_SLAB || value->place == LEATI_CPU_PART) {
        ready.task = value->first;
    }
    int pack = step->sums.packing.places[tensor].pack;
    ready.task = LEATI_MAX(uses->exchange, ready.task);
    /* Nothing is left to compute beside the exchange: then the step's own thread sums. */
    if (ready.task >= uses->compute || is_last_pack(step, task, pack))
        ready.task = task;
    ready.beside = ready.task < task;
    stretch(&step->values[step->sums.memory[pack]], ready.task, task);
    return ready;
}

/* What an all_reduce puts itself comes before what its results are put into. */
static int by_task(const void *a, const void *b) {
    const leati_cpu_ready *left = a, *right = b;
    int order = (left->task > right->task) - (left->task < right->task);
    order = order != 0 ? order : left->beside - right->beside;
    return order != 0 ? order : (left->tensor > right->tensor) - (left->tensor < right->tensor);
}

static void place_tensors(leati_cpu_step *step, struct uses *uses) {
    leati_cpu_sums *sums = &step->sums;
    for (int32_t t = 0, next = 0; t < step->num_tasks; t++) {
        const leati_cpu_task *task = &step->tasks[t];
        if (exchanges(task))
            uses->exchange = t;
        if (task->group < 0 && !leati_cpu_runs_nothing(step, task))
            uses->compute = t;
        for (int32_t i = 0; task->group >= 0 && i < task->node->num_inputs; i++, next++) {
            int32_t sum = task->node->first_output + i;
            sums->ready[next] = place_operand(step, uses, t, i, next);
            put_into(step, sum, next);
        }
    }
    qsort(sums->ready, (size_t)sums->packing.num_tensors, sizeof *sums->ready, by_task);
}

static leat_status make_memory(leati_cpu_build *build, leat_error *err) {
    leati_cpu_sums *sums = &build->step->sums;
    size_t count = (size_t)sums->packing.num_packs;
    sums->memory = leati_alloc(count, sizeof *sums->memory);
    if (sums->memory == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        sums->memory[i] = leati_cpu_extra(build, leati_pack_bytes(&sums->packing, (int)i), err);
        if (sums->memory[i] < 0)
            return LEAT_RESOURCE_EXHAUSTED;
    }
    return LEAT_OK;
}

leat_status leati_cpu_place_sums(leati_cpu_build *build, leat_error *err) {
    leati_cpu_step *step = build->step;
    if (step->sums.packing.num_tensors == 0)
        return LEAT_OK;
    leat_status status = make_memory(build, err);
    if (status != LEAT_OK)
        return status;
    size_t values = (size_t)step->num_values;
    struct uses uses = {.last = leati_alloc(values, sizeof *uses.last),
                        .summed = leati_alloc_zero(values, sizeof *uses.summed),
                        .compute = -1,
                        .exchange = -1};
    if (uses.last == NULL || uses.summed == NULL) {
        status = leati_no_memory(err);
    } else {
        for (size_t v = 0; v < values; v++)
            uses.last[v] = -1;
        for (int32_t t = 0; t < step->num_tasks; t++)
            note_uses(step, &uses, t);
        place_tensors(step, &uses);
    }
    leati_free(uses.last);
    leati_free(uses.summed);
    return status;
}

/* For leat_step_explain. */
static void describe(const leati_packing *packing, leati_cpu_task *task) {
    int count = 0;
    for (int i = 0; i < packing->num_packs; i++)
        count += packing->packs[i].group == task->group;
    (void)snprintf(task->implementation, sizeof task->implementation, "%d pack%s", count,
                   count == 1 ? "" : "s");
}

leat_status leati_cpu_bind_sums(leati_cpu_step *step, leat_error *err) {
    leati_cpu_sums *sums = &step->sums;
    if (sums->packing.num_tensors == 0)
        return LEAT_OK;
    sums->packs = leati_packs_new(&sums->packing, err);
    if (sums->packs == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int i = 0; i < sums->packing.num_packs; i++)
        leati_packs_place(sums->packs, i, step->data[sums->memory[i]]);
    for (int32_t t = 0; t < step->num_tasks; t++)
        if (step->tasks[t].group >= 0)
            describe(&sums->packing, &step->tasks[t]);
    return LEAT_OK;
}

void leati_cpu_sums_fini(leati_cpu_sums *sums) {
    leati_packs_free(sums->packs);
    leati_pack_fini(&sums->packing);
    leati_free(sums->memory);
    leati_free(sums->ready);
}

/* ---- running ---- */

void leati_cpu_sums_begin(leati_cpu_step *step, const leati_call_context *context) {
    if (step->sums.packs != NULL)
        leati_packs_begin(step->sums.packs, context->collective, context->replica);
    step->sums.num_done = 0;
}

/* Is the next tensor there, now that `task` has run or, an all_reduce, waits for its own? */
static bool is_there(const leati_cpu_sums *sums, int32_t task, bool waits) {
    if (sums->num_done >= sums->packing.num_tensors)
        return false;
    const leati_cpu_ready *next = &sums->ready[sums->num_done];
    return next->task == task && (!waits || !next->beside);
}

static leat_status put(leati_cpu_step *step, int32_t task, bool waits, leat_error *err) {
    leati_cpu_sums *sums = &step->sums;
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && is_there(sums, task, waits)) {
        const leati_cpu_ready *ready = &sums->ready[sums->num_done++];
        if (ready->value >= 0 && step->values[ready->value].bytes > 0)
            memcpy(leati_packs_values(sums->packs, ready->tensor), step->data[ready->value],
                   step->values[ready->value].bytes);
        status = leati_packs_ready(sums->packs, ready->tensor, ready->beside, err);
    }
    return status;
}

/* The all_reduce that waits for the next tensor: the time counts as its own. */
static leati_cpu_task *reducing_task(leati_cpu_step *step, int32_t from) {
    while (step->tasks[from].group < 0)
        from++;
    return &step->tasks[from];
}

leat_status leati_cpu_sums_after(leati_cpu_step *step, int32_t task, int64_t *now,
                                 leat_error *err) {
    if (!is_there(&step->sums, task, false))
        return LEAT_OK;
    int64_t start = *now;
    leati_cpu_task *reducing = reducing_task(step, task);
    leat_status status = put(step, task, false, err);
    *now = leati_now_ns();
    reducing->ns += *now - start;
    return status != LEAT_OK ? leati_simplify_blame(&step->simple, reducing->node, err) : LEAT_OK;
}

leat_status leati_cpu_sums_await(leati_cpu_step *step, int32_t task, leat_error *err) {
    leat_status status = put(step, task, true, err);
    return status != LEAT_OK ? status
                             : leati_packs_await(step->sums.packs, step->tasks[task].group, err);
}
