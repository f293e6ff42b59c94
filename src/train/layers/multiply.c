/* Multiply: the product of the inputs (keras.layers.Multiply). Failures: shapes that do not
 * broadcast. No state, no locks. */
#include "train/support/merging.h"

static leat_value multiply_call(const leati_pass *pass) {
    return leati_merging_merge(pass, leat_op_multiply);
}

const leati_layer_kind leati_layer_multiply = {
    .kind =
        {
            .name = "Multiply",
            .doc = "The product of the inputs (keras.layers.Multiply).",
            .rows = leati_merging_rows,
            .signature = "",
            .args_size = sizeof(struct leati_layer_args),
        },
    .prefix = "multiply",
    .merges = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = multiply_call,
};
