/* The executor's side of a kernel call. An executor embeds this struct as the first member of its
 * own, points leati_kernel_call.host at it, and finds its state again by a cast. The functions
 * leati_op_kernel_output, _view, _text and _hold of graph/op.h do nothing but dispatch to it.
 *
 * Happy path: static outputs have memory before the kernel starts and no function here is called.
 * Otherwise the kernel calls `output` or `view` once per output. Failures are written by the
 * executor; no locks. */
#ifndef LEATI_GRAPH_KERNEL_HOST_H
#define LEATI_GRAPH_KERNEL_HOST_H

#include "graph/op.h"

struct leati_kernel_host {
    /* Contracts: leati_op_kernel_output, leati_op_kernel_view, leati_op_kernel_text,
     * leati_op_kernel_hold. */
    leat_status (*output)(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                          leat_error *err);
    leat_status (*view)(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                        void *data, int64_t row_stride, leat_buffer *owner, leat_error *err);
    char *(*text)(leati_kernel_call *call, int index, size_t size, leat_error *err);
    leat_status (*hold)(leati_kernel_call *call, int index, int input, leat_error *err);
};

/* For implementations of `output` and `view`: does a row of this shape agree with what inference
 * said of output `index`? INTERNAL with both shapes in the text: the operation contradicts itself.
 * Fails with INVALID_ARGUMENT beyond LEAT_MAX_RANK or where the number of values overflows. */
LEAT_WARN_UNUSED leat_status leati_kernel_host_check(const leati_type *inferred, int index,
                                                     int32_t rank, const int64_t *dims,
                                                     leat_error *err);

/* Fills rank, dims and count of an operand from a shape that leati_kernel_host_check accepted. */
void leati_kernel_operand_set_shape(leati_operand *operand, int32_t rank, const int64_t *dims);

/* Bytes of one row: count times the size of the dtype. */
size_t leati_kernel_operand_row_bytes(const leati_operand *operand);

/* Row `row` as a tensor that borrows the operand's memory and owner (no reference is added). */
leat_tensor leati_kernel_operand_tensor(const leati_operand *operand, int64_t row);

/* For kernels that compute tensors elsewhere: makes `tensor` row `row` of output `index`, as a view
 * where there is one row with an owner, else by copying (string bytes too). */
LEAT_WARN_UNUSED leat_status leati_kernel_store(leati_kernel_call *call, int index, int64_t row,
                                                const leat_tensor *tensor, leat_error *err);

#endif
