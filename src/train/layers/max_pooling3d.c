/* MaxPooling3D: the maximum of each window of volumes (keras.layers.MaxPooling3D). Failures: a
 * window that does not fit. No state, no locks. */
#include "train/support/pooling.h"

static const leati_row max_pooling3d_rows[] = {
    LEATI_POOLING_ROWS(0),
    {0},
};

static leat_status max_pooling3d_check(const void *args, leat_error *err) {
    return leati_pooling_check(args, 3, err);
}

static leat_value max_pooling3d_call(const leati_pass *pass) {
    return leati_pooling_pool(pass, 3, leat_op_max_pool2d);
}

const leati_layer_kind leati_layer_max_pooling3d = {
    .kind =
        {
            .name = "MaxPooling3D",
            .doc = "The maximum of each window of volumes (keras.layers.MaxPooling3D).",
            .rows = max_pooling3d_rows,
            .signature = "pool_size=[2,2,2] strides padding data_format name",
            .args_size = sizeof(struct leati_pooling_args),
            .check = max_pooling3d_check,
        },
    .prefix = "max_pooling3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .call = max_pooling3d_call,
};
