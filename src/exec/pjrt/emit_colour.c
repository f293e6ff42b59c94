/* Colours of pictures, put together of elementwise operations: spaces, adjusted values, and numbers
 * of other dtypes as tf.image scales them.
 *
 * They follow the plain kernels step by step, but sums and logarithms are the device's. No
 * failures of their own, no state. */
#include "exec/pjrt/emit_compose.h"

#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "exec/compute.h"
#include "graph/support/math/saturate.h"
#include "graph/support/picture/colour.h"
#include "graph/support/picture/pictures.h"
#include <math.h>

/* ---- numbers ---- */

static leat_value number(leat_value like, double x) {
    return leati_emit_number_like(like, x);
}

static leat_value channel(leat_value x, int64_t c) {
    return leati_emit_part_along(x, -1, c, 1);
}

static leat_value clip(leat_value x, double low, double high) {
    return leat_op_clip_by_value(x, number(x, low), number(x, high));
}

static leat_value saturated(leat_value x, leat_dtype to) {
    uint64_t bounds[2] = {0};
    leat_dtype from = leat_value_dtype(x);
    if (!leati_saturate_bounds(from, to, &bounds[0], &bounds[1]))
        return x;
    return leat_op_clip_by_value(x, leati_emit_constant(x.graph, from, LEAT_SCALAR, &bounds[0]),
                                 leati_emit_constant(x.graph, from, LEAT_SCALAR, &bounds[1]));
}

leat_value leati_emit_image_as(leat_value x, leat_dtype to, bool saturate) {
    leat_dtype from = leat_value_dtype(x);
    if (from == to)
        return x;
    if (leati_dtype_is_float(to)) {
        x = leat_op_cast(x, to);
        return leati_dtype_is_float(from)
                   ? x
                   : leati_support_times(x, 1 / leati_saturate_largest(from));
    }
    int down = leati_dtype_is_float(from) ? 0 : leati_saturate_bits(from) - leati_saturate_bits(to);
    if (leati_dtype_is_float(from))
        x = leati_support_times(x, leati_saturate_largest(to) + 0.5);
    else if (down > 0)
        x = leat_op_floordiv(x, number(x, ldexp(1, down)));
    /* TensorFlow's upper bound wraps to -1 there, which leaves nothing but zeros. */
    if (saturate && from == LEAT_INT64 && to == LEAT_UINT64)
        x = leat_op_zeros_like(x);
    else if (saturate)
        x = saturated(x, to);
    x = leat_op_cast(x, to);
    return down < 0 ? leati_support_times(x, ldexp(1, -down)) : x;
}

static void build_convert_image(const leati_emit *emit, const leat_value *in, leat_value *out) {
    const struct leati_convert_args *args = emit->node->source->args;
    out[0] = leati_emit_image_as(in[0], args->dtype, args->saturate);
}
LEATI_EMIT_COMPOSED(convert_image)

static void build_saturate_cast(const leati_emit *emit, const leat_value *in, leat_value *out) {
    leat_dtype to = leati_emit_dtype(emit, 0);
    leat_value x = saturated(in[0], to);
    out[0] = leat_op_cast(x, to);
    /* Of a NaN, and of what a float just could not clip, the CPU makes the number with the first
     * bit alone. */
    if (leati_dtype_is_float(leat_value_dtype(x)) &&
        (to == LEAT_INT32 || to == LEAT_INT64 || to == LEAT_UINT64))
        out[0] = leat_op_select(
            leat_op_less(x, number(x, ldexp(1, leati_saturate_bits(to)))), out[0],
            number(out[0], to == LEAT_UINT64 ? 0x1p63 : -ldexp(1, leati_saturate_bits(to))));
}
LEATI_EMIT_COMPOSED(saturate_cast)

/* ---- adjusted ---- */

leat_value leati_emit_brighter(leat_value x, leat_value amount) {
    return leat_op_add(x, amount);
}

leat_value leati_emit_contrasted(leat_value x, leat_value amount) {
    leat_value mean = leat_op_reduce_mean(x, (int64_t[]){-3, -2}, 2, true);
    return leat_op_add(mean, leat_op_multiply(leat_op_subtract(x, mean), amount));
}

