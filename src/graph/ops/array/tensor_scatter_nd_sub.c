/* tensor_scatter_nd_sub: a tensor with updates subtracted from the slices that rows of indices name
 * (tf.tensor_scatter_nd_sub).
 *
 * Integers wrap. Fails where shapes do not fit and where an index is outside. No state, no locks.
 */
#include "graph/support/array/scatter.h"

static leat_status scatter_sub_infer(leati_infer_call *call, leat_error *err) {
    return leati_scatter_infer(call, true, err);
}

static leat_status scatter_sub_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_combine_kind kind = LEATI_COMBINE_DIFFERENCE;
    return leati_scatter_kernel(call, &kind, err);
}

static leat_status scatter_sub_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = call->output_gradients[0];
    call->input_gradients[2] =
        leat_op_negate(leat_op_gather_nd(call->output_gradients[0], call->inputs[1]));
    return LEAT_OK;
}

leat_value leat_op_tensor_scatter_nd_sub(leat_value tensor, leat_value indices,
                                         leat_value updates) {
    return leati_graph_build3(&leati_tensor_op_tensor_scatter_nd_sub, NULL, tensor, indices,
                              updates);
}

const leati_tensor_op leati_tensor_op_tensor_scatter_nd_sub = {
    .name = "tensor_scatter_nd_sub",
    .version = 1,
    .doc = "A tensor with updates subtracted from the slices that rows of indices name "
           "(tf.tensor_scatter_nd_sub).",
    .names = "tensor_scatter_nd_sub",
    .inputs = "tensor indices updates",
    .signature = "tensor indices updates bad_indices_policy=\"\"",
    .types = "T Tindices<int16 T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = scatter_sub_infer,
    .kernel = scatter_sub_kernel,
    .gradient = scatter_sub_gradient,
};
