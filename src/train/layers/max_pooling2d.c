/* MaxPooling2D: the maximum of each window of pictures NHWC (keras.layers.MaxPooling2D). Failures:
 * a window that does not fit. No state, no locks. */
#include "base/error.h"
#include "graph/ops/support.h"
#include "train/layer.h"

struct max_pooling2d_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints pool_size, strides;
    char *padding, *data_format;
};

static const leati_row max_pooling2d_rows[] = {
    {.name = "pool_size",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct max_pooling2d_args, pool_size),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Height and width of the window in pixels, or one number for both; 2 by default."},
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct max_pooling2d_args, strides),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Steps of the window along height and width; by default its size."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct max_pooling2d_args, padding),
     .default_text = "valid",
     .doc = "\"valid\" or \"same\"."},
    {.name = "data_format",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct max_pooling2d_args, data_format),
     .doc = "\"channels_last\"."},
    {.name = "name",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct max_pooling2d_args, name),
     .doc = "Name of the layer."},
    {0},
};

static leat_status max_pooling2d_check(const void *arguments, leat_error *err) {
    const struct max_pooling2d_args *args = arguments;
    LEATI_TRY(leati_check_pair(&args->pool_size, "pool_size", err));
    LEATI_TRY(leati_check_pair(&args->strides, "strides", err));
    LEATI_TRY(leati_check_padding(args->padding, err));
    return leati_check_channels_last(args->data_format, err);
}

static leat_value max_pooling2d_call(const leati_pass *pass) {
    const struct max_pooling2d_args *args = pass->args;
    leat_pool2d_options options = {.padding = leati_padding_of(args->padding)};
    leati_pair_of(&args->pool_size, 2, options.ksize);
    if (args->strides.count > 0)
        leati_pair_of(&args->strides, 1, options.strides);
    return leat_max_pool2d(pass->inputs[0], &options);
}

leat_layer *leat_max_pooling2d_layer(const leat_max_pooling2d_layer_options *options,
                                     leat_error *err) {
    static const leat_max_pooling2d_layer_options none;
    if (options == NULL)
        options = &none;
    int64_t size[2], strides[2];
    for (int i = 0; i < 2; i++) {
        size[i] = options->pool_size[i] == 0 ? 2 : options->pool_size[i];
        strides[i] = options->strides[i] == 0 ? size[i] : options->strides[i];
    }
    const struct max_pooling2d_args args = {
        .name = leati_borrow_text(options->name),
        .pool_size = {size, 2},
        .strides = {strides, 2},
        .padding = leati_borrow_text(leati_padding_name(options->padding))};
    return leati_layer_new(&leati_layer_max_pooling2d, &args, err);
}

const leati_layer_kind leati_layer_max_pooling2d = {
    .kind =
        {
            .name = "MaxPooling2D",
            .doc = "The maximum of each window of pictures (keras.layers.MaxPooling2D).",
            .rows = max_pooling2d_rows,
            .signature = "pool_size=[2,2] strides padding data_format name",
            .args_size = sizeof(struct max_pooling2d_args),
            .check = max_pooling2d_check,
        },
    .prefix = "max_pooling2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .call = max_pooling2d_call,
};
