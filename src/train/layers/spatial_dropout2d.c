/* SpatialDropout2D: in training whole channels become 0 by chance
 * (keras.layers.SpatialDropout2D). Failures: a rate outside of 0 to 1. No locks. */
#include "train/support/spatial_dropout.h"

static leat_value spatial_dropout2d_call(const leati_pass *pass) {
    return leati_spatial_drop(pass, 2);
}

const leati_layer_kind leati_layer_spatial_dropout2d = {
    .kind =
        {
            .name = "SpatialDropout2D",
            .doc = "In training whole channels become 0 by chance (keras.layers.SpatialDropout2D).",
            .rows = leati_spatial_dropout_rows,
            .signature = "rate data_format seed",
            .args_size = sizeof(struct leati_spatial_dropout_args),
            .check = leati_spatial_dropout_check,
        },
    .prefix = "spatial_dropout2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .seed = leati_spatial_dropout_seed,
    .weights = leati_spatial_dropout_weights,
    .masks = true,
    .call = spatial_dropout2d_call,
};
