/* DepthwiseConv1D: each channel of sequences convolved with filters of its own, plus a bias,
 * through an activation (keras.layers.DepthwiseConv1D). Failures: a window that does not fit. No
 * state, no locks. */
#include "train/support/convolution.h"

static leat_status depthwise_conv1d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 1, false, err);
}

static leat_status depthwise_conv1d_weights(const void *args, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    (void)err;
    leati_convolution_depthwise_weights(args, 1, input, out);
    return LEAT_OK;
}

static leat_value depthwise_conv1d_call(const leati_pass *pass) {
    return leati_convolution_depthwise_call(pass, 1);
}

const leati_layer_kind leati_layer_depthwise_conv1d = {
    .kind =
        {
            .name = "DepthwiseConv1D",
            .doc = "Each channel convolved with filters of its own "
                   "(keras.layers.DepthwiseConv1D).",
            .rows = leati_depthwise_rows,
            .signature = "kernel_size strides=1 padding depth_multiplier data_format "
                         "dilation_rate=1 activation use_bias depthwise_initializer "
                         "bias_initializer depthwise_regularizer bias_regularizer "
                         "activity_regularizer depthwise_constraint bias_constraint",
            .args_size = sizeof(struct leati_convolution_args),
            .check = depthwise_conv1d_check,
        },
    .prefix = "depthwise_conv1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = depthwise_conv1d_weights,
    .call = depthwise_conv1d_call,
};
