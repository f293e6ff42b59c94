/* GaussianNoise: in training normal numbers are added (keras.layers.GaussianNoise).
 * Draws come from a seed and the count of calls so far. Failures: a number outside of its range. No
 * locks. */
#include "graph/support/support.h"
#include "train/support/noise.h"

struct gaussian_noise_args {
    char *name; /* first: struct leati_layer_args */
    double stddev;
    leati_seed_argument seed;
};

static const leati_row gaussian_noise_rows[] = {
    LEATI_LAYER_ROW(gaussian_noise_args, stddev, FLOAT, .flags = LEATI_REQUIRED,
                    .doc = "The deviation of what is added."),
    LEATI_LAYER_ROW(gaussian_noise_args, seed, SEED,
                    .doc = "What fixes the draws; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status gaussian_noise_check(const void *arguments, leat_error *err) {
    const struct gaussian_noise_args *args = arguments;
    return leati_noise_check_rate("stddev", args->stddev, err);
}

static leati_seed_argument gaussian_noise_seed(const void *args) {
    return ((const struct gaussian_noise_args *)args)->seed;
}

static leat_status gaussian_noise_weights(const void *arguments, const leat_shape *input,
                                          leati_weights *out, leat_error *err) {
    const struct gaussian_noise_args *args = arguments;
    (void)input;
    (void)err;
    leati_noise_state(args->stddev > 0, out);
    return LEAT_OK;
}

static leat_value gaussian_noise_call(const leati_pass *pass) {
    const struct gaussian_noise_args *args = pass->args;
    leat_value x = pass->inputs[0];
    if (!pass->training || args->stddev <= 0)
        return x;
    leat_value drawn = leati_noise_normal(leati_noise_seed(pass, 0), x, &(leati_ints){0});

    return leat_op_add(x, leati_support_times(drawn, args->stddev));
}

const leati_layer_kind leati_layer_gaussian_noise = {
    .kind =
        {
            .name = "GaussianNoise",
            .doc = "In training normal numbers are added (keras.layers.GaussianNoise).",
            .rows = gaussian_noise_rows,
            .signature = "stddev seed=null",
            .args_size = sizeof(struct gaussian_noise_args),
            .check = gaussian_noise_check,
        },
    .prefix = "gaussian_noise",
    .takes_integers = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .seed = gaussian_noise_seed,
    .weights = gaussian_noise_weights,
    .masks = true,
    .call = gaussian_noise_call,
};
