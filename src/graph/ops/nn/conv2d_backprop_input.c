/* conv2d_backprop_input: the gradient of conv2d by its input (tf.raw_ops.Conv2DBackpropInput).
 * Inputs: the convolution's input, of which only the shape counts, its filter, the gradient.
 *
 * The filter's matrices are transposed into the arena, then each output pixel adds to the pixels
 * that it read. Fails where shapes do not fit. No state, no locks. */
#include "graph/support/linalg/gemm.h"
#include "graph/support/picture/window.h"

#include <string.h>

static leat_status conv2d_backprop_input_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, filter, gradient, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the filter", &filter, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_conv_plan_init(&plan, call->args, &input, &filter, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &input, NULL, err);
}

/* Adds what one output pixel's gradient `g` sends to the pixels of `picture`; `turned` is the
 * filter as matrices K x C, or of as many columns as a group has channels. */
static void send_pixel(const leati_conv_plan *plan, leat_dtype dtype, const char *g,
                       const char *turned, int64_t y, int64_t x, char *picture) {
    size_t size = leat_dtype_size(dtype);
    int64_t ky0, ky1, kx0, kx1, c = plan->channels, k = plan->filters;
    int64_t own = c / plan->groups, made = k / plan->groups;
    leati_window_range(&plan->y, y, &ky0, &ky1);
    leati_window_range(&plan->x, x, &kx0, &kx1);
    for (int64_t ky = ky0; ky < ky1; ky++) {
        int64_t iy = y * plan->y.stride - plan->y.before + ky * plan->y.dilation;
        for (int64_t kx = kx0; kx < kx1; kx++) {
            int64_t ix = x * plan->x.stride - plan->x.before + kx * plan->x.dilation;
            char *pixel = picture + (size_t)((iy * plan->x.in + ix) * c) * size;
            const char *tap = turned + (size_t)((ky * plan->x.kernel + kx) * own * k) * size;
            for (int64_t i = 0; i < plan->groups; i++)
                leati_gemm_add_products(dtype, own, made, g + (size_t)(i * made) * size, 1,
                                        tap + (size_t)(i * made * own) * size, own,
                                        pixel + (size_t)(i * own) * size);
        }
    }
}

static leat_status conv2d_backprop_input_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *filter = &call->inputs[1], *gradient = &call->inputs[2];
    leat_shape from = leati_support_operand_shape(&call->inputs[0]),
               by = leati_support_operand_shape(filter);
    leat_shape found = leati_support_operand_shape(gradient), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_conv_plan_init(&plan, call->args, &from, &by, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &from, err));
    size_t size = leat_dtype_size(filter->dtype), bytes = (size_t)filter->count * size;
    int64_t own = plan.channels / plan.groups;
    size_t matrix = (size_t)(own * plan.filters) * size;
    size_t picture = (size_t)(plan.y.in * plan.x.in * plan.channels) * size;
    char *turned = leati_arena_alloc(call->arena, bytes);
    if (turned == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < plan.y.kernel * plan.x.kernel; i++)
            leati_gemm_transpose(filter->dtype, own, plan.filters,
                                 leati_support_row_of(filter, row) + (size_t)i * matrix,
                                 turned + (size_t)i * matrix);
        char *out = leati_support_row_of(&call->outputs[0], row);
        const char *g = leati_support_row_of(gradient, row);
        memset(out, 0, picture * (size_t)plan.batch);
        for (int64_t i = 0; i < plan.batch; i++, out += picture)
            for (int64_t y = 0; y < plan.y.out; y++)
                for (int64_t x = 0; x < plan.x.out; x++, g += (size_t)plan.filters * size)
                    send_pixel(&plan, filter->dtype, g, turned, y, x, out);
    }
    return LEAT_OK;
}

/* Of a linear function of filter and gradient: a convolution back, and a filter's gradient. */
static leat_status conv2d_backprop_input_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value h = call->output_gradients[0];
    call->input_gradients[1] = leati_graph_build3(&leati_tensor_op_conv2d_backprop_filter,
                                                  call->args, h, call->inputs[1], call->inputs[2]);
    call->input_gradients[2] =
        leati_graph_build2(&leati_tensor_op_conv2d, call->args, h, call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_op_conv2d_backprop_input(leat_value input, leat_value filter, leat_value gradient,
                                         const leat_op_conv2d_options *options) {
    return leati_window_conv_build(&leati_tensor_op_conv2d_backprop_input, options,
                                   (leat_value[]){input, filter, gradient}, 3);
}

const leati_tensor_op leati_tensor_op_conv2d_backprop_input = {
    .name = "conv2d_backprop_input",
    .version = 1,
    .doc = "The gradient of conv2d by its input (tf.raw_ops.Conv2DBackpropInput).",
    .types = "T T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_conv_rows,
    .args_size = sizeof(struct leati_conv_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = conv2d_backprop_input_infer,
    .kernel = conv2d_backprop_input_kernel,
    .gradient = conv2d_backprop_input_gradient,
    .trait = LEATI_TRAIT_CONVOLUTION,
};
