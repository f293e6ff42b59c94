/* resize_with_pad: pictures scaled to fit into a size, with their proportions, and padded with
 * zeros to it (tf.image.resize_with_pad).
 *
 * Fails on empty pictures and targets. The gradient is resize_with_pad_grad. No state; the
 * lock of the store of plans (resize.h). */
#include "base/minmax.h"
#include "graph/support/picture/resize.h"

#include <math.h>

const leati_row leati_resize_with_pad_rows[] = {
    {.name = "target_height",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_resize_with_pad_args, target_height),
     .doc = "Height of the result, in pixels."},
    {.name = "target_width",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_resize_with_pad_args, target_width),
     .doc = "Width of the result, in pixels."},
    {.name = "method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_resize_with_pad_args, method),
     .default_text = "bilinear",
     .doc = "As of resize."},
    {.name = "antialias",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_resize_with_pad_args, antialias),
     .doc = "Blend all pixels that a smaller picture's pixel covers."},
    {0},
};

static leat_status resize_with_pad_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_resize_with_pad_args *args = call->args;
    leati_resize_method method;
    leat_dtype dtype;
    LEATI_TRY(leati_resize_method_of(args->method, &method, err));
    LEATI_TRY(leati_resize_dtype(method, call->inputs[0].dtype, &dtype, err));
    if (call->unknown != 0)
        return leati_frames_infer(call, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, dtype, err);
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    return leati_frames_infer(call, args->target_height, args->target_width, dtype, err);
}

static int64_t padding(float target, float size) {
    int64_t pixels = (int64_t)floorf((target - size) / 2);
    return LEATI_MAX(pixels, 0);
}

leat_status leati_resize_pad_scaling(const struct leati_resize_with_pad_args *args,
                                     const leati_frames *in, leati_scaling *out, leat_error *err) {
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    /* In float, as TensorFlow computes it. */
    float by_height = (float)in->height / (float)args->target_height;
    float by_width = (float)in->width / (float)args->target_width;
    float ratio = LEATI_MAX(by_width, by_height);
    float height = (float)in->height / ratio, width = (float)in->width / ratio;
    *out = (leati_scaling){.antialias = args->antialias,
                           .height = (int64_t)floorf(height),
                           .width = (int64_t)floorf(width),
                           .canvas_height = args->target_height,
                           .canvas_width = args->target_width,
                           .top = padding((float)args->target_height, height),
                           .left = padding((float)args->target_width, width)};
    LEATI_TRY(leati_resize_method_of(args->method, &out->method, err));
    if (out->height >= 1 && out->width >= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "a picture of %lld x %lld that keeps its proportions has no pixel within "
                        "%lld x %lld; expected a larger target",
                        (long long)in->height, (long long)in->width, (long long)args->target_height,
                        (long long)args->target_width);
}

static leat_status resize_with_pad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_scaling scaling;
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(leati_resize_pad_scaling(call->args, &in, &scaling, err));
    return leati_resize_scale(call, &scaling, err);
}

static leat_status resize_with_pad_gradient(leati_gradient_call *call, leat_error *err) {
    leat_dtype dtype = leat_value_dtype(call->inputs[0]);
    (void)err;
    if (dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64)
        call->input_gradients[0] =
            leati_graph_build2(&leati_tensor_op_resize_with_pad_grad, call->args,
                               call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_resize_with_pad(leat_value images, int64_t target_height, int64_t target_width,
                                   const char *method, bool antialias) {
    struct leati_resize_with_pad_args args = {
        target_height, target_width, (char *)(uintptr_t)(method != NULL ? method : "bilinear"),
        antialias};
    return leati_graph_build1(&leati_tensor_op_resize_with_pad, &args, images);
}

const leati_tensor_op leati_tensor_op_resize_with_pad = {
    .name = "resize_with_pad",
    .version = 1,
    .doc = "Pictures scaled to fit into a size, and padded with zeros (tf.image.resize_with_pad).",
    .names = "image.resize_with_pad",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_resize_with_pad_rows,
    .args_size = sizeof(struct leati_resize_with_pad_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = resize_with_pad_infer,
    .kernel = resize_with_pad_kernel,
    .gradient = resize_with_pad_gradient,
};
