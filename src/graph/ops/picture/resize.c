/* resize: pictures scaled to a size (tf.image.resize). resize_with_pad: pictures scaled to fit into
 * a size, with their proportions, and padded with zeros to it (tf.image.resize_with_pad).
 * resize_grad, resize_with_pad_grad: what flows back: each value of the first input, the result's
 * gradient, without padding, is spread over the pixels of the second input's shape that it was made
 * of.
 *
 * Results are float32, but method nearest keeps the dtype. With preserve_aspect_ratio the size is
 * the largest one inside the given one that has the pictures' proportions. Gradients are computed
 * in float32, and theirs are the operations themselves. Fails on methods that there are not, on
 * empty pictures and targets, and where the gradient has not the shape of the result. No state; the
 * lock of the store of plans (resize.h). */
#include "graph/support/picture/resize.h"
#include "base/minmax.h"
#include <math.h>
#include <string.h>

static const leati_row resize_rows[] = {
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

/* The size that the arguments give pictures of that height and width; -1 where it follows from one
 * that is not known. */
static leat_status size_of(const struct leati_resize_args *args, int64_t height, int64_t width,
                           int64_t *out_height, int64_t *out_width, leat_error *err) {
    if (args->size.count != 2 || args->size.values[0] < 1 || args->size.values[1] < 1)
        return leati_refuse(err, VALUE,
                            "size has %d numbers; expected a height and a width of at least 1",
                            (int)args->size.count);
    /* What the arguments say, unless proportions are kept. */
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
    /* Where proportions are kept and the picture's size is not known, size_of gives -1. */
    if (call->unknown == 0)
        LEATI_TRY(size_of(args, known ? shape->dims[shape->rank - 3] : -1,
                          known ? shape->dims[shape->rank - 2] : -1, &height, &width, err));
    return leati_frames_infer(call, height, width, dtype, err);
}

static leat_status resize_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_resize_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_scaling scaling = {.antialias = args->antialias};
    leati_frames in;
    LEATI_TRY(leati_resize_method_of(args->method, &scaling.method, err));
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(size_of(args, in.height, in.width, &scaling.height, &scaling.width, err));
    /* No padding: the canvas is the picture. */
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

static const leati_row resize_with_pad_rows[] = {
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
    /* An odd pixel is at the end. */
    int64_t pixels = (int64_t)floorf((target - size) / 2);
    return LEATI_MAX(pixels, 0);
}

leat_status leati_resize_fitting(const struct leati_resize_with_pad_args *args,
                                 const leati_frames *in, leati_scaling *out, leat_error *err) {
    LEATI_TRY(leati_frames_target_check(args->target_height, args->target_width, err));
    /* In float, as TensorFlow computes it. */
    float by_height = (float)in->height / (float)args->target_height;
    float by_width = (float)in->width / (float)args->target_width;
    /* The side that has to shrink most decides. */
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
    LEATI_TRY(leati_resize_fitting(call->args, &in, &scaling, err));
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

static leat_status scale_back_infer(leati_infer_call *call, leat_error *err) {
    for (int i = 0; i < 2; i++)
        if (call->inputs[i].dtype < LEAT_FLOAT16 || call->inputs[i].dtype > LEAT_FLOAT64)
            return leati_refuse(
                err, DTYPE, "%s is %s; expected floats, through which gradients flow",
                i == 0 ? "the gradient" : "the picture", leat_dtype_name(call->inputs[i].dtype));
    return leati_op_infer_output(call, call->inputs[1].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status check_gradient(const leati_kernel_call *call, const leati_frames *in,
                                  int64_t height, int64_t width, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames found;
    char text[128];
    /* A gradient of another shape would be read beyond its end. */
    LEATI_TRY(leati_frames_of(&shape, &found, err));
    if (found.count == in->count && found.height == height && found.width == width &&
        found.channels == in->channels)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE,
        "the gradient has shape %s; expected %lld pictures of %lld x %lld with %lld "
        "channels",
        leati_shape_text(&shape, text), (long long)in->count, (long long)height, (long long)width,
        (long long)in->channels);
}

/* The part of a gradient that is not padding, without gaps; it may be all of it. */
static const float *part_of(const leati_scaling *s, int64_t channels, const float *whole,
                            float *scratch) {
    size_t row = (size_t)(s->width * channels);
    /* Without padding the gradient is read where it lies. */
    if (scratch == NULL)
        return whole;
    whole += (s->top * s->canvas_width + s->left) * channels;
    for (int64_t y = 0; y < s->height; y++)
        memcpy(scratch + (size_t)y * row, whole + y * s->canvas_width * channels,
               row * sizeof *scratch);
    return scratch;
}

/* Spreads the gradient, of float32, over pictures of float32. */
static leat_status spread(const leati_kernel_call *call, const leati_scaling *scaling,
                          const leati_frames *in, const leati_operand *gradient,
                          const leati_operand *out, leat_error *err) {
    size_t part = (size_t)(scaling->height * scaling->width * in->channels) * sizeof(float);
    bool padded =
        scaling->height != scaling->canvas_height || scaling->width != scaling->canvas_width;
    float *scratch = padded ? leati_arena_alloc(call->arena, part) : NULL;
    if (padded && scratch == NULL)
        return leati_no_memory(err);
    /* From the store, and given back on every path: it keeps its tables for the next call. */
    leati_resize_plan plan = leati_resize_plan_take((int32_t)in->height, (int32_t)in->width);
    leat_status status = leati_resize_prepare(
        &plan, (int32_t)in->height, (int32_t)in->width, (int32_t)scaling->height,
        (int32_t)scaling->width, (int32_t)in->channels, scaling->method, scaling->antialias, err);
    int64_t from_step = scaling->canvas_height * scaling->canvas_width * in->channels;
    int64_t step = in->height * in->width * in->channels;
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++)
        for (int64_t i = 0; i < in->count; i++) {
            const float *from = (const float *)(const void *)leati_support_row_of(gradient, row);
            leati_resize_spread(&plan,
                                part_of(scaling, in->channels, from + i * from_step, scratch),
                                (float *)(void *)leati_support_row_of(out, row) + i * step);
        }
    leati_resize_plan_give(&plan);
    return status;
}

/* What flows into the pictures of a scaling, input 0, is spread over pictures of input 1's shape.
 */
static leat_status scale_back(leati_kernel_call *call, const leati_scaling *scaling,
                              leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[1]);
    leati_operand gradient = call->inputs[0], wide;
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(check_gradient(call, &in, scaling->canvas_height, scaling->canvas_width, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (gradient.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &gradient, err));
    /* Sums are kept in float32: other floats are cast from the arena at the end. */
    wide = call->outputs[0];
    if (wide.dtype == LEAT_FLOAT32)
        return spread(call, scaling, &in, &gradient, &wide, err);
    size_t bytes = (size_t)call->n * (size_t)wide.count * sizeof(float);
    wide.dtype = LEAT_FLOAT32;
    wide.row_stride = wide.count * (int64_t)sizeof(float);
    wide.data = leati_arena_alloc(call->arena, bytes);
    if (wide.data == NULL)
        return leati_no_memory(err);
    LEATI_TRY(spread(call, scaling, &in, &gradient, &wide, err));
    return leati_support_inner_cast_into(call, &wide, &call->outputs[0], err);
}

static leat_status resize_grad_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_resize_args *args = call->args;
    /* The size follows from the pictures, as on the way forth. */
    leat_shape shape = leati_support_operand_shape(&call->inputs[1]);
    leati_scaling scaling = {.antialias = args->antialias};
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(leati_resize_method_of(args->method, &scaling.method, err));
    LEATI_TRY(size_of(args, in.height, in.width, &scaling.height, &scaling.width, err));
    scaling.canvas_height = scaling.height;
    scaling.canvas_width = scaling.width;
    return scale_back(call, &scaling, err);
}

static leat_status resize_grad_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value back =
        leati_graph_build1(&leati_tensor_op_resize, call->args, call->output_gradients[0]);
    (void)err;
    /* resize gives float32, whatever the gradient was. */
    call->input_gradients[0] = leat_op_cast(back, leat_value_dtype(call->inputs[0]));
    return LEAT_OK;
}

