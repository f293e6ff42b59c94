/* max_pool2d, avg_pool2d: the maximum, or the mean, of each window of pictures [N, H, W, C]
 * (tf.nn.max_pool2d and avg_pool2d). max_pool2d_grad, avg_pool2d_grad: their gradients
 * (tf.raw_ops.MaxPoolGrad and AvgPoolGrad); inputs are the pooling's input, of max_pool2d its
 * output, the gradient. max_pool2d_grad_grad: the values of a tensor, of the input's shape, where
 * max_pool2d found its maxima (tf.raw_ops.MaxPoolGradGrad), which is what flows back through
 * max_pool2d_grad.
 *
 * Padding counts as minus infinity, and not at all in means. The whole gradient of a window goes to
 * its first largest value in row-major order; in means its pixels share it. Fails where windows or
 * shapes do not fit. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/picture/window.h"
#include <string.h>

static const leati_row pool_rows[] = {
    {.name = "ksize",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_pool_args, ksize),
     .doc = "Height and width of the window."},
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct leati_pool_args, strides),
     .doc = "Steps of the window along height and width; empty: its size."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_pool_args, padding),
     .default_text = "VALID",
     .doc = "VALID or SAME."},
    {0},
};

static leat_status pool2d_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, shape;
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

typedef void raise_function(void *restrict out, const void *in, int64_t n);

/* Each value of `out` becomes that of `in` where this is larger. */
#define RAISE_TYPE(NAME, TYPE)                                                                     \
    static void raise_##NAME(void *restrict out, const void *in, int64_t n) {                      \
        TYPE *to = out;                                                                            \
        const TYPE *from = in;                                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = LEATI_MAX(from[i], to[i]);                                                     \
    }
RAISE_TYPE(float32, float)
RAISE_TYPE(float64, double)
RAISE_TYPE(int8, int8_t)
RAISE_TYPE(int16, int16_t)
RAISE_TYPE(int32, int32_t)
RAISE_TYPE(int64, int64_t)
RAISE_TYPE(uint8, uint8_t)
RAISE_TYPE(uint16, uint16_t)

/* TensorFlow has no maxima of other integers. */
static raise_function *const raisers[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = raise_float32, [LEAT_FLOAT64] = raise_float64, [LEAT_INT8] = raise_int8,
    [LEAT_INT16] = raise_int16,     [LEAT_INT32] = raise_int32,     [LEAT_INT64] = raise_int64,
    [LEAT_UINT8] = raise_uint8,     [LEAT_UINT16] = raise_uint16,
};

static leat_status max_pool2d_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (raisers[dtype] == NULL)
        return leati_refuse(err, DTYPE,
                            "the input is %s; expected floats, or integers that are none of "
                            "uint32 and uint64",
                            leat_dtype_name(dtype));
    return pool2d_infer(call, err);
}

static leat_status avg_pool2d_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    return pool2d_infer(call, err);
}

