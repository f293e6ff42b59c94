/* resize_with_pad_grad: what flows back through resize_with_pad. Inputs: the result's gradient,
 * whose padding is left out, and the pictures.
 *
 * Fails where the gradient has not the shape of the result; see resize_grad.c. Its own gradient is
 * resize_with_pad. No state; the lock of the store of plans (resize.h). */
#include "graph/support/picture/resize.h"

static leat_status resize_with_pad_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[1]);
    leati_scaling scaling;
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(leati_resize_pad_scaling(call->args, &in, &scaling, err));
    return leati_resize_scale_back(call, &scaling, err);
}

static leat_status resize_with_pad_grad_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value back =
        leati_graph_build1(&leati_tensor_op_resize_with_pad, call->args, call->output_gradients[0]);
    (void)err;
    call->input_gradients[0] = leat_op_cast(back, leat_value_dtype(call->inputs[0]));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_resize_with_pad_grad = {
    .name = "resize_with_pad_grad",
    .version = 1,
    .doc = "What flows back through resize_with_pad (for gradients).",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_resize_with_pad_rows,
    .args_size = sizeof(struct leati_resize_with_pad_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_resize_scale_back_infer,
    .kernel = resize_with_pad_grad_kernel,
    .gradient = resize_with_pad_grad_gradient,
};
