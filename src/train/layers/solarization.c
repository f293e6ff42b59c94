/* Solarization: in training values of a threshold and above become their negatives, after a random
 * number was added (keras.layers.Solarization). Failures: factors outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct solarization_args {
    struct leati_picture_args common;
    leati_floats addition_factor, threshold_factor;
};

static const leati_row solarization_rows[] = {
    LEATI_LAYER_ROW(solarization_args, addition_factor, FLOATS,
                    .doc = "What is added, as a part of 255: f for 0 to f, or two numbers."),
    LEATI_LAYER_ROW(solarization_args, threshold_factor, FLOATS,
                    .doc = "The threshold, as a part of 255: f for 0 to f, or two numbers."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_ROW(seed, SEED,
                      .doc = "What fixes the draws; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status solarization_check(const void *arguments, leat_error *err) {
    const struct solarization_args *args = arguments;
    const leati_picture_range unit = {0, 1};
    LEATI_TRY(leati_pictures_check_factor(&args->addition_factor, "addition_factor", unit, err));
    LEATI_TRY(leati_pictures_check_factor(&args->threshold_factor, "threshold_factor", unit, err));
    return leati_pictures_check(&args->common, unit, err);
}

/* A draw for each picture, of which Keras scales the upper bound alone. */
static leat_value drawn(leati_picture_arguments *p, const leati_floats *factor) {
    const leati_picture_range range = leati_pictures_factor_range(factor, 0, 0);
    return leati_pictures_draw_own(p, 1, (leati_picture_range){range.low, range.high * 255});
}

static leat_value solarization_call(const leati_pass *pass) {
    const struct solarization_args *args = pass->args;
    const leati_picture_range bytes = {0, 255},
                              values = leati_pictures_value_range(&args->common.value_range);
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leat_value addition = drawn(&p, &args->addition_factor);
        leat_value threshold = drawn(&p, &args->threshold_factor);
        leat_value x = leati_pictures_clip(
            leat_op_add(leati_pictures_rescale(p.x, values, bytes), addition), bytes);
        leat_value negative = leati_pictures_linear(leat_op_negate(x), 1, 255);
        /* A value at the threshold is turned too. */
        p.x = leati_pictures_rescale(leat_op_select(leat_op_less(x, threshold), x, negative), bytes,
                                     values);
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_solarization = {
    .kind =
        {
            .name = "Solarization",
            .doc = "In training bright values become their negatives (keras.layers.Solarization).",
            .rows = solarization_rows,
            .signature = "addition_factor=0.0 threshold_factor=0.0 value_range=[0,255] seed=null",
            .config = "value_range",
            .args_size = sizeof(struct solarization_args),
            .check = solarization_check,
        },
    .prefix = "solarization",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = solarization_call,
};
