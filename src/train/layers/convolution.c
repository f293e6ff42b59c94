/* The convolutional layers (keras.layers.Conv1D and its like): sequences, pictures or volumes
 * convolved with a kernel, plus a bias, through an activation.
 *
 * Conv1D to Conv3D have a kernel [window, channels / groups, filters]: with groups, each group of
 * channels has filters of its own. The depthwise layers give each channel filters of its own, the
 * separable ones mix the channels behind that by a window of one place, and the transposed ones go
 * back from what a convolution gives to what it starts from. Failures: channels or filters that
 * groups do not divide, a window that does not fit; of a transposed layer sizes of space that are
 * unknown, and an output_padding that the strides do not leave. No state, no locks. */
#include "train/support/convolution.h"
#include "base/options.h"
#include "graph/support/support.h"

static const leati_row depthwise_rows[] = {
    LEATI_CONVOLUTION_ROWS,
    LEATI_MULTIPLIER_ROW,
    LEATI_DEPTHWISE_INITIALIZER_ROW,
    {0},
};

static const leati_row separable_rows[] = {
    LEATI_FILTERS_ROW,
    LEATI_CONVOLUTION_ROWS,
    LEATI_MULTIPLIER_ROW,
    LEATI_DEPTHWISE_INITIALIZER_ROW,
    LEATI_CONVOLUTION_ROW(pointwise_initializer, STRING, .default_text = "glorot_uniform",
                          .doc = "Name of the pointwise kernel's initialiser."),
    {0},
};

static const leati_row transposed_rows[] = {
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

static leat_status depthwise_weights(const struct leati_convolution_args *args, int directions,
                                     const leat_shape *input, leati_weights *out, leat_error *err) {
    (void)err;
    int64_t channels = channels_of(input, directions);
    out->list[0] = depthwise_kernel(args, directions, "kernel", channels);
    out->count = 1;
    leati_convolution_add_bias(args, channels * args->depth_multiplier, out);
    return LEAT_OK;
}

static leat_value depthwise_call(const leati_pass *pass, int directions) {
    return leati_convolution_finish(pass, convolve_channels(pass, directions), 1);
}

/* ---- separable ---- */

/* A window of one place along each direction. */
static leati_windows one_by_one(int directions) {
    /* With padding `valid`, which is 0: a window of one place needs none. */
    leati_windows windows = {.directions = directions};
    for (int i = 0; i < directions; i++)
        windows.size[i] = windows.strides[i] = windows.dilations[i] = 1;
    return windows;
}

static leat_status separable_weights(const struct leati_convolution_args *args, int directions,
                                     const leat_shape *input, leati_weights *out, leat_error *err) {
    (void)err;
    const leati_windows mixing = one_by_one(directions);
    int64_t channels = channels_of(input, directions), made = channels * args->depth_multiplier;
    out->list[0] = depthwise_kernel(args, directions, "depthwise_kernel", channels);
    out->list[1] =
        (leati_weight){.name = "pointwise_kernel",
                       .shape = leati_convolution_kernel_shape(&mixing, made, args->filters),
                       .initializer = args->pointwise_initializer};
    out->count = 2;
    leati_convolution_add_bias(args, args->filters, out);
    return LEAT_OK;
}

static leat_value separable_call(const leati_pass *pass, int directions) {
    const leati_windows mixing = one_by_one(directions);
    leat_value x = convolve_channels(pass, directions);
    return leati_convolution_finish(pass, leati_convolution_run(x, pass->weights[1], &mixing), 2);
}

/* ---- transposed ---- */

static leat_status transposed_weights(const struct leati_convolution_args *args, int directions,
                                      const leat_shape *input, leati_weights *out,
                                      leat_error *err) {
    (void)err;
    const leati_windows windows = leati_convolution_windows(args, directions);
    int64_t channels = channels_of(input, directions);
    /* Filters and channels change places, since the kernel is that of the way there. */
    out->list[0] =
        (leati_weight){.name = "kernel",
                       .shape = leati_convolution_kernel_shape(&windows, args->filters, channels),
                       .initializer = args->kernel_initializer};
    out->count = 1;
    leati_convolution_add_bias(args, args->filters, out);
    return LEAT_OK;
}

static leat_value transposed_call(const leati_pass *pass, int directions) {
    const struct leati_convolution_args *args = pass->args;
    const leati_windows windows = leati_convolution_windows(args, directions);
    leat_value x = pass->inputs[0];
    int64_t out[LEATI_MOST_DIRECTIONS], base[LEATI_MOST_DIRECTIONS];
    const char *wrong =
        leati_convolution_sizes_back(args, directions, leat_value_shape(x), out, base);
    if (wrong != NULL)
        return leati_support_build_error(x.graph, LEAT_REASON_SHAPE, wrong);
    return leati_convolution_finish(
        pass, leati_convolution_run_transposed(x, pass->weights[0], &windows, out, base), 1);
}

leat_layer *leat_layer_conv2d(int64_t filters, int64_t kernel_height, int64_t kernel_width,
                              const leat_layer_conv2d_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_layer_conv2d_options o = {LEAT_LAYER_CONV2D_DEFAULTS};
    if (LEATI_OPTIONS(leat_layer_conv2d_options, &o, options, err) != LEAT_OK)
        return NULL;
    int64_t size[2] = {kernel_height, kernel_width};
    const struct leati_convolution_args args = {
        .name = leati_kind_borrow_text(o.name),
        .filters = filters,
        .kernel_size = {size, 2},
        .strides = {o.strides, 2},
        .dilation_rate = {o.dilation_rate, 2},
        .padding = leati_kind_borrow_text(leati_layer_padding_name(o.padding)),
        .activation = leati_kind_borrow_text(leati_activation_name(o.activation)),
        .groups = o.groups,
        .use_bias = o.use_bias,
        .kernel_initializer = leati_kind_borrow_text("glorot_uniform"),
        .bias_initializer = leati_kind_borrow_text("zeros"),
        .seed = {o.seed.given, o.seed.value}};
    return leati_layer_new(&leati_layer_conv2d, &args, err);
}

/* ---- descriptors ---- */

/* What get_config() says first and last of all of them. */
#define CONFIG                                                                                     \
    "depth_multiplier filters kernel_size strides padding output_padding ... "                     \
    "activity_regularizer depthwise_constraint pointwise_constraint kernel_constraint "            \
    "bias_constraint"

/* The descriptor of one layer, along N directions of space; `FORM` names its rows, weights and
 * call, CAUSAL says whether padding may be causal. */
#define CONVOLUTION(ID, CLASS, FORM, N, CAUSAL, DOC, SIGNATURE)                                    \
    static leat_status ID##_check(const void *args, leat_error *err) {                             \
        return leati_convolution_check(args, N, CAUSAL, err);                                      \
    }                                                                                              \
    static leat_status ID##_weights(const void *args, const leat_shape *input, leati_weights *out, \
                                    leat_error *err) {                                             \
        return FORM##_weights(args, N, input, out, err);                                           \
    }                                                                                              \
    static leat_value ID##_call(const leati_pass *pass) {                                          \
        return FORM##_call(pass, N);                                                               \
    }                                                                                              \
    const leati_layer_kind leati_layer_##ID = {                                                    \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.layers." CLASS ").",                                           \
                .rows = FORM##_rows,                                                               \
                .signature = SIGNATURE,                                                            \
                .config = CONFIG,                                                                  \
                .args_size = sizeof(struct leati_convolution_args),                                \
                .check = ID##_check,                                                               \
            },                                                                                     \
        .prefix = #ID,                                                                             \
        LEATI_SPACE_##N,                                                                           \
        .fixed_last = true,                                                                        \
        .seed = leati_convolution_seed,                                                            \
        .weights = ID##_weights,                                                                   \
        .call = ID##_call,                                                                         \
    };