/* Is a whole number one of two? */
static leat_value is_either(leat_value x, double a, double b) {
    return leat_op_logical_or(leat_op_equal(x, number(x, a)), leat_op_equal(x, number(x, b)));
}

/* A colour by its sixth of the circle, which says what channel is highest and what between. */
static leat_value put_colour(leat_value sixth, leat_value high, leat_value middle, leat_value low) {
    static const double highs[3][2] = {{0, 5}, {1, 2}, {3, 4}};
    static const double middles[3][2] = {{1, 4}, {0, 3}, {2, 5}};
    leat_value channels[3];
    for (int c = 0; c < 3; c++)
        channels[c] = leat_op_select(
            is_either(sixth, highs[c][0], highs[c][1]), high,
            leat_op_select(is_either(sixth, middles[c][0], middles[c][1]), middle, low));
    return leat_op_concat(channels, 3, -1);
}

static leat_value largest_of(const leat_value rgb[3]) {
    return leat_op_maximum(leat_op_maximum(rgb[0], rgb[1]), rgb[2]);
}

static leat_value least_of(const leat_value rgb[3]) {
    return leat_op_minimum(leat_op_minimum(rgb[0], rgb[1]), rgb[2]);
}

/* In odd sixths the middle channel falls with the hue. */
static leat_value unfold(leat_value ratio, leat_value sixth) {
    leat_value odd = leat_op_greater(leat_op_floormod(sixth, number(sixth, 2)), number(sixth, 0));
    return leat_op_select(odd, leat_op_subtract(number(ratio, 1), ratio), ratio);
}

/* The sixth of the circle by the channels' order. */
static leat_value sixth_of(const leat_value rgb[3]) {
    leat_value red_first = leat_op_greater_equal(rgb[0], rgb[1]);
    leat_value small = leat_op_minimum(rgb[0], rgb[1]), large = leat_op_maximum(rgb[0], rgb[1]);
    leat_value below = leat_op_less(rgb[2], small), above = leat_op_greater(rgb[2], large);
    leat_value falling = leat_op_select(below, number(small, 0),
                                        leat_op_select(above, number(small, 4), number(small, 5)));
    leat_value rising = leat_op_select(below, number(small, 1),
                                       leat_op_select(above, number(small, 3), number(small, 2)));
    return leat_op_select(red_first, falling, rising);
}

leat_value leati_emit_turned(leat_value x, leat_value amount) {
    const leat_value rgb[3] = {channel(x, 0), channel(x, 1), channel(x, 2)};
    leat_value high = largest_of(rgb), low = least_of(rgb);
    leat_value middle = leat_op_maximum(leat_op_minimum(rgb[0], rgb[1]),
                                        leat_op_minimum(leat_op_maximum(rgb[0], rgb[1]), rgb[2]));
    leat_value range = leat_op_subtract(high, low), sixth = sixth_of(rgb);
    leat_value ratio = leat_op_divide(leat_op_subtract(middle, low), range);
    leat_value hue = leat_op_add(sixth, unfold(ratio, sixth));
    hue = leat_op_select(leat_op_not_equal(high, low), hue, number(hue, 0));
    hue = leat_op_add(hue, leati_support_times(amount, 6));
    leat_value six = number(hue, 6);
    hue = leat_op_select(leat_op_less(hue, number(hue, 0)), leat_op_add(hue, six), hue);
    for (int turn = 0; turn < 2; turn++)
        hue = leat_op_select(leat_op_greater_equal(hue, six), leat_op_subtract(hue, six), hue);
    leat_value part = leat_op_floor(hue);
    ratio = unfold(leat_op_subtract(hue, part), part);
    return put_colour(part, high, leat_op_add(low, leat_op_multiply(ratio, range)), low);
}

