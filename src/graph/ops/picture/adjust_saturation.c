/* adjust_saturation: the saturation of each colour, multiplied by a factor
 * (tf.image.adjust_saturation).
 *
 * By way of hue, saturation and value; the saturation is clipped to [0, 1]. Integers are scaled to
 * [0, 1] and back. Fails on other numbers of channels than 3. No gradient. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/picture/colour.h"

#include <math.h>

static const leati_row adjust_saturation_rows[] =
    LEATI_ADJUST_ROWS("saturation_factor", "The factor.");

static float most(float a, float b, float c) {
    float ab = LEATI_MAX(a, b);
    return LEATI_MAX(ab, c);
}

static float least(float a, float b, float c) {
    float ab = LEATI_MIN(a, b);
    return LEATI_MIN(ab, c);
}

/* The hue, in [0, 1]. */
static float hue_of(const float *rgb, float value, float range) {
    float norm = 1.0F / (6.0F * range), hue;
    if (range <= 0.0F)
        return 0.0F;
    if (rgb[0] == value)
        hue = norm * (rgb[1] - rgb[2]);
    else if (rgb[1] == value)
        hue = (float)((double)(norm * (rgb[2] - rgb[0])) + 2.0 / 6.0);
    else
        hue = (float)((double)(norm * (rgb[0] - rgb[1])) + 4.0 / 6.0);
    return hue < 0.0F ? hue + 1.0F : hue;
}

static void saturate(const float *rgb, float factor, float *out) {
    float value = most(rgb[0], rgb[1], rgb[2]);
    float range = value - least(rgb[0], rgb[1], rgb[2]);
    float saturation = (value > 0.0F ? range / value : 0.0F) * factor;
    saturation = LEATI_MAX(saturation, 0.0F);
    saturation = LEATI_MIN(saturation, 1.0F);
    float chroma = saturation * value, low = value - chroma;
    float sixth = hue_of(rgb, value, range) * 6.0F, turn = fmodf(sixth, 2.0F);
    float middle = chroma * (1.0F - fabsf(turn - 1.0F));
    /* Which channel is highest and which lies between, by the sixth of the circle. */
    static const signed char high[6] = {0, 1, 1, 2, 2, 0}, between[6] = {1, 0, 2, 1, 0, 2};
    int part = (int)sixth;
    out[0] = out[1] = out[2] = low;
    if (part < 0 || part > 5)
        return;
    out[high[part]] = chroma + low;
    out[between[part]] = middle + low;
}

static void adjust_saturation(const float *in, float *out, const leati_frames *frames,
                              const void *context) {
    float factor = (float)((const struct leati_adjust_args *)context)->amount;
    int64_t pixels = frames->count * frames->height * frames->width;
    for (int64_t i = 0; i < pixels; i++)
        saturate(in + 3 * i, factor, out + 3 * i);
}

static const leati_colour adjust_saturation_colour = {
    .function = adjust_saturation, .rank = 3, .in_channels = 3, .dtype = LEAT_BOOL};

static leat_status adjust_saturation_infer(leati_infer_call *call, leat_error *err) {
    return leati_colour_infer(call, &adjust_saturation_colour, err);
}

static leat_status adjust_saturation_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_colour_kernel(call, &adjust_saturation_colour, call->args, err);
}

leat_value leat_op_adjust_saturation(leat_value images, double saturation_factor) {
    struct leati_adjust_args args = {saturation_factor};
    return leati_graph_build1(&leati_tensor_op_adjust_saturation, &args, images);
}

const leati_tensor_op leati_tensor_op_adjust_saturation = {
    .name = "adjust_saturation",
    .version = 1,
    .doc = "The saturation of each colour, multiplied by a factor "
           "(tf.image.adjust_saturation).",
    .names = "image.adjust_saturation",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = adjust_saturation_rows,
    .args_size = sizeof(struct leati_adjust_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = adjust_saturation_infer,
    .kernel = adjust_saturation_kernel,
};
