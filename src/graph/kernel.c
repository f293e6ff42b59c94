/* What kernels call while they run: dispatch to the executor behind leati_kernel_call.host, and the
 * shape bookkeeping that executors share. No state, no locks. */
#include "graph/kernel_host.h"

leat_status leati_kernel_output(leati_kernel_call *call, int index, int32_t rank,
                                const int64_t *dims, leat_error *err) {
    return call->host->output(call, index, rank, dims, err);
}

leat_status leati_kernel_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                              void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    return call->host->view(call, index, rank, dims, data, row_stride, owner, err);
}

char *leati_kernel_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    return call->host->text(call, index, size, err);
}

leat_status leati_kernel_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    return call->host->hold(call, index, input, err);
}

leat_status leati_kernel_host_check(const leati_type *inferred, int index, int32_t rank,
                                    const int64_t *dims, leat_error *err) {
    leat_shape shape = {.rank = rank};
    char found[128], expected[128];
    if (rank < 0 || rank > LEAT_MAX_RANK)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "output %d would have rank %d; leat's tensors have at most %d dimensions",
                          index, rank, LEAT_MAX_RANK);
    for (int32_t i = 0; i < rank; i++)
        shape.dims[i] = dims[i];
    leati_shape_text(&shape, found);
    int64_t count = leati_shape_count(&shape);
    size_t bytes = 0;
    if (count < 0 || !leati_mul_size((size_t)count, leat_dtype_size(inferred->dtype), &bytes) ||
        bytes > INT64_MAX)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "output %d of shape %s has more values than memory can hold", index,
                          found);
    if (!leati_shape_compatible(&inferred->shape, &shape))
        return leati_fail(err, LEAT_INTERNAL, "output %d has shape %s, but inference promised %s",
                          index, found, leati_shape_text(&inferred->shape, expected));
    return LEAT_OK;
}

void leati_operand_set_shape(leati_operand *operand, int32_t rank, const int64_t *dims) {
    operand->rank = rank;
    operand->count = 1;
    for (int32_t i = 0; i < rank; i++) {
        operand->dims[i] = dims[i];
        operand->count *= dims[i];
    }
}

size_t leati_operand_row_bytes(const leati_operand *operand) {
    return (size_t)operand->count * leat_dtype_size(operand->dtype);
}
