/* extract_patches: the windows of pictures [N, H, W, C], each as one line of its pixels row by row:
 * [N, rows, columns, height * width * C] (tf.image.extract_patches); extract_patches_grad: what
 * flows back: each pixel's gradient is the sum over the windows that hold it. Inputs of that: the
 * result's gradient, and the pictures, whose shape counts.
 *
 * With SAME padding what lies outside of a picture is 0. Gradients are computed in float32, of
 * float64 in float64. Fails where sizes, strides and rates are not four numbers of which the first
 * and the last are 1, where no window fits, and where shapes do not fit. No state, no locks. */
#include "base/stop.h"
#include "graph/support/picture/window.h"
#include <string.h>

struct patches_args {
    leati_ints sizes, strides, rates;
    char *padding;
};

static const leati_row patches_rows[] = {
    {.name = "sizes",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct patches_args, sizes),
     .doc = "Height and width of a window in pixels: [1, height, width, 1]."},
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct patches_args, strides),
     .doc = "Pixels from one window to the next: [1, down, right, 1]."},
    {.name = "rates",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct patches_args, rates),
     .doc = "Pixels from one to the next inside a window: [1, down, right, 1]."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct patches_args, padding),
     .doc = "VALID: windows that fit; SAME: as many as strides say, with zeros around."},
    {0},
};

static leat_status check_four(const leati_ints *ints, const char *name, leat_error *err) {
    /* Batch and channels are not windowed: their numbers are 1. */
    if (ints->count == 4 && ints->values[0] == 1 && ints->values[3] == 1 && ints->values[1] > 0 &&
        ints->values[2] > 0)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "%s: expected four numbers [1, rows, columns, 1] of at least 1, found %d",
                        name, (int)ints->count);
}

/* The windows over pictures of that shape (rank 4, dimensions may be unknown), and the shape of the
 * patches [N, rows, columns, height * width * C]. */
static leat_status patches_plan(leati_conv_plan *plan, const struct patches_args *args,
                                const leat_shape *images, leat_shape *out, leat_error *err) {
    const char *padding = args->padding != NULL ? args->padding : "";
    bool same = strcmp(padding, "SAME") == 0;
    LEATI_TRY(check_four(&args->sizes, "sizes", err));
    LEATI_TRY(check_four(&args->strides, "strides", err));
    LEATI_TRY(check_four(&args->rates, "rates", err));
    if (!same && strcmp(padding, "VALID") != 0)
        return leati_refuse(err, VALUE, "padding is \"%.40s\"; expected VALID or SAME", padding);
    if (images->rank != 4)
        return leati_refuse(err, SHAPE, "the pictures have rank %d; expected 4, [N, H, W, C]",
                            (int)images->rank);
    const int64_t *size = args->sizes.values, *stride = args->strides.values;
    const int64_t *rate = args->rates.values, *dims = images->dims;
    LEATI_TRY(leati_window_axis_init(&plan->y, dims[1], size[1], stride[1], rate[1], same, "height",
                                     err));
    LEATI_TRY(
        leati_window_axis_init(&plan->x, dims[2], size[2], stride[2], rate[2], same, "width", err));
    plan->batch = dims[0];
    plan->channels = dims[3];
    /* Numbers of a patch. What overflows stays unknown, and no memory has such a size. */
    plan->filters = LEAT_UNKNOWN_DIM;
    plan->groups = 1;
    if (plan->channels >= 0 && plan->channels <= INT32_MAX && size[1] * size[2] <= INT32_MAX)
        plan->filters = size[1] * size[2] * plan->channels;
    *out = LEAT_SHAPE(plan->batch, plan->y.out, plan->x.out, plan->filters);
    return LEAT_OK;
}

