/* Conv3D: volumes convolved with a kernel, plus a bias, through an activation
 * (keras.layers.Conv3D). Failures: channels or filters that groups do not divide, a window that
 * does not fit. No state, no locks. */
#include "train/support/convolution.h"

static leat_status conv3d_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 3, false, err);
}

static leat_status conv3d_weights(const void *args, const leat_shape *input, leati_weights *out,
                                  leat_error *err) {
    return leati_convolution_weights(args, 3, input, out, err);
}

static leat_value conv3d_call(const leati_pass *pass) {
    return leati_convolution_call(pass, 3);
}

const leati_layer_kind leati_layer_conv3d = {
    .kind =
        {
            .name = "Conv3D",
            .doc = "Volumes convolved with a kernel, plus a bias (keras.layers.Conv3D).",
            .rows = leati_convolution_rows,
            .signature = "filters kernel_size strides=[1,1,1] padding data_format "
                         "dilation_rate=[1,1,1] groups " LEATI_KERNEL_SIGNATURE,
            .args_size = sizeof(struct leati_convolution_args),
            .check = conv3d_check,
        },
    .prefix = "conv3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = conv3d_weights,
    .call = conv3d_call,
};
