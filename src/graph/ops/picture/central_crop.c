/* central_crop: the middle of pictures, a fraction of their height and width
 * (tf.image.central_crop).
 *
 * The gradient is the gradient of the result, padded with zeros. Fails where the fraction is not in
 * (0, 1]. No state, no locks. */
#include "graph/support/picture/frames.h"

struct central_crop_args {
    double central_fraction;
};

static const leati_row central_crop_rows[] = {
    {.name = "central_fraction",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct central_crop_args, central_fraction),
     .doc = "The part of each dimension that stays, in (0, 1]."},
    {0},
};

static leat_status check(const struct central_crop_args *args, leat_error *err) {
    if (args->central_fraction > 0 && args->central_fraction <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "central_fraction is %.9g; expected a number in (0, 1]",
                        args->central_fraction);
}

/* Pixels that are cut off at the front, and as many at the end. */
static int64_t cut(double fraction, int64_t size) {
    return (int64_t)(((double)size - (double)size * fraction) / 2);
}

static int64_t left_of(double fraction, int64_t size) {
    return size < 0 ? LEAT_UNKNOWN_DIM : size - 2 * cut(fraction, size);
}

static leat_status central_crop_infer(leati_infer_call *call, leat_error *err) {
    const struct central_crop_args *args = call->args;
    const leat_shape *shape = &call->inputs[0].shape;
    int64_t height = LEAT_UNKNOWN_DIM, width = LEAT_UNKNOWN_DIM;
    if (call->unknown == 0) {
        LEATI_TRY(check(args, err));
        if (shape->rank == 3 || shape->rank == 4) {
            height = left_of(args->central_fraction, shape->dims[shape->rank - 3]);
            width = left_of(args->central_fraction, shape->dims[shape->rank - 2]);
        }
    }
    return leati_frames_infer(call, height, width, call->inputs[0].dtype, err);
}

static leat_status central_crop_window(const leati_kernel_call *call, leati_window *out,
                                       leat_error *err) {
    const struct central_crop_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(check(args, err));
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    *out = (leati_window){.top = cut(args->central_fraction, in.height),
                          .left = cut(args->central_fraction, in.width),
                          .height = left_of(args->central_fraction, in.height),
                          .width = left_of(args->central_fraction, in.width)};
    return LEAT_OK;
}

static leat_status central_crop_kernel(leati_kernel_call *call, leat_error *err) {
    leati_window window;
    LEATI_TRY(central_crop_window(call, &window, err));
    return leati_frames_window(call, &window, err);
}

static leat_status central_crop_gradient(leati_gradient_call *call, leat_error *err) {
    const struct central_crop_args *args = call->args;
    int64_t height = leati_frames_known(call->inputs[0], 0);
    int64_t width = leati_frames_known(call->inputs[0], 1);
    if (height < 0 || width < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of central_crop needs pictures of a known height and "
                          "width; say them by ensure_shape");
    call->input_gradients[0] =
        leat_op_pad_to_bounding_box(call->output_gradients[0], cut(args->central_fraction, height),
                                    cut(args->central_fraction, width), height, width);
    return LEAT_OK;
}

leat_value leat_op_central_crop(leat_value images, double central_fraction) {
    struct central_crop_args args = {central_fraction};
    return leati_graph_build1(&leati_tensor_op_central_crop, &args, images);
}

const leati_tensor_op leati_tensor_op_central_crop = {
    .name = "central_crop",
    .version = 1,
    .doc = "The middle of pictures (tf.image.central_crop).",
    .names = "image.central_crop",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = central_crop_rows,
    .args_size = sizeof(struct central_crop_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = central_crop_infer,
    .kernel = central_crop_kernel,
    .gradient = central_crop_gradient,
    .window = central_crop_window,
};
