/* Cropping3D: volumes without what lies at their borders (keras.layers.Cropping3D). Failures:
 * other than one number, one for each direction or two for each; more than there is. No state, no
 * locks. */
#include "train/support/border.h"

static leat_status cropping3d_check(const void *args, leat_error *err) {
    return leati_border_check(args, 3, err);
}

static leat_value cropping3d_call(const leati_pass *pass) {
    return leati_border_crop(pass, 3);
}

const leati_layer_kind leati_layer_cropping3d = {
    .kind =
        {
            .name = "Cropping3D",
            .doc = "Volumes without what lies at their borders (keras.layers.Cropping3D).",
            .rows = leati_cropping_rows,
            .signature = "cropping=[[1,1],[1,1],[1,1]] data_format",
            .args_size = sizeof(struct leati_border_args),
            .check = cropping3d_check,
        },
    .prefix = "cropping3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .call = cropping3d_call,
};
