/* argmin: the index of the smallest value along a dimension, the first of equals (tf.math.argmin).
 *
 * Fails where the dimension is empty or outside the input. No gradient, no state, no locks. */
#include "graph/support/math/arg.h"

static leat_status argmin_infer(leati_infer_call *call, leat_error *err) {
    return leati_arg_infer(call, true, err);
}

static leat_status argmin_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_arg_kernel(call, true, err);
}

leat_value leat_op_argmin(leat_value x, int64_t axis, leat_dtype dtype) {
    struct leati_arg_args args = {.axis = axis, .output_type = dtype};
    return leati_graph_build1(&leati_tensor_op_argmin, &args, x);
}

const leati_tensor_op leati_tensor_op_argmin = {
    .name = "argmin",
    .version = 1,
    .doc = "The index of the smallest value along a dimension, the first of equals "
           "(tf.math.argmin).",
    .names = "math.argmin argmin",
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
    .infer = argmin_infer,
    .kernel = argmin_kernel,
};
