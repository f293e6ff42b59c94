/* ZeroPadding1D: zeros around sequences (keras.layers.ZeroPadding1D). Failures: other than one
 * number, one for each direction or two for each. No state, no locks. */
#include "train/support/border.h"

static leat_status zero_padding1d_check(const void *args, leat_error *err) {
    return leati_border_check(args, 1, err);
}

static leat_value zero_padding1d_call(const leati_pass *pass) {
    return leati_border_pad(pass, 1);
}

const leati_layer_kind leati_layer_zero_padding1d = {
    .kind =
        {
            .name = "ZeroPadding1D",
            .doc = "Zeros around sequences (keras.layers.ZeroPadding1D).",
            .rows = leati_padding_rows,
            .signature = "padding=1 data_format",
            .args_size = sizeof(struct leati_border_args),
            .check = zero_padding1d_check,
        },
    .prefix = "zero_padding1d",
    .rank = 3,
    .expects = "[batch, steps, channels]",
    .call = zero_padding1d_call,
};
