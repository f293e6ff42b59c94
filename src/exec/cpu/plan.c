/* Compiles a function of static shapes into a step: tasks, places of values, one memory plan.
 *
 * Happy path: the simplified nodes become tasks in trace order; a kernel of cpu.def may take a node
 * and others behind it, and then runs where the last of them stood, which keeps the order of
 * effects because what it takes over is pure. Reshapes are no tasks but other names for memory.
 * Reads of variables are no tasks either where nothing writes the variable before the value's last
 * use. The rest lives in one slab by its lifetimes, what is summed over replicas in packs of their
 * own (sums.c). Failures: UNIMPLEMENTED for shapes that are not static and for strings, no memory.
 * No locks: the step belongs to one replica. */
#include "exec/cpu/build.h"

#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "core/spec.h"
#include <string.h>

/* ---- the table ---- */

static const leati_cpu_kernel *const kernels[] = {
#define X(name) &leati_cpu_kernel_##name,
#include "exec/cpu/cpu.def"
#undef X
    NULL};

/* ---- values ---- */

static void place_values(leati_cpu_step *step) {
    const leati_simple *simple = &step->simple;
    for (int32_t v = 0; v < simple->num_values; v++) {
        leati_cpu_value *value = &step->values[v];
        *value =
            (leati_cpu_value){.bytes = simple->values[v].row_bytes, .first = INT32_MAX, .last = -1};
        if (simple->values[v].constant >= 0) {
            value->place = LEATI_CPU_CONSTANT;
            value->index = simple->values[v].constant;
        } else if (v < simple->function->body.num_arguments) {
            value->place = LEATI_CPU_ARGUMENT;
            value->index = v;
        } else if (simple->values[v].node >= 0) {
            value->place = LEATI_CPU_SLAB;
        }
    }
}

int32_t leati_cpu_root(const leati_cpu_step *step, int32_t v) {
    while (step->values[v].place == LEATI_CPU_ALIAS)
        v = step->values[v].index;
    return v;
}

/* ---- tasks ---- */

/* Offers node n, as the task `task`, to the kernels of its operation. */
static leat_status offer(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    leat_status status = LEAT_OK;
    int threads = leati_cpu_set_threads(task->threads);
    /* In the order of cpu.def: the first kernel that does not decline has the node. */
    for (size_t i = 0; kernels[i] != NULL && status == LEAT_OK && task->kernel == NULL; i++) {
        bool here = true;
        if (kernels[i]->op != task->node->source->op)
            continue;
        if (kernels[i]->here != NULL)
            status = kernels[i]->here(&here, err);
        if (status == LEAT_OK && here)
            status = kernels[i]->plan(build, task, err);
    }
    (void)leati_cpu_set_threads(threads);
    return status;
}

/* A task for node n: by the plain kernel, or by one of the table, if one takes the node. */
static leat_status plan_task(leati_cpu_build *build, int32_t n, bool plain, leat_error *err) {
    leati_cpu_step *step = build->step;
    if (build->task_of[n] != -1)
        return LEAT_OK;
    leati_cpu_task *task = &step->tasks[step->num_tasks];
    *task = (leati_cpu_task){.node = &step->simple.nodes[n], .last = n, .implementation = "plain"};
    task->threads = leati_cpu_threads_for(step, task->node);
    build->task_of[n] = step->num_tasks++;
    if (plain)
        return LEAT_OK;
    if (offer(build, task, err) != LEAT_OK)
        return leati_simplify_blame(&step->simple, task->node, err);
    if (task->kernel == NULL) {
        build->task_of[n] = -1;
        step->num_tasks--;
    }
    return LEAT_OK;
}

/* Reshapes become other names for memory. */
static void find_aliases(leati_cpu_build *build) {
    leati_cpu_step *step = build->step;
    for (int32_t n = 0; n < step->simple.num_nodes; n++) {
        const leati_simple_node *node = &step->simple.nodes[n];
        if (node->source->op->trait != LEATI_TRAIT_VIEW)
            continue;
        leati_cpu_value *value = &step->values[node->first_output];
        value->place = LEATI_CPU_ALIAS;
        value->index = node->inputs[0];
        /* Neither a task nor to be had. */
        build->task_of[n] = -2;
    }
}

