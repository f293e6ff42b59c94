/* tensor_scatter_nd_max: a tensor whose slices that rows of indices name are their maxima with
 * updates (tf.tensor_scatter_nd_max).
 *
 * Values that tie share the gradient. Fails where shapes do not fit and where an index is outside.
 * No state, no locks. */
#include "graph/support/array/scatter.h"

static leat_status scatter_max_infer(leati_infer_call *call, leat_error *err) {
    return leati_scatter_infer(call, true, err);
}

static leat_status scatter_max_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_combine_kind kind = LEATI_COMBINE_MAXIMUM;
    return leati_scatter_kernel(call, &kind, err);
}

static leat_status scatter_max_gradient(leati_gradient_call *call, leat_error *err) {
    return leati_scatter_extreme_gradient(call, err);
}

leat_value leat_op_tensor_scatter_nd_max(leat_value tensor, leat_value indices,
                                         leat_value updates) {
    return leati_graph_build3(&leati_tensor_op_tensor_scatter_nd_max, NULL, tensor, indices,
                              updates);
}

const leati_tensor_op leati_tensor_op_tensor_scatter_nd_max = {
    .name = "tensor_scatter_nd_max",
    .version = 1,
    .doc = "A tensor whose slices that rows of indices name are their maxima with updates "
           "(tf.tensor_scatter_nd_max).",
    .names = "tensor_scatter_nd_max",
    .inputs = "tensor indices updates",
    .signature = "tensor indices updates bad_indices_policy=\"\"",
    .types = "T Tindices<int16 T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = scatter_max_infer,
    .kernel = scatter_max_kernel,
    .gradient = scatter_max_gradient,
};
