/* One kernel call on tensors of the host, each output in a buffer of its own.
 *
 * Happy path: static outputs get their buffer, the kernel runs with n = 1, and every output becomes
 * a tensor. A view without an owner is copied; strings keep the buffers that they may point into,
 * those of their text and of every input, alive. Failures: what the kernel says, or no memory; no
 * output is left behind. No locks. */
#include "exec/compute.h"

#include "core/block.h"
#include "graph/halves.h"
#include "graph/kernel_host.h"
#include "run/cancel.h"
#include <string.h>

struct compute {
    struct leati_kernel_host host; /* first */
    const leati_value *types;
    leat_buffer *owners[LEAT_MAX_OUTPUTS]; /* of each output; a reference */
    bool given[LEAT_MAX_OUTPUTS];          /* the output has memory or is a view */
    leat_buffer *text;                     /* the last text of a kernel; holds the earlier ones */
};

static leati_operand operand_of_tensor(const leat_tensor *tensor) {
    leati_operand operand = {.data = tensor->data, .dtype = tensor->dtype, .owner = tensor->owner};
    leati_kernel_operand_set_shape(&operand, tensor->rank, tensor->dims);
    operand.row_stride = (int64_t)leati_kernel_operand_row_bytes(&operand);
    return operand;
}

/* Memory of its own for an operand whose shape is set. */
static leat_status allocate(struct compute *compute, int index, leati_operand *operand,
                            leat_error *err) {
    leat_buffer *buffer = NULL;
    if (operand->dtype == LEAT_OBJECT)
        buffer = leati_buffer_of_objects(operand->count, err);
    else
        buffer = leat_buffer_new(leati_kernel_operand_row_bytes(operand), err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (operand->dtype == LEAT_STRING)
        memset(buffer->data, 0, buffer->size);
    compute->owners[index] = buffer;
    compute->given[index] = true;
    operand->data = buffer->data;
    operand->owner = buffer;
    operand->row_stride = (int64_t)leati_kernel_operand_row_bytes(operand);
    return LEAT_OK;
}

static leat_status host_output(leati_kernel_call *call, int index, int32_t rank,
                               const int64_t *dims, leat_error *err) {
    struct compute *compute = (struct compute *)(void *)call->host;
    leat_status status =
        leati_kernel_host_check(&compute->types[index].type, index, rank, dims, err);
    if (status != LEAT_OK || compute->given[index])
        return status;
    leati_kernel_operand_set_shape(&call->outputs[index], rank, dims);
    return allocate(compute, index, &call->outputs[index], err);
}

static leat_status host_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                             void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    struct compute *compute = (struct compute *)(void *)call->host;
    leati_operand *operand = &call->outputs[index];
    leat_status status =
        leati_kernel_host_check(&compute->types[index].type, index, rank, dims, err);
    if (status != LEAT_OK)
        return status;
    leati_kernel_operand_set_shape(operand, rank, dims);
    leat_buffer_unref(compute->owners[index]);
    compute->owners[index] = leat_buffer_ref(owner);
    compute->given[index] = true;
    operand->data = data;
    operand->owner = owner;
    operand->row_stride = row_stride;
    return LEAT_OK;
}

static char *host_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    struct compute *compute = (struct compute *)(void *)call->host;
    (void)index;
    leat_buffer *text = leat_buffer_new(size, err);
    if (text == NULL)
        return NULL;
    /* Each text holds the one before, so who holds the last one holds all. */
    if (leati_buffer_hold(text, compute->text, err) != LEAT_OK) {
        leat_buffer_unref(text);
        return NULL;
    }
    leat_buffer_unref(compute->text);
    compute->text = text;
    return text->data;
}

/* Strings of an output keep all their possible sources (see the top of the file). */
static leat_status host_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    (void)call, (void)index, (void)input, (void)err;
    return LEAT_OK;
}

static leat_status hold_sources(struct compute *compute, int index, const leat_tensor *inputs,
                                int num_inputs, leat_error *err) {
    leat_buffer *buffer = compute->owners[index];
    leat_status status = leati_buffer_hold(buffer, compute->text, err);
    for (int i = 0; status == LEAT_OK && i < num_inputs; i++)
        if (inputs[i].dtype == LEAT_STRING)
            status = leati_buffer_hold(buffer, inputs[i].owner, err);
    return status;
}

