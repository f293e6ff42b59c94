/* bias_add: a vector added along the last dimension (tf.nn.bias_add).
 *
 * The kernel is add's. Fails where the vector's length is not that of the last dimension. No state,
 * no locks. */
#include "graph/support/support.h"

/* As strict as TensorFlow, where add would broadcast a bias of one value. */
static leat_status check_bias(const leat_shape *x, const leat_shape *bias, leat_error *err) {
    char texts[2][128];
    if (x->rank < 0 || bias->rank < 0)
        return LEAT_OK;
    if (x->rank < 2 || bias->rank != 1)
        return leati_refuse(
            err, SHAPE, "the input is %s and the bias %s; expected rank 2 or more, and a vector",
            leati_shape_text(x, texts[0]), leati_shape_text(bias, texts[1]));
    return leati_support_want_equal_dims(x->dims[x->rank - 1], bias->dims[0],
                                         "the last dimension and the length of the bias", err);
}

static leat_status bias_add_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(check_bias(&call->inputs[0].shape, &call->inputs[1].shape, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    leati_type sum;
    /* add's rule checks the dtype; its shape is thrown away, as add takes an unknown dimension for
     * one that may be 1 where a bias must have the input's last one. */
    leati_infer_call inner = *call;
    inner.outputs = &sum;
    inner.num_outputs = 0;
    inner.capacity = 1;
    LEATI_TRY(leati_tensor_op_add.infer(&inner, err));
    leat_shape shape = call->inputs[0].shape;
    int64_t *last = shape.rank > 0 ? &shape.dims[shape.rank - 1] : NULL;
    if (last != NULL && *last == LEAT_UNKNOWN_DIM && call->inputs[1].shape.rank == 1)
        *last = call->inputs[1].shape.dims[0];
    return leati_op_infer_output(call, sum.dtype, &shape, NULL, err);
}

static leat_status bias_add_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape x = leati_support_operand_shape(&call->inputs[0]);
    leat_shape bias = leati_support_operand_shape(&call->inputs[1]);
    /* Inference may not have known the shapes, and add's kernel would broadcast whatever it can. */
    LEATI_TRY(check_bias(&x, &bias, err));
    return leati_tensor_op_add.kernel(call, err);
}

static leat_status bias_add_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0];
    call->input_gradients[0] = g;
    /* The bias went to every line: what flows back is the sum over all of them. */
    call->input_gradients[1] = leat_op_sum_like(g, call->inputs[1]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_bias_add = {
    .name = "bias_add",
    .version = 1,
    .doc = "A vector added along the last dimension (tf.nn.bias_add).",
    .names = "nn.bias_add",
    .inputs = "value bias",
    .signature = "value bias data_format=null",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = bias_add_infer,
    .kernel = bias_add_kernel,
    .gradient = bias_add_gradient,
};
