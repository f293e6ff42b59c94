/* Runs a step: binds arguments, variables and results, then task after task.
 *
 * Happy path: nothing is allocated but the buffers of the results, which come from pools. A failing
 * task ends the step; its error names operation and node, results are dropped, and variables keep
 * what was assigned so far. Who cancels a run ends it before anything is written, or not at all. No
 * locks: one run at a time, on the replica's own thread. */
#include "exec/cpu/cpu.h"

#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/error.h"
#include "core/block.h"
#include "graph/halves.h"
#include "graph/support/array/moving.h"
#include "run/cancel.h"
#include "run/crew.h"
#include "run/trace.h"
#include <stdio.h>
#include <string.h>

struct step_host {
    struct leati_kernel_host host; /* first */
    leati_cpu_step *step;
    const leati_cpu_task *task;
};

static leat_status host_output(leati_kernel_call *call, int index, int32_t rank,
                               const int64_t *dims, leat_error *err) {
    const struct step_host *host = (const struct step_host *)(const void *)call->host;
    int32_t v = host->task->node->first_output + index;
    return leati_kernel_host_check(host->step->simple.values[v].type, index, rank, dims, err);
}

/* Memory is planned, so a view is copied to its place. */
static leat_status host_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                             void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    (void)row_stride, (void)owner;
    leat_status status = host_output(call, index, rank, dims, err);
    const leati_operand *output = &call->outputs[index];
    if (status != LEAT_OK || output->data == data || output->count == 0)
        return status;
    size_t bytes = leati_kernel_operand_row_bytes(output);
    const leati_moving_dim dim = {(int64_t)bytes, 1, 1};
    uintptr_t to = (uintptr_t)output->data, from = (uintptr_t)data;
    /* Nothing says that a view and the output's place are apart. */
    if (to + bytes <= from || from + bytes <= to)
        leati_moving_copy(output->data, data, &dim, 1, 1);
    else
        memmove(output->data, data, bytes);
    return LEAT_OK;
}

static char *host_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    (void)call, (void)size;
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "output %d is text; steps compute numbers, the rest belongs into the input pipeline",
               index);
    return NULL;
}

static leat_status host_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    (void)call, (void)index, (void)input, (void)err;
    return LEAT_OK;
}

/* ---- memory ---- */

static leat_status take_result(leati_cpu_step *step, int32_t result, leat_error *err) {
    int32_t v = step->simple.outputs[result];
    step->results[result] = leati_pools_take(&step->pools, step->simple.values[v].row_bytes, err);
    return step->results[result] != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
}

const leat_buffer *leati_cpu_copy_of(const leati_cpu_step *step, const leat_variable *variable,
                                     leat_error *err) {
    /* A variable that is not mirrored has one copy for all replicas. */
    int copy = step->replica < variable->num_copies ? step->replica : 0;
    const leat_buffer *buffer = variable->copies[copy];
    if (buffer->device == NULL)
        return buffer;
    leati_fail(err, LEAT_FAILED_PRECONDITION,
               "variable %s lies on another device than %s; create it under the scope of "
               "the strategy that runs the step",
               variable->name, step->base.device->name);
    return NULL;
}

static leat_status bind_variable(leati_cpu_step *step, int32_t v, leat_error *err) {
    const leat_buffer *buffer = leati_cpu_copy_of(step, step->values[v].variable, err);
    if (buffer == NULL)
        return LEAT_FAILED_PRECONDITION;
    step->data[v] = buffer->data;
    return LEAT_OK;
}

/* Addresses of everything that may have moved since the last run. An alias comes after the value
 * that it names. */
static leat_status bind(leati_cpu_step *step, const leati_run_args *args, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int32_t i = 0; status == LEAT_OK && i < step->simple.num_outputs; i++)
        status = take_result(step, i, err);
    for (int32_t v = 0; status == LEAT_OK && v < step->simple.num_values; v++) {
        const leati_cpu_value *value = &step->values[v];
        switch (value->place) {
        case LEATI_CPU_ARGUMENT: step->data[v] = args->inputs[value->index].data; break;
        case LEATI_CPU_OUTPUT: step->data[v] = step->results[value->index]->data; break;
        case LEATI_CPU_VARIABLE: status = bind_variable(step, v, err); break;
        case LEATI_CPU_ALIAS: step->data[v] = step->data[value->index]; break;
        default: break;
        }
    }
    return status;
}

