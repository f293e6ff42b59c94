/* resize: pictures [H, W, C] or [N, H, W, C] scaled to another size, as float32 (tf.image.resize).
 *
 * Method nearest keeps the dtype. With preserve_aspect_ratio the size is the largest one inside the
 * given one that has the pictures' proportions. The gradient is resize_grad. Fails on empty
 * pictures and sizes. No state; the lock of the store of plans (resize.h). */
#include "graph/support/picture/resize.h"
#include "base/minmax.h"

#include <math.h>

const leati_row leati_resize_rows[] = {
    {.name = "size",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_resize_args, size),
     .doc = "Height and width of the result, in pixels."},
    {.name = "method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_resize_args, method),
     .default_text = "bilinear",
     .doc = "bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic."},
    {.name = "preserve_aspect_ratio",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_resize_args, preserve_aspect_ratio),
     .doc = "Keep the proportions: the largest size that fits into the given one."},
    {.name = "antialias",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_resize_args, antialias),
     .doc = "Blend all pixels that a smaller picture's pixel covers."},
    {0},
};

leat_status leati_resize_size(const struct leati_resize_args *args, int64_t height, int64_t width,
                              int64_t *out_height, int64_t *out_width, leat_error *err) {
    if (args->size.count != 2 || args->size.values[0] < 1 || args->size.values[1] < 1)
        return leati_refuse(err, VALUE,
                            "size has %d numbers; expected a height and a width of at least 1",
                            (int)args->size.count);
    *out_height = args->size.values[0];
    *out_width = args->size.values[1];
    if (!args->preserve_aspect_ratio)
        return LEAT_OK;
    if (height < 0 || width < 0) {
        *out_height = *out_width = LEAT_UNKNOWN_DIM;
        return LEAT_OK;
    }
    /* In float, and halves to even, as TensorFlow rounds. */
    float by_height = (float)*out_height / (float)height;
    float by_width = (float)*out_width / (float)width;
    float factor = LEATI_MIN(by_height, by_width);
    *out_height = (int64_t)nearbyintf(factor * (float)height);
    *out_width = (int64_t)nearbyintf(factor * (float)width);
    if (*out_height >= 1 && *out_width >= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "a picture of %lld x %lld that keeps its proportions has no pixel within "
                        "%lld x %lld; expected a larger size",
                        (long long)height, (long long)width, (long long)args->size.values[0],
                        (long long)args->size.values[1]);
}

static leat_status resize_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_resize_args *args = call->args;
    const leat_shape *shape = &call->inputs[0].shape;
    int64_t height = LEAT_UNKNOWN_DIM, width = LEAT_UNKNOWN_DIM;
    bool known = shape->rank == 3 || shape->rank == 4;
    leati_resize_method method;
    leat_dtype dtype;
    LEATI_TRY(leati_resize_method_of(args->method, &method, err));
    LEATI_TRY(leati_resize_dtype(method, call->inputs[0].dtype, &dtype, err));
    if (call->unknown == 0)
        LEATI_TRY(leati_resize_size(args, known ? shape->dims[shape->rank - 3] : -1,
                                    known ? shape->dims[shape->rank - 2] : -1, &height, &width,
                                    err));
    return leati_frames_infer(call, height, width, dtype, err);
}

static leat_status resize_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_resize_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_scaling scaling = {.antialias = args->antialias};
    leati_frames in;
    LEATI_TRY(leati_resize_method_of(args->method, &scaling.method, err));
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(leati_resize_size(args, in.height, in.width, &scaling.height, &scaling.width, err));
    scaling.canvas_height = scaling.height;
    scaling.canvas_width = scaling.width;
    return leati_resize_scale(call, &scaling, err);
}

static leat_status resize_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_resize_grad, call->args,
                                                  call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_resize(leat_value images, int64_t height, int64_t width, const char *method) {
    int64_t size[2] = {height, width};
    struct leati_resize_args args = {.size = {.values = size, .count = 2},
                                     .method =
                                         (char *)(uintptr_t)(method != NULL ? method : "bilinear")};
    return leati_graph_build1(&leati_tensor_op_resize, &args, images);
}

const leati_tensor_op leati_tensor_op_resize = {
    .name = "resize",
    .version = 1,
    .doc = "Pictures scaled to another size, as float32 (tf.image.resize).",
    .names = "image.resize",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_resize_rows,
    .args_size = sizeof(struct leati_resize_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = resize_infer,
    .kernel = resize_kernel,
    .gradient = resize_gradient,
};
