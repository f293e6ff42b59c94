/* reduce_mean: the mean over the named dimensions, or all (tf.math.reduce_mean).
 *
 * Integers divide towards zero; the mean of no floats is NaN. Fails where an axis is outside the
 * input. No state, no locks. */
#include "graph/support/math/reduce.h"

static leat_status reduce_mean_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_reduce_kernel(call, LEATI_REDUCE_MEAN, err);
}

/* The gradient divided by how many values each mean has: a number where shapes say so, else
 * computed in the run. */
static leat_value share(leat_value g, leat_value x, leat_value y) {
    leat_shape in = leat_value_shape(x), out = leat_value_shape(y);
    int64_t many = leati_shape_count(&in), few = leati_shape_count(&out);
    leat_dtype dtype = leat_value_dtype(g);
    if (many > 0 && few > 0) {
        int64_t each = many / few;
        return leat_op_divide(g, leati_support_number(g.graph, dtype, (double)each));
    }
    leat_value ratio = leat_op_divide(leat_op_cast(leat_op_size(x, LEAT_INT64), dtype),
                                      leat_op_cast(leat_op_size(y, LEAT_INT64), dtype));
    return leat_op_divide(g, ratio);
}

static leat_status reduce_mean_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = share(call->output_gradients[0], call->inputs[0], call->outputs[0]);
    LEATI_TRY(leati_reduce_expand(call, g, &g, err));
    call->input_gradients[0] = leat_op_broadcast_like(g, call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_reduce_mean(leat_value x, const int64_t *axes, int num_axes, bool keepdims) {
    return leati_reduce_build(&leati_tensor_op_reduce_mean, x, axes, num_axes, keepdims);
}

const leati_tensor_op leati_tensor_op_reduce_mean = {
    .name = "reduce_mean",
    .version = 1,
    .doc = "The mean over the named dimensions, or all (tf.math.reduce_mean).",
    .names = "math.reduce_mean reduce_mean",
    .inputs = "input_tensor",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_reduce_rows,
    .args_size = sizeof(struct leati_reduce_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_reduce_infer,
    .kernel = reduce_mean_kernel,
    .gradient = reduce_mean_gradient,
};
