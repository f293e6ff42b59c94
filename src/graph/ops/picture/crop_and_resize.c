/* crop_and_resize: boxes of pictures [N, H, W, C], each scaled to one size, as float32
 * (tf.image.crop_and_resize); crop_and_resize_grad_image, crop_and_resize_grad_boxes: what flows
 * back into the pictures and into the boxes (tf.raw_ops.CropAndResizeGradImage and GradBoxes).
 * Inputs of these: the result's gradient, pictures, boxes, indices.
 *
 * Boxes are [y1, x1, y2, x2] in fractions of height - 1 and width - 1; they may be turned over, and
 * what lies outside of a picture is extrapolation_value. The gradient of boxes is the one of
 * bilinear with either method, as in TensorFlow. Computed in float32; rows of the result are shared
 * by the crew. Fails where shapes do not fit, and in a run on a box of a picture that is not there.
 * Gradients have none of their own. No state, no locks. */
#include "base/isa.h"
#include "base/stop.h"
#include "graph/support/array/moving.h"
#include <math.h>
#include <string.h>

struct crop_args {
    leati_ints crop_size;
    char *method;
    double extrapolation_value;
};

/* Where the samples of one dimension lie: sample i at first + i * step. */
typedef struct crop_line {
    float first, step;
    int64_t last; /* the picture's last sample */
} crop_line;

static const leati_row crop_rows[] = {
    {.name = "crop_size",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct crop_args, crop_size),
     .doc = "Height and width of the result, in pixels."},
    {.name = "method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct crop_args, method),
     .default_text = "bilinear",
     .doc = "bilinear or nearest."},
    {.name = "extrapolation_value",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct crop_args, extrapolation_value),
     .doc = "The value of what lies outside of the picture."},
    {0},
};

enum { IMAGES, BOXES, INDICES };

static leat_status crop_check(const struct crop_args *args, bool size_known, leat_error *err) {
    const char *method = args->method == NULL ? "" : args->method;
    if (strcmp(method, "bilinear") != 0 && strcmp(method, "nearest") != 0)
        return leati_refuse(err, VALUE, "method is \"%.40s\"; expected \"bilinear\" or \"nearest\"",
                            method);
    /* The size may be a value of the run, in which the kernel asks again. */
    if (size_known && (args->crop_size.count != 2 || args->crop_size.values[0] < 1 ||
                       args->crop_size.values[1] < 1))
        return leati_refuse(err, VALUE,
                            "crop_size has %d numbers; expected a height and a width of at least 1",
                            (int)args->crop_size.count);
    return LEAT_OK;
}

static leat_status crop_and_resize_infer(leati_infer_call *call, leat_error *err) {
    const struct crop_args *args = call->args;
    const leat_shape *images = &call->inputs[IMAGES].shape, *boxes = &call->inputs[BOXES].shape;
    leat_dtype dtype = call->inputs[IMAGES].dtype;
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_rank(call, IMAGES, 4, "image", err));
    LEATI_TRY(leati_support_want_dtype(call, BOXES, LEAT_FLOAT32, "boxes", err));
    LEATI_TRY(leati_support_want_rank(call, BOXES, 2, "boxes", err));
    LEATI_TRY(leati_support_want_index(call, INDICES, "box_indices", err));
    LEATI_TRY(leati_support_want_rank(call, INDICES, 1, "box_indices", err));
    if (boxes->rank == 2)
        LEATI_TRY(leati_support_want_equal_dims(boxes->dims[1], 4, "the numbers of a box", err));
    if (boxes->rank == 2 && call->inputs[INDICES].shape.rank == 1)
        LEATI_TRY(leati_support_want_equal_dims(boxes->dims[0], call->inputs[INDICES].shape.dims[0],
                                                "the boxes and the indices", err));
    LEATI_TRY(crop_check(args, call->unknown == 0, err));
    int64_t count = boxes->rank == 2 ? boxes->dims[0] : LEAT_UNKNOWN_DIM;
    if (count == LEAT_UNKNOWN_DIM && call->inputs[INDICES].shape.rank == 1)
        count = call->inputs[INDICES].shape.dims[0];
    leat_shape shape =
        LEAT_SHAPE(count, call->unknown ? LEAT_UNKNOWN_DIM : args->crop_size.values[0],
                   call->unknown ? LEAT_UNKNOWN_DIM : args->crop_size.values[1],
                   images->rank == 4 ? images->dims[3] : LEAT_UNKNOWN_DIM);
    return leati_op_infer_output(call, LEAT_FLOAT32, &shape, NULL, err);
}

