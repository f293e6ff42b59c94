/* The reference interpreter.
 *
 * Happy path: one operand per value; each node's kernel runs once, static outputs are allocated
 * before it, others when it asks; results take a reference to their operand's owner. Everything is
 * kept to the end of the run, so views are safe. Failures name operation and node. No locks: a run
 * owns its values. */
#include "graph/interpret.h"
#include "base/minmax.h"
#include "core/buffer.h"
#include "core/spec.h"
#include "graph/draws.h"
#include "graph/halves.h"
#include "graph/kernel_host.h"
#include "run/cancel.h"
#include <string.h>

/* One run. The vtable comes first, so that a kernel call leads back here. */
struct run {
    struct leati_kernel_host host;
    const leat_function *function;
    const leati_node *node; /* that runs now */
    int64_t n;
    leati_operand *values; /* owners are owned */
    leati_operand *inputs; /* of the node that runs now; copies */
    leati_arena arena;
};

static struct run *run_of(leati_kernel_call *call) {
    return (struct run *)(void *)call->host;
}

static const leati_type *output_type(const struct run *run, int index) {
    return &run->function->body.values[run->node->first_output + index].type;
}

/* Memory for n rows of an operand whose shape is set. Strings start empty, objects NULL. */
static leat_status alloc_rows(leati_operand *operand, int64_t n, leat_error *err) {
    size_t row = leati_kernel_operand_row_bytes(operand), size;
    if (!leati_mul_size(row, (size_t)n, &size))
        return leati_refuse(err, SHAPE, "%lld rows of %zu bytes exceed memory", (long long)n, row);
    operand->owner = operand->dtype == LEAT_OBJECT
                         ? leati_buffer_of_objects(n * operand->count, err)
                         : leat_buffer_new(size, err);
    if (operand->owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    operand->data = operand->owner->data;
    operand->row_stride = (int64_t)row;
    if (operand->dtype == LEAT_STRING && size)
        memset(operand->data, 0, size);
    return LEAT_OK;
}

static leat_status host_output(leati_kernel_call *call, int index, int32_t rank,
                               const int64_t *dims, leat_error *err) {
    leati_operand *output = &call->outputs[index];
    leat_status status =
        leati_kernel_host_check(output_type(run_of(call), index), index, rank, dims, err);
    /* A static output has its memory; the check has made sure that the shape is the same. */
    if (status != LEAT_OK || output->data != NULL)
        return status;
    leati_kernel_operand_set_shape(output, rank, dims);
    return alloc_rows(output, call->n, err);
}

/* Who keeps alive what an input without an owner points to: nobody but the caller of the run. */
static leat_buffer *find_owner(const leati_kernel_call *call, const void *data) {
    for (int i = 0; i < call->num_inputs; i++) {
        const leati_operand *input = &call->inputs[i];
        const char *begin = input->data, *at = data;
        size_t row = leati_kernel_operand_row_bytes(input);
        /* Of the last row; with a stride of 0 all rows are the first. */
        const char *end = begin + (call->n - 1) * input->row_stride + row;
        /* An input without values has end == begin, and a view of it still needs its owner. */
        if (input->owner != NULL && at >= begin && (at < end || at == begin))
            return input->owner;
    }
    return NULL;
}

static leat_status host_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                             void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    leati_operand *output = &call->outputs[index];
    leat_status status =
        leati_kernel_host_check(output_type(run_of(call), index), index, rank, dims, err);
    if (status != LEAT_OK)
        return status;
    /* Before the old owner goes: they may be the same buffer. */
    leat_buffer *kept = leat_buffer_ref(owner != NULL ? owner : find_owner(call, data));
    leat_buffer_unref(output->owner);
    leati_kernel_operand_set_shape(output, rank, dims);
    output->data = data;
    output->row_stride = row_stride;
    output->owner = kept;
    return LEAT_OK;
}

static char *host_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    leat_buffer *text = leat_buffer_new(size, err);
    if (text == NULL)
        return NULL;
    char *data = text->data;
    /* From here on `text` lives as long as the output's buffer. */
    if (leati_buffer_hold(call->outputs[index].owner, text, err) != LEAT_OK)
        data = NULL;
    leat_buffer_unref(text);
    return data;
}

static leat_status host_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    leat_buffer *other = call->inputs[input].owner;
    return other != NULL ? leati_buffer_hold(call->outputs[index].owner, other, err) : LEAT_OK;
}

