/* DepthwiseConv2D: each channel of pictures convolved with filters of its own, plus a bias,
 * through an activation (keras.layers.DepthwiseConv2D). Failures: a window that does not fit. No
 * state, no locks. */
#include "graph/ops/support.h"
#include "train/convolution.h"

static const leati_row depthwise_conv2d_rows[] = {
    LEATI_CONVOLUTION_ROWS,
    LEATI_MULTIPLIER_ROW,
    LEATI_DEPTHWISE_INITIALIZER_ROW,
    {0},
};

static leat_status depthwise_conv2d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 2, false, err);
}

static leat_status depthwise_conv2d_weights(const void *arguments, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    const struct leati_convolution_args *args = arguments;
    const leati_windows windows = leati_convolution_windows(args, 2);
    int64_t channels = input->dims[3];
    (void)err;
    out->list[0] =
        (leati_weight){.name = "kernel",
                       .shape = leati_kernel_shape(&windows, channels, args->depth_multiplier),
                       .initializer = args->depthwise_initializer};
    out->count = 1;
    leati_convolution_add_bias(args, channels * args->depth_multiplier, out);
    return LEAT_OK;
}

static leat_value depthwise_conv2d_call(const leati_pass *pass) {
    const struct leati_convolution_args *args = pass->args;
    const leati_windows windows = leati_convolution_windows(args, 2);
    leat_value x = pass->inputs[0];
    x = leati_convolve_depthwise(x, pass->weights[0], &windows);
    return leati_convolution_finish(pass, x, 1);
}

const leati_layer_kind leati_layer_depthwise_conv2d = {
    .kind =
        {
            .name = "DepthwiseConv2D",
            .doc = "Each channel convolved with filters of its own "
                   "(keras.layers.DepthwiseConv2D).",
            .rows = depthwise_conv2d_rows,
            .signature = "kernel_size strides=[1,1] padding depth_multiplier data_format "
                         "dilation_rate=[1,1] activation use_bias depthwise_initializer "
                         "bias_initializer depthwise_regularizer bias_regularizer "
                         "activity_regularizer depthwise_constraint bias_constraint",
            .args_size = sizeof(struct leati_convolution_args),
            .check = depthwise_conv2d_check,
        },
    .prefix = "depthwise_conv2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = depthwise_conv2d_weights,
    .call = depthwise_conv2d_call,
};
