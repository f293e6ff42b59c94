/* adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation: a number added
 * to all values of pictures; the distance of values from their channel's mean multiplied by a
 * factor; gain times values to the power of gamma; a turn of the hue of each colour; its saturation
 * multiplied by a factor (tf.image.adjust_brightness and its like).
 *
 * Integers are scaled to [0, 1] and back, and clipped where values may leave it. The mean is one
 * picture's, added up by halves as TensorFlow does. A turned colour's lowest and highest channel
 * keep their values; saturation goes by way of hue, saturation and value and is clipped to [0, 1].
 * Fails where gamma is negative, where the turn is not in [-1, 1], and for hue and saturation on
 * other numbers of channels than 3. Brightness and gamma have gradients. No state, no locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "core/half.h"
#include "graph/support/picture/colour.h"
#include <math.h>
#include <string.h>

#define ADJUST_ROWS(NAME, DOC)                                                                     \
    {                                                                                              \
        {.name = NAME,                                                                             \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .flags = LEATI_REQUIRED | LEATI_TENSOR,                                                   \
         .offset = offsetof(struct leati_adjust_args, amount),                                     \
         .doc = DOC},                                                                              \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* The slots of an operation whose function NAME##_colour names. */
#define SLOTS(NAME)                                                                                \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_colour_infer(call, &NAME##_colour, err);                                      \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_colour_kernel(call, &NAME##_colour, call->args, err);                         \
    }

static const leati_row adjust_brightness_rows[] =
    ADJUST_ROWS("delta", "The number, for values in [0, 1].");

static void adjust_brightness(const float *in, float *out, const leati_frames *frames,
                              const void *context) {
    float delta = (float)((const struct leati_adjust_args *)context)->amount;
    int64_t count = frames->count * frames->height * frames->width * frames->channels;
    for (int64_t i = 0; i < count; i++)
        out[i] = in[i] + delta;
}

static const leati_colour adjust_brightness_colour = {
    .function = adjust_brightness, .dtype = LEAT_BOOL, .saturate = true};

SLOTS(adjust_brightness)

static leat_status adjust_brightness_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* A sum passes on what flows to it. Clipping is for integers, to which nothing flows. */
    call->input_gradients[0] = call->output_gradients[0];
    return LEAT_OK;
}

static const leati_row adjust_contrast_rows[] = ADJUST_ROWS("contrast_factor", "The factor.");

/* Adds up the pixels of a picture, in `sums`, which has room for half of them and one. The second
 * half is added to the first until one pixel is left. */
static void add_up(const float *in, float *sums, int64_t pixels, int64_t channels) {
    /* Of an odd number the first half has one more, which stays without a partner in this round. */
    int64_t right = pixels / 2, left = pixels - right;
    for (int64_t i = 0; i < right * channels; i++)
        sums[i] = in[i] + in[left * channels + i];
    for (int64_t i = right * channels; i < left * channels; i++)
        sums[i] = in[i];
    while (left > 1) {
        right = left / 2;
        left -= right;
        for (int64_t i = 0; i < right * channels; i++)
            sums[i] += sums[left * channels + i];
    }
}

static void adjust_contrast(const float *in, float *out, const leati_frames *frames,
                            const void *context) {
    float factor = (float)((const struct leati_adjust_args *)context)->amount;
    int64_t pixels = frames->height * frames->width, channels = frames->channels;
    /* TensorFlow multiplies with the reciprocal, which rounds otherwise than a division. */
    float normal = 1.0F / (float)pixels;
    for (int64_t i = 0; i < frames->count; i++) {
        /* The output has room for a picture, so it is the scratch of the sums as well. */
        add_up(in, out, pixels, channels);
        for (int64_t c = 0; c < channels; c++)
            out[c] *= normal;
        /* The means of the first pixel are copied to all others, then moved. */
        for (int64_t done = 1; done < pixels; done *= 2) {
            /* Doubles what is filled, so few long copies do. */
            int64_t more = LEATI_MIN(done, pixels - done);
            memcpy(out + done * channels, out, (size_t)(more * channels) * sizeof *out);
        }
        for (int64_t k = 0; k < pixels * channels; k++)
            out[k] += (in[k] - out[k]) * factor;
        in += pixels * channels;
        out += pixels * channels;
    }
}

