/* RandomBrightness: in training a random number is added to each picture
 * (keras.layers.RandomBrightness). Failures: a factor outside of -1 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_brightness_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        LEATI_REQUIRED,
        "What is added, as a part of the range of values: f for -f to f, or two numbers."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_brightness_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){-1, 1}, err);
}

static leat_value random_brightness_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        /* No default is used: the row is required. -1 lets one number f mean -f to f. */
        leati_pictures_brighten(&p, leati_pictures_factor_range(&args->factor, 0, -1),
                                leati_pictures_value_range(&args->value_range));
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_brightness = {
    .kind =
        {
            .name = "RandomBrightness",
            .doc =
                "In training pictures become brighter or darker (keras.layers.RandomBrightness).",
            .rows = random_brightness_rows,
            .signature = "factor value_range=[0,255] seed=null",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_brightness_check,
        },
    .prefix = "random_brightness",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_brightness_call,
};