static leat_status resize_with_pad_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[1]);
    leati_scaling scaling;
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(leati_resize_fitting(call->args, &in, &scaling, err));
    return scale_back(call, &scaling, err);
}

static leat_status resize_with_pad_grad_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value back =
        leati_graph_build1(&leati_tensor_op_resize_with_pad, call->args, call->output_gradients[0]);
    (void)err;
    call->input_gradients[0] = leat_op_cast(back, leat_value_dtype(call->inputs[0]));
    return LEAT_OK;
}

/* The descriptor of one operation. */
#define RESIZE_OP(NAME, DOC, ...)                                                                  \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .flags = LEATI_COSTLY,                                                                     \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
RESIZE_OP(resize, "Pictures scaled to another size, as float32", .inputs = "images",
          .rows = resize_rows, .args_size = sizeof(struct leati_resize_args))
RESIZE_OP(resize_with_pad, "Pictures scaled to fit into a size, and padded with zeros",
          .inputs = "image", .rows = resize_with_pad_rows,
          .args_size = sizeof(struct leati_resize_with_pad_args))

/* The descriptor of a gradient. */
#define RESIZE_GRAD_OP(NAME, DOC, ...)                                                             \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .types = "T U",                                                                            \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .infer = scale_back_infer,                                                                 \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
RESIZE_GRAD_OP(resize_grad,
               "A gradient spread over the pixels that resize made each value of (for gradients).",
               .rows = resize_rows, .args_size = sizeof(struct leati_resize_args))
RESIZE_GRAD_OP(resize_with_pad_grad, "What flows back through resize_with_pad (for gradients).",
               .rows = resize_with_pad_rows, .args_size = sizeof(struct leati_resize_with_pad_args))
