/* rgb_to_grayscale: the brightness of colours, as one channel (tf.image.rgb_to_grayscale).
 *
 * 0.2989 R + 0.587 G + 0.114 B. Integers are scaled to [0, 1] and back. Fails on other numbers of
 * channels than 3. No state, no locks. */
#include "graph/support/picture/colour.h"

static const float weights[3] = {0.2989F, 0.587F, 0.114F};

static void rgb_to_grayscale(const float *in, float *out, const leati_frames *frames,
                             const void *context) {
    int64_t pixels = frames->count * frames->height * frames->width;
    (void)context;
    for (int64_t i = 0; i < pixels; i++, in += 3)
        out[i] = in[0] * weights[0] + in[1] * weights[1] + in[2] * weights[2];
}

static const leati_colour rgb_to_grayscale_colour = {.function = rgb_to_grayscale,
                                                     .rank = 1,
                                                     .in_channels = 3,
                                                     .out_channels = 1,
                                                     .dtype = LEAT_BOOL};

static leat_status rgb_to_grayscale_infer(leati_infer_call *call, leat_error *err) {
    return leati_colour_infer(call, &rgb_to_grayscale_colour, err);
}

static leat_status rgb_to_grayscale_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_colour_kernel(call, &rgb_to_grayscale_colour, NULL, err);
}

static leat_status rgb_to_grayscale_gradient(leati_gradient_call *call, leat_error *err) {
    leat_tensor tensor;
    LEATI_TRY(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(3), weights, &tensor, err));
    leat_value each = leat_op_cast(leat_graph_tensor(call->graph, &tensor),
                                   leat_value_dtype(call->output_gradients[0]));
    leat_tensor_unref(&tensor);
    call->input_gradients[0] = leat_op_multiply(call->output_gradients[0], each);
    return LEAT_OK;
}

leat_value leat_op_rgb_to_grayscale(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_rgb_to_grayscale, NULL, images);
}

const leati_tensor_op leati_tensor_op_rgb_to_grayscale = {
    .name = "rgb_to_grayscale",
    .version = 1,
    .doc = "The brightness of colours, as one channel (tf.image.rgb_to_grayscale).",
    .names = "image.rgb_to_grayscale",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = rgb_to_grayscale_infer,
    .kernel = rgb_to_grayscale_kernel,
    .gradient = rgb_to_grayscale_gradient,
};
