/* gather: the slices of a tensor along an axis that the indices number (tf.gather).
 *
 * Fails in a run where an index is outside the axis, naming both. No state, no locks. */
#include "graph/ops/gather.h"

#include <string.h>

const leati_row leati_gather_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct leati_gather_args, axis),
     .doc = "The dimension of the first input that the indices number."},
    {0},
};

leat_status leati_gather_plan_of(const struct leati_gather_args *args, const leati_operand *params,
                                 leati_gather_plan *plan, leat_error *err) {
    int32_t axis = 0;
    LEATI_TRY(leati_normal_axis(args->axis, params->rank, &axis, err));
    *plan = (leati_gather_plan){.outer = 1, .dim = params->dims[axis], .inner = 1};
    for (int32_t d = 0; d < axis; d++)
        plan->outer *= params->dims[d];
    for (int32_t d = axis + 1; d < params->rank; d++)
        plan->inner *= params->dims[d];
    return LEAT_OK;
}

leat_status leati_gather_index(leati_kernel_call *call, const leati_operand *indices, int64_t row,
                               int64_t i, int64_t dim, int64_t *out, leat_error *err) {
    *out = leati_index_at(indices, row, i);
    if (*out >= 0 && *out < dim)
        return LEAT_OK;
    call->failed_row = row;
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "index %lld at place %lld is outside [0, %lld)",
                      (long long)*out, (long long)i, (long long)dim);
}

/* The shape of `params` with its axis replaced by the dimensions of the indices. */
static leat_status gathered(int64_t axis_given, const leat_shape *params, const leat_shape *indices,
                            leat_shape *out, leat_error *err) {
    int32_t axis = 0;
    LEATI_TRY(leati_normal_axis(axis_given, params->rank, &axis, err));
    if (params->rank - 1 + indices->rank > LEAT_MAX_RANK)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the rank would be %d; expected at most %d",
                          (int)(params->rank - 1 + indices->rank), LEAT_MAX_RANK);
    out->rank = 0;
    for (int32_t d = 0; d < params->rank; d++) {
        if (d != axis)
            out->dims[out->rank++] = params->dims[d];
        for (int32_t k = 0; d == axis && k < indices->rank; k++)
            out->dims[out->rank++] = indices->dims[k];
    }
    return LEAT_OK;
}

static leat_status gather_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_gather_args *args = call->args;
    const leat_shape *params = &call->inputs[0].shape, *indices = &call->inputs[1].shape;
    leat_shape out = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_want_values(call, 0, err));
    LEATI_TRY(leati_want_index(call, 1, "the indices", err));
    if (params->rank >= 0 && indices->rank >= 0)
        LEATI_TRY(gathered(args->axis, params, indices, &out, err));
    return leati_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

static leat_status gather_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_gather_args *args = call->args;
    const leati_operand *params = &call->inputs[0], *indices = &call->inputs[1];
    leat_shape from = leati_operand_shape(params), at = leati_operand_shape(indices), shape = {0};
    leati_gather_plan plan;
    LEATI_TRY(leati_gather_plan_of(args, params, &plan, err));
    LEATI_TRY(gathered(args->axis, &from, &at, &shape, err));
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)plan.inner * leat_dtype_size(params->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < indices->count; i++) {
            int64_t index = 0;
            LEATI_TRY(leati_gather_index(call, indices, row, i, plan.dim, &index, err));
            char *to = leati_row_of(&call->outputs[0], row) + (size_t)i * bytes;
            const char *piece = leati_row_of(params, row) + (size_t)index * bytes;
            for (int64_t o = 0; o < plan.outer && bytes > 0; o++)
                memcpy(to + (size_t)(o * indices->count) * bytes,
                       piece + (size_t)(o * plan.dim) * bytes, bytes);
        }
    }
    return leati_hold_strings(call, 0, err);
}

static leat_status gather_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_op3(&leati_tensor_op_gather_grad, call->args, call->output_gradients[0],
                  call->inputs[0], call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_gather(leat_value params, leat_value indices, int64_t axis) {
    struct leati_gather_args args = {.axis = axis};
    return leati_op2(&leati_tensor_op_gather, &args, params, indices);
}

const leati_tensor_op leati_tensor_op_gather = {
    .name = "gather",
    .version = 1,
    .doc = "The slices of a tensor along an axis that the indices number (tf.gather).",
    .names = "gather",
    .inputs = "params indices",
    .signature = "params indices validate_indices=null axis=null batch_dims=0",
    .rows = leati_gather_rows,
    .args_size = sizeof(struct leati_gather_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = gather_infer,
    .kernel = gather_kernel,
    .gradient = gather_gradient,
};
