/* RandomContrast: in training the distance of values from their channel's mean is multiplied by a
 * random number (keras.layers.RandomContrast). Failures: a factor outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_contrast_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(LEATI_REQUIRED, "How much less and more than 1 the factor may be: f "
                                             "for 1 to 1 + f, or two numbers for less and more."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_contrast_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

static leat_value random_contrast_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leati_pictures_contrast(&p, leati_pictures_factor_range(&args->factor, 0, 0),
                                leati_pictures_value_range(&args->value_range));
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_contrast = {
    .kind =
        {
            .name = "RandomContrast",
            .doc = "In training pictures get more or less contrast (keras.layers.RandomContrast).",
            .rows = random_contrast_rows,
            .signature = "factor value_range=[0,255] seed=null",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_contrast_check,
        },
    .prefix = "random_contrast",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_contrast_call,
};
