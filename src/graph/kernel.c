/* What kernels call while they run: dispatch to the executor behind leati_kernel_call.host, and the
 * shape bookkeeping that executors share. No state, no locks. */
#include "core/object.h"
#include "graph/kernel_host.h"
#include <string.h>

leat_status leati_op_kernel_output(leati_kernel_call *call, int index, int32_t rank,
                                   const int64_t *dims, leat_error *err) {
    return call->host->output(call, index, rank, dims, err);
}

leat_status leati_op_kernel_view(leati_kernel_call *call, int index, int32_t rank,
                                 const int64_t *dims, void *data, int64_t row_stride,
                                 leat_buffer *owner, leat_error *err) {
    return call->host->view(call, index, rank, dims, data, row_stride, owner, err);
}

char *leati_op_kernel_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    return call->host->text(call, index, size, err);
}

leat_status leati_op_kernel_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    return call->host->hold(call, index, input, err);
}

leat_status leati_kernel_host_check(const leati_type *inferred, int index, int32_t rank,
                                    const int64_t *dims, leat_error *err) {
    leat_shape shape = {.rank = rank};
    char found[128], expected[128];
    if (rank < 0 || rank > LEAT_MAX_RANK)
        return leati_refuse(
            err, SHAPE, "output %d would have rank %d; leat's tensors have at most %d dimensions",
            index, rank, LEAT_MAX_RANK);
    for (int32_t i = 0; i < rank; i++)
        shape.dims[i] = dims[i];
    int64_t count = leati_shape_count(&shape);
    size_t bytes = 0;
    /* Values decide such shapes (tf.fill, tf.range), so any product may overflow; strides are
     * int64. */
    if (count < 0 || !leati_mul_size((size_t)count, leat_dtype_size(inferred->dtype), &bytes) ||
        bytes > INT64_MAX)
        return leati_refuse(err, SHAPE,
                            "output %d of shape %s has more values than memory can hold", index,
                            leati_shape_text(&shape, found));
    /* INTERNAL: operation and kernel of one file disagree, which no input may bring about. */
    if (!leati_shape_compatible(&inferred->shape, &shape))
        return leati_fail(err, LEAT_INTERNAL, "output %d has shape %s, but inference promised %s",
                          index, leati_shape_text(&shape, found),
                          leati_shape_text(&inferred->shape, expected));
    return LEAT_OK;
}

void leati_kernel_operand_set_shape(leati_operand *operand, int32_t rank, const int64_t *dims) {
    operand->rank = rank;
    operand->count = 1;
    for (int32_t i = 0; i < rank; i++) {
        operand->dims[i] = dims[i];
        operand->count *= dims[i];
    }
}

size_t leati_kernel_operand_row_bytes(const leati_operand *operand) {
    return (size_t)operand->count * leat_dtype_size(operand->dtype);
}

leat_tensor leati_kernel_operand_tensor(const leati_operand *operand, int64_t row) {
    leat_tensor tensor = {.dtype = operand->dtype,
                          .rank = operand->rank,
                          .data = operand->data + row * operand->row_stride,
                          .owner = operand->owner};
    memcpy(tensor.dims, operand->dims, sizeof tensor.dims);
    return tensor;
}

/* Copies strings into memory of the output. */
static leat_status store_strings(leati_kernel_call *call, int index, const leat_tensor *tensor,
                                 leat_string *to, leat_error *err) {
    const leat_string *from = tensor->data;
    int64_t count = leat_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        char *text = from[i].size ? leati_op_kernel_text(call, index, from[i].size, err) : NULL;
        if (from[i].size && text == NULL)
            return leati_no_memory(err);
        if (from[i].size)
            memcpy(text, from[i].data, from[i].size);
        to[i] = (leat_string){.data = text != NULL ? text : "", .size = from[i].size};
    }
    return LEAT_OK;
}

leat_status leati_kernel_store(leati_kernel_call *call, int index, int64_t row,
                               const leat_tensor *tensor, leat_error *err) {
    /* One row may lie anywhere, so the tensor itself becomes the output; of several, one block is
     * needed. */
    if (call->n == 1 && tensor->owner != NULL)
        return leati_op_kernel_view(call, index, tensor->rank, tensor->dims, tensor->data, 0,
                                    tensor->owner, err);
    LEATI_TRY(leati_op_kernel_output(call, index, tensor->rank, tensor->dims, err));
    leati_operand *output = &call->outputs[index];
    char *to = output->data + row * output->row_stride;
    if (tensor->dtype == LEAT_STRING)
        return store_strings(call, index, tensor, (leat_string *)(void *)to, err);
    if (tensor->dtype == LEAT_OBJECT) {
        leat_object *const *from = tensor->data;
        for (int64_t i = 0; i < output->count; i++)
            ((leat_object **)(void *)to)[i] = leati_object_ref(from[i]);
        return LEAT_OK;
    }
    /* `data` of a tensor without values may be NULL. */
    if (output->count)
        memcpy(to, tensor->data, leati_kernel_operand_row_bytes(output));
    return LEAT_OK;
}