/* [hue, saturation, value]. */
static void split_hsv(leat_value x, leat_value out[3]) {
    const leat_value rgb[3] = {channel(x, 0), channel(x, 1), channel(x, 2)};
    leat_value value = largest_of(rgb), range = leat_op_subtract(value, least_of(rgb));
    leat_value zero = number(value, 0), one = number(value, 1);
    leat_value norm = leati_support_times(leat_op_reciprocal(range), 1.0 / 6), hue[3];
    for (int c = 0; c < 3; c++) {
        leat_value step = leat_op_subtract(rgb[(c + 1) % 3], rgb[(c + 2) % 3]);
        hue[c] = leat_op_add(leat_op_multiply(norm, step), number(value, c * 2.0 / 6));
    }
    /* Red counts before green and green before blue where two are highest. */
    out[0] = leat_op_select(leat_op_equal(rgb[1], value), hue[1], hue[2]);
    out[0] = leat_op_select(leat_op_equal(rgb[0], value), hue[0], out[0]);
    out[0] = leat_op_select(leat_op_greater(range, zero), out[0], zero);
    out[0] = leat_op_select(leat_op_less(out[0], zero), leat_op_add(out[0], one), out[0]);
    out[1] = leat_op_select(leat_op_greater(value, zero), leat_op_divide(range, value), zero);
    out[2] = value;
}

leat_value leati_emit_saturated(leat_value x, leat_value amount) {
    leat_value hsv[3];
    split_hsv(x, hsv);
    leat_value chroma = leat_op_multiply(clip(leat_op_multiply(hsv[1], amount), 0, 1), hsv[2]);
    leat_value low = leat_op_subtract(hsv[2], chroma), zero = number(low, 0);
    leat_value sixth = leati_support_times(hsv[0], 6);
    /* A hue of 1 itself, or none that is a number: the colour stays grey. */
    leat_value coloured = leat_op_logical_and(leat_op_greater_equal(sixth, zero),
                                              leat_op_less(sixth, number(sixth, 6)));
    leat_value part = leat_op_floor(sixth), one = number(low, 1);
    leat_value turned = leat_op_floormod(sixth, number(sixth, 2));
    leat_value middle =
        leat_op_multiply(chroma, leat_op_subtract(one, leat_op_abs(leat_op_subtract(turned, one))));
    return put_colour(part, leat_op_select(coloured, leat_op_add(chroma, low), low),
                      leat_op_select(coloured, leat_op_add(middle, low), low), low);
}

/* As float32, adjusted, and back; float64 too, as the kernels do. */
static void adjust(const leati_emit *emit, const leat_value *in, leat_value *out,
                   leati_emit_adjuster *adjuster, bool saturate) {
    leat_value x = leati_emit_image_as(in[0], LEAT_FLOAT32, false);
    leat_value amount =
        number(x, ((const struct leati_adjust_args *)emit->node->source->args)->amount);
    out[0] = leati_emit_image_as(adjuster(x, amount), leat_value_dtype(in[0]), saturate);
}

#define ADJUSTED(NAME, ADJUSTER, SATURATE)                                                         \
    static void build_##NAME(const leati_emit *emit, const leat_value *in, leat_value *out) {      \
        adjust(emit, in, out, ADJUSTER, SATURATE);                                                 \
    }                                                                                              \
    LEATI_EMIT_COMPOSED(NAME)
ADJUSTED(adjust_brightness, leati_emit_brighter, true)
ADJUSTED(adjust_contrast, leati_emit_contrasted, true)
ADJUSTED(adjust_hue, leati_emit_turned, false)
ADJUSTED(adjust_saturation, leati_emit_saturated, false)

static void build_adjust_gamma(const leati_emit *emit, const leat_value *in, leat_value *out) {
    leat_value x = leati_emit_image_as(in[0], LEAT_FLOAT32, false);
    x = leat_op_pow(x, number(x, leati_emit_float(emit, "gamma")));
    x = leati_support_times(x, leati_emit_float(emit, "gain"));
    out[0] = leati_emit_image_as(x, leat_value_dtype(in[0]), true);
}
LEATI_EMIT_COMPOSED(adjust_gamma)

/* ---- spaces ---- */

static leat_value numbers(leat_value like, const double *values, leat_shape shape) {
    return leat_op_cast(leati_emit_constant(like.graph, LEAT_FLOAT64, shape, values),
                        leat_value_dtype(like));
}

static void build_rgb_to_grayscale(const leati_emit *emit, const leat_value *in, leat_value *out) {
    static const double weights[3] = {0.2989, 0.587, 0.114};
    const int64_t last = -1;
    (void)emit;
    leat_value x = leati_emit_image_as(in[0], LEAT_FLOAT32, false);
    x = leat_op_multiply(x, numbers(x, weights, LEAT_SHAPE(3)));
    x = leat_op_reduce_sum(x, &last, 1, true);
    out[0] = leati_emit_image_as(x, leat_value_dtype(in[0]), false);
}
LEATI_EMIT_COMPOSED(rgb_to_grayscale)

