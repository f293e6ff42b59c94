/* adjust_contrast: the distance of values from their channel's mean, multiplied by a
 * factor (tf.image.adjust_contrast).
 *
 * The mean is one picture's, added up by halves as TensorFlow does. Integers are scaled to [0, 1]
 * and back, clipped. No gradient. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/picture/colour.h"

#include <string.h>

static const leati_row adjust_contrast_rows[] = LEATI_ADJUST_ROWS("contrast_factor", "The factor.");

/* Adds up the pixels of a picture, in `sums`, which has room for half of them and one. The second
 * half is added to the first until one pixel is left. */
static void add_up(const float *in, float *sums, int64_t pixels, int64_t channels) {
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
    float normal = 1.0F / (float)pixels;
    for (int64_t i = 0; i < frames->count; i++) {
        add_up(in, out, pixels, channels);
        for (int64_t c = 0; c < channels; c++)
            out[c] *= normal;
        /* The means of the first pixel are copied to all others, then moved. */
        for (int64_t done = 1; done < pixels; done *= 2) {
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

static leat_status adjust_contrast_infer(leati_infer_call *call, leat_error *err) {
    return leati_colour_infer(call, &adjust_contrast_colour, err);
}

static leat_status adjust_contrast_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_colour_kernel(call, &adjust_contrast_colour, call->args, err);
}

leat_value leat_op_adjust_contrast(leat_value images, double contrast_factor) {
    struct leati_adjust_args args = {contrast_factor};
    return leati_graph_build1(&leati_tensor_op_adjust_contrast, &args, images);
}

const leati_tensor_op leati_tensor_op_adjust_contrast = {
    .name = "adjust_contrast",
    .version = 1,
    .doc = "The distance of values from their channel's mean, multiplied by a "
           "factor (tf.image.adjust_contrast).",
    .names = "image.adjust_contrast",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = adjust_contrast_rows,
    .args_size = sizeof(struct leati_adjust_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = adjust_contrast_infer,
    .kernel = adjust_contrast_kernel,
};
