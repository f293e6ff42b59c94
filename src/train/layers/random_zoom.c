/* RandomZoom: in training each picture is scaled around its middle by random factors, the same in
 * both directions where width_factor is not given (keras.layers.RandomZoom).
 *
 * A factor below 0 zooms in, one above 0 out. Failures: a factor outside of -1 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"
#include <math.h>

static const leati_row random_zoom_rows[] = {
    LEATI_PICTURE_ROW(
        height_factor, FLOATS, .flags = LEATI_REQUIRED,
        .doc = "What is added to a size of 1 that is looked at: f for -f to f, or two numbers."),
    LEATI_PICTURE_ROW(width_factor, FLOATS, .flags = 0,
                      .doc = "The same for the width; none: as for the height."),
    LEATI_PICTURE_VIEW_ROWS,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_zoom_check(const void *args, leat_error *err) {
    /* Above -1: a part of size 0 could not be seen. */
    return leati_pictures_check(args, (leati_picture_range){nextafter(-1, 0), 1}, err);
}

/* Where a picture that is seen at `zoom` begins. */
static leat_value begin(const leati_picture_arguments *p, int dimension, leat_value zoom) {
    leat_value half = leati_pictures_linear(
        leati_pictures_linear(leati_pictures_size(p, dimension), 1, -1), 0.5, 0);
    /* The middle stays: m = zoom m + begin. */
    return leat_op_multiply(half, leat_op_subtract(leat_op_ones_like(zoom), zoom));
}

static leati_picture_range around_one(const leati_floats *factor) {
    const leati_picture_range range = leati_pictures_factor_range(factor, 0, -1);
    return (leati_picture_range){1 + range.low, 1 + range.high};
}

static leat_value random_zoom_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    /* The same draw for both, which keeps proportions. */
    leat_value down = leati_pictures_draw(&p, 1, around_one(&args->height_factor)), right = down;
    if (args->width_factor.count > 0)
        right = leati_pictures_draw(&p, 1, around_one(&args->width_factor));
    leat_value none = leat_op_zeros_like(down);
    const leat_value numbers[6] = {right, none, begin(&p, 2, right),
                                   none,  down, begin(&p, 1, down)};
    return leati_pictures_end(&p, leati_pictures_view(&p, args, numbers));
}

const leati_layer_kind leati_layer_random_zoom = {
    .kind =
        {
            .name = "RandomZoom",
            .doc = "In training pictures are scaled around their middle (keras.layers.RandomZoom).",
            .rows = random_zoom_rows,
            .signature = "height_factor width_factor=null fill_mode interpolation seed=null "
                         "fill_value data_format",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_zoom_check,
        },
    .prefix = "random_zoom",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_zoom_call,
};
