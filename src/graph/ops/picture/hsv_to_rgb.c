/* hsv_to_rgb: colours of a hue, saturation and value in [0, 1] (tf.image.hsv_to_rgb).
 *
 * Computed in float32. Fails on other types than floats and other numbers of channels than 3. No
 * gradient. No state, no locks. */
#include "graph/support/picture/colour.h"

#include <math.h>

static float clip(float x) {
    return fminf(fmaxf(x, 0.0F), 1.0F);
}

static void hsv_to_rgb(const float *in, float *out, const leati_frames *frames,
                       const void *context) {
    int64_t pixels = frames->count * frames->height * frames->width;
    (void)context;
    for (int64_t i = 0; i < pixels; i++, in += 3, out += 3) {
        float sixth = in[0] * 6.0F, grey = 1.0F - in[1];
        out[0] = (grey + in[1] * clip(fabsf(sixth - 3.0F) - 1.0F)) * in[2];
        out[1] = (grey + in[1] * clip(2.0F - fabsf(sixth - 2.0F))) * in[2];
        out[2] = (grey + in[1] * clip(2.0F - fabsf(sixth - 4.0F))) * in[2];
    }
}

static const leati_colour hsv_to_rgb_colour = {.function = hsv_to_rgb,
                                               .rank = 1,
                                               .in_channels = 3,
                                               .out_channels = 3,
                                               .dtype = LEAT_BOOL,
                                               .floats = true};

static leat_status hsv_to_rgb_infer(leati_infer_call *call, leat_error *err) {
    return leati_colour_infer(call, &hsv_to_rgb_colour, err);
}

static leat_status hsv_to_rgb_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_colour_kernel(call, &hsv_to_rgb_colour, NULL, err);
}

leat_value leat_op_hsv_to_rgb(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_hsv_to_rgb, NULL, images);
}

const leati_tensor_op leati_tensor_op_hsv_to_rgb = {
    .name = "hsv_to_rgb",
    .version = 1,
    .doc = "Colours of a hue, saturation and value in [0, 1] (tf.image.hsv_to_rgb).",
    .names = "image.hsv_to_rgb",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = hsv_to_rgb_infer,
    .kernel = hsv_to_rgb_kernel,
};
