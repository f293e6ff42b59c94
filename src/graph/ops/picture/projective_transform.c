/* projective_transform: pictures [N, H, W, C] looked at through a projection: the result's pixel
 * (x, y) is the picture's at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y
 * + 1 (tf.raw_ops.ImageProjectiveTransformV3 to the same size).
 *
 * The second input has the eight numbers a0 a1 a2 b0 b1 b2 c0 c1 of each picture, or one row for
 * all of them. Where k is 0, or what is asked for is no number, stands fill_value. The gradient by
 * the pictures is the gradient seen through the inverse, as in TensorFlow; projections have none.
 * Failures: other ranks, another number of projections. No state, no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/support.h"
#include <leat/ops.h>
#include <math.h>
#include <string.h>

struct projective_transform_args {
    char *interpolation, *fill_mode;
    double fill_value;
};

enum { IMAGES, TRANSFORMS };

static const leati_row projective_transform_rows[] = {
    {.name = "interpolation",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct projective_transform_args, interpolation),
     .default_text = "bilinear",
     .doc = "bilinear or nearest."},
    {.name = "fill_mode",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct projective_transform_args, fill_mode),
     .default_text = "constant",
     .doc = "What lies outside of a picture: constant (fill_value), nearest (its border), reflect "
            "(the picture mirrored) or wrap (the picture again)."},
    {.name = "fill_value",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct projective_transform_args, fill_value),
     .doc = "The value of what lies outside."},
    {0},
};

/* ---- where to look ---- */

/* The place inside of `size` pixels that stands for the place `at`. */
typedef float (*place)(float at, int64_t size);

static float clamp(float at, int64_t size) {
    float last = (float)(size - 1);
    return at < 0 ? 0 : LEATI_MIN(last, at);
}

static float as_it_is(float at, int64_t size) {
    (void)size;
    return at;
}

/* Mirrored with its border twice: d c b a | a b c d | d c b a. */
static float reflected(float at, int64_t size) {
    float period = (float)(2 * size);
    if (size <= 1)
        return 0;
    if (at < 0) {
        /* Whole periods first, in float as TensorFlow has it; then one mirror is left. */
        at += period * (float)(int64_t)(-at / period);
        at = at < -(float)size ? at + period : -at - 1;
    } else if (at > (float)(size - 1)) {
        at -= period * (float)(int64_t)(at / period);
        at = at >= (float)size ? period - at - 1 : at;
    }
    /* Rounding may have left the picture by a trifle. */
    return clamp(at, size);
}

/* Again and again: a b c d | a b c d | a b c d. */
static float wrapped(float at, int64_t size) {
    if (size <= 1)
        return 0;
    if (at < 0)
        /* TensorFlow counts turns by size - 1 and moves by size. */
        at += (float)size * (float)((int64_t)(-at / (float)(size - 1)) + 1);
    else if (at > (float)(size - 1))
        at -= (float)size * (float)(int64_t)(at / (float)(size - 1));
    return clamp(at, size);
}

static const struct {
    const char *name;
    place place;
} modes[] = {{"constant", as_it_is}, {"nearest", clamp}, {"reflect", reflected}, {"wrap", wrapped}};

static place place_of(const char *mode) {
    for (size_t i = 0; mode != NULL && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(mode, modes[i].name) == 0)
            return modes[i].place;
    return NULL;
}

static leat_status check_args(const struct projective_transform_args *args, leat_error *err) {
    const char *way = args->interpolation == NULL ? "" : args->interpolation;
    if (strcmp(way, "bilinear") != 0 && strcmp(way, "nearest") != 0)
        return leati_refuse(
            err, VALUE, "interpolation is \"%.40s\"; expected \"bilinear\" or \"nearest\"", way);
    if (place_of(args->fill_mode) == NULL)
        return leati_refuse(
            err, VALUE,
            "fill_mode is \"%.40s\"; expected \"constant\", \"nearest\", \"reflect\" "
            "or \"wrap\"",
            args->fill_mode == NULL ? "" : args->fill_mode);
    return LEAT_OK;
}

