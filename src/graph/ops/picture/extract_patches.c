/* extract_patches: the windows of pictures [N, H, W, C], each as one line of its pixels row by row:
 * [N, rows, columns, height * width * C] (tf.image.extract_patches); extract_patches_grad: what
 * flows back: each pixel's gradient is the sum over the windows that hold it. Inputs of that: the
 * result's gradient, and the pictures, whose shape counts.
 *
 * With SAME padding what lies outside of a picture is 0. Gradients are computed in float32, of
 * float64 in float64, window after window. The crew shares rows of windows, and pictures of
 * gradients, or columns that share no pixels. Fails where sizes, strides and rates are not four
 * numbers of which the first and the last are 1, where no window fits, and where shapes do not fit.
 * No state, no locks. */
#include "base/stop.h"
#include "graph/support/array/moving.h"
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

/* A row of a window's pixels; those that lie side by side are copied at once. Outside a picture is
 * a value of the patch, not a gap: patches have one size. */
static void extract_row(const leati_window_axis *axis, const char *line, size_t pixel, int64_t x,
                        char *to) {
    int64_t first, last, start = x * axis->stride - axis->before;
    leati_window_range(axis, x, &first, &last);
    first = LEATI_MIN(first, axis->kernel);
    last = LEATI_MAX(last, first);
    if (first > 0)
        memset(to, 0, (size_t)first * pixel);
    if (axis->dilation == 1 && last > first)
        memcpy(to + (size_t)first * pixel, line + (size_t)(start + first) * pixel,
               (size_t)(last - first) * pixel);
    for (int64_t k = first; k < last && axis->dilation > 1; k++)
        memcpy(to + (size_t)k * pixel, line + (size_t)(start + k * axis->dilation) * pixel, pixel);
    if (last < axis->kernel)
        memset(to + (size_t)last * pixel, 0, (size_t)(axis->kernel - last) * pixel);
}

/* One row of the call; a step is a row of windows, or of a gradient a block of their columns. */
typedef struct patches {
    const leati_conv_plan *plan;
    const char *from;
    char *to;
    size_t pixel;         /* bytes */
    int64_t each, blocks; /* columns of a block, blocks of a picture */
} patches;

/* Row k of all windows beside each other; `line` is the picture's, NULL where there is none. */
static void extract_line(const patches *p, const char *line, char *to) {
    const leati_window_axis *axis = &p->plan->x;
    size_t row = (size_t)axis->kernel * p->pixel, patch = (size_t)p->plan->y.kernel * row;
    const leati_moving_dim dim = {axis->out, (int64_t)patch, (int64_t)p->pixel};
    if (line != NULL && axis->kernel == 1 && axis->stride == 1) {
        leati_moving_copy(to, line, &dim, 1, p->pixel);
        return;
    }
    for (int64_t x = 0; x < axis->out; x++, to += patch)
        if (line != NULL)
            extract_row(axis, line, p->pixel, x, to);
        else
            memset(to, 0, row);
}

static void extract_steps(void *data, int64_t begin, int64_t end) {
    const patches *p = data;
    const leati_window_axis *down = &p->plan->y, *right = &p->plan->x;
    size_t line = (size_t)right->in * p->pixel, row = (size_t)right->kernel * p->pixel;
    int64_t done = 0;
    for (int64_t step = begin; step < end; step++) {
        const char *picture = p->from + (size_t)(step / down->out * down->in) * line;
        char *to = p->to + (size_t)(step * right->out * down->kernel) * row;
        for (int64_t k = 0; k < down->kernel; k++, to += row) {
            int64_t at = step % down->out * down->stride - down->before + k * down->dilation;
            if (leati_stop_look_after((int64_t)row * right->out, &done))
                return;
            extract_line(p, at < 0 || at >= down->in ? NULL : picture + (size_t)at * line, to);
        }
    }
}

enum { PER_BYTE = 2 }; /* that could be moved in longer lines */

static leat_status extract_patches_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape images = leati_support_operand_shape(&call->inputs[0]), shape;
    leati_conv_plan plan;
    LEATI_TRY(patches_plan(&plan, call->args, &images, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    patches all = {.plan = &plan,
                   .pixel = (size_t)plan.channels * leat_dtype_size(call->inputs[0].dtype)};
    int64_t bytes = plan.x.out * plan.y.kernel * plan.x.kernel * (int64_t)all.pixel;
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        all.from = leati_support_row_of(&call->inputs[0], row);
        all.to = leati_support_row_of(&call->outputs[0], row);
        leati_moving_share(plan.batch * plan.y.out, bytes * PER_BYTE, extract_steps, &all);
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
    static void add_steps_##TYPE(void *data, int64_t begin, int64_t end) {                         \
        const patches *p = data;                                                                   \
        const leati_conv_plan *plan = p->plan;                                                     \
        int64_t patch = plan->y.kernel * plan->x.kernel * plan->channels, done = 0;                \
        int64_t picture = plan->y.in * plan->x.in * plan->channels, columns = plan->x.out;         \
        for (int64_t step = begin; step < end; step++) {                                           \
            int64_t i = step / p->blocks, first = step % p->blocks * p->each;                      \
            int64_t last = LEATI_MIN(first + p->each, columns);                                    \
            for (int64_t y = 0; y < plan->y.out; y++)                                              \
                for (int64_t x = first; x < last; x++) {                                           \
                    int64_t window = (i * plan->y.out + y) * columns + x;                          \
                    if (leati_stop_look_after(patch, &done))                                       \
                        return;                                                                    \
                    add_window_##TYPE(plan, (const TYPE *)(const void *)p->from + window * patch,  \
                                      y, x, (TYPE *)(void *)p->to + i * picture);                  \
                }                                                                                  \
        }                                                                                          \
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
    size_t size = leat_dtype_size(out.dtype);
    /* Where columns of windows share no pixels, blocks of them are apart. */
    enum { COLUMNS = 256 };
    bool alone = plan.x.stride > (plan.x.kernel - 1) * plan.x.dilation;
    for (int64_t row = 0; row < call->n && out.count > 0; row++) {
        patches all = {.plan = &plan,
                       .from = leati_support_row_of(&in, row),
                       .to = leati_support_row_of(&out, row),
                       .each = alone ? LEATI_MIN(plan.x.out, COLUMNS) : plan.x.out};
        all.blocks = (plan.x.out + all.each - 1) / all.each;
        /* Pixels that no window holds have the gradient 0. */
        leati_moving_fill(all.to, out.count, &(double){0}, size);
        leati_moving_share(plan.batch * all.blocks,
                           in.count / (plan.batch * all.blocks) * (int64_t)size * PER_BYTE,
                           out.dtype == LEAT_FLOAT64 ? add_steps_double : add_steps_float, &all);
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
