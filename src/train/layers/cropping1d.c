/* Cropping1D: sequences without what lies at their borders (keras.layers.Cropping1D). Failures:
 * other than one number, one for each direction or two for each; more than there is. No state, no
 * locks. */
#include "train/support/border.h"

static leat_status cropping1d_check(const void *args, leat_error *err) {
    return leati_border_check(args, 1, err);
}

static leat_value cropping1d_call(const leati_pass *pass) {
    return leati_border_crop(pass, 1);
}

const leati_layer_kind leati_layer_cropping1d = {
    .kind =
        {
            .name = "Cropping1D",
            .doc = "Sequences without what lies at their borders (keras.layers.Cropping1D).",
            .rows = leati_cropping_rows,
            .signature = "cropping=[1,1]",
            .args_size = sizeof(struct leati_border_args),
            .check = cropping1d_check,
        },
    .prefix = "cropping1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .call = cropping1d_call,
};
