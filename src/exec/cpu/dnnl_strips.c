/* Convolutions of pictures that take too long: in strips of rows, and where there is one row alone,
 * as in a convolution over one dimension, of its columns.
 *
 * A strip is a convolution of its own: some rows of what is made, the rows of the other side that
 * they touch, and the padding that is left of the picture's there. The first and the last strip
 * have padding and any size; those between them have none of the picture's and are alike, so that
 * three primitives do all. Declines where the picture is too low for that. No failures, no locks.
 */
#include "exec/cpu/dnnl.h"

#include "base/minmax.h"

/* Of lower strips oneDNN may have only the reference, and most of one would be padding. */
enum { LEAST_HEIGHT = 8 };
/* oneDNN makes code for all columns of a row: seconds where it is long. */
enum { WIDEST = 16384 };

/* How windows lie over rows. */
typedef struct windows {
    int64_t in, out;            /* rows of a picture and of what is made of it */
    int64_t stride, pad, reach; /* a window's first row is y * stride - pad, it has `reach` rows */
} windows;

/* Rows [from, to) of the input and [first, last) of the output. */
typedef struct rows {
    int64_t from, to, first, last;
} rows;

/* The dimension that is cut, behind those of pictures and channels: 0 is height, 1 width, of which
 * only a picture of one row is dense. */
static int axis_of(const leati_dnnl_conv *conv) {
    return conv->input.dims[2] == 1 && conv->output.dims[2] == 1 ? 1 : 0;
}

static windows windows_of(const leati_dnnl_conv *conv) {
    int axis = axis_of(conv);
    int64_t taps = conv->filter.dims[conv->filter.ndims - 2 + axis];
    return (windows){.in = conv->input.dims[2 + axis],
                     .out = conv->output.dims[2 + axis],
                     .stride = conv->strides[axis],
                     .pad = conv->before[axis],
                     .reach = (taps - 1) * (conv->dilates[axis] + 1) + 1};
}

/* The output's rows [first, last), and what they read. */
static rows reading(const windows *w, int64_t first, int64_t last) {
    return (rows){.from = LEATI_MAX(first * w->stride - w->pad, 0),
                  .to = LEATI_MIN((last - 1) * w->stride - w->pad + w->reach, w->in),
                  .first = first,
                  .last = last};
}

/* The input's rows [from, to), and what is made of them. */
static rows read_by(const windows *w, int64_t from, int64_t to) {
    int64_t before =
        from + w->pad - w->reach; /* the last row that ends before `from` does so here */
    return (rows){.from = from,
                  .to = to,
                  .first = before < 0 ? 0 : before / w->stride + 1,
                  .last = LEATI_MIN((to - 1 + w->pad) / w->stride + 1, w->out)};
}

static bool describe(const leati_dnnl_conv *conv, const windows *w, rows r, leati_dnnl_conv *out) {
    const dnnl_dim_t *in = conv->input.dims, *made = conv->output.dims;
    int axis = axis_of(conv);
    dnnl_dims_t input = {1, in[1], in[2], in[3]}, output = {1, made[1], made[2], made[3]};
    input[2 + axis] = r.to - r.from;
    output[2 + axis] = r.last - r.first;
    int64_t before = r.from + w->pad - r.first * w->stride;
    int64_t after = (r.last - r.first - 1) * w->stride + w->reach - (r.to - r.from) - before;
    *out = *conv;
    out->before[axis] = before;
    out->after[axis] = LEATI_MAX(after, 0);
    return r.to > r.from && r.last > r.first && before >= 0 &&
           !dnnl_memory_desc_init_by_tag(&out->input, 4, input, dnnl_f32, dnnl_nhwc) &&
           !dnnl_memory_desc_init_by_tag(&out->output, 4, output, dnnl_f32, dnnl_nhwc);
}

/* How many strips of `height` rows lie between `top` and `last`, if what is left of `all` rows is
 * one as well: of less oneDNN may have only the reference. */
static int64_t count_between(int64_t top, int64_t last, int64_t all, int64_t height) {
    int64_t count = (last - top) / height;
    return all - top - count * height < height ? count - 1 : count;
}

/* The first, one in the middle, and the last; how many there are in the middle. */
static int64_t deal_output(const windows *w, int64_t height, rows all[3]) {
    int64_t top = LEATI_MAX(height, (w->pad + w->stride - 1) / w->stride);
    int64_t inside = w->in + w->pad < w->reach ? 0 : (w->in + w->pad - w->reach) / w->stride + 1;
    int64_t count = count_between(top, LEATI_MIN(inside, w->out), w->out, height);
    all[0] = reading(w, 0, top);
    all[1] = reading(w, top, top + height);
    all[2] = reading(w, top + count * height, w->out);
    all[2].to = w->in; /* rows that no window reads are the picture's, too */
    return count;
}

static int64_t deal_input(const windows *w, int64_t height, rows all[3]) {
    height = (height + w->stride - 1) / w->stride * w->stride;
    int64_t top = LEATI_MAX(height, w->reach - 1 - w->pad);
    top += (w->stride - (top + w->pad) % w->stride) % w->stride; /* where a window begins */
    int64_t last = LEATI_MIN(w->in, w->out * w->stride - w->pad);
    int64_t count = count_between(top, last, w->in, height);
    all[0] = read_by(w, 0, top);
    all[1] = read_by(w, top, top + height);
    all[2] = read_by(w, top + count * height, w->in);
    all[2].last = w->out;
    return count;
}

