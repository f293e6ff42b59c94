/* Add: the sum of the inputs (keras.layers.Add). Failures: shapes that do not broadcast. No state,
 * no locks. */
#include "train/support/merging.h"

static leat_value add_call(const leati_pass *pass) {
    return leati_merging_merge(pass, leat_op_add);
}

const leati_layer_kind leati_layer_add = {
    .kind =
        {
            .name = "Add",
            .doc = "The sum of the inputs (keras.layers.Add).",
            .rows = leati_merging_rows,
            .signature = "",
            .args_size = sizeof(struct leati_layer_args),
        },
    .prefix = "add",
    .merges = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = add_call,
};
