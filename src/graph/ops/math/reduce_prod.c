/* reduce_prod: the product over the named dimensions, or all (tf.math.reduce_prod).
 *
 * Integers wrap; the product of no values is 1. Fails where an axis is outside the
 * input. No state, no locks. */
#include "graph/support/math/reduce.h"

static leat_status reduce_prod_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_reduce_kernel(call, LEATI_REDUCE_PROD, err);
}

/* What flows to each value: the gradient times the product of all others, which is made of those
 * before and behind it, one dimension after the other, so that zeros divide nothing. */
static leat_status reduce_prod_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_reduce_args *args = call->args;
    leat_value x = call->inputs[0], gradient, steps[LEAT_MAX_RANK];
    int32_t rank = leat_value_shape(x).rank, count = 0;
    bool mask[LEAT_MAX_RANK] = {false};
    if (rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the input's rank is not known; give it one with ensure_shape");
    LEATI_TRY(leati_reduce_mask(&args->axis, rank, mask, err));
    LEATI_TRY(leati_reduce_expand(call, call->output_gradients[0], &gradient, err));
    for (int32_t d = 0; d < rank; d++) {
        if (!mask[d])
            continue;
        leat_value before = leat_op_cumprod(x, d, true, false),
                   behind = leat_op_cumprod(x, d, true, true);
        steps[count++] = leat_op_multiply(before, behind);
        x = leat_op_reduce_prod(x, (int64_t[]){d}, 1, true);
    }
    while (count > 0)
        gradient = leat_op_multiply(gradient, steps[--count]);
    call->input_gradients[0] = gradient;
    return LEAT_OK;
}

leat_value leat_op_reduce_prod(leat_value x, const int64_t *axes, int num_axes, bool keepdims) {
    return leati_reduce_build(&leati_tensor_op_reduce_prod, x, axes, num_axes, keepdims);
}

const leati_tensor_op leati_tensor_op_reduce_prod = {
    .name = "reduce_prod",
    .version = 1,
    .doc = "The product over the named dimensions, or all (tf.math.reduce_prod).",
    .names = "math.reduce_prod reduce_prod",
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
    .kernel = reduce_prod_kernel,
    .gradient = reduce_prod_gradient,
};
