/* ones: a tensor of ones, or true (tf.ones).
 *
 * Fails where a dimension is unknown. No state, no locks. */
#include "graph/support/array/filled.h"

static leat_status ones_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_filled_args *args = call->args;
    if (args->dtype == LEAT_STRING)
        return leati_refuse(err, VALUE, "dtype is string; expected a number or bool");
    return leati_filled_infer(call, err);
}

static leat_status ones_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_filled_kernel(call, 1, err);
}

leat_value leat_op_ones(leat_graph *graph, leat_shape shape, leat_dtype dtype) {
    struct leati_filled_args args = {.shape = shape, .dtype = dtype};
    return leati_graph_node(graph, &leati_tensor_op_ones, &args, NULL, 0);
}

const leati_tensor_op leati_tensor_op_ones = {
    .name = "ones",
    .version = 1,
    .doc = "A tensor of ones (tf.ones).",
    .names = "ones",
    .signature = "shape dtype name layout=null",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_filled_rows,
    .args_size = sizeof(struct leati_filled_args),
    .infer = ones_infer,
    .kernel = ones_kernel,
};