static crop_line crop_line_of(float low, float high, int64_t size, int64_t samples) {
    float last = (float)(size - 1);
    if (samples > 1)
        /* The first sample lies on the lower bound, the last one on the upper. */
        return (crop_line){low * last, (high - low) * last / (float)(samples - 1), size - 1};
    /* One sample lies in the middle. */
    return (crop_line){0.5F * (low + high) * last, 0, size - 1};
}

static void fill(float *to, int64_t count, float value) {
    for (int64_t i = 0; i < count; i++)
        to[i] = value;
}

/* One row of a crop out of the rows above and below it. */
LEATI_ALWAYS_INLINE void crop_pixels(const crop_line *x, int64_t width, int64_t channels,
                                     const float *above, const float *below, float lerp,
                                     float outside, float *to) {
    for (int64_t i = 0; i < width; i++, to += channels) {
        float at = x->first + (float)i * x->step;
        /* Written so that NaN is outside. */
        if (!(at >= 0) || at > (float)x->last) {
            fill(to, channels, outside);
            continue;
        }
        int64_t floor = (int64_t)at; /* it is not negative */
        float part = at - (float)floor;
        /* At an integer the last pixel needs no neighbour. */
        int64_t left = floor * channels, right = left + (part > 0 ? channels : 0);
        for (int64_t c = 0; c < channels; c++) {
            float top = above[left + c] + (above[right + c] - above[left + c]) * part;
            float bottom = below[left + c] + (below[right + c] - below[left + c]) * part;
            to[c] = top + (bottom - top) * lerp;
        }
    }
}

static void crop_row(const crop_line *x, int64_t width, int64_t channels, const float *above,
                     const float *below, float lerp, float outside, float *to) {
    switch (channels) {
    case 1: crop_pixels(x, width, 1, above, below, lerp, outside, to); break;
    case 3: crop_pixels(x, width, 3, above, below, lerp, outside, to); break;
    default: crop_pixels(x, width, channels, above, below, lerp, outside, to);
    }
}

static void nearest_row(const crop_line *x, int64_t width, int64_t channels, const float *from,
                        float outside, float *to) {
    for (int64_t i = 0; i < width; i++, to += channels) {
        float at = x->first + (float)i * x->step;
        if (!(at >= 0) || at > (float)x->last)
            fill(to, channels, outside);
        else
            memcpy(to, from + (int64_t)roundf(at) * channels, (size_t)channels * sizeof *to);
    }
}

/* The crops of one row of the call, whose boxes were checked. */
typedef struct crops {
    const struct crop_args *args;
    const leati_kernel_call *call;
    const leati_operand *in; /* as float32 */
    int64_t row;
    bool nearest;
} crops;

/* Row `i` of a box's crop. */
static void crop_line_run(const crops *c, int64_t box, int64_t i, float *to) {
    const int64_t *dims = c->in->dims;
    int64_t height = c->args->crop_size.values[0], width = c->args->crop_size.values[1];
    int64_t stride = dims[2] * dims[3];
    float outside = (float)c->args->extrapolation_value;
    const float *b =
        (const float *)(const void *)leati_support_row_of(&c->call->inputs[BOXES], c->row) +
        4 * box;
    const float *picture =
        (const float *)(const void *)leati_support_row_of(c->in, c->row) +
        leati_support_index_at(&c->call->inputs[INDICES], c->row, box) * dims[1] * stride;
    crop_line y = crop_line_of(b[0], b[2], dims[1], height);
    crop_line x = crop_line_of(b[1], b[3], dims[2], width);
    /* Rows outside are filled at once; columns outside are found row by row. */
    float at = y.first + (float)i * y.step;
    if (!(at >= 0) || at > (float)y.last)
        fill(to, width * dims[3], outside);
    else if (c->nearest)
        nearest_row(&x, width, dims[3], picture + (int64_t)roundf(at) * stride, outside, to);
    else
        crop_row(&x, width, dims[3], picture + (int64_t)floorf(at) * stride,
                 picture + (int64_t)ceilf(at) * stride, at - floorf(at), outside, to);
}

