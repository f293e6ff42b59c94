/* Kernels that run kernels: an operation made of steps keeps the values between them in its call's
 * arena. See support.h. */
#include "core/tensor.h"
#include "graph/halves.h"
#include "graph/support/support.h"

#include "graph/kernel_host.h"

leat_status leati_support_inner_memory(leati_kernel_call *call, const leati_operand *like,
                                       leat_dtype dtype, leati_operand *out, leat_error *err) {
    leati_operand result = *like;
    size_t row = 0, bytes = 0;
    if (!leati_mul_size((size_t)like->count, leat_dtype_size(dtype), &row) ||
        !leati_mul_size(row, (size_t)call->n, &bytes))
        return leati_no_memory(err);
    result.dtype = dtype;
    result.owner = NULL;
    result.row_stride = (int64_t)row;
    result.data = leati_arena_alloc(call->arena, bytes);
    if (result.data == NULL)
        return leati_no_memory(err);
    *out = result;
    return LEAT_OK;
}

leat_status leati_support_inner_run(leati_kernel_call *call, const leati_tensor_op *op,
                                    const void *args, const leati_operand *inputs, int num_inputs,
                                    leat_dtype dtype, leati_operand *out, leat_error *err) {
    leati_operand result;
    LEATI_TRY(leati_support_inner_memory(call, &inputs[0], dtype, &result, err));
    /* Everything but operands and arguments stays: rows, arena, and the executor's side. */
    leati_kernel_call inner = *call;
    inner.inputs = inputs;
    inner.num_inputs = num_inputs;
    inner.outputs = &result;
    inner.num_outputs = 1;
    inner.args = args;
    leat_status status = leati_halves_run(op, &inner, err);
    /* The caller fails at the row at which the inner kernel did. */
    call->failed_row = inner.failed_row;
    *out = result;
    return status;
}

leat_status leati_support_inner_truth(leati_kernel_call *call, const leati_operand *in,
                                      leati_operand *out, leat_error *err) {
    static const double zero[2] = {0, 0};
    leati_operand both[2] = {*in,
                             {.data = (char *)(uintptr_t)zero, .dtype = in->dtype, .count = 1}};
    /* A cast would look at the real part alone. */
    return leati_dtype_is_complex(in->dtype)
               ? leati_support_inner_run(call, &leati_tensor_op_not_equal, NULL, both, 2, LEAT_BOOL,
                                         out, err)
               : leati_support_inner_cast(call, in, LEAT_BOOL, out, err);
}

leat_status leati_support_inner_cast_into(leati_kernel_call *call, const leati_operand *in,
                                          leati_operand *out, leat_error *err) {
    leat_dtype dtype = out->dtype; /* cast's only attribute */
    leati_kernel_call inner = *call;
    inner.inputs = in;
    inner.num_inputs = 1;
    inner.outputs = out;
    inner.num_outputs = 1;
    inner.args = &dtype;
    return leati_tensor_op_cast.kernel(&inner, err);
}

leat_status leati_support_inner_cast(leati_kernel_call *call, const leati_operand *in,
                                     leat_dtype dtype, leati_operand *out, leat_error *err) {
    return leati_support_inner_run(call, &leati_tensor_op_cast, &dtype, in, 1, dtype, out, err);
}
