/* central_crop, crop_to_bounding_box, pad_to_bounding_box, resize_with_crop_or_pad: the middle of
 * pictures, the part of them in a box, themselves at a place of larger ones that are zero
 * elsewhere, and both evenly on all sides, to a size (tf.image.central_crop and its like).
 *
 * What is cut or padded unevenly is larger at the end. The gradient is padded with zeros, or cut.
 * Fails where a fraction is not in (0, 1], a box is empty or leaves the pictures, pictures do not
 * fit, or a target has no pixels. No state, no locks. */
#include "graph/support/picture/frames.h"

static const leati_row box_rows[] = {
    {.name = "offset_height",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_box_args, offset_height),
     .doc = "Rows above the box, in pixels."},
    {.name = "offset_width",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_box_args, offset_width),
     .doc = "Columns to the left of the box, in pixels."},
    {.name = "target_height",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_box_args, target_height),
     .doc = "Height of the result, in pixels."},
    {.name = "target_width",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_box_args, target_width),
     .doc = "Width of the result, in pixels."},
    {0},
};

static leat_status box_check(const struct leati_box_args *args, leat_error *err) {
    if (args->offset_height >= 0 && args->offset_width >= 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "offset_height is %lld and offset_width %lld; expected 0 or more",
                        (long long)args->offset_height, (long long)args->offset_width);
}

/* Height and width of the pictures of input 0, where a gradient needs to know them. */
static leat_status known_size(const leati_gradient_call *call, const char *name, int64_t *height,
                              int64_t *width, leat_error *err) {
    /* The operations that put a gradient back take a size as an argument, not as a value. */
    *height = leati_frames_known(call->inputs[0], 0);
    *width = leati_frames_known(call->inputs[0], 1);
    if (*height >= 0 && *width >= 0)
        return LEAT_OK;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "the gradient of %s needs pictures of a known height and width; say them "
                      "by ensure_shape",
                      name);
}

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
    /* NaN fails both comparisons. */
    if (args->central_fraction > 0 && args->central_fraction <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "central_fraction is %.9g; expected a number in (0, 1]",
                        args->central_fraction);
}

/* Pixels that are cut off at the front, and as many at the end. */
static int64_t cut(double fraction, int64_t size) {
    /* In TensorFlow's order of operations, which truncates. */
    return (int64_t)(((double)size - (double)size * fraction) / 2);
}

static int64_t left_of(double fraction, int64_t size) {
    return size < 0 ? LEAT_UNKNOWN_DIM : size - 2 * cut(fraction, size);
}

static leat_status central_crop_infer(leati_infer_call *call, leat_error *err) {
    const struct central_crop_args *args = call->args;
    const leat_shape *shape = &call->inputs[0].shape;
    int64_t height = LEAT_UNKNOWN_DIM, width = LEAT_UNKNOWN_DIM;
    /* The fraction may be a value of the run: then no size is known. */
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
    int64_t height, width;
    LEATI_TRY(known_size(call, "central_crop", &height, &width, err));
    call->input_gradients[0] =
        leat_op_pad_to_bounding_box(call->output_gradients[0], cut(args->central_fraction, height),
                                    cut(args->central_fraction, width), height, width);
    return LEAT_OK;
}

static leat_status crop_check(const struct leati_box_args *args, int64_t height, int64_t width,
                              leat_error *err) {
    LEATI_TRY(box_check(args, err));
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    /* Subtracted on this side, as target + offset could overflow. Unknown sizes pass. */
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
    /* Other ranks are refused by leati_frames_infer. */
    bool known = shape->rank == 3 || shape->rank == 4;
    LEATI_TRY(crop_check(args, known ? shape->dims[shape->rank - 3] : -1,
                         known ? shape->dims[shape->rank - 2] : -1, err));
    return leati_frames_infer(call, args->target_height, args->target_width, dtype, err);
}

static leat_status crop_window(const leati_kernel_call *call, leati_window *out, leat_error *err) {
    const struct leati_box_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(crop_check(args, in.height, in.width, err));
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
    int64_t height, width;
    LEATI_TRY(known_size(call, "crop_to_bounding_box", &height, &width, err));
    call->input_gradients[0] = leat_op_pad_to_bounding_box(
        call->output_gradients[0], args->offset_height, args->offset_width, height, width);
    return LEAT_OK;
}