static void crop_steps(void *data, int64_t begin, int64_t end) {
    const crops *c = data;
    int64_t height = c->args->crop_size.values[0], done = 0;
    int64_t line = c->args->crop_size.values[1] * c->in->dims[3];
    float *to = (float *)(void *)leati_support_row_of(&c->call->outputs[0], c->row);
    for (int64_t k = begin; k < end && !leati_stop_look_after(8 * line, &done); k++)
        crop_line_run(c, k / height, k % height, to + k * line);
}

/* A picture without pixels has nowhere to sample from. */
static leat_status check_boxes(const leati_kernel_call *call, int64_t row, leat_error *err) {
    const leati_operand *in = &call->inputs[IMAGES], *boxes = &call->inputs[BOXES];
    for (int64_t i = 0; i < boxes->dims[0]; i++) {
        int64_t index = leati_support_index_at(&call->inputs[INDICES], row, i);
        if (index < 0 || index >= in->dims[0] || in->count == 0)
            return leati_refuse(err, VALUE,
                                "box %lld is of picture %lld; expected one of the %lld pictures, "
                                "with pixels",
                                (long long)i, (long long)index, (long long)in->dims[0]);
        const float *box = (const float *)(const void *)leati_support_row_of(boxes, row) + 4 * i;
        if (!isfinite(box[0]) || !isfinite(box[1]) || !isfinite(box[2]) || !isfinite(box[3]))
            return leati_refuse(err, VALUE, "box %lld has a number that is not finite",
                                (long long)i);
    }
    return LEAT_OK;
}

enum { PER_BYTE = 8 }; /* that could be moved while one is computed */

static leat_status crop_and_resize_kernel(leati_kernel_call *call, leat_error *err) {
    const struct crop_args *args = call->args;
    const leati_operand *boxes = &call->inputs[BOXES], *indices = &call->inputs[INDICES];
    leati_operand in = call->inputs[IMAGES];
    if (in.rank != 4 || boxes->rank != 2 || boxes->dims[1] != 4 || indices->rank != 1 ||
        indices->count != boxes->dims[0])
        return leati_refuse(
            err, SHAPE,
            "pictures of rank %d, %lld boxes and %lld indices; expected [N, H, W, C], "
            "[n, 4] and [n]",
            (int)in.rank, (long long)boxes->dims[0], (long long)indices->count);
    LEATI_TRY(crop_check(args, true, err));
    leat_shape shape = LEAT_SHAPE(boxes->dims[0], args->crop_size.values[0],
                                  args->crop_size.values[1], in.dims[3]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (in.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[IMAGES], LEAT_FLOAT32, &in, err));
    crops c = {
        .args = args, .call = call, .in = &in, .nearest = strcmp(args->method, "nearest") == 0};
    int64_t line = shape.dims[2] * shape.dims[3] * (int64_t)sizeof(float);
    for (c.row = 0; c.row < call->n; c.row++) {
        call->failed_row = c.row;
        LEATI_TRY(check_boxes(call, c.row, err));
        if (call->outputs[0].count > 0)
            leati_moving_share(shape.dims[0] * shape.dims[1], line * PER_BYTE, crop_steps, &c);
    }
    call->failed_row = 0;
    return LEAT_OK;
}

static leat_status crop_and_resize_gradient(leati_gradient_call *call, leat_error *err) {
    const leat_value inputs[4] = {call->output_gradients[0], call->inputs[IMAGES],
                                  call->inputs[BOXES], call->inputs[INDICES]};
    leat_dtype dtype = leat_value_dtype(call->inputs[IMAGES]);
    (void)err;
    /* Integers take no gradient, but the boxes do whatever the pictures are. */
    if (dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64)
        call->input_gradients[IMAGES] = leati_graph_build_many(
            &leati_tensor_op_crop_and_resize_grad_image, call->args, inputs, 4);
    call->input_gradients[BOXES] =
        leati_graph_build_many(&leati_tensor_op_crop_and_resize_grad_boxes, call->args, inputs, 4);
    return LEAT_OK;
}

