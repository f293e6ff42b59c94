/* RandomInvert: in training pictures become their negatives by chance (keras.layers.RandomInvert).
 * Failures: a factor outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_invert_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        0, "The chance: one number f for one drawn from 0 to f, or two numbers; 1 by default."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_invert_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

static leat_value random_invert_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leat_value chosen =
            leati_pictures_chosen(&p, leati_pictures_factor_range(&args->factor, 1, 0));
        /* high - x: values of a range that does not begin at 0 leave it. */
        leat_value negative = leati_pictures_linear(
            leat_op_negate(p.x), 1, leati_pictures_value_range(&args->value_range).high);
        p.x = leat_op_select(chosen, negative, p.x);
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_invert = {
    .kind =
        {
            .name = "RandomInvert",
            .doc = "In training pictures become their negatives by chance "
                   "(keras.layers.RandomInvert).",
            .rows = random_invert_rows,
            .signature = "factor=1.0 value_range=[0,255] seed=null data_format",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_invert_check,
        },
    .prefix = "random_invert",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_invert_call,
};
