/* Conv1DTranspose: the way back of a convolution, from what it gives to what it starts from, plus
 * a bias, through an activation (keras.layers.Conv1DTranspose). Failures: sizes of space that are
 * unknown, output_padding that the strides do not leave. No state, no locks. */
#include "base/error.h"
#include "graph/ops/support.h"
#include "train/convolution.h"

static const leati_row conv1d_transpose_rows[] = {
    LEATI_FILTERS_ROW,
    LEATI_CONVOLUTION_ROWS,
    LEATI_KERNEL_INITIALIZER_ROW,
    LEATI_CONVOLUTION_ROW(output_padding, INTS, .minimum = 0, .maximum = INT32_MAX,
                          .doc = "What is added to the output's sizes; none: as little as the "
                                 "strides allow."),
    {0},
};

static leat_status conv1d_transpose_check(const void *args, leat_error *err) {
    return leati_convolution_check(args, 1, false, err);
}

static leat_status conv1d_transpose_weights(const void *arguments, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    const struct leati_convolution_args *args = arguments;
    const leati_windows windows = leati_convolution_windows(args, 1);
    (void)err;
    out->list[0] =
        (leati_weight){.name = "kernel",
                       .shape = leati_kernel_shape(&windows, args->filters, input->dims[2]),
                       .initializer = args->kernel_initializer};
    out->count = 1;
    leati_convolution_add_bias(args, args->filters, out);
    return LEAT_OK;
}

static leat_value conv1d_transpose_call(const leati_pass *pass) {
    const struct leati_convolution_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t out[1];
    const char *wrong = leati_convolution_sizes_back(args, 1, leat_value_shape(x), out);
    if (wrong != NULL)
        return leati_build_error(x.graph, LEAT_INVALID_ARGUMENT, wrong);
    const leati_windows windows = leati_convolution_windows(args, 1);
    return leati_convolution_finish(pass, leati_convolve_back(x, pass->weights[0], &windows, out),
                                    1);
}

const leati_layer_kind leati_layer_conv1d_transpose = {
    .kind =
        {
            .name = "Conv1DTranspose",
            .doc = "The way back of a convolution, plus a bias (keras.layers.Conv1DTranspose).",
            .rows = conv1d_transpose_rows,
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