/* Of shapes of ranks 4 and 2 whose dimensions may be unknown. */
static leat_status check_shapes(const leat_shape *images, const leat_shape *transforms,
                                leat_error *err) {
    if (images->rank != 4 || transforms->rank != 2)
        return leati_refuse(err, SHAPE,
                            "pictures of rank %d and projections of rank %d; expected [N, H, W, C] "
                            "and [N, 8] or [1, 8]",
                            (int)images->rank, (int)transforms->rank);
    LEATI_TRY(
        leati_support_want_equal_dims(transforms->dims[1], 8, "the numbers of a projection", err));
    if (transforms->dims[0] == 1)
        return LEAT_OK;
    return leati_support_want_equal_dims(transforms->dims[0], images->dims[0],
                                         "the projections and the pictures", err);
}

static leat_status projective_transform_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *images = &call->inputs[IMAGES].shape;
    const leat_shape *transforms = &call->inputs[TRANSFORMS].shape;
    LEATI_TRY(leati_support_want_dtype(call, IMAGES, LEAT_FLOAT32, "images", err));
    LEATI_TRY(leati_support_want_rank(call, IMAGES, 4, "images", err));
    LEATI_TRY(leati_support_want_dtype(call, TRANSFORMS, LEAT_FLOAT32, "transforms", err));
    LEATI_TRY(leati_support_want_rank(call, TRANSFORMS, 2, "transforms", err));
    if (images->rank == 4 && transforms->rank == 2)
        LEATI_TRY(check_shapes(images, transforms, err));
    LEATI_TRY(check_args(call->args, err));
    return leati_op_infer_output(call, LEAT_FLOAT32, images, NULL, err);
}

/* ---- pixels ---- */

/* One picture and how it is looked at. */
typedef struct view {
    const float *pixels;
    int64_t height, width, channels;
    float outside; /* the value of what is not there */
} view;

/* The pixel at (y, x), or NULL. */
static const float *pixel(const view *v, float y, float x) {
    if (!(y >= 0 && y < (float)v->height && x >= 0 && x < (float)v->width))
        return NULL;
    return v->pixels + ((int64_t)y * v->width + (int64_t)x) * v->channels;
}

static void take_nearest(const view *v, float y, float x, float *to) {
    const float *from = pixel(v, roundf(y), roundf(x));
    for (int64_t c = 0; c < v->channels; c++)
        to[c] = from == NULL ? v->outside : from[c];
}

static void take_bilinear(const view *v, float y, float x, float *to) {
    /* Each corner outside has the outside's value, so edges fade into it. */
    float top = floorf(y), left = floorf(x), bottom = top + 1, right = left + 1;
    const float *corners[4] = {pixel(v, top, left), pixel(v, top, right), pixel(v, bottom, left),
                               pixel(v, bottom, right)};
    for (int64_t c = 0; c < v->channels; c++) {
        float values[4];
        for (int i = 0; i < 4; i++)
            values[i] = corners[i] == NULL ? v->outside : corners[i][c];
        float above = (right - x) * values[0] + (x - left) * values[1];
        float below = (right - x) * values[2] + (x - left) * values[3];
        to[c] = (bottom - y) * above + (y - top) * below;
    }
}

/* Beyond this no float tells neighbouring pixels apart. */
static bool is_a_place(float at) {
    return at > -1e9F && at < 1e9F;
}