/* The maxima of one window's pixels, channel by channel. */
static void pool_pixel(const leati_conv_plan *plan, leat_dtype dtype, const char *picture,
                       int64_t y, int64_t x, char *out) {
    size_t size = leat_dtype_size(dtype), pixel = (size_t)plan->channels * size;
    int64_t ky0, ky1, kx0, kx1;
    /* The first pixel is copied: no start value is needed, such as minus infinity. */
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
            else
                raisers[dtype](out, in, plan->channels);
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
    int64_t done = 0, line = plan.x.out * plan.channels * plan.y.kernel * plan.x.kernel;
    /* Without values there is no memory, and no pixel to step by. */
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        char *out = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < plan.batch; i++)
            for (int64_t y = 0; y < plan.y.out && !leati_stop_look_after(line, &done); y++)
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
/* The mean is over the pixels that exist: those of the padding count neither above nor below. */
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
    int64_t pixels = plan.y.out * plan.x.out, done = 0;
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        char *out = leati_support_row_of(&call->outputs[0], row);
        const char *in = leati_support_row_of(input, row);
        for (int64_t k = 0; k < plan.batch * pixels && !leati_window_stops(&plan, &done);
             k++, out += pixel) {
            const char *from_picture = in + (size_t)(k / pixels) * picture;
            /* pixels is a multiple of x.out, so x needs no k % pixels. */
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

static leat_status max_pool2d_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, output, gradient, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the output", &output, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    /* TensorFlow's operation has the pooling's output; the kernel looks into the input alone. */
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
/* `>` lets the first of equal values win, and a window's first pixel if it is NaN. */
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

/* The kernel of max_pool2d_grad; `fetch`: of its gradient, where input 2 has the picture's shape
 * and the output that of the pooling. */
static leat_status route(leati_kernel_call *call, bool fetch, leat_error *err) {
    const leati_operand *input = &call->inputs[0], *given = &call->inputs[2];
    leat_shape from = leati_support_operand_shape(input),
               found = leati_support_operand_shape(given), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, fetch ? &from : &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, fetch ? &shape : &from, err));
    size_t pixel = (size_t)plan.channels * leat_dtype_size(input->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in) * pixel;
    int64_t windows = plan.y.out * plan.x.out, done = 0;
    for (int64_t row = 0; row < call->n && given->count > 0; row++) {
        const char *in = leati_support_row_of(input, row), *g = leati_support_row_of(given, row);
        char *out = leati_support_row_of(&call->outputs[0], row);
        /* A fetch writes each value once; gradients add up where windows share a pixel. */
        if (!fetch)
            memset(out, 0, picture * (size_t)plan.batch);
        for (int64_t i = 0; i < plan.batch * windows && !leati_window_stops(&plan, &done); i++) {
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
    return route(call, false, err);
}

static leat_status max_pool2d_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Where the maxima lie does not change with small steps: input and output get nothing. */
    call->input_gradients[2] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad_grad, call->args, call->inputs[0],
                           call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status max_pool2d_grad_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, output, given, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the output", &output, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &given, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&output, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&given, &input, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status max_pool2d_grad_grad_kernel(leati_kernel_call *call, leat_error *err) {
    return route(call, true, err);
}

static leat_status max_pool2d_grad_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[2] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad, call->args, call->inputs[0],
                           call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

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
    /* Input 0 is asked for its shape alone: a mean's gradient does not depend on the values. */
    const leati_operand *gradient = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(&call->inputs[0]);
    leat_shape found = leati_support_operand_shape(gradient), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &from, err));
    size_t pixel = (size_t)plan.channels * leat_dtype_size(gradient->dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in) * pixel;
    int64_t pixels = plan.y.out * plan.x.out, done = 0;
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        const char *g = leati_support_row_of(gradient, row);
        char *out = leati_support_row_of(&call->outputs[0], row);
        memset(out, 0, picture * (size_t)plan.batch);
        for (int64_t k = 0; k < plan.batch * pixels && !leati_window_stops(&plan, &done);
             k++, g += pixel) {
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
    /* Spreading a gradient is linear, and its transpose is the pooling itself. */
    call->input_gradients[1] =
        leati_graph_build1(&leati_tensor_op_avg_pool2d, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

/* The descriptor of one operation. */
#define POOL_OP(NAME, DOC, ...)                                                                    \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.nn." #NAME ").",                                                          \
        .names = "nn." #NAME,                                                                      \
        .inputs = "input",                                                                         \
        .signature = "input ksize strides padding data_format=\"NHWC\"",                           \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_FLOAT,                                                              \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = pool_rows,                                                                         \
        .args_size = sizeof(struct leati_pool_args),                                               \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
POOL_OP(max_pool2d, "The maximum of each window of pictures NHWC", .infer = max_pool2d_infer)
POOL_OP(avg_pool2d, "The mean of each window of pictures NHWC", .infer = avg_pool2d_infer)

/* The descriptor of a gradient. */
#define POOL_GRAD_OP(NAME, DOC, ...)                                                               \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_FLOAT,                                                              \
        .rows = pool_rows,                                                                         \
        .args_size = sizeof(struct leati_pool_args),                                               \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
POOL_GRAD_OP(
    max_pool2d_grad,
    "The gradient of max_pool2d, to a window's first largest value (tf.raw_ops.MaxPoolGrad).",
    .inputs = "input output gradient", .types = "T T T", .min_inputs = 3, .max_inputs = 3)
POOL_GRAD_OP(max_pool2d_grad_grad,
             "The values where max_pool2d found its maxima (tf.raw_ops.MaxPoolGradGrad).",
             .types = "T T T", .min_inputs = 3, .max_inputs = 3)
POOL_GRAD_OP(avg_pool2d_grad, "The gradient of avg_pool2d (tf.raw_ops.AvgPoolGrad).",
             .types = "T T", .min_inputs = 2, .max_inputs = 2)
