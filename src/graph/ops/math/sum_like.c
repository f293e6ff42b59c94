/* sum_like: the first input summed down to the shape of the second, which broadcasts to the
 * first's: the gradient of broadcasting.
 *
 * Fails where the second's shape does not broadcast to the first's. No state, no locks. */
#include "core/tensor.h"
#include "graph/support/math/reduce.h"

static leat_status sum_like_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (!leati_dtype_is_number(dtype))
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers",
                            leat_dtype_name(dtype));
    return leati_op_infer_output(call, dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status sum_like_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]);
    leat_shape to = leati_support_operand_shape(&call->inputs[1]), joined;
    bool mask[LEAT_MAX_RANK];
    char texts[2][128];
    LEATI_TRY(leati_op_infer_broadcast_shape(&from, &to, &joined, err));
    if (!leati_shape_equal(&joined, &from))
        return leati_refuse(err, SHAPE, "%s does not sum down to %s",
                            leati_shape_text(&from, texts[0]), leati_shape_text(&to, texts[1]));
    for (int32_t d = 0; d < from.rank; d++) {
        int32_t k = d - (from.rank - to.rank);
        /* Dimensions that broadcasting added in front, and those of 1 that it repeated. */
        mask[d] = k < 0 || (to.dims[k] == 1 && from.dims[d] != 1);
    }
    LEATI_TRY(leati_support_output_like(call, 0, &to, err));
    return leati_reduce(call, mask, LEATI_REDUCE_SUM, err);
}

static leat_status sum_like_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_broadcast_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_sum_like = {
    .name = "sum_like",
    .version = 1,
    .doc = "The first input summed down to the second's shape (for gradients).",
    .inputs = "x like",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = sum_like_infer,
    .kernel = sum_like_kernel,
    .gradient = sum_like_gradient,
};
