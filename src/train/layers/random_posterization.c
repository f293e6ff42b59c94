/* RandomPosterization: in training values keep as many of their eight bits as is drawn for each
 * picture (keras.layers.RandomPosterization). Failures: a factor outside of 1 to 8. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row random_posterization_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        LEATI_REQUIRED,
        "How many bits are kept, 1 to 8: f for 1 to f, or two numbers; the larger is not reached."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_posterization_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){1, 8}, err);
}

/* How many bits of each picture are dropped, uint8 [batch, 1, 1, 1] or a scalar. */
static leat_value dropped(leati_picture_arguments *p, leati_picture_range kept) {
    leat_value all = leati_support_number(p->x.graph, LEAT_INT64, 8);
    /* Equal bounds draw nothing: a range without numbers has none. */
    leat_value drawn = kept.low == kept.high
                           ? leati_support_number(p->x.graph, LEAT_INT64, kept.low)
                           : leati_pictures_draw_integers(p, kept);
    return leat_op_cast(leat_op_subtract(all, drawn), LEAT_UINT8);
}

static leat_value random_posterization_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    const leati_picture_range bytes = {0, 255},
                              values = leati_pictures_value_range(&args->value_range);
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leat_value shift = dropped(&p, leati_pictures_factor_range(&args->factor, 1, 1));
        leat_value x = leat_op_cast(leati_pictures_rescale(p.x, values, bytes), LEAT_UINT8);
        /* There and back: the lowest bits become 0. */
        x = leat_op_left_shift(leat_op_right_shift(x, shift), shift);
        p.x = leati_pictures_rescale(leat_op_cast(x, leat_value_dtype(p.x)), bytes, values);
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_posterization = {
    .kind =
        {
            .name = "RandomPosterization",
            .doc = "In training values keep a random number of their bits "
                   "(keras.layers.RandomPosterization).",
            .rows = random_posterization_rows,
            .signature = "factor value_range=[0,255] data_format seed=null",
            .args_size = sizeof(struct leati_picture_args),
            .check = random_posterization_check,
        },
    .prefix = "random_posterization",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_posterization_call,
};
