/* Maximum: the largest of the inputs, value by value (keras.layers.Maximum). Failures: shapes that
 * do not broadcast. No state, no locks. */
#include "train/support/merging.h"

static leat_value maximum_call(const leati_pass *pass) {
    return leati_merging_merge(pass, leat_op_maximum);
}

const leati_layer_kind leati_layer_maximum = {
    .kind =
        {
            .name = "Maximum",
            .doc = "The largest of the inputs, value by value (keras.layers.Maximum).",
            .rows = leati_merging_rows,
            .signature = "",
            .args_size = sizeof(struct leati_layer_args),
        },
    .prefix = "maximum",
    .merges = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = maximum_call,
};
