/* RandomSharpness: in training pictures are smoothed or sharpened (keras.layers.RandomSharpness).
 * Failures: a factor outside of 0 to 1, an unknown number of channels. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_sharpness_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        LEATI_REQUIRED, "0: smoothed, 0.5: as it is, 1: sharpened; f for 0 to f, or two numbers."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_sharpness_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

/* Each value with a bit of its neighbours. */
static leat_value smoothed(leat_value x) {
    /* 1 1 1, 1 5 1, 1 1 1 over 13: the smoothing filter of Pillow, as of AutoAugment. */
    const double side = 1.0 / 13, middle = 5.0 / 13;
    const leati_floats window = {(double[]){side, side, side, side, middle, side, side, side, side},
                                 9};
    leat_value kernel = leati_layer_numbers_value(x, &window);
    return leati_pictures_filter(x, leat_op_reshape(kernel, (const int64_t[]){3, 3}, 2));
}

static leat_value random_sharpness_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leat_value by =
            leati_pictures_draw(&p, 1, leati_pictures_factor_range(&args->factor, 0, 0));
        /* 1 - 2 f: f of 0 gives what is smoothed, 1/2 the picture, 1 as far beyond it. */
        leat_value rest = leat_op_subtract(leat_op_ones_like(by), leati_pictures_linear(by, 2, 0));
        leat_value apart = leat_op_subtract(smoothed(p.x), p.x);
        p.x = leati_pictures_clip(leat_op_add(p.x, leat_op_multiply(rest, apart)),
                                  leati_pictures_value_range(&args->value_range));
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_sharpness = {
    .kind =
        {
            .name = "RandomSharpness",
            .doc = "In training pictures are smoothed or sharpened (keras.layers.RandomSharpness).",
            .rows = random_sharpness_rows,
            .signature = "factor value_range=[0,255] data_format seed=null",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_sharpness_check,
        },
    .prefix = "random_sharpness",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_sharpness_call,
};
