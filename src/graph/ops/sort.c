/* sort: the values in order along a dimension (tf.sort).
 *
 * Equal values stay as they stand; a NaN is last going up, first going down. Fails where the axis
 * is outside the tensor. No gradient, no state, no locks. */
#include "graph/ops/sorting.h"

static leat_status sort_infer(leati_infer_call *call, leat_error *err) {
    return leati_sort_infer(call, call->inputs[0].dtype, err);
}

static leat_status sort_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_sort_kernel(call, false, err);
}

leat_value leat_sort(leat_value values, int64_t axis, bool descending) {
    char ascending[] = "ASCENDING", other[] = "DESCENDING";
    struct leati_sort_args args = {.axis = axis, .direction = descending ? other : ascending};
    return leati_op1(&leati_tensor_op_sort, &args, values);
}

const leati_tensor_op leati_tensor_op_sort = {
    .name = "sort",
    .version = 1,
    .doc = "The values in order along a dimension (tf.sort).",
    .names = "sort",
    .inputs = "values",
    .rows = leati_sort_rows,
    .args_size = sizeof(struct leati_sort_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = sort_infer,
    .kernel = sort_kernel,
};
