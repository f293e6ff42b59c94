/* Conv3DTranspose: the way back of a convolution, from what it gives to what it starts from, plus
 * a bias, through an activation (keras.layers.Conv3DTranspose). Failures: sizes of space that are
 * unknown, output_padding that the strides do not leave. No state, no locks. */
#include "train/support/convolution.h"

static leat_status conv3d_transpose_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 3, false, err);
}

static leat_status conv3d_transpose_weights(const void *args, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    (void)err;
    leati_convolution_transposed_weights(args, 3, input, out);
    return LEAT_OK;
}

static leat_value conv3d_transpose_call(const leati_pass *pass) {
    return leati_convolution_transposed_call(pass, 3);
}

const leati_layer_kind leati_layer_conv3d_transpose = {
    .kind =
        {
            .name = "Conv3DTranspose",
            .doc = "The way back of a convolution, plus a bias (keras.layers.Conv3DTranspose).",
            .rows = leati_transposed_rows,
            .signature = "filters kernel_size strides=[1,1,1] padding data_format "
                         "output_padding=null dilation_rate=[1,1,1] " LEATI_KERNEL_SIGNATURE,
            .args_size = sizeof(struct leati_convolution_args),
            .check = conv3d_transpose_check,
        },
    .prefix = "conv3d_transpose",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = conv3d_transpose_weights,
    .call = conv3d_transpose_call,
};
