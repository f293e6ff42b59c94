/* SpatialDropout3D: in training whole channels become 0 by chance
 * (keras.layers.SpatialDropout3D). Failures: a rate outside of 0 to 1. No locks. */
#include "train/support/spatial_dropout.h"

static leat_value spatial_dropout3d_call(const leati_pass *pass) {
    return leati_spatial_drop(pass, 3);
}

const leati_layer_kind leati_layer_spatial_dropout3d = {
    .kind =
        {
            .name = "SpatialDropout3D",
            .doc = "In training whole channels become 0 by chance (keras.layers.SpatialDropout3D).",
            .rows = leati_spatial_dropout_rows,
            .signature = "rate data_format seed",
            .args_size = sizeof(struct leati_spatial_dropout_args),
            .check = leati_spatial_dropout_check,
        },
    .prefix = "spatial_dropout3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .seed = leati_spatial_dropout_seed,
    .weights = leati_spatial_dropout_weights,
    .masks = true,
    .call = spatial_dropout3d_call,
};