static void build_grayscale_to_rgb(const leati_emit *emit, const leat_value *in, leat_value *out) {
    (void)emit;
    const leat_value three[3] = {in[0], in[0], in[0]};
    out[0] = leat_op_concat(three, 3, -1);
}
LEATI_EMIT_COMPOSED(grayscale_to_rgb)

static leat_value wide(leat_value x) {
    return leat_value_dtype(x) == LEAT_FLOAT64 ? x : leat_op_cast(x, LEAT_FLOAT32);
}

static void build_rgb_to_hsv(const leati_emit *emit, const leat_value *in, leat_value *out) {
    leat_value hsv[3];
    (void)emit;
    split_hsv(wide(in[0]), hsv);
    out[0] = leat_op_concat(hsv, 3, -1);
}
LEATI_EMIT_COMPOSED(rgb_to_hsv)

/* 1 / number, but 0 for 0. */
static leat_value over(leat_value x) {
    return leat_op_divide_no_nan(number(x, 1), x);
}

static leat_value where(leat_value condition, leat_value x) {
    return leat_op_select(condition, x, number(x, 0));
}

static leat_value both(leat_value a, leat_value b) {
    return leat_op_logical_and(a, b);
}

/* Which channel is `largest` and which `least`, as the kernel compares them. */
static void find_ends(const leat_value rgb[3], leat_value most[3], leat_value least[3]) {
    leat_value r = rgb[0], g = rgb[1], b = rgb[2];
    most[0] = both(leat_op_greater_equal(r, b), leat_op_greater_equal(r, g));
    most[1] = both(leat_op_logical_not(most[0]),
                   both(leat_op_greater(g, r), leat_op_greater_equal(g, b)));
    least[0] = both(leat_op_less(r, b), leat_op_less(r, g));
    least[1] =
        both(leat_op_logical_not(least[0]), both(leat_op_less_equal(g, r), leat_op_less(g, b)));
    most[2] = leat_op_logical_not(leat_op_logical_or(most[0], most[1]));
    least[2] = leat_op_logical_not(leat_op_logical_or(least[0], least[1]));
}

/* The channel `ahead` places behind the one that a mask marks, in the circle's order. */
static leat_value marked(const leat_value masks[3], const leat_value values[3], int ahead) {
    leat_value rest = leat_op_select(masks[1], values[(1 + ahead) % 3], values[(2 + ahead) % 3]);
    return leat_op_select(masks[0], values[ahead % 3], rest);
}

/* Inputs: colours, the gradient of their hue, saturation and value. Hue is
 * (first - second) / (6 range) + constant, of the two channels behind the highest. */
static void build_rgb_to_hsv_grad(const leati_emit *emit, const leat_value *in, leat_value *out) {
    leat_value x = leat_op_cast(in[0], LEAT_FLOAT32), g = leat_op_cast(in[1], LEAT_FLOAT32);
    const leat_value rgb[3] = {channel(x, 0), channel(x, 1), channel(x, 2)};
    leat_value most[3], least[3], channels[3];
    (void)emit;
    find_ends(rgb, most, least);
    leat_value high = marked(most, rgb, 0), low = marked(least, rgb, 0);
    leat_value range = leat_op_subtract(high, low), step = over(range), zero = number(high, 0);
    leat_value across = leat_op_multiply(
        leat_op_subtract(marked(most, rgb, 1), marked(most, rgb, 2)), over(leat_op_square(range)));
    leat_value coloured = leat_op_greater(high, zero), saturation = channel(g, 1);
    leat_value hue = where(coloured, leati_support_times(channel(g, 0), 1.0 / 6));
    leat_value to_most =
        leat_op_multiply(leat_op_multiply(saturation, low), over(leat_op_square(high)));
    to_most = leat_op_add(channel(g, 2), where(coloured, to_most));
    to_most = leat_op_subtract(to_most, leat_op_multiply(hue, across));
    leat_value to_least =
        leat_op_negate(where(leat_op_greater(low, zero), leat_op_multiply(saturation, over(high))));
    for (int c = 0; c < 3; c++) {
        /* Channel c is the first behind the highest, or the second. */
        leat_value is_first = most[(c + 2) % 3], is_second = most[(c + 1) % 3];
        leat_value to_range = where(least[c], across);
        channels[c] = leat_op_add(where(most[c], to_most), where(least[c], to_least));
        leat_value moved = where(is_first, leat_op_add(step, to_range));
        moved = leat_op_add(moved, where(is_second, leat_op_subtract(to_range, step)));
        channels[c] = leat_op_add(channels[c], leat_op_multiply(hue, moved));
    }
    out[0] = leat_op_cast(leat_op_concat(channels, 3, -1), leat_value_dtype(in[0]));
}
LEATI_EMIT_COMPOSED(rgb_to_hsv_grad)

