/* zeros: a tensor of zeros, false or empty strings (tf.zeros).
 *
 * Fails where a dimension is unknown. No state, no locks. */
#include "graph/support/array/filled.h"

static leat_status zeros_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_filled_kernel(call, 0, err);
}

leat_value leat_op_zeros(leat_graph *graph, leat_shape shape, leat_dtype dtype) {
    struct leati_filled_args args = {.shape = shape, .dtype = dtype};
    return leati_graph_node(graph, &leati_tensor_op_zeros, &args, NULL, 0);
}

const leati_tensor_op leati_tensor_op_zeros = {
    .name = "zeros",
    .version = 1,
    .doc = "A tensor of zeros (tf.zeros).",
    .names = "zeros",
    .signature = "shape dtype name layout=null",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_filled_rows,
    .args_size = sizeof(struct leati_filled_args),
    .infer = leati_filled_infer,
    .kernel = zeros_kernel,
};
