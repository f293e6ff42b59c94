/* What random_resized_crop and stateless_random_resized_crop share: a random part of a picture of a
 * random area and proportions, scaled to one size.
 *
 * Up to ten attempts draw a part of the area within `scale` and of width over height within
 * `ratio`, evenly on a logarithmic scale; the first that fits into the picture is taken at a random
 * place. Else it is the largest part in the middle whose proportions are within the range. Attempt
 * k of picture i of several takes block 16 i + k of the stream: a word for the area, the
 * proportions, the top and the left edge. The part is read where it lies, pixels are not copied
 * before they are scaled. Fails on ranges that are none and on empty pictures. No state; the lock
 * of the store of plans (resize.h). */
#include "graph/support/picture/augment.h"
#include "graph/support/picture/resize.h"

#include <math.h>

enum { ATTEMPTS = 10, BLOCKS_PER_PICTURE = 16 };

typedef struct range {
    double low, high;
} range;

static range range_of(const leati_floats *given, double low, double high) {
    if (given->values == NULL)
        return (range){low, high};
    return (range){given->values[0], given->values[1]};
}

static leat_status check_range(const leati_floats *given, const char *name, leat_error *err) {
    /* Above 0, since the ratio's logarithm is taken; finite, since it is multiplied. */
    if (given->values == NULL ||
        (given->count == 2 && given->values[0] > 0 && given->values[0] <= given->values[1] &&
         given->values[1] < HUGE_VAL))
        return LEAT_OK;
    return leati_refuse(err, VALUE, "%s has %d numbers; expected two, 0 < lowest <= highest", name,
                        (int)given->count);
}

static leat_status check(const struct leati_augment_args *args, leat_error *err) {
    leati_resize_method method;
    LEATI_TRY(check_range(&args->scale, "scale", err));
    LEATI_TRY(check_range(&args->ratio, "ratio", err));
    if (args->size.count != 2 || args->size.values[0] < 1 || args->size.values[1] < 1 ||
        args->size.values[0] > INT32_MAX || args->size.values[1] > INT32_MAX)
        return leati_refuse(err, VALUE,
                            "size has %d numbers; expected a height and a width of at least 1",
                            (int)args->size.count);
    return leati_resize_method_of(args->method, &method, err);
}

static leat_status infer(leati_infer_call *call, leat_error *err) {
    const struct leati_augment_args *args = call->args;
    /* The slot `check` has been asked before, so a known size has two numbers. */
    bool known = call->unknown == 0;
    leati_resize_method method;
    leat_dtype dtype;
    LEATI_TRY(leati_resize_method_of(args->method, &method, err));
    LEATI_TRY(leati_resize_dtype(method, call->inputs[0].dtype, &dtype, err));
    return leati_frames_infer(call, known ? args->size.values[0] : LEAT_UNKNOWN_DIM,
                              known ? args->size.values[1] : LEAT_UNKNOWN_DIM, dtype, err);
}

/* The largest part in the middle whose proportions are within the range. */
static leati_window middle(range ratio, int64_t height, int64_t width) {
    leati_window part = {.height = height, .width = width};
    double own = (double)width / (double)height;
    /* Too narrow: all of the width, and the height that gives the lowest ratio. */
    if (own < ratio.low)
        part.height = (int64_t)fmax(1, rint((double)width / ratio.low));
    else if (own > ratio.high)
        part.width = (int64_t)fmax(1, rint((double)height * ratio.high));
    part.top = (height - part.height) / 2;
    part.left = (width - part.width) / 2;
    return part;
}

static leati_window draw_part(leati_philox philox, range scale, range ratio, int64_t height,
                              int64_t width) {
    double low = log(ratio.low), high = log(ratio.high);
    for (int i = 0; i < ATTEMPTS; i++) {
        uint32_t words[4];
        /* A block for each attempt, of which no word is left for the next. */
        leati_philox_next(&philox, words);
        double share = scale.low + (double)leati_uniform_float(words[0]) * (scale.high - scale.low);
        double area = (double)height * (double)width * share;
        double own = exp(low + (double)leati_uniform_float(words[1]) * (high - low));
        /* height^2 ratio = area = width^2 / ratio. */
        double tall = rint(sqrt(area / own)), wide = rint(sqrt(area * own));
        /* Compared as doubles, as an area above the picture's may give any size, or NaN. */
        if (!(tall >= 1 && wide >= 1 && tall <= (double)height && wide <= (double)width))
            continue;
        leati_window part = {.height = (int64_t)tall, .width = (int64_t)wide};
        /* A remainder; the sides are below 2^31, so the divisor is not 0. */
        part.top = (int64_t)(words[2] % (uint32_t)(height - part.height + 1));
        part.left = (int64_t)(words[3] % (uint32_t)(width - part.width + 1));
        return part;
    }
    return middle(ratio, height, width);
}

static leati_window draw(const struct leati_augment_args *args, leati_philox philox,
                         const leati_frames *frames) {
    range scale = range_of(&args->scale, 0.08, 1), ratio = range_of(&args->ratio, 0.75, 4.0 / 3);
    return draw_part(philox, scale, ratio, frames->height, frames->width);
}

static leat_status check_frames(const leati_frames *frames, leat_error *err) {
    if (frames->height >= 1 && frames->width >= 1 && frames->channels >= 1 &&
        frames->height < INT32_MAX && frames->width < INT32_MAX && frames->channels <= INT32_MAX)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "a picture of %lld x %lld with %lld channels cannot be resized",
                        (long long)frames->height, (long long)frames->width,
                        (long long)frames->channels);
}

static leat_status window(const leati_kernel_call *call, leati_philox philox, leati_window *out,
                          leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_frames frames;
    LEATI_TRY(leati_frames_of(&shape, &frames, err));
    LEATI_TRY(check_frames(&frames, err));
    /* The same draw as apply's for its first picture. */
    *out = draw(call->args, philox, &frames);
    return LEAT_OK;
}

static leat_status apply(leati_kernel_call *call, int64_t row, leati_philox philox,
                         leat_error *err) {
    const struct leati_augment_args *args = call->args;
    leati_kernel_call one = *call;
    leati_operand in = call->inputs[0], out;
    leati_resize_method method;
    leati_frames frames;
    LEATI_TRY(leati_resize_method_of(args->method, &method, err));
    LEATI_TRY(leati_frames_begin(call, args->size.values[0], args->size.values[1], &frames, err));
    LEATI_TRY(check_frames(&frames, err));
    in.data = leati_support_row_of(&in, row);
    out = call->outputs[0];
    out.data = leati_support_row_of(&out, row);
    one.n = 1;
    one.inputs = &in;
    one.outputs = &out;
    /* Cast as a whole, once, for all parts that are read from it. */
    LEATI_TRY(leati_resize_scale_readable(&one, method, &in, err));
    for (int64_t i = 0; i < frames.count; i++) {
        leati_window part = draw(args, philox, &frames);
        LEATI_TRY(leati_resize_scale_part(&one, i, &part, method, args->antialias, err));
        /* draw had a copy of the stream: pictures are 16 blocks apart in any case. */
        leati_philox_skip(&philox, BLOCKS_PER_PICTURE);
    }
    return LEAT_OK;
}

const leati_augment leati_augment_resized_crop = {.check = check,
                                                  .infer = infer,
                                                  .apply = apply,
                                                  .window = window,
                                                  .numbers = leati_augment_pictures};
