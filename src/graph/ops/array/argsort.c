/* argsort: the places of the values, as int32, in their order along a dimension (tf.argsort).
 *
 * Equal values stay as they stand; a NaN is last going up, first going down. Fails where the axis
 * is outside the tensor. No gradient, no state, no locks. */
#include "graph/support/array/sorting.h"

static leat_status argsort_infer(leati_infer_call *call, leat_error *err) {
    return leati_sorting_infer(call, LEAT_INT32, err);
}

static leat_status argsort_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_sorting_kernel(call, true, err);
}

leat_value leat_op_argsort(leat_value values, int64_t axis, bool descending) {
    char ascending[] = "ASCENDING", other[] = "DESCENDING";
    struct leati_sort_args args = {.axis = axis, .direction = descending ? other : ascending};
    return leati_graph_build1(&leati_tensor_op_argsort, &args, values);
}

const leati_tensor_op leati_tensor_op_argsort = {
    .name = "argsort",
    .version = 1,
    .doc = "The places of the values, as int32, in their order along a dimension (tf.argsort).",
    .names = "argsort",
    .inputs = "values",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_argsort_rows,
    .args_size = sizeof(struct leati_sort_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = argsort_infer,
    .kernel = argsort_kernel,
};
