/* avg_pool2d: the mean of each window of pictures [N, H, W, C] (tf.nn.avg_pool2d).
 *
 * Padding does not count. Fails where the window does not fit. No state, no locks. */
#include "graph/support/picture/window.h"

#include <string.h>

static leat_status avg_pool2d_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

#define MEAN_TYPE(TYPE)                                                                            \
    static void mean_##TYPE(const leati_conv_plan *plan, const TYPE *picture, int64_t y,           \
                            int64_t x, TYPE *out) {                                                \
        int64_t ky0, ky1, kx0, kx1, n = plan->channels;                                            \
        leati_window_range(&plan->y, y, &ky0, &ky1);                                               \
        leati_window_range(&plan->x, x, &kx0, &kx1);                                               \
        memset(out, 0, (size_t)n * sizeof *out);                                                   \
        for (int64_t ky = ky0; ky < ky1; ky++)                                                     \
            for (int64_t kx = kx0; kx < kx1; kx++) {                                               \
                int64_t iy = y * plan->y.stride - plan->y.before + ky;                             \
                int64_t ix = x * plan->x.stride - plan->x.before + kx;                             \
                const TYPE *pixel = picture + (iy * plan->x.in + ix) * n;                          \
                for (int64_t c = 0; c < n; c++)                                                    \
                    out[c] += pixel[c];                                                            \
            }                                                                                      \
        TYPE count = (TYPE)((ky1 - ky0) * (kx1 - kx0));                                            \
        for (int64_t c = 0; c < n; c++)                                                            \
            out[c] /= count;                                                                       \
    }
MEAN_TYPE(float)
MEAN_TYPE(double)

static leat_status avg_pool2d_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *input = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(input), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t pixel = (size_t)plan.channels * leat_dtype_size(input->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in) * pixel;
    int64_t pixels = plan.y.out * plan.x.out;
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        char *out = leati_support_row_of(&call->outputs[0], row);
        const char *in = leati_support_row_of(input, row);
        for (int64_t k = 0; k < plan.batch * pixels; k++, out += pixel) {
            const char *from_picture = in + (size_t)(k / pixels) * picture;
            int64_t y = k % pixels / plan.x.out, x = k % plan.x.out;
            if (input->dtype == LEAT_FLOAT32)
                mean_float(&plan, (const float *)(const void *)from_picture, y, x,
                           (float *)(void *)out);
            else
                mean_double(&plan, (const double *)(const void *)from_picture, y, x,
                            (double *)(void *)out);
        }
    }
    return LEAT_OK;
}

static leat_status avg_pool2d_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_avg_pool2d_grad, call->args,
                                                  call->inputs[0], call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_avg_pool2d(leat_value input, const leat_op_pool2d_options *options) {
    return leati_window_pool_build(&leati_tensor_op_avg_pool2d, options, &input, 1);
}

const leati_tensor_op leati_tensor_op_avg_pool2d = {
    .name = "avg_pool2d",
    .version = 1,
    .doc = "The mean of each window of pictures NHWC (tf.nn.avg_pool2d).",
    .names = "nn.avg_pool2d",
    .inputs = "input",
    .signature = "input ksize strides padding data_format=\"NHWC\"",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_pool_rows,
    .args_size = sizeof(struct leati_pool_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = avg_pool2d_infer,
    .kernel = avg_pool2d_kernel,
    .gradient = avg_pool2d_gradient,
};
