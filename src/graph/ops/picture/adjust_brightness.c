/* adjust_brightness: a number added to all values of pictures (tf.image.adjust_brightness).
 *
 * Integers are scaled to [0, 1] and back, clipped. The gradient passes. No state, no locks. */
#include "graph/support/picture/colour.h"

static const leati_row adjust_brightness_rows[] =
    LEATI_ADJUST_ROWS("delta", "The number, for values in [0, 1].");

static void adjust_brightness(const float *in, float *out, const leati_frames *frames,
                              const void *context) {
    float delta = (float)((const struct leati_adjust_args *)context)->amount;
    int64_t count = frames->count * frames->height * frames->width * frames->channels;
    for (int64_t i = 0; i < count; i++)
        out[i] = in[i] + delta;
}

static const leati_colour adjust_brightness_colour = {
    .function = adjust_brightness, .dtype = LEAT_BOOL, .saturate = true};

static leat_status adjust_brightness_infer(leati_infer_call *call, leat_error *err) {
    return leati_colour_infer(call, &adjust_brightness_colour, err);
}

static leat_status adjust_brightness_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_colour_kernel(call, &adjust_brightness_colour, call->args, err);
}

static leat_status adjust_brightness_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = call->output_gradients[0];
    return LEAT_OK;
}

leat_value leat_op_adjust_brightness(leat_value images, double delta) {
    struct leati_adjust_args args = {delta};
    return leati_graph_build1(&leati_tensor_op_adjust_brightness, &args, images);
}

const leati_tensor_op leati_tensor_op_adjust_brightness = {
    .name = "adjust_brightness",
    .version = 1,
    .doc = "A number added to all values of pictures (tf.image.adjust_brightness).",
    .names = "image.adjust_brightness",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = adjust_brightness_rows,
    .args_size = sizeof(struct leati_adjust_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = adjust_brightness_infer,
    .kernel = adjust_brightness_kernel,
    .gradient = adjust_brightness_gradient,
};
