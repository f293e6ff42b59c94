/* sort: the values in order along a dimension (tf.sort).
 *
 * Equal values stay as they stand; a NaN is last going up, first going down. Fails where the axis
 * is outside the tensor. No gradient, no state, no locks. */
#include "graph/support/array/positions.h"
#include "graph/support/array/sorting.h"

static leat_status sort_infer(leati_infer_call *call, leat_error *err) {
    return leati_sorting_infer(call, call->inputs[0].dtype, err);
}

static leat_status sort_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_sorting_kernel(call, false, err);
}

/* The sorted dimension changes places with the last. */
static leat_value axis_last(leat_value x, int32_t rank, int32_t axis) {
    int64_t perm[LEAT_MAX_RANK];
    if (axis == rank - 1)
        return x;
    for (int32_t d = 0; d < rank; d++)
        perm[d] = d == axis ? rank - 1 : d == rank - 1 ? axis : d;
    return leat_op_transpose(x, perm, rank);
}

static leat_status sort_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_sort_args *args = call->args;
    leat_value x = call->inputs[0];
    int32_t rank = leat_value_shape(x).rank, axis = 0;
    if (rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the input's rank is not known; give it one with ensure_shape");
    LEATI_TRY(leati_support_normal_axis(args->axis, rank, &axis, err));
    struct leati_sort_args order = {.axis = args->axis, .direction = args->direction};
    leat_value places = leati_graph_build1(&leati_tensor_op_argsort, &order, x);
    leat_value at = leati_positions_gather_last(axis_last(leati_positions(x), rank, axis),
                                                axis_last(places, rank, axis));
    call->input_gradients[0] =
        leati_positions_add_at(axis_last(call->output_gradients[0], rank, axis), at, x);
    return LEAT_OK;
}

leat_value leat_op_sort(leat_value values, int64_t axis, bool descending) {
    char ascending[] = "ASCENDING", other[] = "DESCENDING";
    struct leati_sort_args args = {.axis = axis, .direction = descending ? other : ascending};
    return leati_graph_build1(&leati_tensor_op_sort, &args, values);
}

const leati_tensor_op leati_tensor_op_sort = {
    .name = "sort",
    .version = 1,
    .doc = "The values in order along a dimension (tf.sort).",
    .names = "sort",
    .inputs = "values",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_sort_rows,
    .args_size = sizeof(struct leati_sort_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = sort_infer,
    .kernel = sort_kernel,
    .gradient = sort_gradient,
};
