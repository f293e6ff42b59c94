/* SeparableConv2D: a depthwise convolution, then one with a window of one that mixes the channels,
 * plus a bias, through an activation (keras.layers.SeparableConv2D). Failures: a window that does
 * not fit. No state, no locks. */
#include "graph/ops/support.h"
#include "train/convolution.h"

static const leati_row separable_conv2d_rows[] = {
    LEATI_FILTERS_ROW,
    LEATI_CONVOLUTION_ROWS,
    LEATI_MULTIPLIER_ROW,
    LEATI_DEPTHWISE_INITIALIZER_ROW,
    LEATI_CONVOLUTION_ROW(pointwise_initializer, STRING, .default_text = "glorot_uniform",
                          .doc = "Name of the pointwise kernel's initialiser."),
    {0},
};

static leat_status separable_conv2d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 2, false, err);
}

static const leati_windows one_by_one = {
    .directions = 2, .size = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}};

static leat_status separable_conv2d_weights(const void *arguments, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    const struct leati_convolution_args *args = arguments;
    const leati_windows windows = leati_convolution_windows(args, 2);
    int64_t channels = input->dims[3], made = channels * args->depth_multiplier;
    (void)err;
    out->list[0] =
        (leati_weight){.name = "depthwise_kernel",
                       .shape = leati_kernel_shape(&windows, channels, args->depth_multiplier),
                       .initializer = args->depthwise_initializer};
    out->list[1] = (leati_weight){.name = "pointwise_kernel",
                                  .shape = leati_kernel_shape(&one_by_one, made, args->filters),
                                  .initializer = args->pointwise_initializer};
    out->count = 2;
    leati_convolution_add_bias(args, args->filters, out);
    return LEAT_OK;
}

static leat_value separable_conv2d_call(const leati_pass *pass) {
    const struct leati_convolution_args *args = pass->args;
    const leati_windows windows = leati_convolution_windows(args, 2);
    leat_value x = pass->inputs[0];
    x = leati_convolve_depthwise(x, pass->weights[0], &windows);
    return leati_convolution_finish(pass, leati_convolve(x, pass->weights[1], &one_by_one), 2);
}

const leati_layer_kind leati_layer_separable_conv2d = {
    .kind =
        {
            .name = "SeparableConv2D",
            .doc = "A depthwise convolution, then one that mixes the channels "
                   "(keras.layers.SeparableConv2D).",
            .rows = separable_conv2d_rows,
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
