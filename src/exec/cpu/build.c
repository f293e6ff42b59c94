/* What a kernel's plan may ask about the function and say about its task; see cpu.h. No state but
 * the build's, no locks; failures are no memory. */
#include "exec/cpu/build.h"

#include "base/error.h"
#include "base/minmax.h"

const leati_cpu_step *leati_cpu_step_of(const leati_cpu_build *build) {
    return build->step;
}

const leati_simple_node *leati_cpu_node(const leati_cpu_build *build, int32_t index) {
    return &build->step->simple.nodes[index];
}

const leati_simple_value *leati_cpu_value_of(const leati_cpu_build *build, int32_t v) {
    return &build->step->simple.values[v];
}

static bool reads(const leati_simple_node *node, int32_t v) {
    for (int32_t i = 0; i < node->num_inputs; i++)
        if (node->inputs[i] == v)
            return true;
    return false;
}

static bool is_op(const leati_cpu_build *build, int32_t node, const leati_tensor_op *op) {
    /* A node that another task has taken is no longer to be had. */
    return build->task_of[node] == -1 && leati_cpu_node(build, node)->source->op == op;
}

int32_t leati_cpu_only_reader(const leati_cpu_build *build, int32_t v) {
    const leati_simple *simple = &build->step->simple;
    int32_t reader = -1;
    for (int32_t i = 0; i < simple->num_outputs; i++)
        /* The caller reads it, too. */
        if (simple->outputs[i] == v)
            return -1;
    /* Nodes read only what stands before them; of an argument the maker is -1, and all may. */
    for (int32_t i = simple->values[v].node + 1; i < simple->num_nodes; i++) {
        if (!reads(&simple->nodes[i], v))
            continue;
        if (reader >= 0)
            return -1;
        reader = i;
    }
    return reader;
}

int32_t leati_cpu_next_reader(const leati_cpu_build *build, int32_t v, const leati_tensor_op *op,
                              int32_t from) {
    const leati_simple *simple = &build->step->simple;
    for (int32_t i = from; i < simple->num_nodes; i++)
        if (reads(&simple->nodes[i], v) && is_op(build, i, op))
            return i;
    return -1;
}

int32_t leati_cpu_follower(const leati_cpu_build *build, int32_t v, const leati_tensor_op *op) {
    int32_t reader = leati_cpu_only_reader(build, v);
    return reader >= 0 && is_op(build, reader, op) ? reader : -1;
}

int32_t leati_cpu_maker(const leati_cpu_build *build, int32_t v, const leati_tensor_op *op) {
    int32_t node = build->step->simple.values[v].node;
    return node >= 0 && is_op(build, node, op) ? node : -1;
}

bool leati_cpu_made_before(const leati_cpu_build *build, int32_t v, const leati_simple_node *node) {
    /* Arguments and constants, whose maker is -1, are there from the start. */
    return build->step->simple.values[v].node < (int32_t)(node - build->step->simple.nodes);
}

bool leati_cpu_same_shape(const leati_cpu_build *build, int32_t a, int32_t b) {
    const leati_type *left = leati_cpu_value_of(build, a)->type;
    const leati_type *right = leati_cpu_value_of(build, b)->type;
    return left->dtype == right->dtype && leati_shape_equal(&left->shape, &right->shape);
}

leati_cpu_followers leati_cpu_find_followers(const leati_cpu_build *build, int32_t v) {
    leati_cpu_followers found = {.bias_node = -1, .relu_node = -1, .bias = -1, .result = v};
    int32_t next = leati_cpu_only_reader(build, v);
    if (next >= 0 && is_op(build, next, &leati_tensor_op_bias_add) &&
        leati_cpu_node(build, next)->inputs[0] == v) {
        found.bias_node = next;
        found.bias = leati_cpu_node(build, next)->inputs[1];
        found.result = leati_cpu_node(build, next)->first_output;
        next = leati_cpu_only_reader(build, found.result);
    }
    if (next >= 0 && is_op(build, next, &leati_tensor_op_relu)) {
        found.relu_node = next;
        found.result = leati_cpu_node(build, next)->first_output;
    }
    return found;
}

bool leati_cpu_read_before(const leati_cpu_build *build, int32_t v, int32_t node) {
    const leati_simple *simple = &build->step->simple;
    for (int32_t i = 0; i < node; i++)
        if (reads(&simple->nodes[i], v))
            return true;
    return false;
}

void leati_cpu_take(leati_cpu_build *build, leati_cpu_task *task, int32_t node) {
    if (node < 0)
        return;
    build->task_of[node] = (int32_t)(task - build->step->tasks);
    task->last = LEATI_MAX(node, task->last);
}

int32_t leati_cpu_extra(leati_cpu_build *build, size_t bytes, leat_error *err) {
    leati_cpu_step *step = build->step;
    size_t needed = (size_t)step->num_values + 1;
    if (!leati_grow((void **)&step->values, &build->value_capacity, needed, sizeof *step->values)) {
        leati_no_memory(err);
        return -1;
    }
    step->values[step->num_values] =
        (leati_cpu_value){.place = LEATI_CPU_SLAB, .bytes = bytes, .first = INT32_MAX, .last = -1};
    return step->num_values++;
}

bool leati_cpu_input(leati_cpu_task *task, int32_t v) {
    /* Callers pass -1 for an operand that is not there. */
    if (v < 0 || task->num_inputs >= LEATI_CPU_OPERANDS)
        return false;
    task->inputs[task->num_inputs++] = v;
    return true;
}

bool leati_cpu_output(leati_cpu_task *task, int32_t v) {
    if (v < 0 || task->num_outputs >= LEATI_CPU_OPERANDS)
        return false;
    task->outputs[task->num_outputs++] = v;
    return true;
}

/* The storage of an attribute; NULL where the operation has none of that name and type. */
static const void *attribute(const leati_simple_node *node, const char *name, leati_row_type type) {
    const leati_row *rows = node->source->op->rows;
    const leati_row *row = rows != NULL ? leati_rows_find(rows, name) : NULL;
    return row != NULL && row->type == type ? (const char *)node->source->args + row->offset : NULL;
}

int64_t leati_cpu_attr_int(const leati_simple_node *node, const char *name, int64_t fallback) {
    const int64_t *number = attribute(node, name, LEATI_ROW_INT);
    const bool *flag = attribute(node, name, LEATI_ROW_BOOL);
    return number != NULL ? *number : flag != NULL ? *flag : fallback;
}

const double *leati_cpu_attr_float(const leati_simple_node *node, const char *name) {
    return attribute(node, name, LEATI_ROW_FLOAT);
}

leati_cpu_task *leati_cpu_task_of(leati_cpu_build *build, int32_t v) {
    int32_t node = build->step->simple.values[v].node;
    int32_t task = node >= 0 ? build->task_of[node] : -1;
    return task >= 0 ? &build->step->tasks[task] : NULL;
}
