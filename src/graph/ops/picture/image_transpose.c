/* image_transpose: pictures whose height and width change places (tf.image.transpose).
 *
 * The gradient is the transposed gradient. Fails on other ranks than 3 and 4. No state, no locks.
 */
#include "graph/support/picture/frames.h"

static leat_status image_transpose_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *shape = &call->inputs[0].shape;
    bool known = shape->rank == 3 || shape->rank == 4;
    return leati_frames_infer(call, known ? shape->dims[shape->rank - 2] : LEAT_UNKNOWN_DIM,
                              known ? shape->dims[shape->rank - 3] : LEAT_UNKNOWN_DIM,
                              call->inputs[0].dtype, err);
}

static leat_status image_transpose_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    return leati_frames_walk(call, in.width, in.height, 0, 1, in.width, err);
}

static leat_status image_transpose_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_image_transpose(call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_image_transpose(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_image_transpose, NULL, images);
}

const leati_tensor_op leati_tensor_op_image_transpose = {
    .name = "image_transpose",
    .version = 1,
    .doc = "Pictures whose height and width change places (tf.image.transpose).",
    .names = "image.transpose",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = image_transpose_infer,
    .kernel = image_transpose_kernel,
    .gradient = image_transpose_gradient,
};
