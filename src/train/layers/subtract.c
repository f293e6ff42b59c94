/* Subtract: the first of two inputs less the second (keras.layers.Subtract). Failures: another
 * number of inputs, shapes that do not broadcast. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/merging.h"

static leat_value subtract_call(const leati_pass *pass) {
    if (pass->num_inputs != 2)
        return leati_support_build_error(pass->inputs[0].graph, LEAT_INVALID_ARGUMENT,
                                         "a `Subtract` layer should be called on exactly 2 inputs");
    return leati_merging_merge(pass, leat_op_subtract);
}

const leati_layer_kind leati_layer_subtract = {
    .kind =
        {
            .name = "Subtract",
            .doc = "The first of two inputs less the second (keras.layers.Subtract).",
            .rows = leati_merging_rows,
            .signature = "",
            .args_size = sizeof(struct leati_layer_args),
        },
    .prefix = "subtract",
    .merges = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = subtract_call,
};
