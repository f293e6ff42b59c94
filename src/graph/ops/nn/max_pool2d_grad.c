/* max_pool2d_grad: the gradient of max_pool2d (tf.raw_ops.MaxPoolGrad). Inputs: the pooling's
 * input, its output, the gradient.
 *
 * The whole gradient of a window goes to its first largest value in row-major order. Fails where
 * shapes do not fit. Its own gradient is max_pool2d_grad_grad. No state,
 * no locks. */
#include "graph/support/picture/window.h"

#include <string.h>

static leat_status max_pool2d_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, output, gradient, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the output", &output, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&output, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &input, NULL, err);
}

/* The window of one output pixel: values [y0, y1) x [x0, x1) of the picture. */
typedef struct span {
    int64_t y0, y1, x0, x1;
} span;

/* Sends a window's gradient to its largest value, or fetches what is there. */
#define ROUTE_TYPE(TYPE)                                                                           \
    static void route_##TYPE(const leati_conv_plan *plan, const span *s, const TYPE *picture,      \
                             const TYPE *from, TYPE *to, bool fetch) {                             \
        for (int64_t c = 0; c < plan->channels; c++) {                                             \
            int64_t best = (s->y0 * plan->x.in + s->x0) * plan->channels + c;                      \
            for (int64_t y = s->y0; y < s->y1; y++)                                                \
                for (int64_t x = s->x0; x < s->x1; x++) {                                          \
                    int64_t at = (y * plan->x.in + x) * plan->channels + c;                        \
                    best = picture[at] > picture[best] ? at : best;                                \
                }                                                                                  \
            if (fetch)                                                                             \
                to[c] = from[best];                                                                \
            else                                                                                   \
                to[best] += from[c];                                                               \
        }                                                                                          \
    }
ROUTE_TYPE(float)
ROUTE_TYPE(double)

static span span_of(const leati_conv_plan *plan, int64_t y, int64_t x) {
    span s;
    int64_t ky0, ky1, kx0, kx1;
    leati_window_range(&plan->y, y, &ky0, &ky1);
    leati_window_range(&plan->x, x, &kx0, &kx1);
    s.y0 = y * plan->y.stride - plan->y.before + ky0;
    s.y1 = s.y0 + ky1 - ky0;
    s.x0 = x * plan->x.stride - plan->x.before + kx0;
    s.x1 = s.x0 + kx1 - kx0;
    return s;
}

leat_status leati_window_max_pool_route(leati_kernel_call *call, bool fetch, leat_error *err) {
    const leati_operand *input = &call->inputs[0], *given = &call->inputs[2];
    leat_shape from = leati_support_operand_shape(input),
               found = leati_support_operand_shape(given), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, fetch ? &from : &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, fetch ? &shape : &from, err));
    size_t pixel = (size_t)plan.channels * leat_dtype_size(input->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in) * pixel;
    int64_t windows = plan.y.out * plan.x.out;
    for (int64_t row = 0; row < call->n && given->count > 0; row++) {
        const char *in = leati_support_row_of(input, row), *g = leati_support_row_of(given, row);
        char *out = leati_support_row_of(&call->outputs[0], row);
        if (!fetch)
            memset(out, 0, picture * (size_t)plan.batch);
        for (int64_t i = 0; i < plan.batch * windows; i++) {
            span s = span_of(&plan, i % windows / plan.x.out, i % windows % plan.x.out);
            size_t whole = (size_t)(i / windows) * picture, part = (size_t)i * pixel;
            const char *taken = g + (fetch ? whole : part);
            char *to = out + (fetch ? part : whole);
            if (input->dtype == LEAT_FLOAT32)
                route_float(&plan, &s, (const float *)(const void *)(in + whole),
                            (const float *)(const void *)taken, (float *)(void *)to, fetch);
            else
                route_double(&plan, &s, (const double *)(const void *)(in + whole),
                             (const double *)(const void *)taken, (double *)(void *)to, fetch);
        }
    }
    return LEAT_OK;
}

static leat_status max_pool2d_grad_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_window_max_pool_route(call, false, err);
}

static leat_status max_pool2d_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[2] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad_grad, call->args, call->inputs[0],
                           call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_max_pool2d_grad(leat_value input, leat_value output, leat_value gradient,
                                   const leat_op_pool2d_options *options) {
    return leati_window_pool_build(&leati_tensor_op_max_pool2d_grad, options,
                                   (leat_value[]){input, output, gradient}, 3);
}

const leati_tensor_op leati_tensor_op_max_pool2d_grad = {
    .name = "max_pool2d_grad",
    .version = 1,
    .doc = "The gradient of max_pool2d, to a window's first largest value "
           "(tf.raw_ops.MaxPoolGrad).",
    .types = "T T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_pool_rows,
    .args_size = sizeof(struct leati_pool_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = max_pool2d_grad_infer,
    .kernel = max_pool2d_grad_kernel,
    .gradient = max_pool2d_grad_gradient,
};
