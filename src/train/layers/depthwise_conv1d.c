/* DepthwiseConv1D: each channel of sequences convolved with filters of its own, plus a bias,
 * through an activation (keras.layers.DepthwiseConv1D). Failures: a window that does not fit. No
 * state, no locks. */
#include "graph/ops/support.h"
#include "train/convolution.h"

static const leati_row depthwise_conv1d_rows[] = {
    LEATI_CONVOLUTION_ROWS,
    LEATI_MULTIPLIER_ROW,
    LEATI_DEPTHWISE_INITIALIZER_ROW,
    {0},
};

static leat_status depthwise_conv1d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 1, true, err);
}

static leat_status depthwise_conv1d_weights(const void *arguments, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    const struct leati_convolution_args *args = arguments;
    const leati_windows windows = leati_convolution_windows(args, 1);
    int64_t channels = input->dims[2];
    (void)err;
    out->list[0] =
        (leati_weight){.name = "kernel",
                       .shape = leati_kernel_shape(&windows, channels, args->depth_multiplier),
                       .initializer = args->depthwise_initializer};
    out->count = 1;
    leati_convolution_add_bias(args, channels * args->depth_multiplier, out);
    return LEAT_OK;
}

static leat_value depthwise_conv1d_call(const leati_pass *pass) {
    const struct leati_convolution_args *args = pass->args;
    const leati_windows windows = leati_convolution_windows(args, 1);
    leat_value x = leati_convolution_pad(args, pass->inputs[0]);
    x = leati_convolve_depthwise(x, pass->weights[0], &windows);
    return leati_convolution_finish(pass, x, 1);
}

const leati_layer_kind leati_layer_depthwise_conv1d = {
    .kind =
        {
            .name = "DepthwiseConv1D",
            .doc = "Each channel convolved with filters of its own "
                   "(keras.layers.DepthwiseConv1D).",
            .rows = depthwise_conv1d_rows,
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
