/* Rows, weights and calls of the depthwise, separable and transposed convolutional layers, for one
 * direction of space and for two, the last for three too (train/support/convolution.h).
 *
 * Failures: a window that does not fit; of a transposed layer sizes of space that are unknown, and
 * an output_padding that the strides do not leave. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/convolution.h"

const leati_row leati_depthwise_rows[] = {
    LEATI_CONVOLUTION_ROWS,
    LEATI_MULTIPLIER_ROW,
    LEATI_DEPTHWISE_INITIALIZER_ROW,
    {0},
};

const leati_row leati_separable_rows[] = {
    LEATI_FILTERS_ROW,
    LEATI_CONVOLUTION_ROWS,
    LEATI_MULTIPLIER_ROW,
    LEATI_DEPTHWISE_INITIALIZER_ROW,
    LEATI_CONVOLUTION_ROW(pointwise_initializer, STRING, .default_text = "glorot_uniform",
                          .doc = "Name of the pointwise kernel's initialiser."),
    {0},
};

const leati_row leati_transposed_rows[] = {
    LEATI_FILTERS_ROW,
    LEATI_CONVOLUTION_ROWS,
    LEATI_KERNEL_INITIALIZER_ROW,
    LEATI_CONVOLUTION_ROW(output_padding, INTS, .minimum = 0, .maximum = INT32_MAX,
                          .doc = "What is added to the output's sizes; none: as little as the "
                                 "strides allow."),
    {0},
};

/* Channels of an input [batch, sizes of space, channels]. */
static int64_t channels_of(const leat_shape *input, int directions) {
    return input->dims[directions + 1];
}

/* ---- depthwise ---- */

static leati_weight depthwise_kernel(const struct leati_convolution_args *args, int directions,
                                     const char *name, int64_t channels) {
    const leati_windows windows = leati_convolution_windows(args, directions);
    return (leati_weight){
        .name = name,
        .shape = leati_convolution_kernel_shape(&windows, channels, args->depth_multiplier),
        .initializer = args->depthwise_initializer};
}

static leat_value convolve_channels(const leati_pass *pass, int directions) {
    const struct leati_convolution_args *args = pass->args;
    const leati_windows windows = leati_convolution_windows(args, directions);
    return leati_convolution_run_depthwise(pass->inputs[0], pass->weights[0], &windows);
}

void leati_convolution_depthwise_weights(const struct leati_convolution_args *args, int directions,
                                         const leat_shape *input, leati_weights *out) {
    int64_t channels = channels_of(input, directions);
    out->list[0] = depthwise_kernel(args, directions, "kernel", channels);
    out->count = 1;
    leati_convolution_add_bias(args, channels * args->depth_multiplier, out);
}

leat_value leati_convolution_depthwise_call(const leati_pass *pass, int directions) {
    return leati_convolution_finish(pass, convolve_channels(pass, directions), 1);
}

/* ---- separable ---- */

/* A window of one place along each direction. */
static leati_windows one_by_one(int directions) {
    leati_windows windows = {.directions = directions};
    for (int i = 0; i < directions; i++)
        windows.size[i] = windows.strides[i] = windows.dilations[i] = 1;
    return windows;
}

void leati_convolution_separable_weights(const struct leati_convolution_args *args, int directions,
                                         const leat_shape *input, leati_weights *out) {
    const leati_windows mixing = one_by_one(directions);
    int64_t channels = channels_of(input, directions), made = channels * args->depth_multiplier;
    out->list[0] = depthwise_kernel(args, directions, "depthwise_kernel", channels);
    out->list[1] =
        (leati_weight){.name = "pointwise_kernel",
                       .shape = leati_convolution_kernel_shape(&mixing, made, args->filters),
                       .initializer = args->pointwise_initializer};
    out->count = 2;
    leati_convolution_add_bias(args, args->filters, out);
}

leat_value leati_convolution_separable_call(const leati_pass *pass, int directions) {
    const leati_windows mixing = one_by_one(directions);
    leat_value x = convolve_channels(pass, directions);
    return leati_convolution_finish(pass, leati_convolution_run(x, pass->weights[1], &mixing), 2);
}

/* ---- transposed ---- */

void leati_convolution_transposed_weights(const struct leati_convolution_args *args, int directions,
                                          const leat_shape *input, leati_weights *out) {
    const leati_windows windows = leati_convolution_windows(args, directions);
    int64_t channels = channels_of(input, directions);
    out->list[0] =
        (leati_weight){.name = "kernel",
                       .shape = leati_convolution_kernel_shape(&windows, args->filters, channels),
                       .initializer = args->kernel_initializer};
    out->count = 1;
    leati_convolution_add_bias(args, args->filters, out);
}

leat_value leati_convolution_transposed_call(const leati_pass *pass, int directions) {
    const struct leati_convolution_args *args = pass->args;
    const leati_windows windows = leati_convolution_windows(args, directions);
    leat_value x = pass->inputs[0];
    int64_t out[LEATI_MOST_DIRECTIONS], base[LEATI_MOST_DIRECTIONS];
    const char *wrong =
        leati_convolution_sizes_back(args, directions, leat_value_shape(x), out, base);
    if (wrong != NULL)
        return leati_support_build_error(x.graph, LEAT_INVALID_ARGUMENT, wrong);
    return leati_convolution_finish(
        pass, leati_convolution_run_transposed(x, pass->weights[0], &windows, out, base), 1);
}