static leat_status run_init(struct run *run, const leat_function *function, int64_t n,
                            leat_error *err) {
    const leati_body *body = &function->body;
    int32_t most = 0;
    /* One array serves all nodes, since one of them runs at a time. */
    for (size_t i = 0; i < body->num_nodes; i++)
        most = LEATI_MAX(body->nodes[i].num_inputs, most);
    *run = (struct run){
        .host = {.output = host_output, .view = host_view, .text = host_text, .hold = host_hold},
        .function = function,
        .n = n,
        .values = leati_alloc_zero(body->num_values, sizeof(leati_operand)),
        .inputs = leati_alloc_zero((size_t)most, sizeof(leati_operand)),
    };
    if (run->values == NULL || run->inputs == NULL)
        return leati_no_memory(err);
    return LEAT_OK;
}

static void run_fini(struct run *run) {
    for (size_t i = 0; run->values != NULL && i < run->function->body.num_values; i++)
        leat_buffer_unref(run->values[i].owner);
    leati_free(run->values);
    leati_free(run->inputs);
    leati_arena_fini(&run->arena);
}

/* Memory for the outputs whose shape inference knows; the others stay without. */
static leat_status prepare_outputs(struct run *run, const leati_node *node, leat_error *err) {
    for (int32_t i = 0; i < node->num_outputs; i++) {
        leati_operand *output = &run->values[node->first_output + i];
        const leati_type *type = &run->function->body.values[node->first_output + i].type;
        *output = (leati_operand){.dtype = type->dtype};
        if (!leati_shape_is_static(&type->shape))
            continue;
        leat_status status =
            leati_kernel_host_check(type, i, type->shape.rank, type->shape.dims, err);
        if (status != LEAT_OK)
            return status;
        leati_kernel_operand_set_shape(output, type->shape.rank, type->shape.dims);
        status = alloc_rows(output, run->n, err);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

/* By whatever the context has for large nodes; *ran: the outputs are there. */
static leat_status run_single(struct run *run, const leati_node *node,
                              const leati_call_context *context, bool *ran, leat_error *err) {
    enum { FEW = 8 };
    leat_tensor inputs[FEW], outputs[FEW];
    *ran = false;
    if (context->single == NULL || run->n != 1 || !node->op->large || node->num_inputs > FEW ||
        node->num_outputs > FEW)
        return LEAT_OK;
    for (int32_t i = 0; i < node->num_inputs; i++)
        inputs[i] = leati_kernel_operand_tensor(&run->values[node->inputs[i]], 0);
    leat_status status = context->single(node, &run->function->body.values[node->first_output],
                                         inputs, context, outputs, ran, err);
    for (int32_t i = 0; status == LEAT_OK && *ran && i < node->num_outputs; i++) {
        leati_operand *output = &run->values[node->first_output + i];
        *output = (leati_operand){.data = outputs[i].data, .dtype = outputs[i].dtype};
        leati_kernel_operand_set_shape(output, outputs[i].rank, outputs[i].dims);
        output->row_stride = (int64_t)leati_kernel_operand_row_bytes(output);
        output->owner = outputs[i].owner;
    }
    return status;
}

static leat_status run_node(struct run *run, const leati_node *node,
                            const leati_call_context *context, int64_t *failed_row,
                            leat_error *err) {
    bool ran = false;
    leat_status status = run_single(run, node, context, &ran, err);
    if (status != LEAT_OK || ran)
        return status;
    status = prepare_outputs(run, node, err);
    if (status != LEAT_OK)
        return status;
    /* Kernels want their inputs in a row; owners stay with `values`. */
    for (int32_t i = 0; i < node->num_inputs; i++)
        run->inputs[i] = run->values[node->inputs[i]];
    run->node = node;
    leati_kernel_call call = {.n = run->n,
                              .inputs = run->inputs,
                              .num_inputs = node->num_inputs,
                              .outputs = run->values + node->first_output,
                              .num_outputs = node->num_outputs,
                              .args = node->args,
                              .number = node->number,
                              .context = context,
                              .arena = &run->arena,
                              .host = &run->host};
    status = leati_halves_run(node->op, &call, err);
    /* Scratch lives for one call, which also holds for a kernel that failed. */
    leati_arena_reset(&run->arena);
    *failed_row = call.failed_row;
    for (int32_t i = 0; status == LEAT_OK && i < node->num_outputs; i++)
        if (call.outputs[i].data == NULL)
            status = leati_fail(err, LEAT_INTERNAL, "the kernel left output %d without memory", i);
    return status;
}

static leat_status run_nodes(struct run *run, const leati_call_context *context,
                             int64_t *failed_row, leat_error *err) {
    /* A copy, because entering the function may change whose draws go on. */
    leati_call_context here = context != NULL ? *context : (leati_call_context){.num_replicas = 1};
    LEATI_TRY(leati_draws_enter(run->function, &here, err));
    leati_stop_scope before = leati_cancel_enter(here.cancel);
    leat_status status = LEAT_OK;
    for (size_t i = 0; status == LEAT_OK && i < run->function->body.num_nodes; i++) {
        const leati_node *node = &run->function->body.nodes[i];
        status = run_node(run, node, &here, failed_row, err);
        if (leati_stop_look_often())
            status = leati_stop_check(err);
        if (status != LEAT_OK)
            leati_prefix(err, "op %s (node %zu)", node->op->name, i);
    }
    leati_stop_leave(before);
    return status;
}

/* Argument `index` becomes `input`, which must fit it. */
static leat_status bind(struct run *run, int32_t index, const leati_operand *input,
                        leat_error *err) {
    const leati_type *type = &run->function->body.values[index].type;
    leat_shape shape = {.rank = input->rank};
    char expected[128], found[128];
    memcpy(shape.dims, input->dims, sizeof shape.dims);
    if (input->dtype != type->dtype || !leati_shape_compatible(&type->shape, &shape))
        return leati_refuse(
            err, SHAPE, "argument %d is %s of shape %s; the function takes %s of shape %s",
            (int)index, leat_dtype_name(input->dtype), leati_shape_text(&shape, found),
            leat_dtype_name(type->dtype), leati_shape_text(&type->shape, expected));
    run->values[index] = *input;
    run->values[index].owner = leat_buffer_ref(input->owner);
    return LEAT_OK;
}

static leati_operand operand_of_tensor(const leat_tensor *tensor) {
    leati_operand operand = {.data = tensor->data, .dtype = tensor->dtype, .owner = tensor->owner};
    leati_kernel_operand_set_shape(&operand, tensor->rank, tensor->dims);
    return operand;
}

leat_status leati_interpret(const leat_function *function, const leat_tensor *inputs,
                            const leati_call_context *context, leat_tensor *outputs,
                            leat_error *err) {
    struct run run;
    int64_t failed_row = 0;
    leat_status status = run_init(&run, function, 1, err);
    for (int32_t i = 0; status == LEAT_OK && i < function->body.num_arguments; i++) {
        leati_operand operand = operand_of_tensor(&inputs[i]);
        status = bind(&run, i, &operand, err);
    }
    if (status == LEAT_OK)
        status = run_nodes(&run, context, &failed_row, err);
    for (int32_t i = 0; status == LEAT_OK && i < function->num_outputs; i++) {
        leat_tensor tensor = leati_kernel_operand_tensor(&run.values[function->outputs[i]], 0);
        /* A reference of its own, since run_fini drops those of all values. */
        outputs[i] = leat_tensor_ref(&tensor);
    }
    run_fini(&run);
    return status;
}

leat_status leati_interpret_rows(const leat_function *function, int64_t n,
                                 const leati_operand *inputs, const leati_call_context *context,
                                 leati_operand *outputs, int64_t *failed_row, leat_error *err) {
    struct run run;
    int64_t failed = 0;
    /* Rows of one operand have one shape: a stride cannot say anything else. */
    for (size_t i = 0; i < function->body.num_values; i++)
        if (!leati_shape_is_static(&function->body.values[i].type.shape))
            return leati_fail(err, LEAT_FAILED_PRECONDITION,
                              "value %zu has no static shape; run its rows one at a time", i);
    leat_status status = run_init(&run, function, n, err);
    for (int32_t i = 0; status == LEAT_OK && i < function->body.num_arguments; i++)
        status = bind(&run, i, &inputs[i], err);
    if (status == LEAT_OK)
        status = run_nodes(&run, context, &failed, err);
    for (int32_t i = 0; status == LEAT_OK && i < function->num_outputs; i++) {
        outputs[i] = run.values[function->outputs[i]];
        outputs[i].owner = leat_buffer_ref(outputs[i].owner);
    }
    if (failed_row != NULL)
        *failed_row = failed;
    run_fini(&run);
    return status;
}
