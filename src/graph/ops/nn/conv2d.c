/* conv2d: convolution of pictures [N, H, W, C] with a filter [h, w, C, K] (tf.nn.conv2d).
 *
 * Each output pixel sums, over the window, products of a pixel with a C x K matrix of the filter.
 * A filter of fewer channels than the input has convolves groups of channels apart. Fails where
 * channels do not fit or the window does not. No state, no locks. */
#include "graph/support/linalg/gemm.h"
#include "graph/support/picture/window.h"

#include <string.h>

static leat_status conv2d_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, filter, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the filter", &filter, err));
    LEATI_TRY(leati_window_conv_plan_init(&plan, call->args, &input, &filter, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* One output pixel at `out`; `picture` is the first pixel of its picture. */
static void conv_pixel(const leati_conv_plan *plan, leat_dtype dtype, const char *picture,
                       const char *filter, int64_t y, int64_t x, char *out) {
    size_t size = leat_dtype_size(dtype);
    int64_t ky0, ky1, kx0, kx1, c = plan->channels, k = plan->filters;
    int64_t own = c / plan->groups, made = k / plan->groups;
    leati_window_range(&plan->y, y, &ky0, &ky1);
    leati_window_range(&plan->x, x, &kx0, &kx1);
    memset(out, 0, (size_t)k * size);
    for (int64_t ky = ky0; ky < ky1; ky++) {
        int64_t iy = y * plan->y.stride - plan->y.before + ky * plan->y.dilation;
        for (int64_t kx = kx0; kx < kx1; kx++) {
            int64_t ix = x * plan->x.stride - plan->x.before + kx * plan->x.dilation;
            const char *pixel = picture + (size_t)((iy * plan->x.in + ix) * c) * size;
            const char *tap = filter + (size_t)((ky * plan->x.kernel + kx) * own * k) * size;
            for (int64_t g = 0; g < plan->groups; g++)
                leati_gemm_add_products(dtype, made, own, pixel + (size_t)(g * own) * size, 1,
                                        tap + (size_t)(g * made) * size, k,
                                        out + (size_t)(g * made) * size);
        }
    }
}

static leat_status conv2d_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *input = &call->inputs[0], *filter = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(input), by = leati_support_operand_shape(filter),
               shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_conv_plan_init(&plan, call->args, &from, &by, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(input->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in * plan.channels) * size;
    for (int64_t row = 0; row < call->n; row++) {
        char *out = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < plan.batch; i++)
            for (int64_t y = 0; y < plan.y.out; y++)
                for (int64_t x = 0; x < plan.x.out; x++, out += (size_t)plan.filters * size)
                    conv_pixel(&plan, input->dtype,
                               leati_support_row_of(input, row) + (size_t)i * picture,
                               leati_support_row_of(filter, row), y, x, out);
    }
    return LEAT_OK;
}

static leat_status conv2d_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], input = call->inputs[0], filter = call->inputs[1];
    call->input_gradients[0] =
        leati_graph_build3(&leati_tensor_op_conv2d_backprop_input, call->args, input, filter, g);
    call->input_gradients[1] =
        leati_graph_build3(&leati_tensor_op_conv2d_backprop_filter, call->args, input, filter, g);
    return LEAT_OK;
}

leat_value leat_op_conv2d(leat_value input, leat_value filter,
                          const leat_op_conv2d_options *options) {
    return leati_window_conv_build(&leati_tensor_op_conv2d, options, (leat_value[]){input, filter},
                                   2);
}

const leati_tensor_op leati_tensor_op_conv2d = {
    .name = "conv2d",
    .version = 1,
    .doc = "Convolution of pictures NHWC with a filter HWIO (tf.nn.conv2d).",
    .names = "nn.conv2d",
    .inputs = "input filters",
    .signature = "input filters strides padding data_format=\"NHWC\" dilations",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .large = true,
    .rows = leati_conv_rows,
    .args_size = sizeof(struct leati_conv_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = conv2d_infer,
    .kernel = conv2d_kernel,
    .gradient = conv2d_gradient,
    .trait = LEATI_TRAIT_CONVOLUTION,
};
