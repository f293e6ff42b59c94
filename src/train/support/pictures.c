/* What the layers share that change pictures (train/support/pictures.h).
 *
 * Happy path: a call begins with floats of a batch, draws numbers for each picture in Keras' order
 * from the layer's generator, and ends in the form that the input had. Failures: factors and names
 * outside of what Keras takes, inputs of another rank, sizes that are unknown where they must be
 * known; draws fail as in train/noise. No locks. */
#include "train/support/pictures.h"
#include "base/error.h"
#include "base/minmax.h"
#include "graph/support/picture/resize.h"
#include "graph/support/random/stateless.h"
#include "graph/support/support.h"
#include "train/support/convolution.h"
#include "train/support/noise.h"
#include <leat/ops.h>
#include <math.h>
#include <string.h>

/* ---- arguments ---- */

leat_status leati_pictures_check_factor(const leati_floats *factor, const char *name,
                                        leati_picture_range bounds, leat_error *err) {
    if (factor->count > 2)
        return leati_refuse(
            err, VALUE,
            "The `%s` argument should be a number (or a list of two numbers). Received "
            "%d numbers",
            name, (int)factor->count);
    for (int32_t i = 0; i < factor->count; i++)
        /* NaN is refused too. */
        if (!(factor->values[i] >= bounds.low && factor->values[i] <= bounds.high))
            return leati_refuse(
                err, VALUE,
                "The `%s` argument should be a number (or a list of two numbers) in "
                "the range [%g, %g]. Received: %s=%g",
                name, bounds.low, bounds.high, name, factor->values[i]);
    return LEAT_OK;
}

static bool is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; name != NULL && i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    /* A layer without the argument has none to check. */
    return name == NULL;
}

leat_status leati_pictures_check(const struct leati_picture_args *args, leati_picture_range bounds,
                                 leat_error *err) {
    static const char *const ways[] = {"bilinear", "nearest"};
    static const char *const modes[] = {"reflect", "wrap", "constant", "nearest"};
    LEATI_TRY(leati_layer_check_channels_last(args->data_format, err));
    LEATI_TRY(leati_pictures_check_factor(&args->factor, "factor", bounds, err));
    LEATI_TRY(leati_pictures_check_factor(&args->height_factor, "height_factor", bounds, err));
    LEATI_TRY(leati_pictures_check_factor(&args->width_factor, "width_factor", bounds, err));
    if (args->value_range.count != 0 && args->value_range.count != 2)
        return leati_refuse(
            err, VALUE,
            "The `value_range` argument should be a list of two numbers. Received %d "
            "numbers",
            (int)args->value_range.count);
    if (!is_among(args->interpolation, ways, 2))
        return leati_refuse(err, VALUE, "interpolation is \"%.60s\"; expected bilinear or nearest",
                            args->interpolation);
    if (!is_among(args->fill_mode, modes, 4))
        return leati_refuse(err, VALUE,
                            "fill_mode is \"%.60s\"; expected reflect, wrap, constant or nearest",
                            args->fill_mode);
    return LEAT_OK;
}

static leati_picture_range sorted(double a, double b) {
    return a <= b ? (leati_picture_range){a, b} : (leati_picture_range){b, a};
}

leati_picture_range leati_pictures_factor_range(const leati_floats *factor, double standard,
                                                double least) {
    if (factor->count == 2)
        return sorted(factor->values[0], factor->values[1]);
    double size = fabs(factor->count == 1 ? factor->values[0] : standard);
    /* Of one number the other bound is its opposite, but not below what the factor may be. */
    return (leati_picture_range){LEATI_MAX(least, -size), size};
}

leati_picture_range leati_pictures_value_range(const leati_floats *range) {
    return range->count == 2 ? sorted(range->values[0], range->values[1])
                             : (leati_picture_range){0, 255};
}

leati_seed_argument leati_picture_seed(const void *args) {
    return ((const struct leati_picture_args *)args)->seed;
}

leat_status leati_picture_weights(const void *args, const leat_shape *input, leati_weights *out,
                                  leat_error *err) {
    (void)args;
    (void)input;
    (void)err;
    leati_noise_state(true, out);
    return LEAT_OK;
}

