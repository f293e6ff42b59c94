/* matrix_inverse: the inverse of square matrices, turned if asked (tf.linalg.inv).
 *
 * By LU factors. Fails where a matrix is singular. No state, no locks. */
#include "graph/support/linalg/matrices.h"

static const leati_row matrix_inverse_rows[] = {
    LEATI_ROW_ADJOINT(struct leati_adjoint_args, "The inverse of the transpose instead."),
    {0},
};

static leat_status matrix_inverse_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_adjoint_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&shape, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t n = m.rows, values = n * n;
    double *a = leati_matrices_doubles(call, 2 * values + n, err);
    int64_t *order = a == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    double *x = a + values;
    for (int64_t i = 0; i < call->n * m.count; i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        if (leati_factor_lu(a, n, order) == 0 && n > 0)
            return leati_matrices_refuse(call, row, at, "Input is not invertible.", err);
        for (int64_t k = 0; k < values; k++)
            x[k] = k / n == k % n;
        leati_factor_solve_lu(a, n, order, args->adjoint, x, n, x + values);
        leati_matrices_write_doubles(x, &call->outputs[0], row, at * values, values);
    }
    return LEAT_OK;
}

static leat_status matrix_inverse_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_adjoint_args *args = call->args;
    leat_value g = call->output_gradients[0], inverse = call->outputs[0];
    (void)err;
    /* -A^-T g A^-T; the gradient of the turned inverse is turned first. */
    leat_value right = leat_op_matmul(g, inverse, args->adjoint, !args->adjoint);
    call->input_gradients[0] =
        leat_op_negate(leat_op_matmul(inverse, right, !args->adjoint, false));
    return LEAT_OK;
}

leat_value leat_op_matrix_inverse(leat_value input, bool adjoint) {
    struct leati_adjoint_args args = {.adjoint = adjoint};
    return leati_graph_build1(&leati_tensor_op_matrix_inverse, &args, input);
}

const leati_tensor_op leati_tensor_op_matrix_inverse = {
    .name = "matrix_inverse",
    .version = 1,
    .doc = "The inverse of square matrices (tf.linalg.inv).",
    .names = "linalg.inv",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = matrix_inverse_rows,
    .args_size = sizeof(struct leati_adjoint_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_matrices_infer_square,
    .kernel = matrix_inverse_kernel,
    .gradient = matrix_inverse_gradient,
};