/* The table's kernels choose first, because they may take nodes on either side of their own. */
static leat_status plan_tasks(leati_cpu_build *build, leat_error *err) {
    leat_status status = LEAT_OK;
    find_aliases(build);
    for (int pass = leati_cpu_plain_only(); status == LEAT_OK && pass < 2; pass++)
        for (int32_t n = 0; status == LEAT_OK && n < build->step->simple.num_nodes; n++)
            status = plan_task(build, n, pass == 1, err);
    return status;
}

/* relu_grad may look at relu's output as well as at its input: then the input need not be kept, and
 * relu can be fused into what makes it. */
static void use_relu_outputs(leati_simple *simple) {
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        const leati_simple_node *relu = &simple->nodes[n];
        if (relu->source->op != &leati_tensor_op_relu)
            continue;
        for (int32_t k = n + 1; k < simple->num_nodes; k++) {
            const leati_simple_node *grad = &simple->nodes[k];
            if (grad->source->op == &leati_tensor_op_relu_grad &&
                grad->inputs[1] == relu->inputs[0])
                /* Nodes see their inputs as const; the list itself is this step's own. */
                simple->inputs[&grad->inputs[1] - simple->inputs] = relu->first_output;
        }
    }
}

/* ---- lifetimes ---- */

static void use(leati_cpu_step *step, int32_t v, int32_t task) {
    leati_cpu_value *value = &step->values[leati_cpu_root(step, v)];
    value->first = LEATI_MIN(task, value->first);
    value->last = LEATI_MAX(task, value->last);
}

static void find_lifetimes(leati_cpu_step *step) {
    for (int32_t t = 0; t < step->num_tasks; t++) {
        const leati_cpu_task *task = &step->tasks[t];
        const leati_simple_node *node = task->node;
        for (int32_t i = 0; task->kernel != NULL && i < task->num_inputs; i++)
            use(step, task->inputs[i], t);
        for (int32_t i = 0; task->kernel != NULL && i < task->num_outputs; i++)
            use(step, task->outputs[i], t);
        for (int32_t i = 0; task->kernel == NULL && i < node->num_inputs; i++)
            use(step, node->inputs[i], t);
        for (int32_t i = 0; task->kernel == NULL && i < node->num_outputs; i++)
            use(step, node->first_output + i, t);
    }
    for (int32_t i = 0; i < step->simple.num_outputs; i++)
        /* One behind the last task: results stay until they are delivered. */
        use(step, step->simple.outputs[i], step->num_tasks);
}

static bool is_read(const leati_cpu_task *task) {
    return task->kernel == NULL && task->node->source->op == &leati_tensor_op_read_variable;
}

/* The variable of a read. */
static leat_variable *variable_of(const leati_simple_node *node) {
    for (const leati_row *row = node->source->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        const void *at = (const char *)node->source->args + row->offset;
        if (row->type == LEATI_ROW_OBJECT && leati_variable_is_object(*(leat_object *const *)at))
            return *(leat_variable *const *)at;
    }
    return NULL;
}

/* May the task write the variable? What runs a graph of its own may write any. */
static bool writes(const leati_cpu_task *task, const leat_variable *variable) {
    const leati_simple_node *node = task->node;
    if (is_read(task) || !(node->flags & (LEATI_STATEFUL | LEATI_IMPURE)))
        return false;
    for (const leati_row *row = node->source->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        const void *at = (const char *)node->source->args + row->offset;
        if (row->type == LEATI_ROW_FUNCTION ||
            (row->type == LEATI_ROW_OBJECT &&
             *(leat_object *const *)at == (const leat_object *)variable))
            return true;
    }
    return false;
}

/* Reads whose variable nobody writes before their last use see the variable itself. */
static void read_in_place(leati_cpu_step *step) {
    for (int32_t t = 0; t < step->num_tasks; t++) {
        leati_cpu_task *task = &step->tasks[t];
        leat_variable *variable = is_read(task) ? variable_of(task->node) : NULL;
        if (variable == NULL)
            continue;
        leati_cpu_value *value = &step->values[task->node->first_output];
        bool safe = true;
        /* As a result of the step it is last read behind all tasks, so any write forbids it. */
        for (int32_t k = t + 1; safe && k < step->num_tasks && k <= value->last; k++)
            safe = !writes(&step->tasks[k], variable);
        if (!safe)
            continue;
        value->place = LEATI_CPU_VARIABLE;
        value->variable = variable;
        strcpy(task->implementation, "in place");
    }
}

