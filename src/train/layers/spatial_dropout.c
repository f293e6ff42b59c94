/* SpatialDropout: in training whole channels become 0 by chance (keras.layers.SpatialDropout1D and
 * its like); Dropout whose draws have size 1 in space. Failures: INVALID_ARGUMENT for a rate
 * outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include "train/support/noise.h"

struct spatial_dropout_args {
    char *name; /* first: struct leati_layer_args */
    double rate;
    char *data_format;
    leati_seed_argument seed;
};

static const leati_row spatial_dropout_rows[] = {
    LEATI_LAYER_ROW(spatial_dropout_args, rate, FLOAT, .flags = LEATI_REQUIRED,
                    .doc = "The part of the channels that become 0."),
    LEATI_LAYER_ROW(spatial_dropout_args, data_format, STRING,
                    .doc = "\"channels_last\", the default, or \"channels_first\"."),
    LEATI_LAYER_ROW(spatial_dropout_args, seed, SEED,
                    .doc = "What fixes the draws; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status spatial_dropout_check(const void *arguments, leat_error *err) {
    const struct spatial_dropout_args *args = arguments;
    LEATI_TRY(leati_noise_check_rate("rate", args->rate, err));
    return leati_layer_check_data_format(args->data_format, err);
}

static leati_seed_argument spatial_dropout_seed(const void *args) {
    return ((const struct spatial_dropout_args *)args)->seed;
}

static leat_status spatial_dropout_weights(const void *arguments, const leat_shape *input,
                                           leati_weights *out, leat_error *err) {
    const struct spatial_dropout_args *args = arguments;
    (void)input;
    (void)err;
    leati_noise_state(args->rate > 0, out);
    return LEAT_OK;
}

static leat_value drop_channels(const leati_pass *pass, int directions) {
    const struct spatial_dropout_args *args = pass->args;
    /* Draws have size 1 in space, so a channel is kept or dropped whole. */
    int64_t dims[5] = {-1, 1, 1, 1, 1};
    dims[leati_layer_channels_first(args->data_format) ? 1 : directions + 1] = -1;
    return leati_noise_drop(pass, args->rate, &(leati_ints){dims, directions + 2});
}

/* The descriptor of one layer, along N directions of space. */
#define SPATIAL_DROPOUT(N, SIGNATURE)                                                              \
    static leat_value spatial_dropout##N##d_call(const leati_pass *pass) {                         \
        return drop_channels(pass, N);                                                             \
    }                                                                                              \
    const leati_layer_kind leati_layer_spatial_dropout##N##d = {                                   \
        .kind =                                                                                    \
            {                                                                                      \
                .name = "SpatialDropout" #N "D",                                                   \
                .doc = "In training whole channels become 0 by chance "                            \
                       "(keras.layers.SpatialDropout" #N "D).",                                    \
                .rows = spatial_dropout_rows,                                                      \
                .signature = SIGNATURE,                                                            \
                .config = "rate seed name dtype trainable?",                                       \
                .args_size = sizeof(struct spatial_dropout_args),                                  \
                .check = spatial_dropout_check,                                                    \
            },                                                                                     \
        .prefix = "spatial_dropout" #N "d",                                                        \
        .takes_integers = true,                                                                    \
        LEATI_SPACE_##N,                                                                           \
        .seed = spatial_dropout_seed,                                                              \
        .weights = spatial_dropout_weights,                                                        \
        .masks = true,                                                                             \
        .call = spatial_dropout##N##d_call,                                                        \
    };
SPATIAL_DROPOUT(1, "rate seed")
SPATIAL_DROPOUT(2, "rate data_format seed")
SPATIAL_DROPOUT(3, "rate data_format seed")
