/* MaxPooling2D: the maximum of each window of pictures (keras.layers.MaxPooling2D). Failures: a
 * window that does not fit. No state, no locks. */
#include "train/support/pooling.h"

static const leati_row max_pooling2d_rows[] = {
    LEATI_POOLING_ROWS(0),
    {0},
};

static leat_status max_pooling2d_check(const void *args, leat_error *err) {
    return leati_pooling_check(args, 2, err);
}

static leat_value max_pooling2d_call(const leati_pass *pass) {
    return leati_pooling_pool(pass, 2, leat_op_max_pool2d);
}

leat_layer *leat_layer_max_pooling2d(const leat_layer_max_pooling2d_options *options,
                                     leat_error *err) {
    static const leat_layer_max_pooling2d_options none;
    if (options == NULL)
        options = &none;
    int64_t size[2], strides[2];
    for (int i = 0; i < 2; i++) {
        size[i] = options->pool_size[i] == 0 ? 2 : options->pool_size[i];
        strides[i] = options->strides[i] == 0 ? size[i] : options->strides[i];
    }
    const struct leati_pooling_args args = {
        .name = leati_kind_borrow_text(options->name),
        .pool_size = {size, 2},
        .strides = {strides, 2},
        .padding = leati_kind_borrow_text(leati_layer_padding_name(options->padding))};
    return leati_layer_new(&leati_layer_max_pooling2d, &args, err);
}

const leati_layer_kind leati_layer_max_pooling2d = {
    .kind =
        {
            .name = "MaxPooling2D",
            .doc = "The maximum of each window of pictures (keras.layers.MaxPooling2D).",
            .rows = max_pooling2d_rows,
            .signature = "pool_size=[2,2] strides padding data_format name",
            .args_size = sizeof(struct leati_pooling_args),
            .check = max_pooling2d_check,
        },
    .prefix = "max_pooling2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .call = max_pooling2d_call,
};
