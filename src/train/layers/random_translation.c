/* RandomTranslation: in training each picture is moved down and to the right by random parts of its
 * size (keras.layers.RandomTranslation). Failures: a factor outside of -1 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_translation_rows[] = {
    LEATI_PICTURE_ROW(height_factor, FLOATS, .flags = LEATI_REQUIRED,
                      .doc =
                          "How far down, as a part of the height: f for -f to f, or two numbers."),
    LEATI_PICTURE_ROW(width_factor, FLOATS, .flags = LEATI_REQUIRED,
                      .doc = "How far to the right, as a part of the width, likewise."),
    LEATI_PICTURE_VIEW_ROWS,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_translation_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){-1, 1}, err);
}

static leat_value random_translation_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    leat_value down =
        leati_pictures_draw(&p, 1, leati_pictures_factor_range(&args->height_factor, 0, -1));
    leat_value right =
        leati_pictures_draw(&p, 1, leati_pictures_factor_range(&args->width_factor, 0, -1));
    leat_value one = leat_op_ones_like(down), none = leat_op_zeros_like(down);
    /* The numbers lead from the result back to the picture, hence the other way. */
    down = leat_op_negate(leat_op_multiply(down, leati_pictures_size(&p, 1)));
    right = leat_op_negate(leat_op_multiply(right, leati_pictures_size(&p, 2)));
    const leat_value numbers[6] = {one, none, right, none, one, down};
    return leati_pictures_end(&p, leati_pictures_view(&p, args, numbers));
}

const leati_layer_kind leati_layer_random_translation = {
    .kind =
        {
            .name = "RandomTranslation",
            .doc = "In training pictures are moved by random parts of their size "
                   "(keras.layers.RandomTranslation).",
            .rows = random_translation_rows,
            .signature = "height_factor width_factor fill_mode interpolation seed=null fill_value "
                         "data_format",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_translation_check,
        },
    .prefix = "random_translation",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_translation_call,
};
