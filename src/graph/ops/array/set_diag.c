/* set_diag: matrices with other values on their diagonals (tf.linalg.set_diag). Inputs: input,
 * diagonal. Fails where a diagonal is outside the matrix, or the values do not fit. No state, no
 * locks. */
#include "graph/support/linalg/diagonal.h"

#include <string.h>

static leat_status check(const struct leati_diagonal_args *args, const leat_shape *in,
                         const leat_shape *diagonal, leati_diagonals *d, leat_error *err) {
    char texts[2][128];
    LEATI_TRY(leati_diagonals_of(d, args, in, err));
    leat_shape wanted = leati_diagonals_shape(d, in);
    if (leati_shape_compatible(&wanted, diagonal))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "the diagonals have shape %s; expected %s of the input",
                        leati_shape_text(diagonal, texts[0]), leati_shape_text(&wanted, texts[1]));
}

static leat_status set_diag_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    leati_diagonals d;
    LEATI_TRY(leati_diagonal_want_fixed(call, 0, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (in->rank >= 0 && call->unknown == 0)
        LEATI_TRY(check(call->args, in, &call->inputs[1].shape, &d, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, in, NULL, err);
}

static leat_status set_diag_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *diagonal = &call->inputs[1];
    leat_shape shape = leati_support_operand_shape(in),
               values = leati_support_operand_shape(diagonal);
    leati_diagonals d;
    LEATI_TRY(check(call->args, &shape, &values, &d, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(in->dtype);
    int64_t matrix = d.rows * d.columns, array = (d.high - d.low + 1) * d.longest;
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        memcpy(to, leati_support_row_of(in, row), (size_t)in->count * size);
        for (int64_t i = 0; i < in->count / matrix; i++)
            leati_diagonals_copy(&d, size, to + (size_t)(i * matrix) * size,
                                 leati_support_row_of(diagonal, row) + (size_t)(i * array) * size,
                                 false);
    }
    return LEAT_OK;
}

static leat_status set_diag_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0];
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_set_diag, call->args, g,
                                                  leat_op_zeros_like(call->inputs[1]));
    call->input_gradients[1] = leati_graph_build1(&leati_tensor_op_diag_part, call->args, g);
    return LEAT_OK;
}

leat_value leat_op_set_diag(leat_value input, leat_value diagonal, int64_t k) {
    char align[] = "RIGHT_LEFT";
    struct leati_diagonal_args args = {.k = {.values = &k, .count = 1}, .align = align};
    return leati_graph_build2(&leati_tensor_op_set_diag, &args, input, diagonal);
}

const leati_tensor_op leati_tensor_op_set_diag = {
    .name = "set_diag",
    .version = 1,
    .doc = "Matrices with other values on their diagonals (tf.linalg.set_diag).",
    .names = "linalg.set_diag",
    .inputs = "input diagonal",
    .signature = "input diagonal name k=0 align",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_set_diag_rows,
    .args_size = sizeof(struct leati_diagonal_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = set_diag_infer,
    .kernel = set_diag_kernel,
    .gradient = set_diag_gradient,
};