static const leati_colour adjust_contrast_colour = {
    .function = adjust_contrast, .rank = 3, .dtype = LEAT_BOOL, .saturate = true};

SLOTS(adjust_contrast)

struct adjust_gamma_args {
    double gamma, gain;
};

static const leati_row adjust_gamma_rows[] = {
    {.name = "gamma",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct adjust_gamma_args, gamma),
     .default_number = 1,
     .doc = "The power, 0 or more."},
    {.name = "gain",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct adjust_gamma_args, gain),
     .default_number = 1,
     .doc = "The factor."},
    {0},
};

static void adjust_gamma(const float *in, float *out, const leati_frames *frames,
                         const void *context) {
    const struct adjust_gamma_args *args = context;
    float gamma = (float)args->gamma, gain = (float)args->gain;
    int64_t count = frames->count * frames->height * frames->width * frames->channels;
    for (int64_t i = 0; i < count; i++)
        /* A negative value to a power that is no integer is NaN, as in TensorFlow. */
        out[i] = gain * powf(in[i], gamma);
}

static const leati_colour adjust_gamma_colour = {
    .function = adjust_gamma, .dtype = LEAT_BOOL, .saturate = true};

static leat_status check(const struct adjust_gamma_args *args, leat_error *err) {
    /* Written so that NaN is refused. */
    if (args->gamma >= 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "gamma is %.9g; expected 0 or more", args->gamma);
}

static leat_status adjust_gamma_infer(leati_infer_call *call, leat_error *err) {
    if (call->unknown == 0)
        LEATI_TRY(check(call->args, err));
    return leati_colour_infer(call, &adjust_gamma_colour, err);
}

static leat_status adjust_gamma_kernel(leati_kernel_call *call, leat_error *err) {
    LEATI_TRY(check(call->args, err));
    return leati_colour_kernel(call, &adjust_gamma_colour, call->args, err);
}

static leat_status adjust_gamma_gradient(leati_gradient_call *call, leat_error *err) {
    const struct adjust_gamma_args *args = call->args;
    leat_value x = call->inputs[0];
    (void)err;
    /* d/dx gain x^gamma = gain gamma x^(gamma - 1). */
    leat_value power = leati_support_number(call->graph, leat_value_dtype(x), args->gamma - 1);
    call->input_gradients[0] =
        leat_op_multiply(leati_support_times(leat_op_pow(x, power), args->gain * args->gamma),
                         call->output_gradients[0]);
    return LEAT_OK;
}

static const leati_row adjust_hue_rows[] =
    ADJUST_ROWS("delta", "What is added to each hue, of a circle of 1; in [-1, 1].");

/* Pixels in and out, and by how much. */
typedef struct pixels {
    const float *in;
    float *out;
    int64_t n;
    float by;
} pixels;

/* One of two numbers. By a mask, as choices within choices would not become vector code. */
LEATI_ALWAYS_INLINE float pick(uint32_t first, float a, float b) {
    uint32_t mask = 0U - first;
    return leati_float_of_bits((leati_float_bits(a) & mask) | (leati_float_bits(b) & ~mask));
}

/* A colour by its sixth of the circle, 0 to 5, which says what channel is highest and what lies
 * between. */
LEATI_ALWAYS_INLINE void put_colour(float *out, uint32_t sixth, float high, float middle,
                                    float low) {
    out[0] =
        pick((sixth == 0) | (sixth == 5), high, pick((sixth == 1) | (sixth == 4), middle, low));
    out[1] =
        pick((sixth == 1) | (sixth == 2), high, pick((sixth == 0) | (sixth == 3), middle, low));
    out[2] =
        pick((sixth == 3) | (sixth == 4), high, pick((sixth == 2) | (sixth == 5), middle, low));
}