bool leati_dnnl_strips_find(const leati_cpu_build *build, const leati_cpu_task *task,
                            const leati_dnnl_conv *conv, bool of_input, leati_dnnl_strips *out) {
    windows w = windows_of(conv);
    double parts =
        leati_cpu_parts_of(leati_cpu_step_of(build), task) / (double)LEATI_MAX(conv->pictures, 1);
    int64_t made = of_input ? w.in : w.out;
    if (axis_of(conv) == 1)
        parts = LEATI_MAX((double)made / WIDEST, parts);
    if (parts <= 1)
        return false;
    int64_t height = LEATI_MAX((int64_t)((double)made / parts), w.reach + LEAST_HEIGHT);
    rows all[3];
    out->count = (of_input ? deal_input : deal_output)(&w, height, all);
    for (int i = 0; i < 3; i++) {
        if (out->count < 1 || !describe(conv, &w, all[i], &out->strips[i]))
            return false;
        out->input_row[i] = all[i].from;
        out->output_row[i] = all[i].first;
    }
    height = of_input ? all[1].to - all[1].from : all[1].last - all[1].first;
    out->input_step = of_input ? height : height * w.stride;
    out->output_step = of_input ? height / w.stride : height;
    return true;
}

leat_status leati_dnnl_strips_create(const leati_dnnl_strips *strips, leati_dnnl_conv_maker *maker,
                                     const void *context, int argument, leati_dnnl_op ops[3],
                                     bool *good, leat_error *err) {
    leat_status status = LEAT_OK;
    *good = true;
    for (int i = 0; i < 3; i++)
        ops[i] = (leati_dnnl_op){0};
    for (int i = 0; i < 3 && *good && status == LEAT_OK; i++) {
        bool refused = false;
        status = maker(&strips->strips[i], context, &ops[i], &refused, err);
        *good = status == LEAT_OK && !refused &&
                (argument == 0 || dnnl_memory_desc_equal(leati_dnnl_layout(&ops[i], argument),
                                                         leati_dnnl_layout(&ops[0], argument)));
    }
    for (int i = 0; i < 3 && !*good; i++)
        leati_dnnl_fini(&ops[i]);
    return status;
}

leat_status leati_dnnl_strips_start(leati_cpu_task *task, const leati_cpu_kernel *kernel,
                                    leati_dnnl_op ops[3], leati_dnnl_state **out, leat_error *err) {
    leat_status status = leati_dnnl_start(task, kernel, &ops[1], out, err);
    if (status != LEAT_OK) {
        leati_dnnl_fini(&ops[0]);
        leati_dnnl_fini(&ops[2]);
        return status;
    }
    (*out)->top = ops[0];
    (*out)->bottom = ops[2];
    (*out)->main.behind = (*out)->bottom.behind = true;
    return LEAT_OK;
}

leati_dnnl_op *leati_dnnl_strip_op(leati_dnnl_state *state, int which) {
    return which == 0 ? &state->top : which == 1 ? &state->main : &state->bottom;
}

leat_status leati_dnnl_bind_filter(leati_cpu_build *build, leati_cpu_task *task,
                                   const leati_dnnl_conv *conv, int32_t filter, int32_t made[3],
                                   int which, leat_error *err) {
    leati_dnnl_state *state = task->state;
    leati_dnnl_op *op = leati_dnnl_strip_op(state, which);
    const dnnl_memory_desc_t *wanted = leati_dnnl_layout(op, DNNL_ARG_WEIGHTS);
    made[which] = -1;
    for (int i = 0; i < which && made[which] < 0; i++)
        if (made[i] >= 0 &&
            dnnl_memory_desc_equal(
                leati_dnnl_layout(leati_dnnl_strip_op(state, i), DNNL_ARG_WEIGHTS), wanted))
            made[which] = made[i];
    if (made[which] < 0)
        LEATI_TRY(leati_dnnl_reorder_in(build, task, &state->before[which], &conv->filter, wanted,
                                        filter, &made[which], err));
    return leati_dnnl_bind(op, DNNL_ARG_WEIGHTS, wanted, made[which], err);
}

leat_status leati_dnnl_bind_pictures(leati_dnnl_op *op, int argument, const leati_dnnl_conv *conv,
                                     const leati_dnnl_strips *strips, int which, bool input,
                                     int32_t v, leat_error *err) {
    const dnnl_memory_desc_t *whole = input ? &conv->input : &conv->output;
    if (strips == NULL)
        return leati_dnnl_bind_rows(op, argument, whole, v, conv->pictures, err);
    const leati_dnnl_conv *strip = &strips->strips[which];
    size_t row = (size_t)whole->format_desc.blocking.strides[2 + axis_of(conv)] * sizeof(float);
    int64_t first = input ? strips->input_row[which] : strips->output_row[which];
    op->rows = which == 1 ? strips->count : 1;
    op->part = 1;
    op->pictures = conv->pictures;
    if (op->count < LEATI_DNNL_ARGS) {
        op->base_bytes[op->count] = (size_t)first * row;
        op->row_bytes[op->count] = (size_t)(input ? strips->input_step : strips->output_step) * row;
        op->picture_bytes[op->count] =
            (size_t)whole->format_desc.blocking.strides[0] * sizeof(float);
    }
    return leati_dnnl_bind(op, argument, input ? &strip->input : &strip->output, v, err);
}
