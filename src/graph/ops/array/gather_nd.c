/* gather_nd: the slices of a tensor that rows of indices name (tf.gather_nd).
 *
 * The last dimension of the indices is one row: as many numbers as leading dimensions it names.
 * Fails in a run where an index is outside its dimension. No state, no locks. */
#include "graph/support/support.h"

#include <string.h>

static leat_status gathered(const leat_shape *params, const leat_shape *indices, leat_shape *out,
                            leat_error *err) {
    char texts[2][128];
    /* How many leading dimensions a row of indices names. */
    int64_t depth = indices->rank > 0 ? indices->dims[indices->rank - 1] : -1;
    if (indices->rank == 0 || depth > params->rank ||
        indices->rank - 1 + params->rank - depth > LEAT_MAX_RANK)
        return leati_refuse(
            err, SHAPE,
            "indices of shape %s do not name slices of a tensor of shape %s; the last "
            "dimension is at most its rank",
            leati_shape_text(indices, texts[0]), leati_shape_text(params, texts[1]));
    *out = (leat_shape){.rank = 0};
    for (int32_t d = 0; d < indices->rank - 1; d++)
        out->dims[out->rank++] = indices->dims[d];
    for (int32_t d = (int32_t)depth; d < params->rank; d++)
        out->dims[out->rank++] = params->dims[d];
    return LEAT_OK;
}

static leat_status gather_nd_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *params = &call->inputs[0].shape, *indices = &call->inputs[1].shape;
    leat_shape out = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "the indices", err));
    /* Without the length of a row, not even the result's rank is known. */
    bool known = params->rank >= 0 && indices->rank >= 0 &&
                 (indices->rank == 0 || indices->dims[indices->rank - 1] >= 0);
    if (known)
        LEATI_TRY(gathered(params, indices, &out, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

/* The number of the slice that index row `i` names. */
static leat_status slice_of(leati_kernel_call *call, const leat_shape *params, int32_t depth,
                            int64_t row, int64_t i, int64_t *out, leat_error *err) {
    *out = 0;
    for (int32_t d = 0; d < depth; d++) {
        int64_t index = leati_support_index_at(&call->inputs[1], row, i * depth + d);
        if (index < 0 || index >= params->dims[d]) {
            char text[128];
            call->failed_row = row;
            return leati_refuse(
                err, SHAPE,
                "row %lld of the indices has %lld for dimension %d: it does not index "
                "into shape %s",
                (long long)i, (long long)index, (int)d, leati_shape_text(params, text));
        }
        /* Horner's scheme: the number in row-major order. */
        *out = *out * params->dims[d] + index;
    }
    return LEAT_OK;
}

static leat_status gather_nd_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *params = &call->inputs[0], *indices = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(params),
               at = leati_support_operand_shape(indices), shape = {0};
    LEATI_TRY(gathered(&from, &at, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* A row of no numbers names the whole tensor. */
    int32_t depth = (int32_t)at.dims[at.rank - 1];
    int64_t rows = 1;
    size_t bytes = leat_dtype_size(params->dtype);
    for (int32_t d = 0; d < at.rank - 1; d++)
        rows *= at.dims[d];
    for (int32_t d = depth; d < from.rank; d++)
        bytes *= (size_t)from.dims[d];
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < rows; i++) {
            int64_t slice = 0;
            /* Indices are checked also where slices have no values. */
            LEATI_TRY(slice_of(call, &from, depth, row, i, &slice, err));
            if (bytes > 0)
                memcpy(leati_support_row_of(&call->outputs[0], row) + (size_t)i * bytes,
                       leati_support_row_of(params, row) + (size_t)slice * bytes, bytes);
        }
    }
    return leati_support_hold_strings(call, 0, err);
}

static leat_status gather_nd_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Rows that name one slice add up there. */
    call->input_gradients[0] = leat_op_tensor_scatter_nd_add(
        leat_op_zeros_like(call->inputs[0]), call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_gather_nd = {
    .name = "gather_nd",
    .version = 1,
    .doc = "The slices of a tensor that rows of indices name (tf.gather_nd).",
    .names = "gather_nd",
    .inputs = "params indices",
    .signature = "params indices batch_dims=0 name bad_indices_policy=\"\"",
    .types = "Tparams Tindices<int16",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = gather_nd_infer,
    .kernel = gather_nd_kernel,
    .gradient = gather_nd_gradient,
};
