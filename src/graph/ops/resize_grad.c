/* resize_grad: what flows back through resize: each value of the first input, the result's
 * gradient, is spread over the pixels of the second input's shape that it was made of.
 *
 * Computed in float32. Fails where the gradient has not the shape of the result. No gradient. No
 * state; the lock of the store of plans (resize.h). */
#include "graph/ops/resize.h"

static leat_status resize_grad_infer(leati_infer_call *call, leat_error *err) {
    for (int i = 0; i < 2; i++)
        if (call->inputs[i].dtype < LEAT_FLOAT16 || call->inputs[i].dtype > LEAT_FLOAT64)
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "%s is %s; expected floats, through which gradients flow",
                              i == 0 ? "the gradient" : "the picture",
                              leat_dtype_name(call->inputs[i].dtype));
    return leati_infer_output(call, call->inputs[1].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status check_shape(const leati_kernel_call *call, const leati_frames *in,
                               int64_t height, int64_t width, leat_error *err) {
    leat_shape shape = leati_operand_shape(&call->inputs[0]);
    leati_frames found;
    char text[128];
    LEATI_TRY(leati_frames_of(&shape, &found, err));
    if (found.count == in->count && found.height == height && found.width == width &&
        found.channels == in->channels)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT,
                      "the gradient has shape %s; expected %lld pictures of %lld x %lld with %lld "
                      "channels",
                      leati_shape_text(&shape, text), (long long)in->count, (long long)height,
                      (long long)width, (long long)in->channels);
}

/* Spreads the gradient, of float32, over pictures of float32. */
static leat_status spread(const leati_kernel_call *call, const struct leati_resize_args *args,
                          const leati_frames *in, const leati_operand *gradient,
                          const leati_operand *out, leat_error *err) {
    int64_t height = 0, width = 0;
    leati_resize_method method;
    LEATI_TRY(leati_scaling_method(args->method, &method, err));
    LEATI_TRY(leati_resize_size(args, in->height, in->width, &height, &width, err));
    LEATI_TRY(check_shape(call, in, height, width, err));
    leati_resize_plan plan = leati_resize_plan_take((int32_t)in->height, (int32_t)in->width);
    leat_status status =
        leati_resize_prepare(&plan, (int32_t)in->height, (int32_t)in->width, (int32_t)height,
                             (int32_t)width, (int32_t)in->channels, method, args->antialias, err);
    size_t from_step = (size_t)(height * width * in->channels);
    size_t step = (size_t)(in->height * in->width * in->channels);
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++)
        for (int64_t i = 0; i < in->count; i++)
            leati_resize_spread(&plan,
                                (const float *)(const void *)leati_row_of(gradient, row) +
                                    (size_t)i * from_step,
                                (float *)(void *)leati_row_of(out, row) + (size_t)i * step);
    leati_resize_plan_give(&plan);
    return status;
}

static leat_status resize_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_operand_shape(&call->inputs[1]);
    leati_operand gradient = call->inputs[0], wide;
    leati_frames in;
    LEATI_TRY(leati_frames_of(&shape, &in, err));
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    if (gradient.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &gradient, err));
    wide = call->outputs[0];
    if (wide.dtype == LEAT_FLOAT32)
        return spread(call, call->args, &in, &gradient, &wide, err);
    size_t bytes = (size_t)call->n * (size_t)wide.count * sizeof(float);
    wide.dtype = LEAT_FLOAT32;
    wide.row_stride = wide.count * (int64_t)sizeof(float);
    wide.data = leati_arena_alloc(call->arena, bytes);
    if (wide.data == NULL)
        return leati_no_memory(err, bytes);
    LEATI_TRY(spread(call, call->args, &in, &gradient, &wide, err));
    return leati_inner_cast_into(call, &wide, &call->outputs[0], err);
}

const leati_tensor_op leati_tensor_op_resize_grad = {
    .name = "resize_grad",
    .version = 1,
    .doc = "A gradient spread over the pixels that resize made each value of (for gradients).",
    .rows = leati_resize_rows,
    .args_size = sizeof(struct leati_resize_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = resize_grad_infer,
    .kernel = resize_grad_kernel,
};
