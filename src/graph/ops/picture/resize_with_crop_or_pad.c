/* resize_with_crop_or_pad: pictures cut or padded with zeros, evenly on both sides, to a size
 * (tf.image.resize_with_crop_or_pad).
 *
 * What is cut or padded unevenly is larger at the end. The gradient is the same map back. Fails on
 * a target without pixels. No state, no locks. */
#include "graph/support/picture/frames.h"

static const leati_row target_rows[] = {
    {.name = "target_height",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_target_args, target_height),
     .doc = "Height of the result, in pixels."},
    {.name = "target_width",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_target_args, target_width),
     .doc = "Width of the result, in pixels."},
    {0},
};

static leat_status crop_or_pad_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_target_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    if (call->unknown != 0)
        return leati_frames_infer(call, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, dtype, err);
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    return leati_frames_infer(call, args->target_height, args->target_width, dtype, err);
}

/* Where the window begins: cut pixels count up, padded ones down. */
static int64_t begin(int64_t size, int64_t target) {
    return size >= target ? (size - target) / 2 : -((target - size) / 2);
}

static leat_status crop_or_pad_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_target_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    const leati_window window = {.top = begin(in.height, args->target_height),
                                 .left = begin(in.width, args->target_width),
                                 .height = args->target_height,
                                 .width = args->target_width};
    return leati_frames_window(call, &window, err);
}

static leat_status crop_or_pad_gradient(leati_gradient_call *call, leat_error *err) {
    int64_t height = leati_frames_known(call->inputs[0], 0);
    int64_t width = leati_frames_known(call->inputs[0], 1);
    if (height < 0 || width < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of resize_with_crop_or_pad needs pictures of a known "
                          "height and width; say them by ensure_shape");
    call->input_gradients[0] =
        leat_op_resize_with_crop_or_pad(call->output_gradients[0], height, width);
    return LEAT_OK;
}

leat_value leat_op_resize_with_crop_or_pad(leat_value images, int64_t target_height,
                                           int64_t target_width) {
    struct leati_target_args args = {target_height, target_width};
    return leati_graph_build1(&leati_tensor_op_resize_with_crop_or_pad, &args, images);
}

const leati_tensor_op leati_tensor_op_resize_with_crop_or_pad = {
    .name = "resize_with_crop_or_pad",
    .version = 1,
    .doc = "Pictures cut or padded with zeros around their middle "
           "(tf.image.resize_with_crop_or_pad).",
    .names = "image.resize_with_crop_or_pad",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = target_rows,
    .args_size = sizeof(struct leati_target_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = crop_or_pad_infer,
    .kernel = crop_or_pad_kernel,
    .gradient = crop_or_pad_gradient,
};
