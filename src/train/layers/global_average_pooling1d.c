/* GlobalAveragePooling1D: the mean of each channel of sequences
 * (keras.layers.GlobalAveragePooling1D). No failures. No state, no locks. */
#include "train/support/pooling.h"

static leat_value global_average_pooling1d_call(const leati_pass *pass) {
    return leati_pooling_pool_all(pass, 1, leat_op_reduce_mean);
}

const leati_layer_kind leati_layer_global_average_pooling1d = {
    .kind =
        {
            .name = "GlobalAveragePooling1D",
            .doc = "The mean of each channel of sequences (keras.layers.GlobalAveragePooling1D).",
            .rows = leati_global_pooling_rows,
            .signature = "data_format keepdims",
            .args_size = sizeof(struct leati_global_pooling_args),
            .check = leati_pooling_global_check,
        },
    .prefix = "global_average_pooling1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .call = global_average_pooling1d_call,
};
