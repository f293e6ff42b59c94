/* conv2d: convolution of pictures [N, H, W, C] with a filter [h, w, C, K] (tf.nn.conv2d).
 * conv2d_backprop_input, conv2d_backprop_filter: its gradients by the input and by the filter
 * (tf.raw_ops.Conv2DBackpropInput and Conv2DBackpropFilter); inputs are the convolution's input,
 * its filter, of which that one's shape alone counts whose gradient it is, and the gradient.
 *
 * Each output pixel sums, over the window, products of a pixel with a C x K matrix of the filter. A
 * filter of fewer channels than the input has convolves groups of channels apart. Back to the
 * input, the filter's matrices are transposed into the arena, then each output pixel adds to the
 * pixels that it read; for the filter it adds the outer product of its gradient with every such
 * pixel. Fails where channels, windows or shapes do not fit. No state, no locks. */
#include "graph/support/linalg/gemm.h"
#include "graph/support/picture/window.h"
#include <string.h>

static const leati_row conv_rows[] = {
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct leati_conv_args, strides),
     .doc = "Steps of the window along height and width; empty: 1."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_conv_args, padding),
     .default_text = "VALID",
     .doc = "VALID or SAME."},
    {.name = "dilations",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct leati_conv_args, dilations),
     .doc = "Steps inside the window along height and width; empty: 1."},
    {0},
};

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
    /* own: channels that a group reads; made: filters that it has. */
    int64_t own = c / plan->groups, made = k / plan->groups;
    /* Only the taps [k0, k1) that meet a pixel: padding is never read. */
    leati_window_range(&plan->y, y, &ky0, &ky1);
    leati_window_range(&plan->x, x, &kx0, &kx1);
    /* The sum begins at 0; taps on padding would add nothing to it, and are left out. */
    memset(out, 0, (size_t)k * size);
    for (int64_t ky = ky0; ky < ky1; ky++) {
        int64_t iy = y * plan->y.stride - plan->y.before + ky * plan->y.dilation;
        for (int64_t kx = kx0; kx < kx1; kx++) {
            int64_t ix = x * plan->x.stride - plan->x.before + kx * plan->x.dilation;
            const char *pixel = picture + (size_t)((iy * plan->x.in + ix) * c) * size;
            const char *tap = filter + (size_t)((ky * plan->x.kernel + kx) * own * k) * size;
            for (int64_t g = 0; g < plan->groups; g++)
                /* The filter's row has the filters of all groups side by side: k apart, of which
                 * made are used. */
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
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        char *out = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < plan.batch; i++)
            for (int64_t y = 0; y < plan.y.out; y++)
                for (int64_t x = 0; x < plan.x.out && !leati_window_stops(&plan, &done);
                     x++, out += (size_t)plan.filters * size)
                    conv_pixel(&plan, input->dtype,
                               leati_support_row_of(input, row) + (size_t)i * picture,
                               leati_support_row_of(filter, row), y, x, out);
    }
    return LEAT_OK;
}

static leat_status conv2d_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Of the one that a gradient is for, input or filter, the shape alone is read. */
    leat_value g = call->output_gradients[0], input = call->inputs[0], filter = call->inputs[1];
    call->input_gradients[0] =
        leati_graph_build3(&leati_tensor_op_conv2d_backprop_input, call->args, input, filter, g);
    call->input_gradients[1] =
        leati_graph_build3(&leati_tensor_op_conv2d_backprop_filter, call->args, input, filter, g);
    return LEAT_OK;
}

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
                /* Transposed, a tap is k rows of own values: the matrix of a group is dense. */
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
    /* Transposed once for each row, so that the inner loop runs along a pixel's channels. */
    char *turned = leati_arena_alloc(call->arena, bytes);
    if (turned == NULL)
        return leati_no_memory(err);
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < plan.y.kernel * plan.x.kernel; i++)
            leati_gemm_transpose(filter->dtype, own, plan.filters,
                                 leati_support_row_of(filter, row) + (size_t)i * matrix,
                                 turned + (size_t)i * matrix);
        char *out = leati_support_row_of(&call->outputs[0], row);
        const char *g = leati_support_row_of(gradient, row);
        /* Windows overlap and add up; pixels that none reads keep the gradient 0. */
        memset(out, 0, picture * (size_t)plan.batch);
        for (int64_t i = 0; i < plan.batch; i++, out += picture)
            for (int64_t y = 0; y < plan.y.out; y++)
                for (int64_t x = 0; x < plan.x.out && !leati_window_stops(&plan, &done);
                     x++, g += (size_t)plan.filters * size)
                    send_pixel(&plan, filter->dtype, g, turned, y, x, out);
    }
    return LEAT_OK;
}