/* The channels' order decides the sixth; of equal channels any does, as the hue is the same. In odd
 * ones the middle channel falls with the hue. */
LEATI_ALWAYS_INLINE void turn(const float *rgb, float by, float *out) {
    const float r = rgb[0], g = rgb[1], b = rgb[2];
    const uint32_t rises = r < g;
    const float small = pick(rises, r, g), large = pick(rises, g, r);
    const uint32_t below = b<small, above = b> large;
    const float high = pick(above, b, large), low = pick(below, b, small);
    const float middle = pick(below, small, pick(above, large, b));
    /* Of red below green 2, 1 or 3; else 5, 0 or 4. */
    const uint32_t sixth = 5 - 3 * rises - (5 - 4 * rises) * below + (2 * rises - 1) * above;
    float ratio = (middle - low) / (high - low);
    float hue = (float)(int32_t)sixth + pick(sixth & 1, 1.0F - ratio, ratio);
    /* A grey has no hue: 0 by agreement, and the turn does not change it. */
    hue = pick(high != low, hue, 0.0F) + by;
    /* `by` is within one turn, and the hue may be 6 itself. */
    hue = pick(hue < 0.0F, hue + 6.0F, hue);
    hue = pick(hue >= 6.0F, hue - 6.0F, hue);
    hue = pick(hue >= 6.0F, hue - 6.0F, hue);
    /* A NaN may not become an integer. */
    const int32_t part = (int32_t)pick(hue >= 0.0F, hue, 5.0F);
    ratio = hue - (float)part;
    ratio = pick((uint32_t)part & 1, 1.0F - ratio, ratio);
    put_colour(out, (uint32_t)part, high, low + ratio * (high - low), low);
}

LEATI_ALWAYS_INLINE void turn_loop(const pixels *p) {
    const float *in = p->in, by = p->by;
    float *out = p->out;
    LEATI_INDEPENDENT
    for (int64_t i = 0; i < p->n; i++)
        turn(in + 3 * i, by, out + 3 * i);
}
LEATI_ISA(turn_all, turn_loop, const pixels *)

static void adjust_hue(const float *in, float *out, const leati_frames *frames,
                       const void *context) {
    /* Of six sixths; the turn is of a circle of 1. */
    float by = (float)((const struct leati_adjust_args *)context)->amount * 6.0F;
    turn_all(&(pixels){in, out, frames->count * frames->height * frames->width, by});
}

static const leati_colour adjust_hue_colour = {
    .function = adjust_hue, .rank = 3, .by_pixel = true, .in_channels = 3, .dtype = LEAT_BOOL};

static leat_status hue_check(const struct leati_adjust_args *args, leat_error *err) {
    if (args->amount >= -1 && args->amount <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "delta is %.9g; expected a number in [-1, 1]", args->amount);
}

static leat_status adjust_hue_infer(leati_infer_call *call, leat_error *err) {
    if (call->unknown == 0)
        LEATI_TRY(hue_check(call->args, err));
    return leati_colour_infer(call, &adjust_hue_colour, err);
}

static leat_status adjust_hue_kernel(leati_kernel_call *call, leat_error *err) {
    LEATI_TRY(hue_check(call->args, err));
    return leati_colour_kernel(call, &adjust_hue_colour, call->args, err);
}

static const leati_row adjust_saturation_rows[] = ADJUST_ROWS("saturation_factor", "The factor.");

LEATI_ALWAYS_INLINE float most(float a, float b, float c) {
    float ab = LEATI_MAX(a, b);
    return LEATI_MAX(ab, c);
}

LEATI_ALWAYS_INLINE float least(float a, float b, float c) {
    float ab = LEATI_MIN(a, b);
    return LEATI_MIN(ab, c);
}

