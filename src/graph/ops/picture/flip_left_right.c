/* flip_left_right: pictures [H, W, C] or [N, H, W, C] mirrored along their width
 * (tf.image.flip_left_right).
 *
 * The gradient is the mirrored gradient. Fails on other ranks. No state, no locks. */
#include "graph/support/support.h"
#include "image/flip.h"

static leat_status check_rank(int32_t rank, leat_error *err) {
    if (rank < 0 || rank == 3 || rank == 4)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "the pictures have rank %d; expected [H, W, C] or [N, H, W, C]",
                        (int)rank);
}

static leat_status flip_left_right_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(check_rank(call->inputs[0].shape.rank, err));
    return leati_op_infer_same(call, err);
}

static leat_status flip_left_right_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(check_rank(in->rank, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (in->count == 0)
        return leati_support_hold_strings(call, 0, err);
    size_t pixel = (size_t)in->dims[in->rank - 1] * leat_dtype_size(in->dtype);
    size_t width = (size_t)in->dims[in->rank - 2];
    size_t lines = (size_t)in->count * leat_dtype_size(in->dtype) / (pixel * width);
    for (int64_t row = 0; row < call->n; row++)
        leati_flip_left_right(leati_support_row_of(in, row), width * pixel,
                              leati_support_row_of(&call->outputs[0], row), width * pixel, lines,
                              width, pixel);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status flip_left_right_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_flip_left_right(call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_flip_left_right(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_flip_left_right, NULL, images);
}

const leati_tensor_op leati_tensor_op_flip_left_right = {
    .name = "flip_left_right",
    .version = 1,
    .doc = "Pictures mirrored along their width (tf.image.flip_left_right).",
    .names = "image.flip_left_right",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = flip_left_right_infer,
    .kernel = flip_left_right_kernel,
    .gradient = flip_left_right_gradient,
    .trait = LEATI_TRAIT_MIRROR,
};
