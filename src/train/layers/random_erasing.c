/* RandomErasing: in training a box of each picture is filled with a value, or with normal numbers,
 * by chance (keras.layers.RandomErasing). Failures: factors outside of 0 to 1, a fill_value of
 * another number of values than one or three. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct random_erasing_args {
    struct leati_picture_args common;
    leati_floats scale, fill;
};

static const leati_row random_erasing_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        0, "The chance: one number f for one drawn from 0 to f, or two numbers; 1 by default."),
    LEATI_LAYER_ROW(random_erasing_args, scale, FLOATS,
                    .doc = "The box's part of the area: two numbers, or one for 0 to it; 0.02 to "
                           "0.33 by default."),
    {.name = "fill_value",
     .type = LEATI_ROW_FLOATS,
     .offset = offsetof(struct random_erasing_args, fill),
     .doc = "One value, or one for each of three channels; none: normal numbers."},
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_erasing_check(const void *arguments, leat_error *err) {
    const struct random_erasing_args *args = arguments;
    const leati_picture_range unit = {0, 1};
    LEATI_TRY(leati_pictures_check_factor(&args->scale, "scale", unit, err));
    if (args->fill.count > 1 && args->fill.count != 3)
        return leati_refuse(err, VALUE, "fill_value has %d numbers; expected one or three",
                            (int)args->fill.count);
    return leati_pictures_check(&args->common, unit, err);
}

/* Where the box of each picture lies along a dimension: 1 inside, as [batch, ..., size, ..., 1]. */
static leat_value inside(leati_picture_arguments *p, int dimension, leat_value part) {
    leat_value size = leati_pictures_size(p, dimension);
    leat_value length = leat_op_multiply(part, size);
    /* Anywhere that leaves the box inside. */
    leat_value begin = leat_op_multiply(leati_pictures_draw_own(p, 1, (leati_picture_range){0, 1}),
                                        leat_op_subtract(size, length));
    int64_t dims[4] = {1, 1, 1, 1};
    dims[dimension] = -1;
    /* One line of pixels, for its size and dtype. */
    leat_value line = leat_op_slice(p->x, (const int64_t[]){0, 0, 0, 0}, 4, dims, 4);
    leat_value places = leat_op_cumsum(leat_op_ones_like(line), dimension, true, false);
    return leat_op_logical_and(leat_op_greater_equal(places, begin),
                               leat_op_less(places, leat_op_add(begin, length)));
}

/* What the box is filled with. */
static leat_value filling(leati_picture_arguments *p, const struct random_erasing_args *args) {
    const leati_picture_range values = leati_pictures_value_range(&args->common.value_range);
    /* Normal numbers of the range's height, most of which the clip then bounds. */
    leat_value fill = args->fill.count > 0
                          ? leati_layer_numbers_value(p->x, &args->fill)
                          : leati_pictures_linear(leati_pictures_draw_normal(p), values.high, 0);
    return leati_pictures_clip(fill, values);
}

static leat_value random_erasing_call(const leati_pass *pass) {
    const struct random_erasing_args *args = pass->args;
    const leati_picture_range usual = {0.02, 0.33};
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    /* The root, since both sides are drawn as shares of the area. */
    leat_value part = leat_op_sqrt(leati_pictures_draw_own(
        &p, 2, args->scale.count == 0 ? usual : leati_pictures_factor_range(&args->scale, 0, 0)));
    /* Keras draws the width's place first. */
    leat_value across = inside(&p, 2, leati_pictures_part(part, 0));
    leat_value down = inside(&p, 1, leati_pictures_part(part, 1));
    leat_value applied =
        leati_pictures_chosen(&p, leati_pictures_factor_range(&args->common.factor, 1, 0));
    leat_value erased = leat_op_logical_and(leat_op_logical_and(across, down), applied);
    return leati_pictures_end(&p, leat_op_select(erased, filling(&p, args), p.x));
}

const leati_layer_kind leati_layer_random_erasing = {
    .kind =
        {
            .name = "RandomErasing",
            .doc = "In training a box of each picture is filled by chance "
                   "(keras.layers.RandomErasing).",
            .rows = random_erasing_rows,
            .signature = "factor=1.0 scale=[0.02,0.33] fill_value=null value_range=[0,255] "
                         "seed=null data_format",
            .args_size = sizeof(struct random_erasing_args),
            .check = random_erasing_check,
        },
    .prefix = "random_erasing",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_erasing_call,
};
