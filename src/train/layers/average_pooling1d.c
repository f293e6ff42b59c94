/* AveragePooling1D: the mean of each window of sequences (keras.layers.AveragePooling1D).
 * Failures: a window that does not fit. No state, no locks. */
#include "train/support/pooling.h"
#include <leat/ops_arrays.h>

static const leati_row average_pooling1d_rows[] = {
    LEATI_POOLING_ROWS(LEATI_REQUIRED),
    {0},
};

static leat_status average_pooling1d_check(const void *args, leat_error *err) {
    return leati_pooling_check(args, 1, err);
}

static leat_value average_pooling1d_call(const leati_pass *pass) {
    return leati_pooling_pool(pass, 1, leat_op_avg_pool2d);
}

const leati_layer_kind leati_layer_average_pooling1d = {
    .kind =
        {
            .name = "AveragePooling1D",
            .doc = "The mean of each window of sequences (keras.layers.AveragePooling1D).",
            .rows = average_pooling1d_rows,
            .signature = "pool_size strides padding data_format name",
            .args_size = sizeof(struct leati_pooling_args),
            .check = average_pooling1d_check,
        },
    .prefix = "average_pooling1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .call = average_pooling1d_call,
};
