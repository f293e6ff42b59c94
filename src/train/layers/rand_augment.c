/* RandAugment: in training a few of eleven distortions, one after the other, by random strengths
 * (keras.layers.RandAugment).
 *
 * No gradient flows through. Pictures of a batch share the choice. Failures: a factor outside of 0
 * to 1, pictures that are neither grey nor RGB. No locks. */
#include "graph/support/picture/policy.h"
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct rand_augment_args {
    struct leati_picture_args common;
    int64_t num_ops;
};

static const leati_row rand_augment_rows[] = {
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_LAYER_ROW(rand_augment_args, num_ops, INT, .default_number = 2, .maximum = 64,
                    .doc = "How many distortions follow each other."),
    LEATI_PICTURE_FACTOR_ROW(
        0, "How strong they are, of 0 to 1: f for 0 to f, or two numbers; 0.5 by default."),
    LEATI_PICTURE_INTERPOLATION_ROW,
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status rand_augment_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

/* How often the operation draws: what is done, and all strengths; bits to keep only where there is
 * a choice. */
static int draws(leati_picture_range factor) {
    enum { ALWAYS = 13 };
    return ALWAYS + (8 * factor.high >= 2);
}

static leat_value rand_augment_call(const leati_pass *pass) {
    const struct rand_augment_args *args = pass->args;
    leati_picture_range values = leati_pictures_value_range(&args->common.value_range);
    leati_picture_range factor = leati_pictures_factor_range(&args->common.factor, 0.5, 0);
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    const struct leati_policy_args policy = {
        .value_range = {(double[]){values.low, values.high}, 2},
        .factor = {(double[]){factor.low, factor.high}, 2},
        .num_ops = args->num_ops,
        .interpolation = args->common.interpolation,
        .masks = args->common.masks};
    leat_value x =
        leati_graph_build2(&leati_tensor_op_stateless_rand_augment, &policy,
                           leat_op_stop_gradient(p.x), leati_pictures_seeds(&p, draws(factor)));
    return leati_pictures_end(&p, leat_op_cast(x, leat_value_dtype(p.x)));
}

const leati_layer_kind leati_layer_rand_augment = {
    .kind =
        {
            .name = "RandAugment",
            .doc = "In training a few random distortions follow each other "
                   "(keras.layers.RandAugment).",
            .rows = rand_augment_rows,
            .signature = "value_range=[0,255] num_ops=2 factor=0.5 interpolation seed=null "
                         "data_format",
            .args_size = sizeof(struct rand_augment_args),
            .check = rand_augment_check,
        },
    .prefix = "rand_augment",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = rand_augment_call,
};
