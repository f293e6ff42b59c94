/* AdaptiveAveragePooling1D: the mean of windows of sequences, as many as the result has places
 * (keras.layers.AdaptiveAveragePooling1D). Failures: sizes of space that are unknown. No state, no
 * locks. */
#include "train/support/pooling.h"

static leat_status adaptive_average_pooling1d_check(const void *args, leat_error *err) {
    return leati_pooling_adaptive_check(args, 1, err);
}

static leat_value adaptive_average_pooling1d_call(const leati_pass *pass) {
    return leati_pooling_pool_adaptive(pass, 1, leat_op_reduce_mean);
}

const leati_layer_kind leati_layer_adaptive_average_pooling1d = {
    .kind =
        {
            .name = "AdaptiveAveragePooling1D",
            .doc = "The mean of as many windows as the result has places "
                   "(keras.layers.AdaptiveAveragePooling1D).",
            .rows = leati_adaptive_pooling_rows,
            .signature = "output_size data_format",
            .args_size = sizeof(struct leati_adaptive_pooling_args),
            .check = adaptive_average_pooling1d_check,
        },
    .prefix = "adaptive_average_pooling1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .call = adaptive_average_pooling1d_call,
};
