/* AlphaDropout: in training values become the lowest that selu gives, by chance, and the whole
 * keeps its mean and variance (keras.layers.AlphaDropout).
 *
 * Draws come from a seed and the count of calls so far. Failures: a rate outside of 0 to 1. No
 * locks. */
#include "graph/support/support.h"
#include "train/support/noise.h"
#include <math.h>

struct alpha_dropout_args {
    char *name; /* first: struct leati_layer_args */
    double rate;
    leati_ints noise_shape;
    leati_seed_argument seed;
};

static const leati_row alpha_dropout_rows[] = {
    LEATI_LAYER_ROW(alpha_dropout_args, rate, FLOAT, .flags = LEATI_REQUIRED,
                    .doc = "The part of the values that change."),
    LEATI_LAYER_ROW(alpha_dropout_args, noise_shape, INTS, .minimum = -1, .maximum = INT64_MAX,
                    .doc = "The shape of what is drawn, which broadcasts; -1 for a dimension of "
                           "the input; none: the input's."),
    LEATI_LAYER_ROW(alpha_dropout_args, seed, SEED,
                    .doc = "What fixes the draws; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status alpha_dropout_check(const void *arguments, leat_error *err) {
    const struct alpha_dropout_args *args = arguments;
    return leati_noise_check_rate("rate", args->rate, err);
}

static leati_seed_argument alpha_dropout_seed(const void *args) {
    return ((const struct alpha_dropout_args *)args)->seed;
}

static leat_status alpha_dropout_weights(const void *arguments, const leat_shape *input,
                                         leati_weights *out, leat_error *err) {
    const struct alpha_dropout_args *args = arguments;
    (void)input;
    (void)err;
    leati_noise_state(args->rate > 0, out);
    return LEAT_OK;
}

static leat_value alpha_dropout_call(const leati_pass *pass) {
    const struct alpha_dropout_args *args = pass->args;
    /* selu's limit below, -alpha * scale. */
    const double lowest = -1.6732632423543772848 * 1.0507009873554804935;
    /* 1 over the deviation of a value of mean 0 and variance 1 that becomes `lowest` with chance
     * `rate`. */
    double scale = 1 / sqrt((1 - args->rate) * (1 + args->rate * lowest * lowest));
    leat_value x = pass->inputs[0];
    if (!pass->training || args->rate <= 0)
        return x;
    leat_value drawn =
        leati_noise_between_floats(leati_noise_seed(pass, 0), x, &args->noise_shape, 0, 1);
    if (leati_support_value_failed(drawn))
        return drawn;
    leat_dtype dtype = leat_value_dtype(x);
    leat_value kept =
        leat_op_greater_equal(drawn, leati_support_number(x.graph, LEAT_FLOAT32, args->rate));
    leat_value y = leat_op_select(kept, x, leati_support_number(x.graph, dtype, lowest));
    /* Takes back the mean rate * lowest, which that chance gives. */
    leat_value offset = leati_support_number(x.graph, dtype, -scale * lowest * args->rate);
    return leat_op_add(leati_support_times(y, scale), offset);
}

const leati_layer_kind leati_layer_alpha_dropout = {
    .kind =
        {
            .name = "AlphaDropout",
            .doc = "In training values become selu's lowest by chance (keras.layers.AlphaDropout).",
            .rows = alpha_dropout_rows,
            .signature = "rate noise_shape=null seed=null",
            .config = "noise_shape?",
            .args_size = sizeof(struct alpha_dropout_args),
            .check = alpha_dropout_check,
        },
    .prefix = "alpha_dropout",
    .takes_integers = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .seed = alpha_dropout_seed,
    .weights = alpha_dropout_weights,
    .masks = true,
    .call = alpha_dropout_call,
};
