/* per_image_standardization: pictures with a mean of 0 and a deviation of 1, as float32
 * (tf.image.per_image_standardization).
 *
 * The deviation counts as at least 1 / sqrt(values). Sums are kept in double. The
 * gradient of a picture of one value is that without a change of the deviation. No state, no
 * locks. */
#include "base/minmax.h"
#include "graph/support/picture/colour.h"

#include <math.h>

static void per_image_standardization(const float *in, float *out, const leati_frames *frames,
                                      const void *context) {
    int64_t count = frames->height * frames->width * frames->channels;
    (void)context;
    for (int64_t k = 0; k < frames->count; k++, in += count, out += count) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < count; i++)
            sum += (double)in[i];
        /* A second pass, since the mean of squares less the squared mean cancels. */
        double mean = sum / (double)count;
        for (int64_t i = 0; i < count; i++)
            squares += ((double)in[i] - mean) * ((double)in[i] - mean);
        float deviation = (float)sqrt(squares / (double)count);
        /* Keeps a picture of one value from a division by 0, as TensorFlow does. */
        float smallest = 1.0F / sqrtf((float)count), centre = (float)mean;
        deviation = LEATI_MAX(deviation, smallest);
        for (int64_t i = 0; i < count; i++)
            out[i] = (in[i] - centre) / deviation;
    }
}

static const leati_colour per_image_standardization_colour = {
    .function = per_image_standardization, .rank = 3, .dtype = LEAT_FLOAT32, .unscaled = true};

static leat_status per_image_standardization_infer(leati_infer_call *call, leat_error *err) {
    return leati_colour_infer(call, &per_image_standardization_colour, err);
}

static leat_status per_image_standardization_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_colour_kernel(call, &per_image_standardization_colour, NULL, err);
}

/* With y = (x - mean) / d, the gradient is (g - mean of g - y * mean of g y) / d, without the last
 * term where d is the smallest deviation. */
static leat_status per_image_standardization_gradient(leati_gradient_call *call, leat_error *err) {
    static const int64_t axes[3] = {-3, -2, -1};
    leat_value x = call->inputs[0], y = call->outputs[0], g = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(x);
    (void)err;
    if (dtype < LEAT_FLOAT16 || dtype > LEAT_FLOAT64)
        return LEAT_OK;
    leat_value wide = leat_op_cast(x, LEAT_FLOAT32);
    leat_value centred = leat_op_subtract(wide, leat_op_reduce_mean(wide, axes, 3, true));
    leat_value variance = leat_op_reduce_mean(leat_op_square(centred), axes, 3, true);
    /* As a value, because a size may be known in the run alone. */
    leat_value count = leat_op_reduce_sum(leat_op_ones_like(centred), axes, 3, true);
    leat_value deviation = leat_op_sqrt(variance), smallest = leat_op_rsqrt(count);
    /* Where the bound counts, the deviation does not move with the pixels. */
    leat_value varies = leat_op_greater(deviation, smallest);
    leat_value along =
        leat_op_multiply(y, leat_op_reduce_mean(leat_op_multiply(g, y), axes, 3, true));
    along = leat_op_select(varies, along, leat_op_zeros_like(along));
    leat_value rest =
        leat_op_subtract(leat_op_subtract(g, leat_op_reduce_mean(g, axes, 3, true)), along);
    call->input_gradients[0] =
        leat_op_cast(leat_op_divide(rest, leat_op_maximum(deviation, smallest)), dtype);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_per_image_standardization = {
    .name = "per_image_standardization",
    .version = 1,
    .doc = "Pictures with a mean of 0 and a deviation of 1, as float32 "
           "(tf.image.per_image_standardization).",
    .names = "image.per_image_standardization",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = per_image_standardization_infer,
    .kernel = per_image_standardization_kernel,
    .gradient = per_image_standardization_gradient,
};
