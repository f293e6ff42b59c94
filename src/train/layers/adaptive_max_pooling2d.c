/* AdaptiveMaxPooling2D: the largest value of windows of pictures, as many as the result has places
 * (keras.layers.AdaptiveMaxPooling2D). Failures: sizes of space that are unknown. No state, no
 * locks. */
#include "train/support/pooling.h"

static leat_status adaptive_max_pooling2d_check(const void *args, leat_error *err) {
    return leati_pooling_adaptive_check(args, 2, err);
}

static leat_value adaptive_max_pooling2d_call(const leati_pass *pass) {
    return leati_pooling_pool_adaptive(pass, 2, leat_op_reduce_max);
}

const leati_layer_kind leati_layer_adaptive_max_pooling2d = {
    .kind =
        {
            .name = "AdaptiveMaxPooling2D",
            .doc = "The largest value of as many windows as the result has places "
                   "(keras.layers.AdaptiveMaxPooling2D).",
            .rows = leati_adaptive_pooling_rows,
            .signature = "output_size data_format",
            .args_size = sizeof(struct leati_adaptive_pooling_args),
            .check = adaptive_max_pooling2d_check,
        },
    .prefix = "adaptive_max_pooling2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .call = adaptive_max_pooling2d_call,
};