/* A view of memory without an owner becomes a copy. */
static leat_status own_view(struct compute *compute, int index, leati_operand *operand,
                            leat_error *err) {
    leati_column column = {.dtype = operand->dtype, .rank = operand->rank, .data = operand->data};
    for (int32_t i = 0; i < operand->rank; i++)
        column.dims[i] = operand->dims[i];
    leat_status status = allocate(compute, index, operand, err);
    if (status == LEAT_OK)
        leati_column_gather(&column, 0, 1, operand->data, operand->row_stride);
    return status;
}

static leat_status settle(struct compute *compute, const leati_kernel_call *call,
                          const leat_tensor *inputs, leat_tensor *outputs, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < call->num_outputs; i++) {
        leati_operand *operand = &call->outputs[i];
        if (!compute->given[i])
            return leati_fail(err, LEAT_INTERNAL, "the kernel left output %d without a value", i);
        if (compute->owners[i] == NULL)
            status = own_view(compute, i, operand, err);
        leat_buffer *owner = compute->owners[i];
        /* A view of an input's buffer holds its strings' bytes already; only memory made here does
         * not. */
        bool ours = owner != NULL && owner->data == operand->data && leati_buffer_sole_owner(owner);
        if (status == LEAT_OK && operand->dtype == LEAT_STRING && ours)
            status = hold_sources(compute, i, inputs, call->num_inputs, err);
    }
    for (int i = 0; status == LEAT_OK && i < call->num_outputs; i++) {
        call->outputs[i].owner = compute->owners[i];
        outputs[i] = leati_kernel_operand_tensor(&call->outputs[i], 0);
        /* The references go to the tensors, of all outputs or of none. */
        compute->owners[i] = NULL;
    }
    return status;
}

/* Operands of the inputs, outputs with their static shapes and memory. */
static leat_status prepare(struct compute *compute, const leati_node *node,
                           const leat_tensor *inputs, leati_operand *operands, leat_error *err) {
    for (int i = 0; i < node->num_inputs; i++)
        operands[i] = operand_of_tensor(&inputs[i]);
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < node->num_outputs; i++) {
        const leati_type *type = &compute->types[i].type;
        leati_operand *operand = &operands[node->num_inputs + i];
        *operand = (leati_operand){.dtype = type->dtype};
        if (!leati_shape_is_static(&type->shape))
            continue;
        status = leati_kernel_host_check(type, i, type->shape.rank, type->shape.dims, err);
        if (status != LEAT_OK)
            break;
        leati_kernel_operand_set_shape(operand, type->shape.rank, type->shape.dims);
        status = allocate(compute, i, operand, err);
    }
    return status;
}

/* Member by member: the arrays are large, and nearly all calls use one place of them. */
static void begin(struct compute *compute, const leati_value *types, int num_outputs) {
    compute->host = (struct leati_kernel_host){host_output, host_view, host_text, host_hold};
    compute->types = types;
    compute->text = NULL;
    memset(compute->owners, 0, (size_t)num_outputs * sizeof(leat_buffer *));
    memset(compute->given, 0, (size_t)num_outputs * sizeof *compute->given);
}

leat_status leati_compute(const leati_node *node, const leati_value *types,
                          const leat_tensor *inputs, const leati_call_context *context,
                          leat_tensor *outputs, leat_error *err) {
    struct compute compute;
    begin(&compute, types, node->num_outputs);
    size_t count = (size_t)node->num_inputs + (size_t)node->num_outputs;
    /* Nearly every operation does with these, so that a call takes memory for its result alone. */
    leati_operand few[6], *operands = few;
    if (count > sizeof few / sizeof *few)
        operands = leati_alloc(count, sizeof *operands);
    if (operands == NULL)
        return leati_no_memory(err);
    leati_arena arena = {0};
    leati_kernel_call call = {.n = 1,
                              .inputs = operands,
                              .num_inputs = node->num_inputs,
                              .outputs = operands + node->num_inputs,
                              .num_outputs = node->num_outputs,
                              .args = node->args,
                              .number = node->number,
                              .context = context,
                              .arena = &arena,
                              .host = &compute.host};
    leati_stop_scope before = leati_cancel_enter(context->cancel);
    leat_status status = prepare(&compute, node, inputs, operands, err);
    if (status == LEAT_OK)
        status = leati_halves_run(node->op, &call, err);
    if (leati_stop_stopped())
        status = leati_stop_check(err);
    leati_stop_leave(before);
    if (status == LEAT_OK)
        status = settle(&compute, &call, inputs, outputs, err);
    for (int i = 0; i < node->num_outputs; i++)
        leat_buffer_unref(compute.owners[i]);
    leat_buffer_unref(compute.text);
    leati_arena_fini(&arena);
    if (operands != few)
        leati_free(operands);
    return status;
}
