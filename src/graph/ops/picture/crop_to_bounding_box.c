/* crop_to_bounding_box: the part of pictures that a box says (tf.image.crop_to_bounding_box).
 *
 * The gradient is the gradient of the result, padded with zeros. Fails where the box is empty or
 * leaves the pictures. No state, no locks. */
#include "graph/support/picture/frames.h"

static leat_status check(const struct leati_box_args *args, int64_t height, int64_t width,
                         leat_error *err) {
    LEATI_TRY(leati_frames_box_check(args, err));
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    if ((height >= 0 && args->target_height > height - args->offset_height) ||
        (width >= 0 && args->target_width > width - args->offset_width))
        return leati_refuse(
            err, VALUE,
            "the box of %lld x %lld pixels from (%lld, %lld) on leaves the picture of "
            "%lld x %lld; expected one inside",
            (long long)args->target_height, (long long)args->target_width,
            (long long)args->offset_height, (long long)args->offset_width, (long long)height,
            (long long)width);
    return LEAT_OK;
}

static leat_status crop_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_box_args *args = call->args;
    const leat_shape *shape = &call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (call->unknown != 0)
        return leati_frames_infer(call, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, dtype, err);
    bool known = shape->rank == 3 || shape->rank == 4;
    LEATI_TRY(check(args, known ? shape->dims[shape->rank - 3] : -1,
                    known ? shape->dims[shape->rank - 2] : -1, err));
    return leati_frames_infer(call, args->target_height, args->target_width, dtype, err);
}

static leat_status crop_window(const leati_kernel_call *call, leati_window *out, leat_error *err) {
    const struct leati_box_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(check(args, in.height, in.width, err));
    *out = (leati_window){.top = args->offset_height,
                          .left = args->offset_width,
                          .height = args->target_height,
                          .width = args->target_width};
    return LEAT_OK;
}

static leat_status crop_kernel(leati_kernel_call *call, leat_error *err) {
    leati_window window;
    LEATI_TRY(crop_window(call, &window, err));
    return leati_frames_window(call, &window, err);
}

static leat_status crop_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_box_args *args = call->args;
    int64_t height = leati_frames_known(call->inputs[0], 0);
    int64_t width = leati_frames_known(call->inputs[0], 1);
    if (height < 0 || width < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of crop_to_bounding_box needs pictures of a known height "
                          "and width; say them by ensure_shape");
    call->input_gradients[0] = leat_op_pad_to_bounding_box(
        call->output_gradients[0], args->offset_height, args->offset_width, height, width);
    return LEAT_OK;
}

leat_value leat_op_crop_to_bounding_box(leat_value images, int64_t offset_height,
                                        int64_t offset_width, int64_t target_height,
                                        int64_t target_width) {
    return leati_frames_box_build(&leati_tensor_op_crop_to_bounding_box, images, offset_height,
                                  offset_width, target_height, target_width);
}

const leati_tensor_op leati_tensor_op_crop_to_bounding_box = {
    .name = "crop_to_bounding_box",
    .version = 1,
    .doc = "The part of pictures inside a box (tf.image.crop_to_bounding_box).",
    .names = "image.crop_to_bounding_box",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_box_rows,
    .args_size = sizeof(struct leati_box_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = crop_infer,
    .kernel = crop_kernel,
    .gradient = crop_gradient,
    .window = crop_window,
};
