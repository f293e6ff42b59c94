/* RandomSaturation: in training colours become stronger or weaker (keras.layers.RandomSaturation).
 *
 * A factor f multiplies saturations by f / (1 - f). Failures: a factor outside of -1 to 1, pictures
 * without three channels. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_saturation_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        LEATI_REQUIRED,
        "0: grey, 0.5: as it is, 1: as strong as can be; f for -f to f, or two numbers."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_saturation_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){-1, 1}, err);
}

static leat_value random_saturation_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leati_pictures_saturate(&p, leati_pictures_factor_range(&args->factor, 0, -1),
                                leati_pictures_value_range(&args->value_range));
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_saturation = {
    .kind =
        {
            .name = "RandomSaturation",
            .doc = "In training colours become stronger or weaker (keras.layers.RandomSaturation).",
            .rows = random_saturation_rows,
            .signature = "factor value_range=[0,255] data_format seed=null",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_saturation_check,
        },
    .prefix = "random_saturation",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_saturation_call,
};