/* Over the hue each channel is a trapezium: up, two sixths high, down. */
static void build_hsv_to_rgb(const leati_emit *emit, const leat_value *in, leat_value *out) {
    static const double centres[3] = {3, 2, 4}, tops[3] = {-1, 2, 2};
    leat_value x = wide(in[0]), channels[3];
    (void)emit;
    leat_value sixth = leati_support_times(channel(x, 0), 6), saturation = channel(x, 1);
    leat_value grey = leat_op_subtract(number(x, 1), saturation);
    for (int c = 0; c < 3; c++) {
        leat_value away = leat_op_abs(leat_op_subtract(sixth, number(x, centres[c])));
        away = c == 0 ? away : leat_op_negate(away);
        leat_value height = clip(leat_op_add(away, number(x, tops[c])), 0, 1);
        channels[c] = leat_op_multiply(leat_op_add(grey, leat_op_multiply(saturation, height)),
                                       channel(x, 2));
    }
    out[0] = leat_op_concat(channels, 3, -1);
}
LEATI_EMIT_COMPOSED(hsv_to_rgb)

/* A space by a matrix, which is what the operation makes of its lines, on the host. */
static void build_by_matrix(const leati_emit *emit, const leat_value *in, leat_value *out) {
    static double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const leati_value type = {.type = {.dtype = LEAT_FLOAT64, .shape = LEAT_SHAPE(3, 3)}};
    const leati_call_context context = {.num_replicas = 1};
    const leat_tensor lines = leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(3, 3), unit);
    const int64_t rows[2] = {-1, 3};
    leat_value x = wide(in[0]);
    leat_error err = {0};
    leat_tensor matrix;
    if (leati_compute(emit->node->source, &type, &lines, &context, &matrix, &err) != LEAT_OK) {
        out[0] = leati_graph_error(x.graph, &err);
        return;
    }
    leat_value mixed = leat_op_matmul(leat_op_reshape(x, rows, 2),
                                      numbers(x, matrix.data, LEAT_SHAPE(3, 3)), false, false);
    leat_tensor_unref(&matrix);
    out[0] = leat_op_reshape_like(mixed, x);
}
LEATI_EMIT_COMPOSED(by_matrix)

/* ---- scaled ---- */

static void build_standardize(const leati_emit *emit, const leat_value *in, leat_value *out) {
    static const int64_t axes[3] = {-3, -2, -1};
    (void)emit;
    leat_value x = leat_op_cast(in[0], LEAT_FLOAT32);
    leat_shape shape = leat_value_shape(x);
    double count = 1;
    for (int32_t d = shape.rank - 3; d < shape.rank; d++)
        count *= (double)shape.dims[d];
    leat_value centred = leat_op_subtract(x, leat_op_reduce_mean(x, axes, 3, true));
    leat_value deviation =
        leat_op_sqrt(leat_op_reduce_mean(leat_op_square(centred), axes, 3, true));
    deviation = leat_op_maximum(deviation, number(x, 1 / sqrt(count)));
    out[0] = leat_op_divide(centred, deviation);
}
LEATI_EMIT_COMPOSED(standardize)

static void build_image_normalize(const leati_emit *emit, const leat_value *in, leat_value *out) {
    const leati_floats *mean = leati_emit_attribute(emit, "mean");
    const leati_floats *std = leati_emit_attribute(emit, "std");
    leat_value x = wide(in[0]);
    x = leat_op_subtract(x, numbers(x, mean->values, LEAT_SHAPE(mean->count)));
    out[0] = leat_op_divide(x, numbers(x, std->values, LEAT_SHAPE(std->count)));
}
LEATI_EMIT_COMPOSED(image_normalize)
