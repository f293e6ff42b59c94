/* gather_grad: zeros of the second input's shape to which the first input's slices are added at the
 * indices: the gradient of gather. Inputs: gradient, params, indices.
 *
 * Slices are added in the order of the indices, so the result does not depend on threads. Fails
 * where an index is outside the axis. No state, no locks. */
#include "graph/support/array/gather.h"

#include <string.h>

static leat_status gather_grad_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the gradient", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, call->inputs[0].dtype, "the tensor", err));
    LEATI_TRY(leati_support_want_index(call, 2, "the indices", err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

static void add_piece(leat_dtype dtype, char *to, const char *from, int64_t n) {
    if (dtype == LEAT_FLOAT32)
        for (int64_t i = 0; i < n; i++)
            ((float *)to)[i] += ((const float *)from)[i];
    else
        for (int64_t i = 0; i < n; i++)
            ((double *)to)[i] += ((const double *)from)[i];
}

static leat_status gather_grad_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *gradient = &call->inputs[0], *params = &call->inputs[1];
    const leati_operand *indices = &call->inputs[2], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(params);
    leati_gather_plan plan;
    LEATI_TRY(leati_gather_plan_of(call->args, params, indices, &plan, err));
    LEATI_TRY(leati_support_want_equal_dims(
        gradient->count, plan.batch * plan.outer * plan.count * plan.inner,
        "values of the gradient and of what was gathered", err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(out->dtype), bytes = (size_t)plan.inner * size;
    for (int64_t row = 0; row < call->n; row++) {
        if (out->count > 0)
            memset(leati_support_row_of(out, row), 0, (size_t)out->count * size);
        for (int64_t k = 0; k < plan.batch * plan.count; k++) {
            int64_t index = 0, piece = k / plan.count * plan.outer, i = k % plan.count;
            LEATI_TRY(leati_gather_index(call, indices, row, k, plan.dim, &index, err));
            for (int64_t o = piece; o < piece + plan.outer; o++)
                add_piece(out->dtype,
                          leati_support_row_of(out, row) + (size_t)(o * plan.dim + index) * bytes,
                          leati_support_row_of(gradient, row) +
                              (size_t)(o * plan.count + i) * bytes,
                          plan.inner);
        }
    }
    return LEAT_OK;
}

static leat_status gather_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_gather, call->args,
                                                  call->output_gradients[0], call->inputs[2]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_gather_grad = {
    .name = "gather_grad",
    .version = 1,
    .doc = "Zeros of params' shape to which the gradient's slices are added (for "
           "gradients).",
    .types = "T T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_gather_rows,
    .args_size = sizeof(struct leati_gather_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = gather_grad_infer,
    .kernel = gather_grad_kernel,
    .gradient = gather_grad_gradient,
};
