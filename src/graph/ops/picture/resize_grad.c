/* resize_grad: what flows back through resize: each value of the first input, the result's
 * gradient, is spread over the pixels of the second input's shape that it was made of.
 *
 * Computed in float32. Fails where the gradient has not the shape of the result. Its own
 * gradient is resize. No state; the lock of the store of plans (resize.h). */
#include "graph/support/picture/resize.h"

#include <string.h>

leat_status leati_resize_scale_back_infer(leati_infer_call *call, leat_error *err) {
    for (int i = 0; i < 2; i++)
        if (call->inputs[i].dtype < LEAT_FLOAT16 || call->inputs[i].dtype > LEAT_FLOAT64)
            return leati_refuse(
                err, DTYPE, "%s is %s; expected floats, through which gradients flow",
                i == 0 ? "the gradient" : "the picture", leat_dtype_name(call->inputs[i].dtype));
    return leati_op_infer_output(call, call->inputs[1].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status check_shape(const leati_kernel_call *call, const leati_frames *in,
                               int64_t height, int64_t width, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames found;
    char text[128];
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

leat_status leati_resize_scale_back(leati_kernel_call *call, const leati_scaling *scaling,
                                    leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[1]);
    leati_operand gradient = call->inputs[0], wide;
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(check_shape(call, &in, scaling->canvas_height, scaling->canvas_width, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (gradient.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &gradient, err));
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
    leat_shape shape = leati_support_operand_shape(&call->inputs[1]);
    leati_scaling scaling = {.antialias = args->antialias};
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(leati_resize_method_of(args->method, &scaling.method, err));
    LEATI_TRY(leati_resize_size(args, in.height, in.width, &scaling.height, &scaling.width, err));
    scaling.canvas_height = scaling.height;
    scaling.canvas_width = scaling.width;
    return leati_resize_scale_back(call, &scaling, err);
}

static leat_status resize_grad_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value back =
        leati_graph_build1(&leati_tensor_op_resize, call->args, call->output_gradients[0]);
    (void)err;
    call->input_gradients[0] = leat_op_cast(back, leat_value_dtype(call->inputs[0]));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_resize_grad = {
    .name = "resize_grad",
    .version = 1,
    .doc = "A gradient spread over the pixels that resize made each value of (for gradients).",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_resize_rows,
    .args_size = sizeof(struct leati_resize_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = leati_resize_scale_back_infer,
    .kernel = resize_grad_kernel,
    .gradient = resize_grad_gradient,
};
