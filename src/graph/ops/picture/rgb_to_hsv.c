/* rgb_to_hsv: hue, saturation and value of colours, all in [0, 1] (tf.image.rgb_to_hsv).
 *
 * Computed in float32. Fails on other types than floats and other numbers of channels than 3. The
 * gradient is rgb_to_hsv_grad. No state, no locks. */
#include "graph/support/picture/colour.h"

#include <math.h>

static void rgb_to_hsv(const float *in, float *out, const leati_frames *frames,
                       const void *context) {
    int64_t pixels = frames->count * frames->height * frames->width;
    (void)context;
    for (int64_t i = 0; i < pixels; i++, in += 3, out += 3) {
        float r = in[0], g = in[1], b = in[2];
        float value = fmaxf(r, fmaxf(g, b)), range = value - fminf(r, fminf(g, b));
        float norm = 1.0F / range * (1.0F / 6.0F), hue;
        if (r == value)
            hue = norm * (g - b);
        else if (g == value)
            hue = norm * (b - r) + 2.0F / 6.0F;
        else
            hue = norm * (r - g) + 4.0F / 6.0F;
        hue = range > 0.0F ? hue : 0.0F;
        out[0] = hue < 0.0F ? hue + 1.0F : hue;
        out[1] = value > 0.0F ? range / value : 0.0F;
        out[2] = value;
    }
}

static const leati_colour rgb_to_hsv_colour = {.function = rgb_to_hsv,
                                               .rank = 1,
                                               .in_channels = 3,
                                               .out_channels = 3,
                                               .dtype = LEAT_BOOL,
                                               .floats = true};

static leat_status rgb_to_hsv_infer(leati_infer_call *call, leat_error *err) {
    return leati_colour_infer(call, &rgb_to_hsv_colour, err);
}

static leat_status rgb_to_hsv_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_colour_kernel(call, &rgb_to_hsv_colour, NULL, err);
}

static leat_status rgb_to_hsv_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_rgb_to_hsv_grad, NULL,
                                                  call->inputs[0], call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_rgb_to_hsv(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_rgb_to_hsv, NULL, images);
}

const leati_tensor_op leati_tensor_op_rgb_to_hsv = {
    .name = "rgb_to_hsv",
    .version = 1,
    .doc = "Hue, saturation and value of colours, all in [0, 1] (tf.image.rgb_to_hsv).",
    .names = "image.rgb_to_hsv",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = rgb_to_hsv_infer,
    .kernel = rgb_to_hsv_kernel,
    .gradient = rgb_to_hsv_gradient,
};
