/* RandomRotation: in training each picture is turned around its middle by a random angle
 * (keras.layers.RandomRotation). Failures: a factor outside of -1 to 1 turns. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_rotation_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(LEATI_REQUIRED,
                             "The angle as a part of a turn: f for -f to f, or two numbers."),
    LEATI_PICTURE_VIEW_ROWS,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_rotation_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){-1, 1}, err);
}

static leat_value random_rotation_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    const leati_picture_range turns = leati_pictures_factor_range(&args->factor, 0, -1);
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    /* In degrees first, as Keras draws them, for the same rounding. */
    leat_value angle =
        leati_pictures_draw(&p, 1, (leati_picture_range){turns.low * 360, turns.high * 360});
    angle = leati_pictures_linear(angle, 3.14159265358979323846 / 180, 0);
    leat_value sine = leat_op_sin(angle), cosine = leat_op_cos(angle);
    /* The middle lies between the pixels 0 and size - 1. */
    leat_value y =
        leati_pictures_linear(leati_pictures_linear(leati_pictures_size(&p, 1), 1, -1), 0.5, 0);
    leat_value x =
        leati_pictures_linear(leati_pictures_linear(leati_pictures_size(&p, 2), 1, -1), 0.5, 0);
    leat_value right = leat_op_subtract(x, leat_op_multiply(x, cosine));
    leat_value down = leat_op_subtract(y, leat_op_multiply(x, sine));
    /* A turn around the origin, shifted so that the middle stays where it is. */
    const leat_value numbers[6] = {cosine,
                                   leat_op_negate(sine),
                                   leat_op_add(right, leat_op_multiply(y, sine)),
                                   sine,
                                   cosine,
                                   leat_op_subtract(down, leat_op_multiply(y, cosine))};
    return leati_pictures_end(&p, leati_pictures_view(&p, args, numbers));
}

const leati_layer_kind leati_layer_random_rotation = {
    .kind =
        {
            .name = "RandomRotation",
            .doc =
                "In training pictures are turned by random angles (keras.layers.RandomRotation).",
            .rows = random_rotation_rows,
            .signature = "factor fill_mode interpolation seed=null fill_value data_format",
            .config = "factor fill_mode fill_value",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_rotation_check,
        },
    .prefix = "random_rotation",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_rotation_call,
};