static leat_status pad_check(const struct leati_box_args *args, int64_t height, int64_t width,
                             leat_error *err) {
    LEATI_TRY(box_check(args, err));
    /* What is left of the target behind the offset must hold the picture. */
    if ((height >= 0 && args->target_height - args->offset_height < height) ||
        (width >= 0 && args->target_width - args->offset_width < width))
        return leati_refuse(err, VALUE,
                            "the picture of %lld x %lld from (%lld, %lld) on leaves the target of "
                            "%lld x %lld; expected one that holds it",
                            (long long)height, (long long)width, (long long)args->offset_height,
                            (long long)args->offset_width, (long long)args->target_height,
                            (long long)args->target_width);
    return LEAT_OK;
}

static leat_status pad_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_box_args *args = call->args;
    const leat_shape *shape = &call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (call->unknown != 0)
        return leati_frames_infer(call, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, dtype, err);
    bool known = shape->rank == 3 || shape->rank == 4;
    /* 0 instead of unknown, so that a target that ends before its offset is refused already. */
    LEATI_TRY(pad_check(args, known ? shape->dims[shape->rank - 3] : 0,
                        known ? shape->dims[shape->rank - 2] : 0, err));
    return leati_frames_infer(call, args->target_height, args->target_width, dtype, err);
}

static leat_status pad_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_box_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(pad_check(args, in.height, in.width, err));
    /* A window that begins before the picture: what lies outside is zero, which is the padding. */
    const leati_window window = {.top = -args->offset_height,
                                 .left = -args->offset_width,
                                 .height = args->target_height,
                                 .width = args->target_width};
    return leati_frames_window(call, &window, err);
}

static leat_status pad_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_box_args *args = call->args;
    int64_t height, width;
    LEATI_TRY(known_size(call, "pad_to_bounding_box", &height, &width, err));
    call->input_gradients[0] = leat_op_crop_to_bounding_box(
        call->output_gradients[0], args->offset_height, args->offset_width, height, width);
    return LEAT_OK;
}

/* Height and width that the result shall have. */
struct target_args {
    int64_t target_height, target_width;
};

static const leati_row target_rows[] = {
    {.name = "target_height",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct target_args, target_height),
     .doc = "Height of the result, in pixels."},
    {.name = "target_width",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct target_args, target_width),
     .doc = "Width of the result, in pixels."},
    {0},
};

static leat_status crop_or_pad_infer(leati_infer_call *call, leat_error *err) {
    const struct target_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    if (call->unknown != 0)
        return leati_frames_infer(call, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, dtype, err);
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    return leati_frames_infer(call, args->target_height, args->target_width, dtype, err);
}

/* Where the window begins: cut pixels count up, padded ones down. */
static int64_t begin(int64_t size, int64_t target) {
    /* Both halves are rounded towards 0, so an odd pixel is at the end. */
    return size >= target ? (size - target) / 2 : -((target - size) / 2);
}

static leat_status crop_or_pad_kernel(leati_kernel_call *call, leat_error *err) {
    const struct target_args *args = call->args;
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
    int64_t height, width;
    LEATI_TRY(known_size(call, "resize_with_crop_or_pad", &height, &width, err));
    /* The way back to the old size: what was cut gets zeros, what was padded is cut. */
    call->input_gradients[0] =
        leat_op_resize_with_crop_or_pad(call->output_gradients[0], height, width);
    return LEAT_OK;
}

/* The descriptor of one operation. */
#define CROP_OP(NAME, DOC, ...)                                                                    \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .inputs = "image",                                                                         \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        __VA_ARGS__,                                                                               \
    };
CROP_OP(central_crop, "The middle of pictures", .rows = central_crop_rows,
        .args_size = sizeof(struct central_crop_args), .infer = central_crop_infer,
        .kernel = central_crop_kernel, .gradient = central_crop_gradient,
        .window = central_crop_window)
CROP_OP(crop_to_bounding_box, "The part of pictures inside a box", .rows = box_rows,
        .args_size = sizeof(struct leati_box_args), .infer = crop_infer, .kernel = crop_kernel,
        .gradient = crop_gradient, .window = crop_window)
CROP_OP(pad_to_bounding_box, "Pictures at a place of larger ones, zero elsewhere", .rows = box_rows,
        .args_size = sizeof(struct leati_box_args), .infer = pad_infer, .kernel = pad_kernel,
        .gradient = pad_gradient)
CROP_OP(resize_with_crop_or_pad, "Pictures cut or padded with zeros around their middle",
        .rows = target_rows, .args_size = sizeof(struct target_args), .infer = crop_or_pad_infer,
        .kernel = crop_or_pad_kernel, .gradient = crop_or_pad_gradient)
