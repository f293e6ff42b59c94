/* reverse: the values along the named dimensions from the last to the first (tf.reverse).
 *
 * Copies by negative steps. Fails where an axis is outside the tensor or named twice. No state, no
 * locks. */
#include "graph/support/array/moving.h"

struct reverse_args {
    leati_ints axis;
};

static const leati_row reverse_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct reverse_args, axis),
     .doc = "The dimensions to turn round; negative counts from the end."},
    {0},
};

static leat_status reverse_infer(leati_infer_call *call, leat_error *err) {
    const struct reverse_args *args = call->args;
    bool mask[LEAT_MAX_RANK] = {false};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    /* A scalar stays as it is, whatever the dimensions are, as in TensorFlow. */
    if (call->inputs[0].shape.rank > 0 && call->unknown == 0)
        LEATI_TRY(leati_support_mark_axes(&args->axis, call->inputs[0].shape.rank, mask, err));
    return leati_op_infer_same(call, err);
}

static leat_status reverse_kernel(leati_kernel_call *call, leat_error *err) {
    const struct reverse_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    size_t size = leat_dtype_size(in->dtype);
    int64_t steps[LEAT_MAX_RANK], out_steps[LEAT_MAX_RANK], offset = 0;
    bool mask[LEAT_MAX_RANK] = {false};
    if (in->rank > 0)
        LEATI_TRY(leati_support_mark_axes(&args->axis, in->rank, mask, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_support_dense_steps(&shape, size, out_steps);
    for (int32_t d = 0; d < in->rank; d++) {
        /* A negative step reads from the last value on, to which the offset leads. Without values
         * it would lead before the first, but then nothing is copied. */
        steps[d] = mask[d] ? -out_steps[d] : out_steps[d];
        offset += mask[d] ? (shape.dims[d] - 1) * out_steps[d] : 0;
    }
    leati_moving_rows(call, &call->outputs[0], 0, out_steps, in, offset, steps, shape.dims,
                      shape.rank, size);
    return leati_support_hold_strings(call, 0, err);
}

static leat_status reverse_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Reversing is its own inverse. */
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_reverse, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_reverse = {
    .name = "reverse",
    .version = 1,
    .doc = "The values along the named dimensions from the last to the first (tf.reverse).",
    .names = "reverse",
    .inputs = "tensor",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = reverse_rows,
    .args_size = sizeof(struct reverse_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = reverse_infer,
    .kernel = reverse_kernel,
    .gradient = reverse_gradient,
};
