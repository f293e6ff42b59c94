/* ZeroPadding2D: zeros around pictures (keras.layers.ZeroPadding2D). Failures: other than one
 * number, one for each direction or two for each. No state, no locks. */
#include "train/support/border.h"

static leat_status zero_padding2d_check(const void *args, leat_error *err) {
    return leati_border_check(args, 2, err);
}

static leat_value zero_padding2d_call(const leati_pass *pass) {
    return leati_border_pad(pass, 2);
}

const leati_layer_kind leati_layer_zero_padding2d = {
    .kind =
        {
            .name = "ZeroPadding2D",
            .doc = "Zeros around pictures (keras.layers.ZeroPadding2D).",
            .rows = leati_padding_rows,
            .signature = "padding=[1,1] data_format",
            .args_size = sizeof(struct leati_border_args),
            .check = zero_padding2d_check,
        },
    .prefix = "zero_padding2d",
    .rank = 4,
    .expects = "[batch, height, width, channels]",
    .call = zero_padding2d_call,
};