static leat_status check_args(const leati_cpu_step *step, const leati_run_args *args,
                              leat_error *err) {
    const leati_simple *simple = &step->simple;
    int32_t num_arguments = simple->function->body.num_arguments;
    if (args->num_inputs != num_arguments || args->num_outputs != simple->num_outputs)
        return leati_refuse(
            err, STRUCTURE, "the step has %d arguments and %d results; %d and %d were given",
            (int)num_arguments, (int)simple->num_outputs, args->num_inputs, args->num_outputs);
    for (int32_t i = 0; i < num_arguments; i++) {
        const leat_tensor *tensor = &args->inputs[i];
        if (tensor->dtype != simple->values[i].type->dtype ||
            leat_tensor_count(tensor) != simple->values[i].count)
            return leati_refuse(
                err, DTYPE,
                "argument %d is %s with %lld values; the step was compiled for %s "
                "with %lld",
                (int)i, leat_dtype_name(tensor->dtype), (long long)leat_tensor_count(tensor),
                leat_dtype_name(simple->values[i].type->dtype), (long long)simple->values[i].count);
        if (tensor->owner != NULL && tensor->owner->device != NULL)
            return leati_refuse(err, VALUE, "argument %d lies on another device than %s", (int)i,
                                step->base.device->name);
    }
    return LEAT_OK;
}

/* ---- tasks ---- */

static leat_status run_plain(leati_cpu_step *step, leati_cpu_task *task,
                             const leati_call_context *context, leat_error *err) {
    const leati_simple_node *node = task->node;
    struct step_host host = {
        .host = {host_output, host_view, host_text, host_hold}, .step = step, .task = task};
    leati_operand *outputs = task->operands + node->num_inputs;
    for (int32_t i = 0; i < node->num_inputs; i++)
        task->operands[i].data = step->data[node->inputs[i]];
    for (int32_t i = 0; i < node->num_outputs; i++)
        outputs[i].data = step->data[node->first_output + i];
    leati_arena_reset(&step->arena);
    leati_kernel_call call = {.n = 1,
                              .inputs = task->operands,
                              .num_inputs = node->num_inputs,
                              .outputs = outputs,
                              .num_outputs = node->num_outputs,
                              .args = node->source->args,
                              .number = node->source->number,
                              .context = context,
                              .arena = &step->arena,
                              .host = &host.host};
    int before = leati_crew_enter(task->threads);
    leat_status status = leati_halves_run(node->source->op, &call, err);
    leati_crew_leave(before);
    return status;
}

/* The stage that a step is in, and its span in the trace. */
struct stage {
    leati_cpu_stage number;
    leati_span span;
};

static leati_cpu_stage stage_at(const leati_cpu_step *step, int32_t t) {
    return t < step->backward_begins ? LEATI_CPU_STAGE_FORWARD
           : t < step->backward_ends ? LEATI_CPU_STAGE_BACKWARD
                                     : LEATI_CPU_STAGE_UPDATE;
}

static void enter_stage(const leati_cpu_step *step, struct stage *stage, int32_t t) {
    leati_cpu_stage number = stage_at(step, t);
    if (t > 0 && t < step->num_tasks && number == stage->number)
        return;
    if (t > 0)
        leati_trace_end(stage->span, "step", leati_cpu_stage_names[stage->number]);
    stage->number = number;
    stage->span = leati_trace_begin();
}

static leat_status run_task(leati_cpu_step *step, int32_t t, const leati_call_context *context,
                            leat_error *err) {
    leati_cpu_task *task = &step->tasks[t];
    leat_status status = task->kernel != NULL ? task->kernel->run(step, task, err)
                         : task->group >= 0   ? leati_cpu_sums_await(step, t, err)
                                              : run_plain(step, task, context, err);
    return status != LEAT_OK ? leati_simplify_blame(&step->simple, task->node, err) : LEAT_OK;
}

