/* RandomColorJitter: in training brightness, contrast, saturation and hue change, those of which a
 * factor is given (keras.layers.RandomColorJitter). Failures: factors outside of their ranges. No
 * locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct random_color_jitter_args {
    struct leati_picture_args common;
    leati_floats brightness_factor, contrast_factor, saturation_factor, hue_factor;
};

static const leati_row random_color_jitter_rows[] = {
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_LAYER_ROW(random_color_jitter_args, brightness_factor, FLOATS,
                    .doc = "As the factor of RandomBrightness; none: it stays."),
    LEATI_LAYER_ROW(random_color_jitter_args, contrast_factor, FLOATS,
                    .doc = "As the factor of RandomContrast; none: it stays."),
    LEATI_LAYER_ROW(random_color_jitter_args, saturation_factor, FLOATS,
                    .doc = "As the factor of RandomSaturation; none: it stays."),
    LEATI_LAYER_ROW(random_color_jitter_args, hue_factor, FLOATS,
                    .doc = "As the factor of RandomHue; none: it stays."),
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_color_jitter_check(const void *arguments, leat_error *err) {
    const struct random_color_jitter_args *args = arguments;
    const leati_picture_range unit = {0, 1}, both = {-1, 1};
    LEATI_TRY(
        leati_pictures_check_factor(&args->brightness_factor, "brightness_factor", both, err));
    LEATI_TRY(leati_pictures_check_factor(&args->contrast_factor, "contrast_factor", unit, err));
    LEATI_TRY(
        leati_pictures_check_factor(&args->saturation_factor, "saturation_factor", both, err));
    LEATI_TRY(leati_pictures_check_factor(&args->hue_factor, "hue_factor", unit, err));
    return leati_pictures_check(&args->common, unit, err);
}

static leat_value random_color_jitter_call(const leati_pass *pass) {
    const struct random_color_jitter_args *args = pass->args;
    const leati_picture_range values = leati_pictures_value_range(&args->common.value_range);
    const struct {
        const leati_floats *factor;
        void (*change)(leati_picture_arguments *, leati_picture_range, leati_picture_range);
        double least;
    } ways[4] = {{&args->brightness_factor, leati_pictures_brighten, -1},
                 {&args->contrast_factor, leati_pictures_contrast, 0},
                 {&args->saturation_factor, leati_pictures_saturate, -1},
                 {&args->hue_factor, leati_pictures_shift_hue, 0}};
    leati_picture_arguments p = leati_pictures_begin(pass);
    /* In Keras' order, each from draws of its own; what has no factor draws nothing. */
    for (int i = 0; i < 4 && pass->training && !leati_support_value_failed(p.x); i++)
        if (ways[i].factor->count > 0)
            ways[i].change(&p, leati_pictures_factor_range(ways[i].factor, 0, ways[i].least),
                           values);
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_color_jitter = {
    .kind =
        {
            .name = "RandomColorJitter",
            .doc =
                "In training colours change in up to four ways (keras.layers.RandomColorJitter).",
            .rows = random_color_jitter_rows,
            .signature = "value_range=[0,255] brightness_factor=null contrast_factor=null "
                         "saturation_factor=null hue_factor=null seed=null data_format",
            .args_size = sizeof(struct random_color_jitter_args),
            .check = random_color_jitter_check,
        },
    .prefix = "random_color_jitter",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_color_jitter_call,
};
