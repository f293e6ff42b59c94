/* crop_and_resize: boxes of pictures [N, H, W, C], each scaled to one size, as float32
 * (tf.image.crop_and_resize).
 *
 * Boxes are [y1, x1, y2, x2] in fractions of height - 1 and width - 1; they may be turned over, and
 * what lies outside of a picture is extrapolation_value. Fails in a run on a box of a picture that
 * is not there. Gradients are crop_and_resize_grad_image and _grad_boxes; that of boxes
 * is the one of bilinear with either method, as in TensorFlow. No state, no locks. */
#include "graph/support/picture/crop.h"

#include <math.h>
#include <string.h>

const leati_row leati_crop_rows[] = {
    {.name = "crop_size",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_crop_args, crop_size),
     .doc = "Height and width of the result, in pixels."},
    {.name = "method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_crop_args, method),
     .default_text = "bilinear",
     .doc = "bilinear or nearest."},
    {.name = "extrapolation_value",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct leati_crop_args, extrapolation_value),
     .doc = "The value of what lies outside of the picture."},
    {0},
};

enum { IMAGES, BOXES, INDICES };

leat_status leati_crop_check(const struct leati_crop_args *args, bool size_known, leat_error *err) {
    const char *method = args->method == NULL ? "" : args->method;
    if (strcmp(method, "bilinear") != 0 && strcmp(method, "nearest") != 0)
        return leati_refuse(err, VALUE, "method is \"%.40s\"; expected \"bilinear\" or \"nearest\"",
                            method);
    if (size_known && (args->crop_size.count != 2 || args->crop_size.values[0] < 1 ||
                       args->crop_size.values[1] < 1))
        return leati_refuse(err, VALUE,
                            "crop_size has %d numbers; expected a height and a width of at least 1",
                            (int)args->crop_size.count);
    return LEAT_OK;
}

static leat_status crop_and_resize_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_crop_args *args = call->args;
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
    LEATI_TRY(leati_crop_check(args, call->unknown == 0, err));
    int64_t count = boxes->rank == 2 ? boxes->dims[0] : LEAT_UNKNOWN_DIM;
    if (count == LEAT_UNKNOWN_DIM && call->inputs[INDICES].shape.rank == 1)
        count = call->inputs[INDICES].shape.dims[0];
    leat_shape shape =
        LEAT_SHAPE(count, call->unknown ? LEAT_UNKNOWN_DIM : args->crop_size.values[0],
                   call->unknown ? LEAT_UNKNOWN_DIM : args->crop_size.values[1],
                   images->rank == 4 ? images->dims[3] : LEAT_UNKNOWN_DIM);
    return leati_op_infer_output(call, LEAT_FLOAT32, &shape, NULL, err);
}

leati_crop_line leati_crop_line_of(float low, float high, int64_t size, int64_t samples) {
    float last = (float)(size - 1);
    if (samples > 1)
        return (leati_crop_line){low * last, (high - low) * last / (float)(samples - 1), size - 1};
    return (leati_crop_line){0.5F * (low + high) * last, 0, size - 1};
}

static void fill(float *to, int64_t count, float value) {
    for (int64_t i = 0; i < count; i++)
        to[i] = value;
}

/* One row of a crop out of the rows above and below it. */
static void crop_row(const leati_crop_line *x, int64_t width, int64_t channels, const float *above,
                     const float *below, float lerp, float outside, float *to) {
    for (int64_t i = 0; i < width; i++, to += channels) {
        float at = x->first + (float)i * x->step;
        if (!(at >= 0) || at > (float)x->last) {
            fill(to, channels, outside);
            continue;
        }
        float floor = floorf(at), part = at - floor;
        int64_t left = (int64_t)floor * channels, right = (int64_t)ceilf(at) * channels;
        for (int64_t c = 0; c < channels; c++) {
            float top = above[left + c] + (above[right + c] - above[left + c]) * part;
            float bottom = below[left + c] + (below[right + c] - below[left + c]) * part;
            to[c] = top + (bottom - top) * lerp;
        }
    }
}

static void nearest_row(const leati_crop_line *x, int64_t width, int64_t channels,
                        const float *from, float outside, float *to) {
    for (int64_t i = 0; i < width; i++, to += channels) {
        float at = x->first + (float)i * x->step;
        if (!(at >= 0) || at > (float)x->last)
            fill(to, channels, outside);
        else
            memcpy(to, from + (int64_t)roundf(at) * channels, (size_t)channels * sizeof *to);
    }
}