/* Results whose memory is the step's own go straight into their buffers; the others are copied at
 * the end. */
static void place_results(leati_cpu_step *step) {
    for (int32_t i = 0; i < step->simple.num_outputs; i++) {
        leati_cpu_value *value = &step->values[leati_cpu_root(step, step->simple.outputs[i])];
        if (value->place != LEATI_CPU_SLAB)
            continue;
        value->place = LEATI_CPU_OUTPUT;
        value->index = i;
    }
}

static leat_status plan_slab(leati_cpu_step *step, leat_error *err) {
    leati_interval *intervals = leati_alloc((size_t)step->num_values, sizeof *intervals);
    if (intervals == NULL)
        return leati_no_memory(err);
    size_t count = 0;
    for (int32_t v = 0; v < step->num_values; v++) {
        const leati_cpu_value *value = &step->values[v];
        if (value->place == LEATI_CPU_SLAB && value->last >= 0)
            intervals[count++] =
                (leati_interval){.begin = value->first, .end = value->last, .size = value->bytes};
    }
    leat_status status = leati_slab_plan(intervals, count, &step->slab_bytes, err);
    if (status == LEAT_OK)
        status = leati_slab_least(intervals, count, &step->slab_least, err);
    count = 0;
    for (int32_t v = 0; status == LEAT_OK && v < step->num_values; v++)
        if (step->values[v].place == LEATI_CPU_SLAB && step->values[v].last >= 0)
            step->values[v].offset = intervals[count++].offset;
    leati_free(intervals);
    if (status != LEAT_OK)
        return status;
    step->slab = leati_alloc_aligned(step->slab_bytes ? step->slab_bytes : 64, 64);
    return step->slab != NULL ? LEAT_OK : leati_no_memory(err);
}

/* ---- what a run needs ---- */

bool leati_cpu_runs_nothing(const leati_cpu_step *step, const leati_cpu_task *task) {
    return task->node->num_outputs > 0 &&
           step->values[task->node->first_output].place == LEATI_CPU_VARIABLE;
}

static void fill_operand(const leati_simple *simple, int32_t v, leati_operand *operand) {
    const leati_type *type = simple->values[v].type;
    *operand =
        (leati_operand){.dtype = type->dtype, .row_stride = (int64_t)simple->values[v].row_bytes};
    leati_kernel_operand_set_shape(operand, type->shape.rank, type->shape.dims);
}

static leat_status make_operands(leati_cpu_step *step, leat_error *err) {
    const leati_simple *simple = &step->simple;
    size_t count = 0;
    for (int32_t t = 0; t < step->num_tasks; t++)
        if (step->tasks[t].kernel == NULL)
            count += (size_t)(step->tasks[t].node->num_inputs + step->tasks[t].node->num_outputs);
    step->operands = leati_alloc(count, sizeof *step->operands);
    step->data = leati_alloc_zero((size_t)step->num_values, sizeof *step->data);
    step->results = leati_alloc_zero((size_t)simple->num_outputs, sizeof *step->results);
    if (step->operands == NULL || step->data == NULL || step->results == NULL)
        return leati_no_memory(err);
    leati_operand *next = step->operands;
    for (int32_t t = 0; t < step->num_tasks; t++) {
        leati_cpu_task *task = &step->tasks[t];
        if (task->kernel != NULL)
            continue;
        task->operands = next;
        for (int32_t i = 0; i < task->node->num_inputs; i++)
            fill_operand(simple, task->node->inputs[i], next++);
        for (int32_t i = 0; i < task->node->num_outputs; i++)
            fill_operand(simple, task->node->first_output + i, next++);
    }
    for (int32_t v = 0; v < step->num_values; v++) {
        const leati_cpu_value *value = &step->values[v];
        if (value->place == LEATI_CPU_SLAB)
            step->data[v] = step->slab + value->offset;
        else if (value->place == LEATI_CPU_PART)
            step->data[v] = step->slab + step->values[value->index].offset + value->offset;
        else if (value->place == LEATI_CPU_CONSTANT)
            step->data[v] = simple->constants[value->index].data;
    }
    return LEAT_OK;
}

