/* RandomHue: in training hues are turned (keras.layers.RandomHue). Failures: a factor outside of 0
 * to 1, pictures without three channels. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_hue_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        LEATI_REQUIRED,
        "The angle as a part of half a turn, either way: f for 0 to f, or two numbers."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_hue_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

static leat_value random_hue_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leati_pictures_shift_hue(&p, leati_pictures_factor_range(&args->factor, 0, 0),
                                 leati_pictures_value_range(&args->value_range));
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_hue = {
    .kind =
        {
            .name = "RandomHue",
            .doc = "In training hues are turned (keras.layers.RandomHue).",
            .rows = random_hue_rows,
            .signature = "factor value_range=[0,255] data_format seed=null",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_hue_check,
        },
    .prefix = "random_hue",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_hue_call,
};
