/* AdaptiveAveragePooling3D: the mean of windows of volumes, as many as the result has places
 * (keras.layers.AdaptiveAveragePooling3D). Failures: sizes of space that are unknown. No state, no
 * locks. */
#include "train/support/pooling.h"

static leat_status adaptive_average_pooling3d_check(const void *args, leat_error *err) {
    return leati_pooling_adaptive_check(args, 3, err);
}

static leat_value adaptive_average_pooling3d_call(const leati_pass *pass) {
    return leati_pooling_pool_adaptive(pass, 3, leat_op_reduce_mean);
}

const leati_layer_kind leati_layer_adaptive_average_pooling3d = {
    .kind =
        {
            .name = "AdaptiveAveragePooling3D",
            .doc = "The mean of as many windows as the result has places "
                   "(keras.layers.AdaptiveAveragePooling3D).",
            .rows = leati_adaptive_pooling_rows,
            .signature = "output_size data_format",
            .args_size = sizeof(struct leati_adaptive_pooling_args),
            .check = adaptive_average_pooling3d_check,
        },
    .prefix = "adaptive_average_pooling3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .call = adaptive_average_pooling3d_call,
};