#define CONVOLVED(WHAT) WHAT " convolved with a kernel, plus a bias"
#define PLAIN_SIGNATURE(ONES)                                                                      \
    "filters kernel_size strides=" ONES " padding data_format dilation_rate=" ONES                 \
    " groups " LEATI_KERNEL_SIGNATURE
CONVOLUTION(conv1d, "Conv1D", leati_convolution, 1, true, CONVOLVED("Sequences"),
            PLAIN_SIGNATURE("1"))
CONVOLUTION(conv2d, "Conv2D", leati_convolution, 2, false, CONVOLVED("Pictures"),
            PLAIN_SIGNATURE("[1,1]"))
CONVOLUTION(conv3d, "Conv3D", leati_convolution, 3, false, CONVOLVED("Volumes"),
            PLAIN_SIGNATURE("[1,1,1]"))

#define EACH_CHANNEL "Each channel convolved with filters of its own"
#define DEPTHWISE_SIGNATURE(ONES)                                                                  \
    "kernel_size strides=" ONES " padding depth_multiplier data_format dilation_rate=" ONES        \
    " activation use_bias depthwise_initializer bias_initializer depthwise_regularizer "           \
    "bias_regularizer activity_regularizer depthwise_constraint bias_constraint"
CONVOLUTION(depthwise_conv1d, "DepthwiseConv1D", depthwise, 1, false, EACH_CHANNEL,
            DEPTHWISE_SIGNATURE("1"))
CONVOLUTION(depthwise_conv2d, "DepthwiseConv2D", depthwise, 2, false, EACH_CHANNEL,
            DEPTHWISE_SIGNATURE("[1,1]"))

#define THEN_MIXED "A depthwise convolution, then one that mixes the channels"
#define SEPARABLE_SIGNATURE(ONES)                                                                  \
    "filters kernel_size strides=" ONES " padding data_format dilation_rate=" ONES                 \
    " depth_multiplier activation use_bias depthwise_initializer pointwise_initializer "           \
    "bias_initializer depthwise_regularizer pointwise_regularizer bias_regularizer "               \
    "activity_regularizer depthwise_constraint pointwise_constraint bias_constraint"
CONVOLUTION(separable_conv1d, "SeparableConv1D", separable, 1, false, THEN_MIXED,
            SEPARABLE_SIGNATURE("1"))
CONVOLUTION(separable_conv2d, "SeparableConv2D", separable, 2, false, THEN_MIXED,
            SEPARABLE_SIGNATURE("[1,1]"))

#define WAY_BACK "The way back of a convolution, plus a bias"
#define TRANSPOSED_SIGNATURE(ONES, ORDER)                                                          \
    "filters kernel_size strides=" ONES " padding " ORDER " dilation_rate=" ONES                   \
    " " LEATI_KERNEL_SIGNATURE
CONVOLUTION(conv1d_transpose, "Conv1DTranspose", transposed, 1, false, WAY_BACK,
            TRANSPOSED_SIGNATURE("1", "output_padding=null data_format"))
CONVOLUTION(conv2d_transpose, "Conv2DTranspose", transposed, 2, false, WAY_BACK,
            TRANSPOSED_SIGNATURE("[1,1]", "output_padding=null data_format"))
CONVOLUTION(conv3d_transpose, "Conv3DTranspose", transposed, 3, false, WAY_BACK,
            TRANSPOSED_SIGNATURE("[1,1,1]", "data_format output_padding=null"))
