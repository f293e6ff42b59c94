/* AveragePooling3D: the mean of each window of volumes (keras.layers.AveragePooling3D). Failures:
 * a window that does not fit. No state, no locks. */
#include "train/support/pooling.h"
#include <leat/ops_arrays.h>

static const leati_row average_pooling3d_rows[] = {
    LEATI_POOLING_ROWS(LEATI_REQUIRED),
    {0},
};

static leat_status average_pooling3d_check(const void *args, leat_error *err) {
    return leati_pooling_check(args, 3, err);
}

static leat_value average_pooling3d_call(const leati_pass *pass) {
    return leati_pooling_pool(pass, 3, leat_op_avg_pool2d);
}

const leati_layer_kind leati_layer_average_pooling3d = {
    .kind =
        {
            .name = "AveragePooling3D",
            .doc = "The mean of each window of volumes (keras.layers.AveragePooling3D).",
            .rows = average_pooling3d_rows,
            .signature = "pool_size strides padding data_format name",
            .args_size = sizeof(struct leati_pooling_args),
            .check = average_pooling3d_check,
        },
    .prefix = "average_pooling3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .call = average_pooling3d_call,
};
