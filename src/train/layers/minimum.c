/* Minimum: the smallest of the inputs, value by value (keras.layers.Minimum). Failures: shapes
 * that do not broadcast. No state, no locks. */
#include "train/support/merging.h"

static leat_value minimum_call(const leati_pass *pass) {
    return leati_merging_merge(pass, leat_op_minimum);
}

const leati_layer_kind leati_layer_minimum = {
    .kind =
        {
            .name = "Minimum",
            .doc = "The smallest of the inputs, value by value (keras.layers.Minimum).",
            .rows = leati_merging_rows,
            .signature = "",
            .args_size = sizeof(struct leati_layer_args),
        },
    .prefix = "minimum",
    .merges = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = minimum_call,
};