/* ---- gradients: inputs are the result's gradient, the pictures, boxes and indices ---- */
enum { GRADIENT, BACK_IMAGES, BACK_BOXES, BACK_INDICES };

/* A pixel of a crop that lies within its picture. */
typedef struct crop_sample {
    int64_t box, image, y, x; /* numbers of the box and its picture; the pixel in the crop */
    float from_y, from_x;     /* its place in the picture */
    const float *gradient;    /* of each channel */
} crop_sample;

typedef void crop_visit(const leati_kernel_call *call, const crop_sample *sample, void *context);

static leat_status crop_back_infer(leati_infer_call *call, int like, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, GRADIENT, LEAT_FLOAT32, "the gradient", err));
    LEATI_TRY(leati_support_want_rank(call, GRADIENT, 4, "the gradient", err));
    LEATI_TRY(leati_support_want_rank(call, BACK_IMAGES, 4, "image", err));
    LEATI_TRY(leati_support_want_dtype(call, BACK_BOXES, LEAT_FLOAT32, "boxes", err));
    LEATI_TRY(leati_support_want_rank(call, BACK_BOXES, 2, "boxes", err));
    LEATI_TRY(leati_support_want_index(call, BACK_INDICES, "box_indices", err));
    LEATI_TRY(crop_check(call->args, call->unknown == 0, err));
    return leati_op_infer_output(call, call->inputs[like].dtype, &call->inputs[like].shape, NULL,
                                 err);
}

static leat_status check_shapes(const leati_kernel_call *call, leat_error *err) {
    const struct crop_args *args = call->args;
    const leati_operand *gradient = &call->inputs[GRADIENT];
    const leati_operand *images = &call->inputs[BACK_IMAGES];
    const leati_operand *boxes = &call->inputs[BACK_BOXES];
    /* Everything that the walk indexes by; the kernel is also reachable from JSON. */
    LEATI_TRY(crop_check(args, true, err));
    if (gradient->rank == 4 && images->rank == 4 && boxes->rank == 2 && boxes->dims[1] == 4 &&
        gradient->dims[0] == boxes->dims[0] && call->inputs[BACK_INDICES].count == boxes->dims[0] &&
        gradient->dims[1] == args->crop_size.values[0] &&
        gradient->dims[2] == args->crop_size.values[1] && gradient->dims[3] == images->dims[3])
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "a gradient of %lld values for %lld boxes; expected [boxes, height, width, "
                        "channels] of the crops",
                        (long long)gradient->count,
                        (long long)(boxes->rank > 0 ? boxes->dims[0] : 0));
}

/* The samples of one box. */
static void walk_box(const leati_kernel_call *call, crop_sample *sample, const float *box,
                     crop_visit *visit, void *context) {
    const int64_t *crop = call->inputs[GRADIENT].dims, *picture = call->inputs[BACK_IMAGES].dims;
    crop_line y = crop_line_of(box[0], box[2], picture[1], crop[1]);
    crop_line x = crop_line_of(box[1], box[3], picture[2], crop[2]);
    for (sample->y = 0; sample->y < crop[1]; sample->y++) {
        sample->from_y = y.first + (float)sample->y * y.step;
        /* The gradient pointer moves on with samples outside, too: they lie in the crop. */
        bool inside = sample->from_y >= 0 && sample->from_y <= (float)y.last;
        for (sample->x = 0; sample->x < crop[2]; sample->x++, sample->gradient += crop[3]) {
            sample->from_x = x.first + (float)sample->x * x.step;
            if (inside && sample->from_x >= 0 && sample->from_x <= (float)x.last)
                visit(call, sample, context);
        }
    }
}

/* Calls `visit` for the samples of row `row` in order, so that sums do not depend on threads; the
 * gradient is float32. */