/* ---- calls ---- */

leati_picture_arguments leati_pictures_begin(const leati_pass *pass) {
    leati_picture_arguments pictures = {.pass = pass, .x = pass->inputs[0]};
    int32_t rank = leat_value_shape(pictures.x).rank;
    if (rank != 3 && rank != 4) {
        pictures.x =
            leati_support_build_error(pictures.x.graph, LEAT_REASON_SHAPE,
                                      "expected one picture [height, width, channels], or a batch "
                                      "of them, with a rank that is known");
        return pictures;
    }
    if (!leati_graph_dtype_is_floating(leat_value_dtype(pictures.x)))
        /* Keras' layers compute integers as floats. */
        pictures.x = leat_op_cast(pictures.x, LEAT_FLOAT32);
    pictures.single = rank == 3;
    if (pictures.single)
        /* One picture is a batch of one, until leati_pictures_end. */
        pictures.x = leat_op_expand_dims(pictures.x, 0);
    return pictures;
}

leat_value leati_pictures_end(const leati_picture_arguments *pictures, leat_value value) {
    return pictures->single ? leat_op_squeeze(value, (const int64_t[]){0}, 1) : value;
}

leat_value leati_pictures_seeds(leati_picture_arguments *pictures, int count) {
    int first = pictures->draws;
    /* Numbered within the call, so that each draw has a seed of its own. */
    pictures->draws += count;
    return leati_noise_seeds(pictures->pass, 0, first, count);
}

leat_value leati_pictures_seed(leati_picture_arguments *pictures) {
    return leati_pictures_seeds(pictures, 1);
}

/* One set of numbers for each picture, broadcasting over its pixels. */
static leat_value draw_floats(leati_picture_arguments *pictures, int64_t count,
                              leati_picture_range range) {
    int64_t dims[4] = {-1, 1, 1, count};
    return leati_noise_between_floats(leati_pictures_seed(pictures), pictures->x,
                                      &(leati_ints){dims, 4}, range.low, range.high);
}

leat_value leati_pictures_draw(leati_picture_arguments *pictures, int64_t count,
                               leati_picture_range range) {
    leat_value drawn = draw_floats(pictures, count, range);
    leat_dtype dtype = leat_value_dtype(pictures->x);
    return dtype == LEAT_FLOAT32 ? drawn : leat_op_cast(drawn, dtype);
}

leat_value leati_pictures_draw_own(leati_picture_arguments *pictures, int64_t count,
                                   leati_picture_range range) {
    int64_t dims[4] = {-1, 1, 1, count};
    return leati_noise_between(leati_pictures_seed(pictures), pictures->x, &(leati_ints){dims, 4},
                               range.low, range.high);
}

leat_value leati_pictures_chosen(leati_picture_arguments *pictures, leati_picture_range chance) {
    leat_value bound = draw_floats(pictures, 1, chance);
    return leat_op_less(draw_floats(pictures, 1, (leati_picture_range){0, 1}), bound);
}

leat_value leati_pictures_draw_vector(leati_picture_arguments *pictures, int64_t count,
                                      leati_picture_range range) {
    return leati_stateless_build(leati_pictures_seed(pictures), &leati_tensor_op_stateless_uniform,
                                 LEAT_SHAPE(count), leat_value_dtype(pictures->x), range.low,
                                 range.high);
}

leat_value leati_pictures_draw_normal(leati_picture_arguments *pictures) {
    return leati_noise_normal(leati_pictures_seed(pictures), pictures->x, &(leati_ints){0});
}

leat_value leati_pictures_draw_integers(leati_picture_arguments *pictures,
                                        leati_picture_range range) {
    int64_t dims[4] = {-1, 1, 1, 1};
    /* Only its dtype and batch's size are used. */
    leat_value like = leat_op_cast(leati_pictures_corner(pictures->x), LEAT_INT64);
    return leati_noise_between(leati_pictures_seed(pictures), like, &(leati_ints){dims, 4},
                               range.low, range.high);
}

leat_value leati_pictures_corner(leat_value x) {
    return leat_op_slice(x, (const int64_t[]){0, 0, 0, 0}, 4, (const int64_t[]){-1, 1, 1, 1}, 4);
}

