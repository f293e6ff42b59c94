/* diag_part: the diagonals of matrices (tf.linalg.diag_part). Fails where a diagonal is outside
 * the matrix. No state, no locks. */
#include "graph/support/linalg/diagonal.h"

static leat_status diag_part_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    leati_diagonals d;
    LEATI_TRY(leati_diagonal_want_fixed(call, 0, err));
    if (in->rank >= 0 && call->unknown == 0) {
        LEATI_TRY(leati_diagonals_of(&d, call->args, in, err));
        shape = leati_diagonals_shape(&d, in);
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status diag_part_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_diagonal_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in);
    leati_diagonals d;
    LEATI_TRY(leati_diagonals_of(&d, args, &from, err));
    leat_shape shape = leati_diagonals_shape(&d, &from);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(in->dtype);
    int64_t matrix = d.rows * d.columns, array = (d.high - d.low + 1) * d.longest;
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < out->count; i++)
            (void)leati_support_store_number(in->dtype, args->padding_value, to + (size_t)i * size);
        for (int64_t i = 0; i < out->count / array; i++)
            leati_diagonals_copy(&d, size,
                                 leati_support_row_of(in, row) + (size_t)(i * matrix) * size,
                                 to + (size_t)(i * array) * size, true);
    }
    return LEAT_OK;
}

static leat_status diag_part_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build2(&leati_tensor_op_set_diag, call->args,
                           leat_op_zeros_like(call->inputs[0]), call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_diag_part(leat_value input, int64_t k) {
    char align[] = "RIGHT_LEFT";
    struct leati_diagonal_args args = {.k = {.values = &k, .count = 1}, .align = align};
    return leati_graph_build1(&leati_tensor_op_diag_part, &args, input);
}

const leati_tensor_op leati_tensor_op_diag_part = {
    .name = "diag_part",
    .version = 1,
    .doc = "The diagonals of matrices (tf.linalg.diag_part).",
    .names = "linalg.diag_part",
    .inputs = "input",
    .signature = "input name k=0 padding_value align",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_diag_part_rows,
    .args_size = sizeof(struct leati_diagonal_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = diag_part_infer,
    .kernel = diag_part_kernel,
    .gradient = diag_part_gradient,
};