static leat_status crop_walk(leati_kernel_call *call, int64_t row, crop_visit *visit, void *context,
                             leat_error *err) {
    const leati_operand *boxes = &call->inputs[BACK_BOXES];
    crop_sample sample = {.gradient = (const float *)(const void *)leati_support_row_of(
                              &call->inputs[GRADIENT], row)};
    LEATI_TRY(check_shapes(call, err));
    int64_t done = 0, crop = boxes->dims[0] > 0 ? call->inputs[GRADIENT].count / boxes->dims[0] : 0;
    for (sample.box = 0; sample.box < boxes->dims[0] && !leati_stop_look_after(16 * crop, &done);
         sample.box++) {
        const float *box =
            (const float *)(const void *)leati_support_row_of(boxes, row) + 4 * sample.box;
        sample.image = leati_support_index_at(&call->inputs[BACK_INDICES], row, sample.box);
        if (sample.image < 0 || sample.image >= call->inputs[BACK_IMAGES].dims[0])
            return leati_refuse(err, VALUE,
                                "box %lld is of picture %lld; expected one of the %lld pictures",
                                (long long)sample.box, (long long)sample.image,
                                (long long)call->inputs[BACK_IMAGES].dims[0]);
        walk_box(call, &sample, box, visit, context);
    }
    return LEAT_OK;
}

static leat_status grad_image_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[BACK_IMAGES].dtype;
    if (dtype < LEAT_FLOAT16 || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected floats",
                            leat_dtype_name(dtype));
    return crop_back_infer(call, BACK_IMAGES, err);
}

/* The picture's gradient, at a pixel. */
static float *pixel_of(float *pictures, const int64_t *dims, int64_t image, float y, float x) {
    return pictures + ((image * dims[1] + (int64_t)y) * dims[2] + (int64_t)x) * dims[3];
}

static void add(float *to, const float *gradient, float weight, int64_t channels) {
    for (int64_t c = 0; c < channels; c++)
        to[c] += gradient[c] * weight;
}

static void spread(const leati_kernel_call *call, const crop_sample *s, void *context) {
    const struct crop_args *args = call->args;
    const int64_t *dims = call->inputs[BACK_IMAGES].dims;
    float *to = context, top = floorf(s->from_y), left = floorf(s->from_x);
    /* Weights as in the way forth; at an integer bottom is top, with weight 0. */
    float y = s->from_y - top, x = s->from_x - left;
    if (strcmp(args->method, "nearest") == 0) {
        add(pixel_of(to, dims, s->image, roundf(s->from_y), roundf(s->from_x)), s->gradient, 1,
            dims[3]);
        return;
    }
    float bottom = ceilf(s->from_y), right = ceilf(s->from_x);
    add(pixel_of(to, dims, s->image, top, left), s->gradient, (1 - y) * (1 - x), dims[3]);
    add(pixel_of(to, dims, s->image, top, right), s->gradient, (1 - y) * x, dims[3]);
    add(pixel_of(to, dims, s->image, bottom, left), s->gradient, y * (1 - x), dims[3]);
    add(pixel_of(to, dims, s->image, bottom, right), s->gradient, y * x, dims[3]);
}

static leat_status grad_image_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[BACK_IMAGES]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_operand out = call->outputs[0];
    size_t row_bytes = (size_t)out.count * sizeof(float), bytes = row_bytes * (size_t)call->n;
    /* Sums in a narrow float would lose small gradients: they are cast once, at the end. */
    if (out.dtype != LEAT_FLOAT32) {
        out.dtype = LEAT_FLOAT32;
        out.row_stride = (int64_t)row_bytes;
        out.data = leati_arena_alloc(call->arena, bytes > 0 ? bytes : 1);
        if (out.data == NULL)
            return leati_no_memory(err);
    }
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        if (row_bytes > 0)
            memset(leati_support_row_of(&out, row), 0, row_bytes);
        LEATI_TRY(crop_walk(call, row, spread, leati_support_row_of(&out, row), err));
    }
    call->failed_row = 0;
    return call->outputs[0].dtype == LEAT_FLOAT32
               ? LEAT_OK
               : leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

static leat_status grad_boxes_infer(leati_infer_call *call, leat_error *err) {
    return crop_back_infer(call, BACK_BOXES, err);
}

/* The pictures of a row as float32, and the boxes' gradients. */
struct sums {
    const float *pictures;
    float *boxes;
};

