/* What the layers share that drop whole channels: Dropout whose draws have size 1 in space.
 * Failures: INVALID_ARGUMENT for a rate outside of 0 to 1. No locks. */
#include "train/support/spatial_dropout.h"
#include "graph/support/support.h"
#include "train/support/noise.h"

const leati_row leati_spatial_dropout_rows[] = {
    LEATI_LAYER_ROW(leati_spatial_dropout_args, rate, FLOAT, .flags = LEATI_REQUIRED,
                    .doc = "The part of the channels that become 0."),
    LEATI_LAYER_ROW(leati_spatial_dropout_args, data_format, STRING,
                    .doc = "\"channels_last\", the default, or \"channels_first\"."),
    LEATI_LAYER_ROW(leati_spatial_dropout_args, seed, SEED,
                    .doc = "What fixes the draws; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

leat_status leati_spatial_dropout_check(const void *arguments, leat_error *err) {
    const struct leati_spatial_dropout_args *args = arguments;
    LEATI_TRY(leati_noise_check_rate("rate", args->rate, err));
    return leati_layer_check_data_format(args->data_format, err);
}

leati_seed_argument leati_spatial_dropout_seed(const void *args) {
    return ((const struct leati_spatial_dropout_args *)args)->seed;
}

leat_status leati_spatial_dropout_weights(const void *arguments, const leat_shape *input,
                                          leati_weights *out, leat_error *err) {
    const struct leati_spatial_dropout_args *args = arguments;
    (void)input;
    (void)err;
    leati_noise_state(args->rate > 0, out);
    return LEAT_OK;
}

leat_value leati_spatial_drop(const leati_pass *pass, int directions) {
    const struct leati_spatial_dropout_args *args = pass->args;
    int64_t dims[5] = {-1, 1, 1, 1, 1};
    dims[leati_layer_channels_first(args->data_format) ? 1 : directions + 1] = -1;
    return leati_noise_drop(pass, args->rate, &(leati_ints){dims, directions + 2});
}