static leat_status run_tasks(leati_cpu_step *step, const leati_call_context *context,
                             leat_error *err) {
    struct stage stage = {0};
    leati_cpu_sums_begin(step, context);
    int64_t before = leati_now_ns();
    for (int32_t t = 0; t < step->num_tasks; t++) {
        if (t == step->stops_before)
            LEATI_TRY(leati_stop_commit(err));
        leati_cpu_task *task = &step->tasks[t];
        enter_stage(step, &stage, t);
        if (leati_cpu_runs_nothing(step, task))
            continue;
        leat_status status = run_task(step, t, context, err);
        if (t < step->stops_before && leati_stop_look())
            status = leati_stop_check(err);
        if (status != LEAT_OK)
            return status;
        int64_t now = leati_now_ns();
        task->ns += now - before;
        before = now;
        status = leati_cpu_sums_after(step, t, &before, err);
        if (status != LEAT_OK)
            return status;
    }
    enter_stage(step, &stage, step->num_tasks);
    return LEAT_OK;
}

static leat_status run_in_scope(leati_cpu_step *step, const leati_call_context *context,
                                leat_error *err) {
    leati_stop_scope before = leati_cancel_enter(context->cancel);
    leat_status status = run_tasks(step, context, err);
    /* What it has committed goes with it. */
    leati_stop_leave(before);
    return status;
}

/* Hands the results over; those that are somebody else's memory are copied. */
static void deliver(leati_cpu_step *step, leati_run_args *args) {
    for (int32_t i = 0; i < step->simple.num_outputs; i++) {
        int32_t v = step->simple.outputs[i];
        const leati_simple_value *value = &step->simple.values[v];
        leat_buffer *buffer = step->results[i];
        step->results[i] = NULL;
        /* Arguments, constants, variables, and values that are a result twice. */
        if (step->data[v] != buffer->data && value->row_bytes > 0)
            memcpy(buffer->data, step->data[v], value->row_bytes);
        leat_tensor *out = &args->outputs[i];
        *out = (leat_tensor){.dtype = value->type->dtype,
                             .rank = value->type->shape.rank,
                             .data = buffer->data,
                             .owner = buffer};
        memcpy(out->dims, value->type->shape.dims, sizeof out->dims);
    }
}

leat_status leati_cpu_run(leati_executable *executable, leati_run_args *args, leat_error *err) {
    leati_cpu_step *step = (leati_cpu_step *)(void *)executable;
    leati_cpu_enter(step->base.device, args->brief);
    /* Denormal numbers count as zero while a step runs, as in TensorFlow: moments of gradients
     * decay into them, where arithmetic is a hundred times slower. */
    unsigned int mode = leati_arithmetic_enter(leati_arithmetic_flushing(leati_arithmetic_mode()));
    leat_status status = check_args(step, args, err);
    if (status == LEAT_OK)
        status = bind(step, args, err);
    if (status == LEAT_OK)
        status = run_in_scope(step, args->context, err);
    if (status == LEAT_OK)
        deliver(step, args);
    for (int32_t i = 0; i < step->simple.num_outputs; i++) {
        leat_buffer_unref(step->results[i]);
        step->results[i] = NULL;
    }
    (void)leati_arithmetic_enter(mode);
    step->runs += status == LEAT_OK;
    return status;
}

size_t leati_cpu_explain(const leati_executable *executable, char *text, size_t size) {
    const leati_cpu_step *step = (const leati_cpu_step *)(const void *)executable;
    size_t length = 0;
    int first =
        snprintf(size ? text : NULL, size, "memory: %zu %zu\n", step->slab_bytes, step->slab_least);
    length += first > 0 ? (size_t)first : 0;
    length += leati_cpu_explain_stages(step, length < size ? text + length : NULL,
                                       length < size ? size - length : 0);
    for (int32_t t = 0; t < step->num_tasks; t++) {
        const leati_cpu_task *task = &step->tasks[t];
        size_t left = length < size ? size - length : 0;
        int more =
            snprintf(left ? text + length : NULL, left, "%s %s %lld\n",
                     task->node->source->op->name, task->implementation, (long long)task->ns);
        length += more > 0 ? (size_t)more : 0;
    }
    return length;
}
