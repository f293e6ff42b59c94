/* RandomColorDegeneration: in training colours are mixed with grey
 * (keras.layers.RandomColorDegeneration). Failures: a factor outside of -1 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_color_degeneration_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(LEATI_REQUIRED, "How much grey: f for -f to f, or two numbers."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_color_degeneration_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){-1, 1}, err);
}

static leat_value random_color_degeneration_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leat_value by =
            leati_pictures_draw(&p, 1, leati_pictures_factor_range(&args->factor, 0, -1));
        /* x + by * (grey - x) is the blend of both. */
        leat_value apart = leat_op_subtract(leati_pictures_grey(p.x), p.x);
        p.x = leati_pictures_clip(leat_op_add(p.x, leat_op_multiply(by, apart)),
                                  leati_pictures_value_range(&args->value_range));
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_color_degeneration = {
    .kind =
        {
            .name = "RandomColorDegeneration",
            .doc =
                "In training colours are mixed with grey (keras.layers.RandomColorDegeneration).",
            .rows = random_color_degeneration_rows,
            .signature = "factor value_range=[0,255] data_format seed=null",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_color_degeneration_check,
        },
    .prefix = "random_color_degeneration",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_color_degeneration_call,
};
