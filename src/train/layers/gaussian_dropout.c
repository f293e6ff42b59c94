/* GaussianDropout: in training values are multiplied by normal numbers around 1
 * (keras.layers.GaussianDropout). Draws come from a seed and the count of calls so far. Failures: a
 * number outside of its range. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/noise.h"
#include <math.h>

struct gaussian_dropout_args {
    char *name; /* first: struct leati_layer_args */
    double rate;
    leati_seed_argument seed;
};

static const leati_row gaussian_dropout_rows[] = {
    LEATI_LAYER_ROW(
        gaussian_dropout_args, rate, FLOAT, .flags = LEATI_REQUIRED,
        .doc = "The part that Dropout would drop; the deviation is sqrt(rate / (1 - rate))."),
    LEATI_LAYER_ROW(gaussian_dropout_args, seed, SEED,
                    .doc = "What fixes the draws; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status gaussian_dropout_check(const void *arguments, leat_error *err) {
    const struct gaussian_dropout_args *args = arguments;
    LEATI_TRY(leati_noise_check_rate("rate", args->rate, err));
    /* Dropout itself takes 1; here it would divide by 0. */
    if (args->rate < 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "rate is 1, which makes the noise infinite; expected a number below 1");
}

static leati_seed_argument gaussian_dropout_seed(const void *args) {
    return ((const struct gaussian_dropout_args *)args)->seed;
}

static leat_status gaussian_dropout_weights(const void *arguments, const leat_shape *input,
                                            leati_weights *out, leat_error *err) {
    const struct gaussian_dropout_args *args = arguments;
    (void)input;
    (void)err;
    leati_noise_state(args->rate > 0, out);
    return LEAT_OK;
}

static leat_value gaussian_dropout_call(const leati_pass *pass) {
    const struct gaussian_dropout_args *args = pass->args;
    leat_value x = pass->inputs[0];
    if (!pass->training || args->rate <= 0)
        return x;
    leat_value drawn = leati_noise_normal(leati_noise_seed(pass, 0), x, &(leati_ints){0});
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    return leat_op_multiply(
        x, leat_op_add(leati_support_times(drawn, sqrt(args->rate / (1 - args->rate))), one));
}

const leati_layer_kind leati_layer_gaussian_dropout = {
    .kind =
        {
            .name = "GaussianDropout",
            .doc = "In training values are multiplied by normal numbers around 1 "
                   "(keras.layers.GaussianDropout).",
            .rows = gaussian_dropout_rows,
            .signature = "rate seed=null",
            .args_size = sizeof(struct gaussian_dropout_args),
            .check = gaussian_dropout_check,
        },
    .prefix = "gaussian_dropout",
    .takes_integers = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .seed = gaussian_dropout_seed,
    .weights = gaussian_dropout_weights,
    .masks = true,
    .call = gaussian_dropout_call,
};
