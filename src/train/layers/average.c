/* Average: the mean of the inputs (keras.layers.Average). Failures: shapes that do not broadcast.
 * No state, no locks. */
#include "graph/support/support.h"
#include "train/support/merging.h"

static leat_value average_call(const leati_pass *pass) {
    leat_value sum = leati_merging_merge(pass, leat_op_add);
    if (leati_support_value_failed(sum))
        return sum;
    return leat_op_divide(
        sum, leati_support_number(sum.graph, leat_value_dtype(sum), (double)pass->num_inputs));
}

const leati_layer_kind leati_layer_average = {
    .kind =
        {
            .name = "Average",
            .doc = "The mean of the inputs (keras.layers.Average).",
            .rows = leati_merging_rows,
            .signature = "",
            .args_size = sizeof(struct leati_layer_args),
        },
    .prefix = "average",
    .merges = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = average_call,
};
