/* Conv2D: pictures convolved with a kernel, plus a bias, through an activation
 * (keras.layers.Conv2D).
 *
 * Pictures are NHWC; the kernel is [height, width, channels / groups, filters]. With groups, each
 * group of channels has filters of its own: their convolutions stand side by side in the output.
 * Failures: channels or filters that groups do not divide, a window that does not fit. */
#include "base/error.h"
#include "graph/ops/support.h"
#include "train/layer.h"

struct conv2d_args {
    char *name; /* first: struct leati_layer_args */
    int64_t filters;
    leati_ints kernel_size, strides, dilation_rate;
    char *padding, *data_format, *activation;
    int64_t groups;
    bool use_bias;
    char *kernel_initializer, *bias_initializer;
    leati_seed_argument seed;
};

static const leati_row conv2d_rows[] = {
    {.name = "filters",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct conv2d_args, filters),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Channels of the output."},
    {.name = "kernel_size",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct conv2d_args, kernel_size),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Height and width of the window in pixels, or one number for both."},
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct conv2d_args, strides),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Steps of the window along height and width; 1 by default."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct conv2d_args, padding),
     .default_text = "valid",
     .doc = "\"valid\" or \"same\"."},
    {.name = "data_format",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct conv2d_args, data_format),
     .doc = "\"channels_last\"."},
    {.name = "dilation_rate",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct conv2d_args, dilation_rate),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Steps between the pixels of a window along height and width; 1 by default."},
    {.name = "groups",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct conv2d_args, groups),
     .default_number = 1,
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Groups of channels that are convolved apart."},
    {.name = "activation",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct conv2d_args, activation),
     .doc = "\"linear\", \"relu\" or \"softmax\"."},
    {.name = "use_bias",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct conv2d_args, use_bias),
     .default_number = 1,
     .doc = "Whether a bias is added."},
    {.name = "kernel_initializer",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct conv2d_args, kernel_initializer),
     .default_text = "glorot_uniform",
     .doc = "Name of the kernel's initialiser."},
    {.name = "bias_initializer",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct conv2d_args, bias_initializer),
     .default_text = "zeros",
     .doc = "Name of the bias's initialiser."},
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct conv2d_args, seed),
     .doc = "Seed of the kernel's initialiser; none: drawn when the layer is made."},
    {.name = "name",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct conv2d_args, name),
     .doc = "Name of the layer."},
    {0},
};

static leat_status conv2d_check(const void *arguments, leat_error *err) {
    const struct conv2d_args *args = arguments;
    LEATI_TRY(leati_check_pair(&args->kernel_size, "kernel_size", err));
    LEATI_TRY(leati_check_pair(&args->strides, "strides", err));
    LEATI_TRY(leati_check_pair(&args->dilation_rate, "dilation_rate", err));
    LEATI_TRY(leati_check_padding(args->padding, err));
    LEATI_TRY(leati_check_channels_last(args->data_format, err));
    LEATI_TRY(leati_check_activation(args->activation, err));
    if (args->filters % args->groups != 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%lld groups do not divide %lld filters evenly", (long long)args->groups,
                          (long long)args->filters);
    return LEAT_OK;
}

static leati_seed_argument conv2d_seed(const void *args) {
    return ((const struct conv2d_args *)args)->seed;
}

static leat_status conv2d_weights(const void *arguments, const leat_shape *input,
                                  leati_weights *out, leat_error *err) {
    const struct conv2d_args *args = arguments;
    int64_t channels = input->dims[3], size[2];
    if (channels % args->groups != 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%lld groups do not divide %lld channels evenly", (long long)args->groups,
                          (long long)channels);
    leati_pair_of(&args->kernel_size, 1, size);
    leat_shape kernel = LEAT_SHAPE(size[0], size[1], channels / args->groups, args->filters);
    leat_shape bias = LEAT_SHAPE(args->filters);
    out->list[0] = (leati_weight){"kernel", kernel, args->kernel_initializer, false, 0};
    out->list[1] = (leati_weight){"bias", bias, args->bias_initializer, false, 0};
    out->count = args->use_bias ? 2 : 1;
    return LEAT_OK;
}

/* Values `group` of `groups` along the last of four dimensions. */
static leat_value part(leat_value x, int64_t group, int64_t size) {
    return leat_slice(x, (const int64_t[]){0, 0, 0, group * size},
                      (const int64_t[]){-1, -1, -1, size}, 4);
}

static leat_value convolve(const struct conv2d_args *args, leat_value input, leat_value kernel) {
    leat_conv2d_options options = {.padding = leati_padding_of(args->padding)};
    leati_pair_of(&args->strides, 1, options.strides);
    leati_pair_of(&args->dilation_rate, 1, options.dilations);
    if (args->groups == 1)
        return leat_conv2d(input, kernel, &options);
    int64_t channels = leat_value_shape(kernel).dims[2], filters = args->filters / args->groups;
    leat_value joined = {.graph = input.graph, .id = -1};
    for (int64_t g = 0; g < args->groups; g++) {
        leat_value out = leat_conv2d(part(input, g, channels), part(kernel, g, filters), &options);
        joined = g == 0 ? out : leat_concat((leat_value[]){joined, out}, 2, 3);
    }
    return joined;
}

static leat_value conv2d_call(const leati_pass *pass) {
    const struct conv2d_args *args = pass->args;
    leat_value value = convolve(args, pass->inputs[0], pass->weights[0]);
    if (args->use_bias)
        value = leat_bias_add(value, pass->weights[1]);
    return leati_activate(args->activation, value);
}

leat_layer *leat_conv2d_layer(int64_t filters, int64_t kernel_height, int64_t kernel_width,
                              const leat_conv2d_layer_options *options, leat_error *err) {
    static const leat_conv2d_layer_options none;
    if (options == NULL)
        options = &none;
    int64_t size[2] = {kernel_height, kernel_width}, strides[2], dilations[2];
    for (int i = 0; i < 2; i++) {
        strides[i] = options->strides[i] == 0 ? 1 : options->strides[i];
        dilations[i] = options->dilation_rate[i] == 0 ? 1 : options->dilation_rate[i];
    }
    const struct conv2d_args args = {
        .name = leati_borrow_text(options->name),
        .filters = filters,
        .kernel_size = {size, 2},
        .strides = {strides, 2},
        .dilation_rate = {dilations, 2},
        .padding = leati_borrow_text(leati_padding_name(options->padding)),
        .activation = leati_borrow_text(leati_activation_name(options->activation)),
        .groups = options->groups == 0 ? 1 : options->groups,
        .use_bias = !options->no_bias,
        .kernel_initializer = leati_borrow_text("glorot_uniform"),
        .bias_initializer = leati_borrow_text("zeros"),
        .seed = {options->seed.given, options->seed.value}};
    return leati_layer_new(&leati_layer_conv2d, &args, err);
}

const leati_layer_kind leati_layer_conv2d = {
    .kind =
        {
            .name = "Conv2D",
            .doc = "Pictures convolved with a kernel, plus a bias (keras.layers.Conv2D).",
            .rows = conv2d_rows,
            .signature = "filters kernel_size strides=[1,1] padding data_format "
                         "dilation_rate=[1,1] groups " LEATI_KERNEL_SIGNATURE,
            .args_size = sizeof(struct conv2d_args),
            .check = conv2d_check,
        },
    .prefix = "conv2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .fixed_last = true,
    .seed = conv2d_seed,
    .weights = conv2d_weights,
    .call = conv2d_call,
};