/* Which task runs when. */
static leat_status order_tasks(leati_cpu_build *build, int64_t bytes_per_pack, leat_error *err) {
    leat_status status = plan_tasks(build, err);
    if (status == LEAT_OK)
        status = leati_cpu_order(build, err);
    if (status == LEAT_OK)
        status = leati_cpu_find_stages(build->step, err);
    return status != LEAT_OK ? status : leati_cpu_find_sums(build, bytes_per_pack, err);
}

/* Where every value lies. */
static leat_status place_all(leati_cpu_build *build, leat_error *err) {
    leati_cpu_step *step = build->step;
    find_lifetimes(step);
    read_in_place(step);
    leat_status status = leati_cpu_place_sums(build, err);
    if (status != LEAT_OK)
        return status;
    leati_cpu_find_stops(step);
    place_results(step);
    status = plan_slab(step, err);
    if (status == LEAT_OK)
        status = make_operands(step, err);
    return status != LEAT_OK ? status : leati_cpu_bind_sums(step, err);
}

static leat_status build_step(leati_cpu_build *build, const leat_function *function,
                              int64_t bytes_per_pack, leat_error *err) {
    leati_cpu_step *step = build->step;
    leat_status status = leati_simplify(function, &step->simple, err);
    if (status == LEAT_OK)
        status = leati_simplify_check(&step->simple, err);
    if (status != LEAT_OK)
        return status;
    size_t nodes = (size_t)step->simple.num_nodes;
    step->num_values = step->simple.num_values;
    build->value_capacity = (size_t)step->num_values;
    step->values = leati_alloc((size_t)step->num_values, sizeof *step->values);
    step->tasks = leati_alloc(nodes, sizeof *step->tasks);
    build->task_of = leati_alloc(nodes, sizeof *build->task_of);
    if (step->values == NULL || step->tasks == NULL || build->task_of == NULL)
        return leati_no_memory(err);
    for (size_t n = 0; n < nodes; n++)
        build->task_of[n] = -1;
    place_values(step);
    if (!leati_cpu_plain_only())
        use_relu_outputs(&step->simple);
    status = order_tasks(build, bytes_per_pack, err);
    return status != LEAT_OK ? status : place_all(build, err);
}

static void tell_tasks(const leati_cpu_step *step) {
    int32_t fast = 0;
    for (int32_t t = 0; t < step->num_tasks; t++) {
        const leati_cpu_task *task = &step->tasks[t];
        fast += task->kernel != NULL;
        LEATI_TELL(EXEC, DEBUG, "replica %d: %s by %s", step->replica, task->node->source->op->name,
                   task->implementation);
    }
    LEATI_TELL(EXEC, INFO, "replica %d: a step of %d tasks, %d of them by fast kernels",
               step->replica, step->num_tasks, fast);
}

leat_status leati_cpu_compile(leati_device *device, const leat_function *function,
                              const leati_call_context *context, leati_executable **out,
                              leat_error *err) {
    leati_cpu_step *step = leati_alloc_zero(1, sizeof *step);
    if (step == NULL)
        return leati_no_memory(err);
    step->base.device = device;
    step->replica = context->replica - context->first_replica;
    leati_cpu_build build = {.step = step};
    leat_status status = build_step(&build, function, context->bytes_per_pack, err);
    leati_free(build.task_of);
    if (status != LEAT_OK) {
        leati_cpu_release(&step->base);
        return status;
    }
    tell_tasks(step);
    *out = &step->base;
    return LEAT_OK;
}

void leati_cpu_release(leati_executable *executable) {
    leati_cpu_step *step = (leati_cpu_step *)(void *)executable;
    if (step == NULL)
        return;
    for (int32_t t = 0; t < step->num_tasks; t++)
        if (step->tasks[t].kernel != NULL && step->tasks[t].state != NULL)
            step->tasks[t].kernel->release(step->tasks[t].state);
    leati_cpu_stream_free(step->stream);
    leati_cpu_sums_fini(&step->sums);
    leati_pools_close(&step->pools);
    leati_arena_fini(&step->arena);
    leati_simplify_fini(&step->simple);
    leati_free(step->tasks);
    leati_free(step->values);
    leati_free(step->data);
    leati_free(step->slab);
    leati_free(step->operands);
    leati_free(step->results);
    leati_free(step);
}