/* The hue, in [0, 1]. */
LEATI_ALWAYS_INLINE float hue_of(const float *rgb, float value, float range) {
    float norm = 1.0F / (6.0F * range);
    /* Red counts before green and green before blue where two are highest. */
    const uint32_t red = rgb[0] == value, green = rgb[1] == value;
    float others = pick(green, rgb[2] - rgb[0], rgb[0] - rgb[1]);
    float step = norm * pick(red, rgb[1] - rgb[2], others);
    /* The constant of a third is a double in TensorFlow, so this sum is one, too. */
    float moved = (float)((double)step + 2.0 / 6.0 * (double)(2 - (int32_t)green));
    float hue = pick(red, step, moved);
    hue = pick(hue < 0.0F, hue + 1.0F, hue);
    return pick(range <= 0.0F, 0.0F, hue);
}

LEATI_ALWAYS_INLINE void saturate(const float *rgb, float factor, float *out) {
    float value = most(rgb[0], rgb[1], rgb[2]);
    float range = value - least(rgb[0], rgb[1], rgb[2]);
    float saturation = pick(value > 0.0F, range / value, 0.0F) * factor;
    saturation = LEATI_MAX(saturation, 0.0F);
    saturation = LEATI_MIN(saturation, 1.0F);
    /* HSV's way back: the lowest channel is low, the highest low + chroma. */
    float chroma = saturation * value, low = value - chroma;
    float sixth = hue_of(rgb, value, range) * 6.0F;
    /* A hue of 1 itself, or none that is a number: the colour stays grey. */
    const uint32_t coloured = (sixth >= 0.0F) & (sixth < 6.0F);
    const int32_t part = (int32_t)pick(coloured, sixth, 0.0F);
    /* 1 - |turn - 1| is 0 at even sixths and 1 at odd ones: the height of the middle channel. */
    float turned = sixth - (float)(part & ~1);
    float middle = chroma * (1.0F - fabsf(turned - 1.0F));
    put_colour(out, (uint32_t)part, pick(coloured, chroma + low, low),
               pick(coloured, middle + low, low), low);
}

LEATI_ALWAYS_INLINE void saturate_loop(const pixels *p) {
    const float *in = p->in, by = p->by;
    float *out = p->out;
    LEATI_INDEPENDENT
    for (int64_t i = 0; i < p->n; i++)
        saturate(in + 3 * i, by, out + 3 * i);
}
LEATI_ISA(saturate_all, saturate_loop, const pixels *)

static void adjust_saturation(const float *in, float *out, const leati_frames *frames,
                              const void *context) {
    float factor = (float)((const struct leati_adjust_args *)context)->amount;
    saturate_all(&(pixels){in, out, frames->count * frames->height * frames->width, factor});
}

static const leati_colour adjust_saturation_colour = {.function = adjust_saturation,
                                                      .rank = 3,
                                                      .by_pixel = true,
                                                      .in_channels = 3,
                                                      .dtype = LEAT_BOOL};

SLOTS(adjust_saturation)

/* The descriptor of one operation. */
#define ADJUST_OP(NAME, DOC, ...)                                                                  \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = NAME##_rows,                                                                       \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        __VA_ARGS__,                                                                               \
    };
ADJUST_OP(adjust_brightness, "A number added to all values of pictures", .inputs = "image",
          .args_size = sizeof(struct leati_adjust_args), .gradient = adjust_brightness_gradient)
ADJUST_OP(adjust_contrast,
          "The distance of values from their channel's mean, multiplied by a factor",
          .inputs = "images", .args_size = sizeof(struct leati_adjust_args))
ADJUST_OP(adjust_gamma, "Gain times the values to the power of gamma", .inputs = "image",
          .args_size = sizeof(struct adjust_gamma_args), .gradient = adjust_gamma_gradient)
ADJUST_OP(adjust_hue, "A turn of the hue of each colour", .inputs = "image",
          .args_size = sizeof(struct leati_adjust_args))
ADJUST_OP(adjust_saturation, "The saturation of each colour, multiplied by a factor",
          .inputs = "image", .args_size = sizeof(struct leati_adjust_args))
