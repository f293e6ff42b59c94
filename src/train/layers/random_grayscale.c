/* RandomGrayscale: in training pictures become grey by chance (keras.layers.RandomGrayscale).
 * Failures: a factor outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_grayscale_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(0, "The chance; 0.5 by default."),
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_grayscale_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

static leat_value random_grayscale_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        /* Keras' factor is the chance itself, not a range to draw it from. */
        double chance = leati_pictures_factor_range(&args->factor, 0.5, 0).high;
        leat_value drawn = leati_pictures_draw(&p, 1, (leati_picture_range){0, 1});
        leat_value below =
            leat_op_less(drawn, leati_pictures_linear(leat_op_ones_like(drawn), chance, 0));
        p.x = leat_op_select(below, leati_pictures_grey(p.x), p.x);
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_grayscale = {
    .kind =
        {
            .name = "RandomGrayscale",
            .doc = "In training pictures become grey by chance (keras.layers.RandomGrayscale).",
            .rows = random_grayscale_rows,
            .signature = "factor=0.5 data_format seed=null",
            .config = "seed?",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_grayscale_check,
        },
    .prefix = "random_grayscale",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_grayscale_call,
};