/* What a change of the lower and of the upper bound moves a sample by. */
static void bounds_of(int64_t size, int64_t samples, int64_t at, float *low, float *high) {
    float last = (float)(size - 1);
    /* A single sample is in the middle, which each bound moves by half. */
    *low = *high = 0.5F * last;
    if (samples > 1) {
        *high = (float)at * (last / (float)(samples - 1));
        *low = last - *high;
    }
}

static void sum_up(const leati_kernel_call *call, const crop_sample *s, void *context) {
    const struct sums *sums = context;
    const int64_t *dims = call->inputs[BACK_IMAGES].dims;
    const int64_t *crop = call->inputs[GRADIENT].dims;
    float top = floorf(s->from_y), left = floorf(s->from_x), low, high;
    float y = s->from_y - top, x = s->from_x - left, by_y = 0, by_x = 0;
    /* Steps to the neighbours, 0 at an integer place: then there is no difference to take. */
    int64_t right = ((int64_t)ceilf(s->from_x) - (int64_t)left) * dims[3];
    int64_t down = ((int64_t)ceilf(s->from_y) - (int64_t)top) * dims[2] * dims[3];
    const float *at =
        sums->pictures + ((s->image * dims[1] + (int64_t)top) * dims[2] + (int64_t)left) * dims[3];
    for (int64_t c = 0; c < dims[3]; c++, at++) {
        float below = at[down] - at[0], below_right = at[down + right] - at[right];
        float beside = at[right] - at[0], beside_down = at[down + right] - at[down];
        /* The slope of a bilinear blend along y blends the differences of both columns. */
        by_y += ((1 - x) * below + x * below_right) * s->gradient[c];
        by_x += ((1 - y) * beside + y * beside_down) * s->gradient[c];
    }
    float *box = sums->boxes + 4 * s->box;
    bounds_of(dims[1], crop[1], s->y, &low, &high);
    box[0] += by_y * low;
    box[2] += by_y * high;
    bounds_of(dims[2], crop[2], s->x, &low, &high);
    box[1] += by_x * low;
    box[3] += by_x * high;
}

static leat_status grad_boxes_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[BACK_BOXES]);
    leati_operand pictures = call->inputs[BACK_IMAGES];
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (pictures.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[BACK_IMAGES], LEAT_FLOAT32,
                                           &pictures, err));
    for (int64_t row = 0; row < call->n; row++) {
        struct sums sums = {.pictures =
                                (const float *)(const void *)leati_support_row_of(&pictures, row),
                            .boxes = (float *)(void *)leati_support_row_of(&call->outputs[0], row)};
        call->failed_row = row;
        if (call->outputs[0].count > 0)
            memset(sums.boxes, 0, (size_t)call->outputs[0].count * sizeof(float));
        LEATI_TRY(crop_walk(call, row, sum_up, &sums, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

/* The descriptor of a gradient. */
#define BACK_OP(NAME, DOC, ...)                                                                    \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .types = "float32 T float32 Tindices",                                                     \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .rows = crop_rows,                                                                         \
        .args_size = sizeof(struct crop_args),                                                     \
        .min_inputs = 4,                                                                           \
        .max_inputs = 4,                                                                           \
        __VA_ARGS__,                                                                               \
    };
BACK_OP(crop_and_resize_grad_image,
        "What flows back through crop_and_resize into the pictures "
        "(tf.raw_ops.CropAndResizeGradImage).",
        .infer = grad_image_infer, .kernel = grad_image_kernel)
BACK_OP(
    crop_and_resize_grad_boxes,
    "What flows back through crop_and_resize into the boxes (tf.raw_ops.CropAndResizeGradBoxes).",
    .infer = grad_boxes_infer, .kernel = grad_boxes_kernel)

const leati_tensor_op leati_tensor_op_crop_and_resize = {
    .name = "crop_and_resize",
    .version = 1,
    .doc = "Boxes of pictures, each scaled to one size (tf.image.crop_and_resize).",
    .names = "image.crop_and_resize",
    .inputs = "image boxes box_indices",
    .types = "T float32 Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = crop_rows,
    .args_size = sizeof(struct crop_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .flags = LEATI_COSTLY,
    .infer = crop_and_resize_infer,
    .kernel = crop_and_resize_kernel,
    .gradient = crop_and_resize_gradient,
};
