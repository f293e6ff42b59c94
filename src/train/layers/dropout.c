/* Dropout: in training values become 0 by chance, and those that stay are divided by the part that
 * stays (keras.layers.Dropout).
 *
 * The numbers come from a seed and the count of calls so far, which is the layer's state, so the
 * same seed gives the same masks as Keras; replicas after the first draw others. Failures: a rate
 * outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/noise.h"

struct dropout_args {
    char *name; /* first: struct leati_layer_args */
    double rate;
    leati_ints noise_shape;
    leati_seed_argument seed;
};

static const leati_row dropout_rows[] = {
    LEATI_LAYER_ROW(dropout_args, rate, FLOAT, .flags = LEATI_REQUIRED,
                    .doc = "The part of the values that become 0."),
    LEATI_LAYER_ROW(dropout_args, noise_shape, INTS, .minimum = -1, .maximum = INT64_MAX,
                    .doc = "The shape of what is drawn, which broadcasts; -1 for a dimension of "
                           "the input; none: the input's."),
    LEATI_LAYER_ROW(dropout_args, seed, SEED,
                    .doc = "What fixes the draws; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status dropout_check(const void *arguments, leat_error *err) {
    const struct dropout_args *args = arguments;
    return leati_noise_check_rate("rate", args->rate, err);
}

static leati_seed_argument dropout_seed(const void *args) {
    return ((const struct dropout_args *)args)->seed;
}

static leat_status dropout_weights(const void *arguments, const leat_shape *input,
                                   leati_weights *out, leat_error *err) {
    const struct dropout_args *args = arguments;
    (void)input;
    (void)err;
    leati_noise_state(args->rate > 0, out);
    return LEAT_OK;
}

static leat_value dropout_call(const leati_pass *pass) {
    const struct dropout_args *args = pass->args;
    return leati_noise_drop(pass, args->rate, &args->noise_shape);
}

const leati_layer_kind leati_layer_dropout = {
    .kind =
        {
            .name = "Dropout",
            .doc = "In training values become 0 by chance (keras.layers.Dropout).",
            .rows = dropout_rows,
            .signature = "rate noise_shape=null seed",
            .config = "rate seed",
            .args_size = sizeof(struct dropout_args),
            .check = dropout_check,
        },
    .prefix = "dropout",
    .takes_integers = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .seed = dropout_seed,
    .weights = dropout_weights,
    .masks = true,
    .call = dropout_call,
};