leat_value leati_pictures_part(leat_value numbers, int64_t index) {
    return leat_op_slice(numbers, (const int64_t[]){0, 0, 0, index}, 4,
                         (const int64_t[]){-1, -1, -1, 1}, 4);
}

leat_value leati_pictures_sign(leat_value drawn) {
    leat_value one = leat_op_ones_like(drawn);
    leat_value half = leati_support_times(one, 0.5);
    return leat_op_select(leat_op_greater(drawn, half), leat_op_negate(one), one);
}

leat_value leati_pictures_size(const leati_picture_arguments *pictures, int dimension) {
    leat_value x = pictures->x;
    leat_dtype dtype = leat_value_dtype(x);
    if (leati_support_value_failed(x))
        return x;
    int64_t known = leat_value_shape(x).dims[dimension];
    if (known >= 0)
        /* A constant where it can be one, for the shapes that follow from it. */
        return leati_support_number(x.graph, dtype, (double)known);
    leat_value all = leat_op_shape(x, LEAT_INT64);
    leat_value one = leat_op_slice(all, (const int64_t[]){dimension}, 1, (const int64_t[]){1}, 1);
    return leat_op_cast(leat_op_squeeze(one, NULL, 0), dtype);
}

leat_value leati_pictures_rows(const leati_picture_arguments *pictures, const leat_value *numbers,
                               int count) {
    leat_value rows[LEATI_PICTURE_NUMBERS];
    /* Adding zeros of shape [batch, 1, 1, 1] gives numbers without a batch one row per picture. */
    leat_value none = leat_op_zeros_like(leati_pictures_corner(pictures->x));
    for (int i = 0; i < count; i++)
        rows[i] = leat_op_add(none, numbers[i]);
    return leat_op_reshape(leat_op_concat(rows, count, 3), (const int64_t[]){-1, count}, 2);
}

leat_value leati_pictures_project(const leati_picture_arguments *pictures,
                                  const struct leati_picture_args *args, leat_value table) {
    leat_value x = pictures->x;
    if (leati_support_value_failed(x))
        return x;
    /* Classes must not be blended. */
    leat_value seen = leat_op_projective_transform(
        leat_op_cast(x, LEAT_FLOAT32), leat_op_cast(table, LEAT_FLOAT32),
        args->masks ? "nearest" : args->interpolation, args->fill_mode, args->fill_value);
    return leat_op_cast(seen, leat_value_dtype(x));
}

leat_value leati_pictures_view(const leati_picture_arguments *pictures,
                               const struct leati_picture_args *args, const leat_value *numbers) {
    leat_value none = leati_support_number(pictures->x.graph, leat_value_dtype(pictures->x), 0);
    /* The last two numbers are those of perspective, 0 for affine views. */
    const leat_value all[8] = {numbers[0], numbers[1], numbers[2], numbers[3],
                               numbers[4], numbers[5], none,       none};
    return leati_pictures_project(pictures, args, leati_pictures_rows(pictures, all, 8));
}

/* ---- values ---- */

leat_value leati_pictures_linear(leat_value x, double number, double offset) {
    if (leati_support_value_failed(x))
        return x;
    x = leati_support_times(x, number);
    /* No operation for adding nothing. */
    return offset == 0 ? x
                       : leat_op_add(x, leati_support_number(x.graph, leat_value_dtype(x), offset));
}

leat_value leati_pictures_clip(leat_value x, leati_picture_range range) {
    if (leati_support_value_failed(x))
        return x;
    leat_dtype dtype = leat_value_dtype(x);
    return leat_op_clip_by_value(x, leati_support_number(x.graph, dtype, range.low),
                                 leati_support_number(x.graph, dtype, range.high));
}

leat_value leati_pictures_rescale(leat_value x, leati_picture_range from, leati_picture_range to) {
    if (leati_support_value_failed(x) || (from.low == to.low && from.high == to.high))
        return x;
    leat_value width = leati_support_number(x.graph, leat_value_dtype(x), from.high - from.low);
    x = leat_op_divide(leati_pictures_linear(x, 1, -from.low), width);
    return leati_pictures_linear(x, to.high - to.low, to.low);
}

