/* matrix_solve: the X of A X = B for square matrices A, or of A^T X = B (tf.linalg.solve).
 *
 * By LU factors. Fails where a matrix is singular. No state, no locks. */
#include "graph/support/linalg/matrices.h"

#include <string.h>

static const leati_row matrix_solve_rows[] = {
    LEATI_ROW_ADJOINT(struct leati_adjoint_args, "Solve with the transposes of the matrices."),
    {0},
};

/* The shape of X, which is that of B with what A says of it. */
static leat_status solution(const leat_shape *a, const leat_shape *b, leat_shape *out,
                            leat_error *err) {
    LEATI_TRY(leati_matrices_check(a, true, err));
    LEATI_TRY(leati_matrices_check(b, false, err));
    *out = *b;
    if (a->rank < 0 || b->rank < 0)
        return LEAT_OK;
    if (a->rank != b->rank)
        return leati_refuse(
            err, SHAPE, "the matrices have %d dimensions and the right sides %d; expected as many",
            a->rank, b->rank);
    for (int32_t d = 0; d < a->rank - 1; d++) {
        LEATI_TRY(leati_support_want_equal_dims(
            a->dims[d], b->dims[d], "rows and stacks of matrices and right sides", err));
        if (b->dims[d] == LEAT_UNKNOWN_DIM)
            out->dims[d] = a->dims[d];
    }
    return LEAT_OK;
}

static leat_status matrix_solve_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(solution(&call->inputs[0].shape, &call->inputs[1].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status matrix_solve_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_adjoint_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *right = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(in), other = leati_support_operand_shape(right),
               shape;
    LEATI_TRY(solution(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(in), r = leati_matrices_of(right);
    int64_t n = m.rows, values = n * n, wanted = r.rows * r.columns;
    double *a = leati_matrices_doubles(call, values + n, err);
    double *x = a == NULL ? NULL : leati_matrices_doubles(call, wanted, err);
    int64_t *order = x == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count; i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        leati_matrices_read_doubles(right, row, at * wanted, wanted, x);
        if (leati_factor_lu(a, n, order) == 0 && n > 0)
            return leati_matrices_refuse(call, row, at, "Input matrix is not invertible.", err);
        leati_factor_solve_lu(a, n, order, args->adjoint, x, r.columns, a + values);
        leati_matrices_write_doubles(x, &call->outputs[0], row, at * wanted, wanted);
    }
    return LEAT_OK;
}

static leat_status matrix_solve_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_adjoint_args *args = call->args, turned = {.adjoint = !args->adjoint};
    leat_value x = call->outputs[0];
    (void)err;
    leat_value g = leati_graph_build2(&leati_tensor_op_matrix_solve, &turned, call->inputs[0],
                                      call->output_gradients[0]);
    call->input_gradients[0] = leat_op_negate(args->adjoint ? leat_op_matmul(x, g, false, true)
                                                            : leat_op_matmul(g, x, false, true));
    call->input_gradients[1] = g;
    return LEAT_OK;
}

leat_value leat_op_matrix_solve(leat_value matrix, leat_value rhs, bool adjoint) {
    struct leati_adjoint_args args = {.adjoint = adjoint};
    return leati_graph_build2(&leati_tensor_op_matrix_solve, &args, matrix, rhs);
}

const leati_tensor_op leati_tensor_op_matrix_solve = {
    .name = "matrix_solve",
    .version = 1,
    .doc = "The X of A X = B for square matrices A (tf.linalg.solve).",
    .names = "linalg.solve",
    .inputs = "matrix rhs",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = matrix_solve_rows,
    .args_size = sizeof(struct leati_adjoint_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = matrix_solve_infer,
    .kernel = matrix_solve_kernel,
    .gradient = matrix_solve_gradient,
};
