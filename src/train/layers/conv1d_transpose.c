/* Conv1DTranspose: the way back of a convolution, from what it gives to what it starts from, plus
 * a bias, through an activation (keras.layers.Conv1DTranspose). Failures: sizes of space that are
 * unknown, output_padding that the strides do not leave. No state, no locks. */
#include "train/support/convolution.h"

static leat_status conv1d_transpose_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 1, false, err);
}

static leat_status conv1d_transpose_weights(const void *args, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    (void)err;
    leati_convolution_transposed_weights(args, 1, input, out);
    return LEAT_OK;
}

static leat_value conv1d_transpose_call(const leati_pass *pass) {
    return leati_convolution_transposed_call(pass, 1);
}

const leati_layer_kind leati_layer_conv1d_transpose = {
    .kind =
        {
            .name = "Conv1DTranspose",
            .doc = "The way back of a convolution, plus a bias (keras.layers.Conv1DTranspose).",
            .rows = leati_transposed_rows,
            .signature = "filters kernel_size strides=1 padding output_padding=null "
                         "data_format dilation_rate=1 " LEATI_KERNEL_SIGNATURE,
            .args_size = sizeof(struct leati_convolution_args),
            .check = conv1d_transpose_check,
        },
    .prefix = "conv1d_transpose",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .fixed_last = true,
    .seed = leati_convolution_seed,
    .weights = conv1d_transpose_weights,
    .call = conv1d_transpose_call,
};
