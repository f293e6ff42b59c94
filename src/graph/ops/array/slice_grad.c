/* slice_grad: zeros of the second input's shape, with the first input at the place of the slice:
 * the gradient of slice.
 *
 * Fails where the gradient has not the shape of the slice. No state, no locks. */
#include "graph/ops/array/slice.h"

#include <string.h>

static leat_status slice_grad_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (call->inputs[0].dtype == LEAT_STRING || call->inputs[0].dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "the gradient is %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status slice_grad_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_slice_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape whole = leati_support_operand_shape(&call->inputs[1]), part = {0};
    leat_shape found = leati_support_operand_shape(in);
    int64_t steps[LEAT_MAX_RANK], in_steps[LEAT_MAX_RANK];
    size_t size = leat_dtype_size(in->dtype);
    char texts[2][128];
    LEATI_TRY(leati_slice_shape(args, &whole, &part, err));
    if (!leati_shape_equal(&part, &found))
        return leati_refuse(err, SHAPE, "the gradient is %s; expected %s",
                            leati_shape_text(&found, texts[0]), leati_shape_text(&part, texts[1]));
    LEATI_TRY(leati_support_output_like(call, 0, &whole, err));
    leati_support_dense_steps(&whole, size, steps);
    leati_support_dense_steps(&part, size, in_steps);
    const leati_operand *out = &call->outputs[0];
    int64_t offset = leati_slice_offset(args, steps);
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        memset(leati_support_row_of(out, row), 0, (size_t)out->count * size);
        if (in->count > 0)
            leati_support_strided_copy(leati_support_row_of(out, row) + offset, steps,
                                       leati_support_row_of(in, row), in_steps, part.dims,
                                       part.rank, size);
    }
    return LEAT_OK;
}

static leat_status slice_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_slice, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_slice_grad = {
    .name = "slice_grad",
    .version = 1,
    .doc = "Zeros of the second input's shape with the first at the slice's place (for "
           "gradients).",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_slice_rows,
    .args_size = sizeof(struct leati_slice_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = slice_grad_infer,
    .kernel = slice_grad_kernel,
    .gradient = slice_grad_gradient,
};
