/* flip_up_down: pictures [H, W, C] or [N, H, W, C] mirrored along their height
 * (tf.image.flip_up_down).
 *
 * The gradient is the mirrored gradient. Fails on other ranks. No state, no locks. */
#include "graph/support/picture/frames.h"
#include "image/flip.h"

static leat_status flip_up_down_infer(leati_infer_call *call, leat_error *err) {
    return leati_frames_infer(call, LEATI_KEEP, LEATI_KEEP, call->inputs[0].dtype, err);
}

static leat_status flip_up_down_kernel(leati_kernel_call *call, leat_error *err) {
    leati_frames in;
    LEATI_TRY(leati_frames_begin(call, LEATI_KEEP, LEATI_KEEP, &in, err));
    size_t pixel = (size_t)in.channels * leat_dtype_size(call->inputs[0].dtype);
    size_t stride = (size_t)in.width * pixel, picture = (size_t)in.height * stride;
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++)
        for (int64_t i = 0; i < in.count; i++)
            leati_flip_up_down(leati_support_row_of(&call->inputs[0], row) + (size_t)i * picture,
                               stride,
                               leati_support_row_of(&call->outputs[0], row) + (size_t)i * picture,
                               stride, (size_t)in.height, (size_t)in.width, pixel);
    return LEAT_OK;
}

static leat_status flip_up_down_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_flip_up_down(call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_flip_up_down(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_flip_up_down, NULL, images);
}

const leati_tensor_op leati_tensor_op_flip_up_down = {
    .name = "flip_up_down",
    .version = 1,
    .doc = "Pictures mirrored along their height (tf.image.flip_up_down).",
    .names = "image.flip_up_down",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = flip_up_down_infer,
    .kernel = flip_up_down_kernel,
    .gradient = flip_up_down_gradient,
    .trait = LEATI_TRAIT_MIRROR,
};
