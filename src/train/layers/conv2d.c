/* Conv2D: pictures convolved with a kernel, plus a bias, through an activation
 * (keras.layers.Conv2D).
 *
 * Pictures are NHWC; the kernel is [height, width, channels / groups, filters]. With groups, each
 * group of channels has filters of its own. Failures: channels or filters that groups do not
 * divide, a window that does not fit. No state, no locks. */
#include "train/support/convolution.h"

static leat_status conv2d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 2, false, err);
}

static leat_status conv2d_weights(const void *args, const leat_shape *input, leati_weights *out,
                                  leat_error *err) {
    return leati_convolution_weights(args, 2, input, out, err);
}

static leat_value conv2d_call(const leati_pass *pass) {
    return leati_convolution_call(pass, 2);
}

leat_layer *leat_layer_conv2d(int64_t filters, int64_t kernel_height, int64_t kernel_width,
                              const leat_layer_conv2d_options *options, leat_error *err) {
    static const leat_layer_conv2d_options none;
    if (options == NULL)
        options = &none;
    int64_t size[2] = {kernel_height, kernel_width}, strides[2], dilations[2];
    for (int i = 0; i < 2; i++) {
        strides[i] = options->strides[i] == 0 ? 1 : options->strides[i];
        dilations[i] = options->dilation_rate[i] == 0 ? 1 : options->dilation_rate[i];
    }
    const struct leati_convolution_args args = {
        .name = leati_kind_borrow_text(options->name),
        .filters = filters,
        .kernel_size = {size, 2},
        .strides = {strides, 2},
        .dilation_rate = {dilations, 2},
        .padding = leati_kind_borrow_text(leati_layer_padding_name(options->padding)),
        .activation = leati_kind_borrow_text(leati_activation_name(options->activation)),
        .groups = options->groups == 0 ? 1 : options->groups,
        .use_bias = !options->no_bias,
        .kernel_initializer = leati_kind_borrow_text("glorot_uniform"),
        .bias_initializer = leati_kind_borrow_text("zeros"),
        .seed = {options->seed.given, options->seed.value}};
    return leati_layer_new(&leati_layer_conv2d, &args, err);
}

const leati_layer_kind leati_layer_conv2d = {
    .kind =
        {
            .name = "Conv2D",
            .doc = "Pictures convolved with a kernel, plus a bias (keras.layers.Conv2D).",
            .rows = leati_convolution_rows,
            .signature = "filters kernel_size strides=[1,1] padding data_format "
                         "dilation_rate=[1,1] groups " LEATI_KERNEL_SIGNATURE,
            .args_size = sizeof(struct leati_convolution_args),
            .check = conv2d_check,
        },
    .prefix = "conv2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = conv2d_weights,
    .call = conv2d_call,
};
