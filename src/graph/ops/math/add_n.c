/* add_n: the sum of tensors of one shape (tf.math.add_n).
 *
 * Adds one after the other, in the order given. Fails where dtypes or shapes differ. No state, no
 * locks. */
#include "graph/support/support.h"

#include <string.h>

static leat_status add_n_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = call->inputs[0].shape;
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (call->inputs[0].dtype <= LEAT_BOOL || call->inputs[0].dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the inputs are %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    for (int i = 1; i < call->num_inputs; i++) {
        const leat_shape *other = &call->inputs[i].shape;
        char texts[2][128];
        if (!leati_shape_compatible(&shape, other))
            return leati_refuse(
                err, SHAPE, "input %d has shape %s, input 0 %s; expected equal shapes", i,
                leati_shape_text(other, texts[0]), leati_shape_text(&shape, texts[1]));
        if (shape.rank < 0)
            shape = *other;
        for (int32_t d = 0; d < shape.rank && other->rank >= 0; d++)
            if (shape.dims[d] == LEAT_UNKNOWN_DIM)
                shape.dims[d] = other->dims[d];
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* out += in, by the kernel of add. */
static leat_status add_to(leati_kernel_call *call, const leati_operand *in, leat_error *err) {
    /* The output is operand and result: add reads a value before it writes the sum there. */
    leati_operand both[] = {call->outputs[0], *in};
    leati_kernel_call inner = *call;
    inner.inputs = both;
    inner.num_inputs = 2;
    return leati_tensor_op_add.kernel(&inner, err);
}

static leat_status add_n_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *first = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(first);
    for (int i = 1; i < call->num_inputs; i++) {
        leat_shape other = leati_support_operand_shape(&call->inputs[i]);
        char texts[2][128];
        if (!leati_shape_equal(&shape, &other))
            return leati_refuse(
                err, SHAPE, "input %d has shape %s, input 0 %s; expected equal shapes", i,
                leati_shape_text(&other, texts[0]), leati_shape_text(&shape, texts[1]));
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)first->count * leat_dtype_size(first->dtype);
    /* The first input is copied, so that the others can be added in place. */
    for (int64_t row = 0; row < call->n && bytes > 0; row++)
        memcpy(leati_support_row_of(&call->outputs[0], row), leati_support_row_of(first, row),
               bytes);
    for (int i = 1; i < call->num_inputs; i++)
        LEATI_TRY(add_to(call, &call->inputs[i], err));
    return LEAT_OK;
}

static leat_status add_n_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    for (int i = 0; i < call->num_inputs; i++)
        call->input_gradients[i] = call->output_gradients[0];
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_add_n = {
    .name = "add_n",
    .version = 1,
    .doc = "The sum of tensors of one shape (tf.math.add_n).",
    .names = "math.add_n add_n",
    .inputs = "*inputs",
    .types = "**T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = add_n_infer,
    .kernel = add_n_kernel,
    .gradient = add_n_gradient,
};
