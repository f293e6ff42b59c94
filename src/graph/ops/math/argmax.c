/* argmax: the index of the largest value along a dimension, the first of equals (tf.math.argmax).
 *
 * Fails where the dimension is empty or outside the input. No gradient, no state, no locks. */
#include "graph/support/math/arg.h"

static leat_status argmax_infer(leati_infer_call *call, leat_error *err) {
    return leati_arg_infer(call, false, err);
}

static leat_status argmax_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_arg_kernel(call, false, err);
}

leat_value leat_op_argmax(leat_value x, int64_t axis, leat_dtype dtype) {
    struct leati_arg_args args = {.axis = axis, .output_type = dtype};
    return leati_graph_build1(&leati_tensor_op_argmax, &args, x);
}

const leati_tensor_op leati_tensor_op_argmax = {
    .name = "argmax",
    .version = 1,
    .doc = "The index of the largest value along a dimension, the first of equals "
           "(tf.math.argmax).",
    .names = "math.argmax argmax",
    .inputs = "input",
    .signature = "input axis=null output_type",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_arg_rows,
    .args_size = sizeof(struct leati_arg_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = argmax_infer,
    .kernel = argmax_kernel,
};
