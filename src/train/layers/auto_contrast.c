/* AutoContrast: each channel's values are stretched over the whole range
 * (keras.layers.AutoContrast). Channels of one value stay. No failures of its own, no state, no
 * locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"

static const leati_row auto_contrast_rows[] = {
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_LAYER_NAME,
    {0},
};

static leat_status auto_contrast_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

static leat_value auto_contrast_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    const leati_picture_range bytes = {0, 255},
                              values = leati_pictures_value_range(&args->value_range);
    const int64_t axes[2] = {1, 2};
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (leati_support_value_failed(p.x))
        return p.x;
    leat_value x = leati_pictures_rescale(p.x, values, bytes);
    leat_value low = leat_op_reduce_min(x, axes, 2, true),
               high = leat_op_reduce_max(x, axes, 2, true);
    /* Infinite where a channel has one value. */
    leat_value scale = leat_op_divide(leati_pictures_linear(leat_op_ones_like(low), 255, 0),
                                      leat_op_subtract(high, low));
    x = leat_op_subtract(leat_op_multiply(x, scale), leat_op_multiply(low, scale));
    x = leati_pictures_rescale(leati_pictures_clip(x, bytes), bytes, values);
    /* Infinite numbers less each other, and 0 times one, are NaN: there the picture stays. */
    return leati_pictures_end(&p, leat_op_select(leat_op_is_nan(x), p.x, x));
}

const leati_layer_kind leati_layer_auto_contrast = {
    .kind =
        {
            .name = "AutoContrast",
            .doc = "Each channel's values are stretched over the whole range "
                   "(keras.layers.AutoContrast).",
            .rows = auto_contrast_rows,
            .signature = "value_range=[0,255]",
            .args_size = sizeof(struct leati_picture_args),
            .check = auto_contrast_check,
        },
    .prefix = "auto_contrast",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .call = auto_contrast_call,
};