static void transform_picture(const struct projective_transform_args *args, const view *v,
                              const float *t, float *to) {
    const place look = place_of(args->fill_mode);
    bool nearest = strcmp(args->interpolation, "nearest") == 0;
    for (int64_t row = 0; row < v->height; row++) {
        for (int64_t column = 0; column < v->width; column++, to += v->channels) {
            float across = (float)column, down = (float)row;
            /* The homogeneous coordinate; 0 is the horizon, where no pixel is. */
            float k = t[6] * across + t[7] * down + 1;
            float x = (t[0] * across + t[1] * down + t[2]) / k;
            float y = (t[3] * across + t[4] * down + t[5]) / k;
            if (k == 0 || !is_a_place(x) || !is_a_place(y))
                for (int64_t c = 0; c < v->channels; c++)
                    to[c] = v->outside;
            else if (nearest)
                take_nearest(v, look(y, v->height), look(x, v->width), to);
            else
                take_bilinear(v, look(y, v->height), look(x, v->width), to);
        }
    }
}

static leat_status projective_transform_kernel(leati_kernel_call *call, leat_error *err) {
    const struct projective_transform_args *args = call->args;
    const leati_operand *images = &call->inputs[IMAGES], *transforms = &call->inputs[TRANSFORMS];
    leat_shape shape = leati_support_operand_shape(images);
    leat_shape projections = leati_support_operand_shape(transforms);
    LEATI_TRY(check_shapes(&shape, &projections, err));
    LEATI_TRY(check_args(args, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t picture = shape.dims[1] * shape.dims[2] * shape.dims[3];
    for (int64_t row = 0, done = 0; row < call->n && picture > 0; row++)
        for (int64_t i = 0; i < shape.dims[0] && !leati_stop_look_after(16 * picture, &done); i++) {
            /* One projection may serve all pictures. */
            const float *t = (const float *)(const void *)leati_support_row_of(transforms, row);
            const view v = {.pixels =
                                (const float *)(const void *)leati_support_row_of(images, row) +
                                i * picture,
                            .height = shape.dims[1],
                            .width = shape.dims[2],
                            .channels = shape.dims[3],
                            .outside = (float)args->fill_value};
            transform_picture(args, &v, transforms->dims[0] == 1 ? t : t + 8 * i,
                              (float *)(void *)leati_support_row_of(&call->outputs[0], row) +
                                  i * picture);
        }
    return LEAT_OK;
}

/* ---- gradient ---- */

/* The projections of [n, 8] the other way round. */
static leat_value inverse(leat_value transforms) {
    leat_value first = leat_op_slice(transforms, (int64_t[]){0, 0}, 2, (int64_t[]){-1, 1}, 2);
    /* The matrix's ninth number, which is left out, is 1: the inverse is scaled to that. */
    leat_value whole = leat_op_concat((leat_value[]){transforms, leat_op_ones_like(first)}, 2, 1);
    leat_value turned =
        leat_op_matrix_inverse(leat_op_reshape(whole, (int64_t[]){-1, 3, 3}, 3), false);
    turned = leat_op_reshape(turned, (int64_t[]){-1, 9}, 2);
    leat_value last = leat_op_slice(turned, (int64_t[]){0, 8}, 2, (int64_t[]){-1, 1}, 2);
    return leat_op_divide(leat_op_slice(turned, (int64_t[]){0, 0}, 2, (int64_t[]){-1, 8}, 2), last);
}

static leat_status projective_transform_gradient(leati_gradient_call *call, leat_error *err) {
    struct projective_transform_args args = *(const struct projective_transform_args *)call->args;
    (void)err;
    /* What was read from outside sends nothing back. */
    args.fill_value = 0;
    call->input_gradients[IMAGES] =
        leati_graph_build2(&leati_tensor_op_projective_transform, &args, call->output_gradients[0],
                           inverse(call->inputs[TRANSFORMS]));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_projective_transform = {
    .name = "projective_transform",
    .version = 1,
    .doc = "Pictures looked at through projections (tf.raw_ops.ImageProjectiveTransformV3).",
    .inputs = "images transforms",
    .types = "float32 float32",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = projective_transform_rows,
    .args_size = sizeof(struct projective_transform_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_COSTLY,
    .infer = projective_transform_infer,
    .kernel = projective_transform_kernel,
    .gradient = projective_transform_gradient,
};