leat_value leati_pictures_grey(leat_value x) {
    /* TensorFlow's weights of rgb_to_grayscale. */
    const leati_floats parts = {(double[]){0.2989, 0.5870, 0.1140}, 3};
    if (leati_support_value_failed(x) || leat_value_shape(x).dims[3] == 1)
        return x;
    leat_value weighted = leat_op_multiply(x, leati_layer_numbers_value(x, &parts));
    return leat_op_reduce_sum(weighted, (const int64_t[]){3}, 1, true);
}

int64_t leati_pictures_known_channels(leat_value x) {
    int64_t channels = leat_value_shape(x).dims[3];
    if (channels < 1)
        (void)leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "the number of channels is unknown; it must be known here: use "
            "leat_op_ensure_shape");
    return channels;
}

leat_value leati_pictures_filter(leat_value x, leat_value kernel) {
    const leat_value failed = {.graph = x.graph, .id = -1};
    if (leati_support_value_failed(x) || leati_support_value_failed(kernel))
        return failed;
    leat_shape window = leat_value_shape(kernel);
    int64_t channels = leati_pictures_known_channels(x);
    if (channels < 1)
        return failed;
    const leati_windows windows = {.directions = 2,
                                   .size = {window.dims[0], window.dims[1]},
                                   .strides = {1, 1},
                                   .dilations = {1, 1},
                                   .padding = LEAT_SAME};
    kernel = leat_op_reshape(kernel, (const int64_t[]){window.dims[0], window.dims[1], 1, 1}, 4);
    kernel = leat_op_tile(kernel, (const int64_t[]){1, 1, channels, 1}, 4);
    return leati_convolution_run_depthwise(x, kernel, &windows);
}

/* ---- colours ---- */

void leati_pictures_brighten(leati_picture_arguments *pictures, leati_picture_range factor,
                             leati_picture_range values) {
    leat_value delta = leati_pictures_draw(pictures, 1, factor);
    delta = leati_pictures_linear(delta, values.high - values.low, 0);
    pictures->x = leati_pictures_clip(leat_op_add(pictures->x, delta), values);
}

void leati_pictures_contrast(leati_picture_arguments *pictures, leati_picture_range factor,
                             leati_picture_range values) {
    /* The range's bounds are how much less and how much more than 1, hence the signs. */
    const leati_picture_range around = {1 - factor.low, 1 + factor.high};
    leat_value by = leati_pictures_draw_own(pictures, 1, around), x = pictures->x;
    /* First along the height, then the width: Keras rounds in that order. */
    leat_value mean = leat_op_reduce_mean(x, (const int64_t[]){1}, 1, true);
    mean = leat_op_reduce_mean(mean, (const int64_t[]){2}, 1, true);
    x = leat_op_add(leat_op_multiply(leat_op_subtract(x, mean), by), mean);
    pictures->x = leati_pictures_clip(x, values);
}

/* A picture in hue, saturation and value, of which one channel is another, as red, green and blue;
 * as in TensorFlow no gradient flows through it. */
static leat_value with_channel(leat_value x, int channel, leat_value another) {
    leat_value parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] = i == channel ? another : leati_pictures_part(x, i);
    return leat_op_hsv_to_rgb(leat_op_stop_gradient(leat_op_concat(parts, 3, 3)));
}

void leati_pictures_saturate(leati_picture_arguments *pictures, leati_picture_range factor,
                             leati_picture_range values) {
    leat_value by = leati_pictures_draw(pictures, 1, factor);
    if (leati_support_value_failed(by))
        return;
    /* f / (1 - f), kept finite at f = 1. */
    leat_value rest = leat_op_subtract(leat_op_ones_like(by), by);
    by = leat_op_divide(by, leati_pictures_linear(rest, 1, 1e-7));
    leat_value x = leat_op_rgb_to_hsv(pictures->x);
    leat_value saturation = leat_op_multiply(leati_pictures_part(x, 1), by);
    pictures->x = with_channel(x, 1, leati_pictures_clip(saturation, values));
}

