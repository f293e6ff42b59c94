/* max_pool2d: the maximum of each window of pictures [N, H, W, C] (tf.nn.max_pool2d).
 *
 * Padding counts as minus infinity. Fails where the window does not fit. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/picture/window.h"

#include <string.h>

static leat_status max_pool2d_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

#define RAISE_TYPE(TYPE)                                                                           \
    static void raise_##TYPE(TYPE *restrict out, const TYPE *in, int64_t n) {                      \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = LEATI_MAX(in[i], out[i]);                                                     \
    }
RAISE_TYPE(float)
RAISE_TYPE(double)

/* The maxima of one window's pixels, channel by channel. */
static void pool_pixel(const leati_conv_plan *plan, leat_dtype dtype, const char *picture,
                       int64_t y, int64_t x, char *out) {
    size_t size = leat_dtype_size(dtype), pixel = (size_t)plan->channels * size;
    int64_t ky0, ky1, kx0, kx1;
    bool first = true;
    leati_window_range(&plan->y, y, &ky0, &ky1);
    leati_window_range(&plan->x, x, &kx0, &kx1);
    for (int64_t ky = ky0; ky < ky1; ky++) {
        int64_t iy = y * plan->y.stride - plan->y.before + ky;
        for (int64_t kx = kx0; kx < kx1; kx++, first = false) {
            int64_t ix = x * plan->x.stride - plan->x.before + kx;
            const char *in = picture + (size_t)(iy * plan->x.in + ix) * pixel;
            if (first)
                memcpy(out, in, pixel);
            else if (dtype == LEAT_FLOAT32)
                raise_float((float *)out, (const float *)in, plan->channels);
            else
                raise_double((double *)out, (const double *)in, plan->channels);
        }
    }
}

static leat_status max_pool2d_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *input = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(input), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t pixel = (size_t)plan.channels * leat_dtype_size(input->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in) * pixel;
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        char *out = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < plan.batch; i++)
            for (int64_t y = 0; y < plan.y.out; y++)
                for (int64_t x = 0; x < plan.x.out; x++, out += pixel)
                    pool_pixel(&plan, input->dtype,
                               leati_support_row_of(input, row) + (size_t)i * picture, y, x, out);
    }
    return LEAT_OK;
}

static leat_status max_pool2d_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad, call->args, call->inputs[0],
                           call->outputs[0], call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_max_pool2d(leat_value input, const leat_op_pool2d_options *options) {
    return leati_window_pool_build(&leati_tensor_op_max_pool2d, options, &input, 1);
}

const leati_tensor_op leati_tensor_op_max_pool2d = {
    .name = "max_pool2d",
    .version = 1,
    .doc = "The maximum of each window of pictures NHWC (tf.nn.max_pool2d).",
    .names = "nn.max_pool2d",
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
    .infer = max_pool2d_infer,
    .kernel = max_pool2d_kernel,
    .gradient = max_pool2d_gradient,
};
