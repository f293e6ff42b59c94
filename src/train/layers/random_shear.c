/* RandomShear: in training each picture is slanted by random factors (keras.layers.RandomShear).
 * Failures: a factor outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct random_shear_args {
    struct leati_picture_args common;
    leati_floats x_factor, y_factor;
};

static const leati_row random_shear_rows[] = {
    LEATI_LAYER_ROW(random_shear_args, x_factor, FLOATS,
                    .doc = "How far rows move for each row: f for -f to f, or two numbers."),
    LEATI_LAYER_ROW(random_shear_args, y_factor, FLOATS,
                    .doc = "How far columns move for each column, likewise."),
    LEATI_PICTURE_VIEW_ROWS,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_shear_check(const void *arguments, leat_error *err) {
    const struct random_shear_args *args = arguments;
    const leati_picture_range bounds = {0, 1};
    LEATI_TRY(leati_pictures_check_factor(&args->x_factor, "x_factor", bounds, err));
    LEATI_TRY(leati_pictures_check_factor(&args->y_factor, "y_factor", bounds, err));
    return leati_pictures_check(&args->common, bounds, err);
}

static leat_value random_shear_call(const leati_pass *pass) {
    const struct random_shear_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    /* One sign for both directions. */
    leat_value sign =
        leati_pictures_sign(leati_pictures_draw_own(&p, 1, (leati_picture_range){0, 1}));
    leat_value down =
        leati_pictures_draw_own(&p, 1, leati_pictures_factor_range(&args->y_factor, 0, -1));
    leat_value right =
        leati_pictures_draw_own(&p, 1, leati_pictures_factor_range(&args->x_factor, 0, -1));
    leat_value one = leat_op_ones_like(sign), none = leat_op_zeros_like(sign);
    const leat_value numbers[6] = {
        one, leat_op_multiply(right, sign), none, leat_op_multiply(down, sign), one, none};
    return leati_pictures_end(&p, leati_pictures_view(&p, &args->common, numbers));
}

const leati_layer_kind leati_layer_random_shear = {
    .kind =
        {
            .name = "RandomShear",
            .doc = "In training pictures are slanted by random factors (keras.layers.RandomShear).",
            .rows = random_shear_rows,
            .signature = "x_factor=0.0 y_factor=0.0 interpolation fill_mode fill_value data_format "
                         "seed=null",
            .config = "x_factor y_factor fill_mode interpolation seed",
            .args_size = sizeof(struct random_shear_args),
            .check = random_shear_check,
        },
    .prefix = "random_shear",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_shear_call,
};
