/* avg_pool2d_grad: the gradient of avg_pool2d (tf.raw_ops.AvgPoolGrad). Inputs: the pooling's
 * input, of which only the shape counts, and the gradient.
 *
 * The pixels of a window share its gradient. Fails where shapes do not fit. No state, no locks. */
#include "graph/support/picture/window.h"

#include <string.h>

static leat_status avg_pool2d_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, gradient, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &input, NULL, err);
}

#define SHARE_TYPE(TYPE)                                                                           \
    static void share_##TYPE(const leati_conv_plan *plan, const TYPE *g, int64_t y, int64_t x,     \
                             TYPE *picture) {                                                      \
        int64_t ky0, ky1, kx0, kx1, n = plan->channels;                                            \
        leati_window_range(&plan->y, y, &ky0, &ky1);                                               \
        leati_window_range(&plan->x, x, &kx0, &kx1);                                               \
        TYPE count = (TYPE)((ky1 - ky0) * (kx1 - kx0));                                            \
        for (int64_t ky = ky0; ky < ky1; ky++)                                                     \
            for (int64_t kx = kx0; kx < kx1; kx++) {                                               \
                int64_t iy = y * plan->y.stride - plan->y.before + ky;                             \
                int64_t ix = x * plan->x.stride - plan->x.before + kx;                             \
                TYPE *pixel = picture + (iy * plan->x.in + ix) * n;                                \
                for (int64_t c = 0; c < n; c++)                                                    \
                    pixel[c] += g[c] / count;                                                      \
            }                                                                                      \
    }
SHARE_TYPE(float)
SHARE_TYPE(double)

static leat_status avg_pool2d_grad_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *gradient = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(&call->inputs[0]);
    leat_shape found = leati_support_operand_shape(gradient), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &from, err));
    size_t pixel = (size_t)plan.channels * leat_dtype_size(gradient->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in) * pixel;
    int64_t pixels = plan.y.out * plan.x.out;
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        const char *g = leati_support_row_of(gradient, row);
        char *out = leati_support_row_of(&call->outputs[0], row);
        memset(out, 0, picture * (size_t)plan.batch);
        for (int64_t k = 0; k < plan.batch * pixels; k++, g += pixel) {
            char *to = out + (size_t)(k / pixels) * picture;
            int64_t y = k % pixels / plan.x.out, x = k % plan.x.out;
            if (gradient->dtype == LEAT_FLOAT32)
                share_float(&plan, (const float *)(const void *)g, y, x, (float *)(void *)to);
            else
                share_double(&plan, (const double *)(const void *)g, y, x, (double *)(void *)to);
        }
    }
    return LEAT_OK;
}

static leat_status avg_pool2d_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[1] =
        leati_graph_build1(&leati_tensor_op_avg_pool2d, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_avg_pool2d_grad = {
    .name = "avg_pool2d_grad",
    .version = 1,
    .doc = "The gradient of avg_pool2d (tf.raw_ops.AvgPoolGrad).",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_pool_rows,
    .args_size = sizeof(struct leati_pool_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = avg_pool2d_grad_infer,
    .kernel = avg_pool2d_grad_kernel,
    .gradient = avg_pool2d_grad_gradient,
};
