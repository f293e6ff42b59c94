/* SeparableConv2D: a depthwise convolution, then one with a window of one that mixes the channels,
 * plus a bias, through an activation (keras.layers.SeparableConv2D). Failures: a window that does
 * not fit. No state, no locks. */
#include "train/support/convolution.h"

static leat_status separable_conv2d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 2, false, err);
}

static leat_status separable_conv2d_weights(const void *args, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    (void)err;
    leati_convolution_separable_weights(args, 2, input, out);
    return LEAT_OK;
}

static leat_value separable_conv2d_call(const leati_pass *pass) {
    return leati_convolution_separable_call(pass, 2);
}

const leati_layer_kind leati_layer_separable_conv2d = {
    .kind =
        {
            .name = "SeparableConv2D",
            .doc = "A depthwise convolution, then one that mixes the channels "
                   "(keras.layers.SeparableConv2D).",
            .rows = leati_separable_rows,
            .signature = "filters kernel_size strides=[1,1] padding data_format "
                         "dilation_rate=[1,1] depth_multiplier activation use_bias "
                         "depthwise_initializer pointwise_initializer bias_initializer "
                         "depthwise_regularizer pointwise_regularizer bias_regularizer "
                         "activity_regularizer depthwise_constraint pointwise_constraint "
                         "bias_constraint",
            .args_size = sizeof(struct leati_convolution_args),
            .check = separable_conv2d_check,
        },
    .prefix = "separable_conv2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = separable_conv2d_weights,
    .call = separable_conv2d_call,
};
