/* SeparableConv1D: a depthwise convolution, then one with a window of one that mixes the channels,
 * plus a bias, through an activation (keras.layers.SeparableConv1D). Failures: a window that does
 * not fit. No state, no locks. */
#include "train/support/convolution.h"

static leat_status separable_conv1d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 1, false, err);
}

static leat_status separable_conv1d_weights(const void *args, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    (void)err;
    leati_convolution_separable_weights(args, 1, input, out);
    return LEAT_OK;
}

static leat_value separable_conv1d_call(const leati_pass *pass) {
    return leati_convolution_separable_call(pass, 1);
}

const leati_layer_kind leati_layer_separable_conv1d = {
    .kind =
        {
            .name = "SeparableConv1D",
            .doc = "A depthwise convolution, then one that mixes the channels "
                   "(keras.layers.SeparableConv1D).",
            .rows = leati_separable_rows,
            .signature = "filters kernel_size strides=1 padding data_format "
                         "dilation_rate=1 depth_multiplier activation use_bias "
                         "depthwise_initializer pointwise_initializer bias_initializer "
                         "depthwise_regularizer pointwise_regularizer bias_regularizer "
                         "activity_regularizer depthwise_constraint pointwise_constraint "
                         "bias_constraint",
            .args_size = sizeof(struct leati_convolution_args),
            .check = separable_conv1d_check,
        },
    .prefix = "separable_conv1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = separable_conv1d_weights,
    .call = separable_conv1d_call,
};