static void crop_box(const struct leati_crop_args *args, const int64_t *dims, const float *picture,
                     const float *box, float *to) {
    int64_t height = args->crop_size.values[0], width = args->crop_size.values[1];
    int64_t stride = dims[2] * dims[3];
    float outside = (float)args->extrapolation_value;
    bool nearest = strcmp(args->method, "nearest") == 0;
    leati_crop_line y = leati_crop_line_of(box[0], box[2], dims[1], height);
    leati_crop_line x = leati_crop_line_of(box[1], box[3], dims[2], width);
    for (int64_t i = 0; i < height; i++, to += width * dims[3]) {
        float at = y.first + (float)i * y.step;
        if (!(at >= 0) || at > (float)y.last)
            fill(to, width * dims[3], outside);
        else if (nearest)
            nearest_row(&x, width, dims[3], picture + (int64_t)roundf(at) * stride, outside, to);
        else
            crop_row(&x, width, dims[3], picture + (int64_t)floorf(at) * stride,
                     picture + (int64_t)ceilf(at) * stride, at - floorf(at), outside, to);
    }
}

static leat_status crop_and_resize_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_crop_args *args = call->args;
    const leati_operand *boxes = &call->inputs[BOXES], *indices = &call->inputs[INDICES];
    leati_operand in = call->inputs[IMAGES];
    if (in.rank != 4 || boxes->rank != 2 || boxes->dims[1] != 4 || indices->rank != 1 ||
        indices->count != boxes->dims[0])
        return leati_refuse(
            err, SHAPE,
            "pictures of rank %d, %lld boxes and %lld indices; expected [N, H, W, C], "
            "[n, 4] and [n]",
            (int)in.rank, (long long)boxes->dims[0], (long long)indices->count);
    LEATI_TRY(leati_crop_check(args, true, err));
    leat_shape shape = LEAT_SHAPE(boxes->dims[0], args->crop_size.values[0],
                                  args->crop_size.values[1], in.dims[3]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (in.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[IMAGES], LEAT_FLOAT32, &in, err));
    int64_t picture = in.dims[1] * in.dims[2] * in.dims[3];
    int64_t crop = shape.dims[1] * shape.dims[2] * shape.dims[3];
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        for (int64_t i = 0; i < boxes->dims[0]; i++) {
            int64_t index = leati_support_index_at(indices, row, i);
            if (index < 0 || index >= in.dims[0] || picture == 0)
                return leati_refuse(
                    err, VALUE,
                    "box %lld is of picture %lld; expected one of the %lld pictures, "
                    "with pixels",
                    (long long)i, (long long)index, (long long)in.dims[0]);
            const float *box =
                (const float *)(const void *)leati_support_row_of(boxes, row) + 4 * i;
            if (!isfinite(box[0]) || !isfinite(box[1]) || !isfinite(box[2]) || !isfinite(box[3]))
                return leati_refuse(err, VALUE, "box %lld has a number that is not finite",
                                    (long long)i);
            crop_box(args, in.dims,
                     (const float *)(const void *)leati_support_row_of(&in, row) + index * picture,
                     box, (float *)(void *)leati_support_row_of(&call->outputs[0], row) + i * crop);
        }
    }
    return LEAT_OK;
}

static leat_status crop_and_resize_gradient(leati_gradient_call *call, leat_error *err) {
    const leat_value inputs[4] = {call->output_gradients[0], call->inputs[IMAGES],
                                  call->inputs[BOXES], call->inputs[INDICES]};
    leat_dtype dtype = leat_value_dtype(call->inputs[IMAGES]);
    (void)err;
    if (dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64)
        call->input_gradients[IMAGES] = leati_graph_build_many(
            &leati_tensor_op_crop_and_resize_grad_image, call->args, inputs, 4);
    call->input_gradients[BOXES] =
        leati_graph_build_many(&leati_tensor_op_crop_and_resize_grad_boxes, call->args, inputs, 4);
    return LEAT_OK;
}

leat_value leat_op_crop_and_resize(leat_value images, leat_value boxes, leat_value box_indices,
                                   int64_t crop_height, int64_t crop_width, const char *method,
                                   double extrapolation_value) {
    int64_t size[2] = {crop_height, crop_width};
    struct leati_crop_args args = {.crop_size = {.values = size, .count = 2},
                                   .method =
                                       (char *)(uintptr_t)(method != NULL ? method : "bilinear"),
                                   .extrapolation_value = extrapolation_value};
    return leati_graph_build3(&leati_tensor_op_crop_and_resize, &args, images, boxes, box_indices);
}

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
    .rows = leati_crop_rows,
    .args_size = sizeof(struct leati_crop_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .flags = LEATI_COSTLY,
    .infer = crop_and_resize_infer,
    .kernel = crop_and_resize_kernel,
    .gradient = crop_and_resize_gradient,
};
