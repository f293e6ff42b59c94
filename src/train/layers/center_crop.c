/* CenterCrop: the middle of pictures; those that are smaller are scaled after cutting them to its
 * proportions (keras.layers.CenterCrop).
 *
 * Where sizes are unknown until the run, pictures that are smaller are padded with zeros instead.
 * No failures of its own, no state, no locks. */
#include "graph/support/support.h"
#include "train/support/pictures.h"
#include <leat/ops.h>

static const leati_row center_crop_rows[] = {
    LEATI_PICTURE_SIZE_ROWS,
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_ROW(data_format, STRING, .doc = "\"channels_last\"."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status center_crop_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 0}, err);
}

static leat_value center_crop_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    leat_shape shape = leat_value_shape(p.x);
    if (leati_support_value_failed(p.x))
        return p.x;
    bool known = shape.dims[1] >= 0 && shape.dims[2] >= 0;
    /* Known and large enough, or not known at all, where padding is all that is left. */
    if (!known || (shape.dims[1] >= args->height && shape.dims[2] >= args->width))
        return leati_pictures_end(&p,
                                  leat_op_resize_with_crop_or_pad(p.x, args->height, args->width));
    /* As in Keras: too small in either direction, the picture is scaled and nothing is padded. */
    const leati_scaling_layer scaling = {
        .height = args->height, .width = args->width, .method = "bilinear", .cut = true};
    leat_value scaled = leati_pictures_scale(p.x, &scaling);
    return leati_pictures_end(&p, leat_op_cast(scaled, leat_value_dtype(p.x)));
}

const leati_layer_kind leati_layer_center_crop = {
    .kind =
        {
            .name = "CenterCrop",
            .doc = "The middle of pictures (keras.layers.CenterCrop).",
            .rows = center_crop_rows,
            .signature = "height width data_format",
            .args_size = sizeof(struct leati_picture_args),
            .check = center_crop_check,
        },
    .prefix = "center_crop",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .call = center_crop_call,
};
