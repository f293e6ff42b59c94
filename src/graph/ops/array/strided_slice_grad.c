/* strided_slice_grad: zeros of the second input's shape, with the first input at the places of the
 * part: the gradient of strided_slice.
 *
 * Fails where the gradient has not the shape of the part. No state, no locks. */
#include "graph/ops/array/strided_slice.h"

#include <string.h>

static leat_status strided_slice_grad_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_support_want_float(call, 0, "the gradient", err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status strided_slice_grad_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape whole = leati_support_operand_shape(&call->inputs[1]),
               found = leati_support_operand_shape(in);
    size_t size = leat_dtype_size(in->dtype);
    int64_t in_steps[LEAT_MAX_RANK];
    leati_strided_part part;
    char texts[2][128];
    LEATI_TRY(leati_strided_part_of(call->args, &whole, size, false, &part, err));
    if (!leati_shape_equal(&part.shape, &found))
        return leati_refuse(err, SHAPE, "the gradient is %s; expected %s",
                            leati_shape_text(&found, texts[0]),
                            leati_shape_text(&part.shape, texts[1]));
    LEATI_TRY(leati_support_output_like(call, 0, &whole, err));
    leati_support_dense_steps(&part.shape, size, in_steps);
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        memset(leati_support_row_of(out, row), 0, (size_t)out->count * size);
        if (in->count > 0)
            leati_support_strided_copy(leati_support_row_of(out, row) + part.offset, part.steps,
                                       leati_support_row_of(in, row), in_steps, part.shape.dims,
                                       part.shape.rank, size);
    }
    return LEAT_OK;
}

static leat_status strided_slice_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_strided_slice, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_strided_slice_grad = {
    .name = "strided_slice_grad",
    .version = 1,
    .doc = "Zeros of the second input's shape with the first at the places of the part (for "
           "gradients).",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_strided_slice_rows,
    .args_size = sizeof(struct leati_strided_slice_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = strided_slice_grad_infer,
    .kernel = strided_slice_grad_kernel,
    .gradient = strided_slice_grad_gradient,
};
