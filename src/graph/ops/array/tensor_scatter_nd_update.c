/* tensor_scatter_nd_update: a tensor with updates in place of the slices that rows of indices name
 * (tf.tensor_scatter_nd_update).
 *
 * Where slices name one place the last one stays. Fails where shapes do not fit and where an index
 * is outside. No state, no locks. */
#include "graph/support/array/scatter.h"

static leat_status scatter_update_infer(leati_infer_call *call, leat_error *err) {
    return leati_scatter_infer(call, false, err);
}

static leat_status scatter_update_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_scatter_kernel(call, NULL, err);
}

static leat_status scatter_update_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0], indices = call->inputs[1];
    (void)err;
    call->input_gradients[0] =
        leat_op_tensor_scatter_nd_update(g, indices, leat_op_zeros_like(call->inputs[2]));
    call->input_gradients[2] = leat_op_gather_nd(g, indices);
    return LEAT_OK;
}

leat_value leat_op_tensor_scatter_nd_update(leat_value tensor, leat_value indices,
                                            leat_value updates) {
    return leati_graph_build3(&leati_tensor_op_tensor_scatter_nd_update, NULL, tensor, indices,
                              updates);
}

const leati_tensor_op leati_tensor_op_tensor_scatter_nd_update = {
    .name = "tensor_scatter_nd_update",
    .version = 1,
    .doc = "A tensor with updates in place of the slices that rows of indices name "
           "(tf.tensor_scatter_nd_update).",
    .names = "tensor_scatter_nd_update",
    .inputs = "tensor indices updates",
    .types = "T Tindices<int16 T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = scatter_update_infer,
    .kernel = scatter_update_kernel,
    .gradient = scatter_update_gradient,
};
