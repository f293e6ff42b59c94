/* AugMix: in training pictures are blended with what a few chains of random distortions make of
 * them (keras.layers.AugMix).
 *
 * No gradient flows through. Pictures of a batch share the choice of distortions. Keras takes that
 * from Python's random module; here it follows from the layer's seed and the number of calls.
 * Failures: a factor outside of 0 to 1, an alpha that is not above 0, pictures that are neither
 * grey nor RGB. No locks. */
#include "base/error.h"
#include "graph/support/picture/policy.h"
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct aug_mix_args {
    struct leati_picture_args common;
    int64_t num_chains, chain_depth;
    double alpha;
    bool all_ops;
};

static const leati_row aug_mix_rows[] = {
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_LAYER_ROW(aug_mix_args, num_chains, INT, .default_number = 3, .minimum = 1, .maximum = 64,
                    .doc = "How many chains there are."),
    LEATI_LAYER_ROW(aug_mix_args, chain_depth, INT, .default_number = 3, .minimum = 1,
                    .maximum = 64, .doc = "How many places for a distortion a chain has."),
    LEATI_PICTURE_FACTOR_ROW(
        0, "How strong they are, of 0 to 1: f for 0 to f, or two numbers; 0.3 by default."),
    LEATI_LAYER_ROW(aug_mix_args, alpha, FLOAT, .default_number = 1,
                    .doc = "The parameter of the weights' Dirichlet and beta distributions."),
    LEATI_LAYER_ROW(aug_mix_args, all_ops, BOOL, .default_number = 1,
                    .doc = "Also brightness, loss of colour, contrast and sharpness."),
    LEATI_PICTURE_INTERPOLATION_ROW,
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status aug_mix_check(const void *arguments, leat_error *err) {
    const struct aug_mix_args *args = arguments;
    if (!(args->alpha > 0))
        return leati_refuse(err, VALUE, "alpha is %g; expected a number above 0", args->alpha);
    return leati_pictures_check(&args->common, (leati_picture_range){0, 1}, err);
}

static leat_value aug_mix_call(const leati_pass *pass) {
    const struct aug_mix_args *args = pass->args;
    leati_picture_range values = leati_pictures_value_range(&args->common.value_range);
    leati_picture_range factor = leati_pictures_factor_range(&args->common.factor, 0.3, 0);
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    const struct leati_aug_mix_args mix = {
        .policy = {.value_range = {(double[]){values.low, values.high}, 2},
                   .factor = {(double[]){factor.low, factor.high}, 2},
                   .interpolation = args->common.interpolation,
                   .masks = args->common.masks},
        .num_chains = args->num_chains,
        .chain_depth = args->chain_depth,
        .alpha = args->alpha,
        .all_ops = args->all_ops};
    /* The operation's seed is the first of its draws; it tells them apart itself. */
    leat_value x =
        leati_graph_build2(&leati_tensor_op_stateless_aug_mix, &mix, leat_op_stop_gradient(p.x),
                           leati_pictures_seeds(&p, leati_policy_aug_mix_draws(&mix)));
    return leati_pictures_end(&p, leat_op_cast(x, leat_value_dtype(p.x)));
}

const leati_layer_kind leati_layer_aug_mix = {
    .kind =
        {
            .name = "AugMix",
            .doc = "In training pictures are blended with chains of random distortions "
                   "(keras.layers.AugMix).",
            .rows = aug_mix_rows,
            .signature = "value_range=[0,255] num_chains=3 chain_depth=3 factor=0.3 alpha=1.0 "
                         "all_ops=true interpolation seed=null data_format",
            .args_size = sizeof(struct aug_mix_args),
            .check = aug_mix_check,
        },
    .prefix = "aug_mix",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = aug_mix_call,
};
