/* Cropping2D: pictures without what lies at their borders (keras.layers.Cropping2D). Failures:
 * other than one number, one for each direction or two for each; more than there is. No state, no
 * locks. */
#include "train/support/border.h"

static leat_status cropping2d_check(const void *args, leat_error *err) {
    return leati_border_check(args, 2, err);
}

static leat_value cropping2d_call(const leati_pass *pass) {
    return leati_border_crop(pass, 2);
}

const leati_layer_kind leati_layer_cropping2d = {
    .kind =
        {
            .name = "Cropping2D",
            .doc = "Pictures without what lies at their borders (keras.layers.Cropping2D).",
            .rows = leati_cropping_rows,
            .signature = "cropping=[[0,0],[0,0]] data_format",
            .args_size = sizeof(struct leati_border_args),
            .check = cropping2d_check,
        },
    .prefix = "cropping2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .call = cropping2d_call,
};
