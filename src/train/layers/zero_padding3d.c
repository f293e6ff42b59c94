/* ZeroPadding3D: zeros around volumes (keras.layers.ZeroPadding3D). Failures: other than one
 * number, one for each direction or two for each. No state, no locks. */
#include "train/support/border.h"

static leat_status zero_padding3d_check(const void *args, leat_error *err) {
    return leati_border_check(args, 3, err);
}

static leat_value zero_padding3d_call(const leati_pass *pass) {
    return leati_border_pad(pass, 3);
}

const leati_layer_kind leati_layer_zero_padding3d = {
    .kind =
        {
            .name = "ZeroPadding3D",
            .doc = "Zeros around volumes (keras.layers.ZeroPadding3D).",
            .rows = leati_padding_rows,
            .signature = "padding=[[1,1],[1,1],[1,1]] data_format",
            .args_size = sizeof(struct leati_border_args),
            .check = zero_padding3d_check,
        },
    .prefix = "zero_padding3d",
    .rank = 5,
    .expects = "[batch, depth, height, width, channels]",
    .call = zero_padding3d_call,
};