static leat_status extract_patches_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape images, shape;
    if (call->inputs[0].dtype <= LEAT_BOOL || call->inputs[0].dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    LEATI_TRY(leati_window_want_rank4(call, 0, "images", &images, err));
    LEATI_TRY(patches_plan(&plan, call->args, &images, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* One window as a line of pixels. */
static void extract_window(const leati_conv_plan *plan, const char *picture, size_t pixel,
                           int64_t y, int64_t x, char *to) {
    for (int64_t ky = 0; ky < plan->y.kernel; ky++) {
        int64_t row = y * plan->y.stride - plan->y.before + ky * plan->y.dilation;
        for (int64_t kx = 0; kx < plan->x.kernel; kx++, to += pixel) {
            int64_t column = x * plan->x.stride - plan->x.before + kx * plan->x.dilation;
            if (row < 0 || row >= plan->y.in || column < 0 || column >= plan->x.in)
                /* Outside a picture is a value of the patch, not a gap: patches have one size. */
                memset(to, 0, pixel);
            else
                memcpy(to, picture + (size_t)(row * plan->x.in + column) * pixel, pixel);
        }
    }
}

static leat_status extract_patches_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape images = leati_support_operand_shape(&call->inputs[0]), shape;
    leati_conv_plan plan;
    LEATI_TRY(patches_plan(&plan, call->args, &images, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t pixel = (size_t)plan.channels * leat_dtype_size(call->inputs[0].dtype);
    size_t picture = (size_t)(plan.y.in * plan.x.in) * pixel;
    size_t patch = (size_t)(plan.y.kernel * plan.x.kernel) * pixel;
    const int64_t line = plan.x.out * plan.filters;
    for (int64_t row = 0, done = 0; row < call->n && call->outputs[0].count > 0; row++) {
        const char *from = leati_support_row_of(&call->inputs[0], row);
        char *to = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < plan.batch; i++, from += picture)
            for (int64_t y = 0; y < plan.y.out && !leati_stop_look_after(line, &done); y++)
                for (int64_t x = 0; x < plan.x.out; x++, to += patch)
                    extract_window(&plan, from, pixel, y, x, to);
    }
    return LEAT_OK;
}

static leat_status extract_patches_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    if (leati_graph_dtype_is_floating(leat_value_dtype(call->inputs[0])))
        call->input_gradients[0] =
            leati_graph_build2(&leati_tensor_op_extract_patches_grad, call->args,
                               call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

static leat_status extract_patches_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape gradient, images, shape;
    leat_dtype dtype = call->inputs[1].dtype;
    if (!leati_graph_dtype_is_floating(dtype))
        return leati_refuse(err, DTYPE, "the pictures are %s; expected floats",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "images", &images, err));
    LEATI_TRY(patches_plan(&plan, call->args, &images, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, dtype, &images, NULL, err);
}

/* Adds a window's line of gradients to the picture's. */
#define ADD_WINDOW(TYPE)                                                                           \
    static void add_window_##TYPE(const leati_conv_plan *plan, const TYPE *from, int64_t y,        \
                                  int64_t x, TYPE *picture) {                                      \
        for (int64_t ky = 0; ky < plan->y.kernel; ky++) {                                          \
            int64_t row = y * plan->y.stride - plan->y.before + ky * plan->y.dilation;             \
            for (int64_t kx = 0; kx < plan->x.kernel; kx++, from += plan->channels) {              \
                int64_t column = x * plan->x.stride - plan->x.before + kx * plan->x.dilation;      \
                if (row < 0 || row >= plan->y.in || column < 0 || column >= plan->x.in)            \
                    continue;                                                                      \
                TYPE *to = picture + (row * plan->x.in + column) * plan->channels;                 \
                for (int64_t c = 0; c < plan->channels; c++)                                       \
                    to[c] += from[c];                                                              \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void add_all_##TYPE(const leati_conv_plan *plan, const void *gradient,                  \
                               void *pictures) {                                                   \
        const TYPE *from = gradient;                                                               \
        TYPE *to = pictures;                                                                       \
        int64_t patch = plan->y.kernel * plan->x.kernel * plan->channels;                          \
        for (int64_t i = 0; i < plan->batch; i++, to += plan->y.in * plan->x.in * plan->channels)  \
            for (int64_t y = 0; y < plan->y.out; y++)                                              \
                for (int64_t x = 0; x < plan->x.out; x++, from += patch)                           \
                    add_window_##TYPE(plan, from, y, x, to);                                       \
    }
ADD_WINDOW(float)
ADD_WINDOW(double)

static leat_status extract_patches_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape gradient = leati_support_operand_shape(&call->inputs[0]), shape;
    leat_shape images = leati_support_operand_shape(&call->inputs[1]);
    leat_dtype dtype = call->inputs[1].dtype;
    leati_conv_plan plan;
    LEATI_TRY(patches_plan(&plan, call->args, &images, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &images, err));
    leati_operand in = call->inputs[0], out = call->outputs[0];
    bool direct = dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64;
    /* Sums over windows are kept in float32, and rounded to a narrow float once. */
    if (!direct) {
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
        LEATI_TRY(leati_support_inner_memory(call, &call->inputs[1], LEAT_FLOAT32, &out, err));
    }
    for (int64_t row = 0; row < call->n && out.count > 0; row++) {
        /* Pixels that no window holds have the gradient 0. */
        memset(leati_support_row_of(&out, row), 0, (size_t)out.count * leat_dtype_size(out.dtype));
        if (dtype == LEAT_FLOAT64)
            add_all_double(&plan, leati_support_row_of(&in, row), leati_support_row_of(&out, row));
        else
            add_all_float(&plan, leati_support_row_of(&in, row), leati_support_row_of(&out, row));
    }
    return direct ? LEAT_OK : leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

static leat_status extract_patches_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Putting windows back is linear in them, and its transpose is to take them out. */
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_extract_patches, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_extract_patches = {
    .name = "extract_patches",
    .version = 1,
    .doc = "The windows of pictures, each as one line of its pixels (tf.image.extract_patches).",
    .names = "image.extract_patches",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = patches_rows,
    .args_size = sizeof(struct patches_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = extract_patches_infer,
    .kernel = extract_patches_kernel,
    .gradient = extract_patches_gradient,
};

const leati_tensor_op leati_tensor_op_extract_patches_grad = {
    .name = "extract_patches_grad",
    .version = 1,
    .doc = "What flows back through extract_patches.",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = patches_rows,
    .args_size = sizeof(struct patches_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = extract_patches_grad_infer,
    .kernel = extract_patches_grad_kernel,
    .gradient = extract_patches_grad_gradient,
};
