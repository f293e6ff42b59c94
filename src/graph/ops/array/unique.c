/* unique: the values of a vector without repetitions, in the order of their first places, and for
 * each value its number among them (tf.unique). See uniques.h. No gradient. */
#include "graph/support/array/uniques.h"

static leat_status unique_infer(leati_infer_call *call, leat_error *err) {
    return leati_unique_infer(call, false, err);
}

static leat_status unique_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_unique_kernel(call, false, err);
}

const leati_tensor_op leati_tensor_op_unique = {
    .name = "unique",
    .version = 1,
    .doc = "The values of a vector without repetitions, and for each value its number among them "
           "(tf.unique).",
    .names = "unique",
    .inputs = "x",
    .types = "T",
    .outputs = "Unique(y idx)",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_unique_rows,
    .args_size = sizeof(struct leati_unique_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = unique_infer,
    .kernel = unique_kernel,
};
