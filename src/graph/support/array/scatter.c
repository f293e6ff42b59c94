/* Slices put at places that rows of indices name; see scatter.h. Fails where shapes do not fit and
 * where an index is outside. No state, no locks. */
#include "graph/support/array/scatter.h"

#include <string.h>

leat_status leati_scatter_check(const leat_shape *out, const leat_shape *indices,
                                const leat_shape *updates, leat_error *err) {
    char texts[3][128];
    if (out->rank < 0 || indices->rank < 0)
        return LEAT_OK;
    int64_t depth = indices->rank > 0 ? indices->dims[indices->rank - 1] : out->rank + 1;
    if (depth == LEAT_UNKNOWN_DIM)
        return LEAT_OK;
    leat_shape wanted = {.rank = 0};
    bool fits = depth <= out->rank && indices->rank - 1 + out->rank - depth <= LEAT_MAX_RANK;
    for (int32_t d = 0; fits && d < indices->rank - 1; d++)
        wanted.dims[wanted.rank++] = indices->dims[d];
    for (int32_t d = (int32_t)depth; fits && d < out->rank; d++)
        wanted.dims[wanted.rank++] = out->dims[d];
    if (fits && leati_shape_count(out) == 0 && leati_shape_count(indices) > 0)
        return leati_refuse(err, SHAPE, "Indices and updates specified for empty output shape %s",
                            leati_shape_text(out, texts[0]));
    if (fits && leati_shape_compatible(&wanted, updates))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "indices of shape %s name slices of a tensor of shape %s; updates of shape "
                        "%s do not fit them",
                        leati_shape_text(indices, texts[0]), leati_shape_text(out, texts[1]),
                        leati_shape_text(updates, texts[2]));
}

leat_status leati_scatter_row(leati_kernel_call *call, const leati_operand *indices,
                              const leati_operand *updates, const leat_shape *out,
                              leati_combine_function combine, int64_t row, char *to,
                              leat_error *err) {
    int32_t depth = (int32_t)indices->dims[indices->rank - 1];
    int64_t rows = 1, values = 1;
    for (int32_t d = 0; d < indices->rank - 1; d++)
        rows *= indices->dims[d];
    for (int32_t d = depth; d < out->rank; d++)
        values *= out->dims[d];
    size_t bytes = (size_t)values * leat_dtype_size(updates->dtype);
    const char *from = leati_support_row_of(updates, row);
    for (int64_t i = 0; i < rows; i++) {
        int64_t slice = 0;
        for (int32_t d = 0; d < depth; d++) {
            int64_t index = leati_support_index_at(indices, row, i * depth + d);
            char text[128];
            if (index < 0 || index >= out->dims[d]) {
                call->failed_row = row;
                return leati_refuse(
                    err, SHAPE,
                    "row %lld of the indices has %lld for dimension %d: it does not "
                    "index into shape %s",
                    (long long)i, (long long)index, (int)d, leati_shape_text(out, text));
            }
            slice = slice * out->dims[d] + index;
        }
        if (bytes == 0)
            continue;
        if (combine != NULL)
            combine(to + (size_t)slice * bytes, from + (size_t)i * bytes, values);
        else
            memcpy(to + (size_t)slice * bytes, from + (size_t)i * bytes, bytes);
    }
    return LEAT_OK;
}

leat_status leati_scatter_infer(leati_infer_call *call, bool number, leat_error *err) {
    const leat_shape *tensor = &call->inputs[0].shape;
    if (number)
        LEATI_TRY(leati_combine_want_number(call, 0, "the tensor", err));
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "the indices", err));
    LEATI_TRY(leati_support_want_dtype(call, 2, call->inputs[0].dtype, "the updates", err));
    LEATI_TRY(leati_scatter_check(tensor, &call->inputs[1].shape, &call->inputs[2].shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, tensor, NULL, err);
}

leat_status leati_scatter_kernel(leati_kernel_call *call, const leati_combine_kind *kind,
                                 leat_error *err) {
    const leati_operand *tensor = &call->inputs[0], *indices = &call->inputs[1];
    const leati_operand *updates = &call->inputs[2];
    leat_shape shape = leati_support_operand_shape(tensor),
               places = leati_support_operand_shape(indices);
    leat_shape slices = leati_support_operand_shape(updates);
    LEATI_TRY(leati_scatter_check(&shape, &places, &slices, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)tensor->count * leat_dtype_size(tensor->dtype);
    leati_combine_function combine = kind != NULL ? leati_combine_of(*kind, tensor->dtype) : NULL;
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        if (bytes > 0)
            memcpy(to, leati_support_row_of(tensor, row), bytes);
        LEATI_TRY(leati_scatter_row(call, indices, updates, &shape, combine, row, to, err));
    }
    return leati_support_hold_strings(call, 0, err);
}

leat_status leati_scatter_extreme_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0], indices = call->inputs[1], y = call->inputs[2];
    leat_value out = call->outputs[0], g = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(x);
    (void)err;
    leat_value x_holds = leat_op_cast(leat_op_equal(x, out), dtype);
    leat_value y_holds = leat_op_cast(leat_op_equal(y, leat_op_gather_nd(out, indices)), dtype);
    leat_value ties = leat_op_tensor_scatter_nd_add(x_holds, indices, y_holds);
    leat_value share = leat_op_divide(g, ties);
    call->input_gradients[0] = leat_op_multiply(share, x_holds);
    call->input_gradients[2] = leat_op_multiply(leat_op_gather_nd(share, indices), y_holds);
    return LEAT_OK;
}
