/* reshape_like: the values of the first input under the shape of the second, which has as many: the
 * gradient of whatever only changes a shape.
 *
 * The kernel hands out a view. Fails in a run where the numbers of values differ. No state, no
 * locks. */
#include "graph/support/support.h"

static leat_status reshape_like_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status reshape_like_kernel(leati_kernel_call *call, leat_error *err) {
    /* A view with more values than there are would lead out of their memory. */
    if (call->inputs[0].count != call->inputs[1].count)
        return leati_refuse(err, VALUE,
                            "the first input has %lld values, the second %lld; expected as many",
                            (long long)call->inputs[0].count, (long long)call->inputs[1].count);
    leat_shape shape = leati_support_operand_shape(&call->inputs[1]);
    return leati_support_view_as(call, &shape, err);
}

static leat_status reshape_like_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_reshape_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_reshape_like = {
    .name = "reshape_like",
    .version = 1,
    .doc = "The first input's values under the second's shape (for gradients).",
    .inputs = "x like",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = reshape_like_infer,
    .kernel = reshape_like_kernel,
    .gradient = reshape_like_gradient,
    .trait = LEATI_TRAIT_VIEW,
};
