/* AveragePooling2D: the mean of each window of pictures (keras.layers.AveragePooling2D). Failures:
 * a window that does not fit. No state, no locks. */
#include "train/support/pooling.h"
#include <leat/ops_arrays.h>

static const leati_row average_pooling2d_rows[] = {
    LEATI_POOLING_ROWS(LEATI_REQUIRED),
    {0},
};

static leat_status average_pooling2d_check(const void *args, leat_error *err) {
    return leati_pooling_check(args, 2, err);
}

static leat_value average_pooling2d_call(const leati_pass *pass) {
    return leati_pooling_pool(pass, 2, leat_op_avg_pool2d);
}

const leati_layer_kind leati_layer_average_pooling2d = {
    .kind =
        {
            .name = "AveragePooling2D",
            .doc = "The mean of each window of pictures (keras.layers.AveragePooling2D).",
            .rows = average_pooling2d_rows,
            .signature = "pool_size strides padding data_format name",
            .args_size = sizeof(struct leati_pooling_args),
            .check = average_pooling2d_check,
        },
    .prefix = "average_pooling2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .call = average_pooling2d_call,
};
