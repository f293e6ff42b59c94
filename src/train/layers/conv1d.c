/* Conv1D: sequences convolved with a kernel, plus a bias, through an activation
 * (keras.layers.Conv1D). Failures: channels or filters that groups do not divide, a window that
 * does not fit. No state, no locks. */
#include "train/support/convolution.h"

static leat_status conv1d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 1, true, err);
}

static leat_status conv1d_weights(const void *args, const leat_shape *input, leati_weights *out,
                                  leat_error *err) {
    return leati_convolution_weights(args, 1, input, out, err);
}

static leat_value conv1d_call(const leati_pass *pass) {
    return leati_convolution_call(pass, 1);
}

const leati_layer_kind leati_layer_conv1d = {
    .kind =
        {
            .name = "Conv1D",
            .doc = "Sequences convolved with a kernel, plus a bias (keras.layers.Conv1D).",
            .rows = leati_convolution_rows,
            .signature = "filters kernel_size strides=1 padding data_format "
                         "dilation_rate=1 groups " LEATI_KERNEL_SIGNATURE,
            .args_size = sizeof(struct leati_convolution_args),
            .check = conv1d_check,
        },
    .prefix = "conv1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = conv1d_weights,
    .call = conv1d_call,
};
