/* broadcast_like: the first input repeated to the shape of the second by numpy's broadcasting: the
 * gradient of sums.
 *
 * Fails where the shapes do not broadcast to the second's. No state, no locks. */
#include "graph/support/support.h"

static leat_status broadcast_like_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status broadcast_like_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in),
               to = leati_support_operand_shape(&call->inputs[1]), joined;
    int64_t dense[LEAT_MAX_RANK], steps[LEAT_MAX_RANK], out_steps[LEAT_MAX_RANK];
    size_t size = leat_dtype_size(in->dtype);
    LEATI_TRY(leati_op_infer_broadcast_shape(&from, &to, &joined, err));
    char texts[2][128];
    if (!leati_shape_equal(&joined, &to))
        return leati_refuse(err, SHAPE, "%s does not broadcast to %s",
                            leati_shape_text(&from, texts[0]), leati_shape_text(&to, texts[1]));
    LEATI_TRY(leati_support_output_like(call, 0, &to, err));
    leati_support_dense_steps(&from, size, dense);
    leati_support_dense_steps(&to, size, out_steps);
    for (int32_t d = 0; d < to.rank; d++) {
        int32_t k = d - (to.rank - from.rank);
        steps[d] = k < 0 || from.dims[k] == 1 ? 0 : dense[k];
    }
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++)
        leati_support_strided_copy(leati_support_row_of(&call->outputs[0], row), out_steps,
                                   leati_support_row_of(in, row), steps, to.dims, to.rank, size);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status broadcast_like_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_sum_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_broadcast_like(leat_value x, leat_value like) {
    return leati_graph_build2(&leati_tensor_op_broadcast_like, NULL, x, like);
}

const leati_tensor_op leati_tensor_op_broadcast_like = {
    .name = "broadcast_like",
    .version = 1,
    .doc = "The first input repeated to the second's shape (tf.broadcast_to, for "
           "gradients).",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = broadcast_like_infer,
    .kernel = broadcast_like_kernel,
    .gradient = broadcast_like_gradient,
};