/* Of a linear function of filter and gradient: a convolution back, and a filter's gradient. */
static leat_status conv2d_backprop_input_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value h = call->output_gradients[0];
    /* h has the input's shape, so it stands in the input's place in both. */
    call->input_gradients[1] = leati_graph_build3(&leati_tensor_op_conv2d_backprop_filter,
                                                  call->args, h, call->inputs[1], call->inputs[2]);
    call->input_gradients[2] =
        leati_graph_build2(&leati_tensor_op_conv2d, call->args, h, call->inputs[1]);
    return LEAT_OK;
}

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
            /* One outer product of all channels; in groups, a channel meets its own filters. */
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
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        const char *from_picture = leati_support_row_of(input, row),
                   *g = leati_support_row_of(gradient, row);
        memset(leati_support_row_of(out, row), 0, (size_t)out->count * size);
        for (int64_t i = 0; i < plan.batch; i++, from_picture += picture)
            for (int64_t y = 0; y < plan.y.out; y++)
                for (int64_t x = 0; x < plan.x.out && !leati_window_stops(&plan, &done);
                     x++, g += (size_t)plan.filters * size)
                    add_pixel(&plan, input->dtype, g, from_picture, y, x,
                              leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

static leat_status conv2d_backprop_filter_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value h = call->output_gradients[0];
    /* h has the filter's shape, so it stands in the filter's place in both. */
    call->input_gradients[0] = leati_graph_build3(&leati_tensor_op_conv2d_backprop_input,
                                                  call->args, call->inputs[0], h, call->inputs[2]);
    call->input_gradients[2] =
        leati_graph_build2(&leati_tensor_op_conv2d, call->args, call->inputs[0], h);
    return LEAT_OK;
}

/* The descriptor of a gradient. */
#define CONV_GRAD_OP(NAME, DOC)                                                                    \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .inputs = "input filter gradient",                                                         \
        .types = "T T T",                                                                          \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_FLOAT,                                                              \
        .large = true,                                                                             \
        .rows = conv_rows,                                                                         \
        .args_size = sizeof(struct leati_conv_args),                                               \
        .min_inputs = 3,                                                                           \
        .max_inputs = 3,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        .trait = LEATI_TRAIT_CONVOLUTION,                                                          \
    };
CONV_GRAD_OP(conv2d_backprop_input,
             "The gradient of conv2d by its input (tf.raw_ops.Conv2DBackpropInput).")
CONV_GRAD_OP(conv2d_backprop_filter,
             "The gradient of conv2d by its filter (tf.raw_ops.Conv2DBackpropFilter).")

const leati_tensor_op leati_tensor_op_conv2d = {
    .name = "conv2d",
    .version = 1,
    .doc = "Convolution of pictures NHWC with a filter HWIO (tf.nn.conv2d).",
    .names = "nn.conv2d",
    .inputs = "input filters",
    .signature = "input filters strides padding data_format=\"NHWC\" dilations",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .large = true,
    .rows = conv_rows,
    .args_size = sizeof(struct leati_conv_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = conv2d_infer,
    .kernel = conv2d_kernel,
    .gradient = conv2d_gradient,
    .trait = LEATI_TRAIT_CONVOLUTION,
};
