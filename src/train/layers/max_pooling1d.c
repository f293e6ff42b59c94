/* MaxPooling1D: the maximum of each window of sequences (keras.layers.MaxPooling1D). Failures: a
 * window that does not fit. No state, no locks. */
#include "train/support/pooling.h"

static const leati_row max_pooling1d_rows[] = {
    LEATI_POOLING_ROWS(0),
    {0},
};

static leat_status max_pooling1d_check(const void *args, leat_error *err) {
    return leati_pooling_check(args, 1, err);
}

static leat_value max_pooling1d_call(const leati_pass *pass) {
    return leati_pooling_pool(pass, 1, leat_op_max_pool2d);
}

const leati_layer_kind leati_layer_max_pooling1d = {
    .kind =
        {
            .name = "MaxPooling1D",
            .doc = "The maximum of each window of sequences (keras.layers.MaxPooling1D).",
            .rows = max_pooling1d_rows,
            .signature = "pool_size=2 strides padding data_format name",
            .args_size = sizeof(struct leati_pooling_args),
            .check = max_pooling1d_check,
        },
    .prefix = "max_pooling1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .call = max_pooling1d_call,
};