void leati_pictures_shift_hue(leati_picture_arguments *pictures, leati_picture_range factor,
                              leati_picture_range values) {
    const leati_picture_range unit = {0, 1};
    leat_value sign = leati_pictures_sign(leati_pictures_draw(pictures, 1, unit));
    /* Two draws: which way, then how far. */
    leat_value by = leat_op_multiply(sign, leati_pictures_draw(pictures, 1, factor));
    leat_value x = leat_op_rgb_to_hsv(leati_pictures_rescale(pictures->x, values, unit));
    leat_value hue = leat_op_add(leati_pictures_part(x, 0), leati_pictures_linear(by, 0.5, 0));
    if (leati_support_value_failed(hue))
        return;
    leat_value one = leati_support_number(hue.graph, leat_value_dtype(hue), 1);
    leat_value none = leati_support_number(hue.graph, leat_value_dtype(hue), 0);
    /* Hues are a circle of length 1; a turn of less than that leaves it at most once. */
    hue = leat_op_select(leat_op_greater(hue, one), leat_op_subtract(hue, one), hue);
    hue = leat_op_select(leat_op_less(hue, none), leat_op_add(hue, one), hue);
    pictures->x =
        leati_pictures_rescale(leati_pictures_clip(with_channel(x, 0, hue), unit), unit, values);
}

/* ---- sizes ---- */

/* `part` of `whole` in the middle of a dimension, as Keras rounds it. */
static int64_t middle(int64_t whole, int64_t part) {
    return (int64_t)((float)(whole - part) / 2);
}

/* The size that goes with `other` at the proportions of `size` to `of`. */
static int64_t in_proportion(int64_t other, int64_t size, int64_t of) {
    return (int64_t)((float)(other * size) / (float)of);
}

/* As much of the middle as has the proportions of the result. */
static leat_value cut(leat_value x, const leati_scaling_layer *scaling, int64_t height,
                      int64_t width) {
    int64_t rows = in_proportion(width, scaling->height, scaling->width);
    int64_t columns = in_proportion(height, scaling->width, scaling->height);
    /* Rounded down it may be 0; a cut needs a pixel. */
    rows = rows > height ? height : LEATI_MAX(1, rows);
    columns = columns > width ? width : LEATI_MAX(1, columns);
    return leat_op_slice(x, (const int64_t[]){0, middle(height, rows), middle(width, columns), 0},
                         4, (const int64_t[]){-1, rows, columns, -1}, 4);
}

/* A border of `fill` that gives the proportions of the result, or nearly. */
static leat_value pad(leat_value x, const leati_scaling_layer *scaling, int64_t height,
                      int64_t width) {
    int64_t rows = in_proportion(width, scaling->height, scaling->width);
    int64_t columns = in_proportion(height, scaling->width, scaling->height);
    int64_t above = rows > height ? middle(rows, height) : 0;
    int64_t beside = columns > width ? middle(columns, width) : 0;
    const int64_t paddings[8] = {0, 0, above, above, beside, beside, 0, 0};
    leat_value fill = leati_support_number(x.graph, leat_value_dtype(x), scaling->fill);
    /* Ones padded with zeros tell the pictures from the border, which then is filled. */
    leat_value inside = leat_op_pad(leat_op_ones_like(x), paddings, 4);
    return leat_op_select(leat_op_cast(inside, LEAT_BOOL), leat_op_pad(x, paddings, 4), fill);
}

leat_value leati_pictures_scale(leat_value x, const leati_scaling_layer *scaling) {
    if (leati_support_value_failed(x))
        return x;
    leat_shape shape = leat_value_shape(x);
    int64_t height = shape.dims[1], width = shape.dims[2];
    int64_t size[2] = {scaling->height, scaling->width};
    const struct leati_resize_args args = {.size = {.values = size, .count = 2},
                                           .method = leati_kind_borrow_text(scaling->method),
                                           .antialias = scaling->antialias};
    if ((scaling->cut || scaling->padded) && (height < 1 || width < 1))
        return leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "height and width are unknown; keeping proportions needs them: "
            "use leat_op_ensure_shape, or resize without");
    if (scaling->cut)
        x = cut(x, scaling, height, width);
    else if (scaling->padded)
        x = pad(x, scaling, height, width);
    return leati_graph_build1(&leati_tensor_op_resize, &args, x);
}
