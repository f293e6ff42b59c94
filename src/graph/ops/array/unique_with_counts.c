/* unique_with_counts: the values of a vector without repetitions, in the order of their first
 * places, for each value its number among them, and how often each occurs (tf.unique_with_counts).
 * See uniques.h. No gradient. */
#include "graph/support/array/uniques.h"

static leat_status unique_with_counts_infer(leati_infer_call *call, leat_error *err) {
    return leati_unique_infer(call, true, err);
}

static leat_status unique_with_counts_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_unique_kernel(call, true, err);
}

const leati_tensor_op leati_tensor_op_unique_with_counts = {
    .name = "unique_with_counts",
    .version = 1,
    .doc = "The values of a vector without repetitions, for each value its number among them, and "
           "how often each occurs "
           "(tf.unique_with_counts).",
    .names = "unique_with_counts",
    .inputs = "x",
    .types = "T",
    .outputs = "UniqueWithCounts(y idx count)",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_unique_rows,
    .args_size = sizeof(struct leati_unique_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = unique_with_counts_infer,
    .kernel = unique_with_counts_kernel,
};
