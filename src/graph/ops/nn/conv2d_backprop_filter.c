/* conv2d_backprop_filter: the gradient of conv2d by its filter (tf.raw_ops.Conv2DBackpropFilter).
 * Inputs: the convolution's input, its filter, of which only the shape counts, the gradient.
 *
 * Each output pixel adds the outer product of its gradient with every pixel that it read. Fails
 * where shapes do not fit. No state, no locks. */
#include "graph/support/linalg/gemm.h"
#include "graph/support/picture/window.h"

#include <string.h>

static leat_status conv2d_backprop_filter_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, filter, gradient, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the filter", &filter, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_conv_plan_init(&plan, call->args, &input, &filter, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &filter, NULL, err);
}

/* Adds to the filter's gradient what one output pixel's gradient `g` says. */
static void add_pixel(const leati_conv_plan *plan, leat_dtype dtype, const char *g,
                      const char *picture, int64_t y, int64_t x, char *filter) {
    size_t size = leat_dtype_size(dtype);
    int64_t ky0, ky1, kx0, kx1, c = plan->channels, k = plan->filters;
    int64_t own = c / plan->groups, made = k / plan->groups;
    leati_window_range(&plan->y, y, &ky0, &ky1);
    leati_window_range(&plan->x, x, &kx0, &kx1);
    for (int64_t ky = ky0; ky < ky1; ky++) {
        int64_t iy = y * plan->y.stride - plan->y.before + ky * plan->y.dilation;
        for (int64_t kx = kx0; kx < kx1; kx++) {
            int64_t ix = x * plan->x.stride - plan->x.before + kx * plan->x.dilation;
            const char *pixel = picture + (size_t)((iy * plan->x.in + ix) * c) * size;
            char *tap = filter + (size_t)((ky * plan->x.kernel + kx) * own * k) * size;
            if (plan->groups == 1)
                leati_gemm_add_outer(dtype, c, k, pixel, g, tap);
            for (int64_t i = 0; i < c && plan->groups > 1; i++) {
                size_t first = (size_t)(i / own * made); /* of the group's filters */
                leati_gemm_add_outer(dtype, 1, made, pixel + (size_t)i * size, g + first * size,
                                     tap + ((size_t)(i % own * k) + first) * size);
            }
        }
    }
}

static leat_status conv2d_backprop_filter_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *input = &call->inputs[0], *gradient = &call->inputs[2];
    leat_shape from = leati_support_operand_shape(input),
               by = leati_support_operand_shape(&call->inputs[1]);
    leat_shape found = leati_support_operand_shape(gradient), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_conv_plan_init(&plan, call->args, &from, &by, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &by, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(input->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in * plan.channels) * size;
    for (int64_t row = 0; row < call->n; row++) {
        const char *from_picture = leati_support_row_of(input, row),
                   *g = leati_support_row_of(gradient, row);
        memset(leati_support_row_of(out, row), 0, (size_t)out->count * size);
        for (int64_t i = 0; i < plan.batch; i++, from_picture += picture)
            for (int64_t y = 0; y < plan.y.out; y++)
                for (int64_t x = 0; x < plan.x.out; x++, g += (size_t)plan.filters * size)
                    add_pixel(&plan, input->dtype, g, from_picture, y, x,
                              leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

static leat_status conv2d_backprop_filter_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value h = call->output_gradients[0];
    call->input_gradients[0] = leati_graph_build3(&leati_tensor_op_conv2d_backprop_input,
                                                  call->args, call->inputs[0], h, call->inputs[2]);
    call->input_gradients[2] =
        leati_graph_build2(&leati_tensor_op_conv2d, call->args, call->inputs[0], h);
    return LEAT_OK;
}

leat_value leat_op_conv2d_backprop_filter(leat_value input, leat_value filter, leat_value gradient,
                                          const leat_op_conv2d_options *options) {
    return leati_window_conv_build(&leati_tensor_op_conv2d_backprop_filter, options,
                                   (leat_value[]){input, filter, gradient}, 3);
}

const leati_tensor_op leati_tensor_op_conv2d_backprop_filter = {
    .name = "conv2d_backprop_filter",
    .version = 1,
    .doc = "The gradient of conv2d by its filter (tf.raw_ops.Conv2DBackpropFilter).",
    .types = "T T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_conv_rows,
    .args_size = sizeof(struct leati_conv_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = conv2d_backprop_filter_infer,
    .kernel = conv2d_backprop_filter_kernel,
    .gradient = conv2d_backprop_filter_gradient,
    .trait = LEATI_TRAIT_CONVOLUTION,
};
