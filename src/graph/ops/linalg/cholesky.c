/* cholesky: the lower triangles L with L L^H = A of self-adjoint positive definite matrices A, of
 * which the lower triangle is read (tf.linalg.cholesky).
 *
 * A matrix that is not positive definite has a triangle of NaN, as in TensorFlow. No failure modes
 * in the run. No state, no locks. */
#include "graph/support/linalg/matrices.h"

#include <string.h>

enum { SMALL = 16 };

static leat_status factor(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const leati_operand *in = &loop->call->inputs[0], *out = &loop->call->outputs[0];
    int64_t n = loop->rows, values = n * n;
    if (loop->by_lapack)
        return leati_lapack_cholesky(in->dtype, leati_matrices_at(in, row, at * values), n,
                                     leati_matrices_at(out, row, at * values));
    double *a = leati_matrices_doubles(values);
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, a);
    if (!leati_factor_cholesky(a, n))
        return LEAT_INVALID_ARGUMENT;
    leati_matrices_write_doubles(a, out, row, at * values, values);
    return LEAT_OK;
}

static leat_status factor_or_nan(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const leati_operand *out = &loop->call->outputs[0];
    int64_t n = loop->rows;
    leat_status status = factor(loop, row, at);
    if (status != LEAT_INVALID_ARGUMENT)
        return status;
    leati_matrices_write_nan(out, row, at * n * n, n * n);
    for (int64_t k = 0; k + 1 < n; k++) /* behind the diagonal */
        memset(leati_matrices_at(out, row, at * n * n + k * n + k + 1), 0,
               (size_t)(n - k - 1) * leat_dtype_size(out->dtype));
    return LEAT_OK;
}

static leat_status cholesky_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&shape, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, 0, factor_or_nan);
    LEATI_TRY(leati_matrices_choose(&loop, in->dtype, SMALL, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 0.1), err);
}

/* L^-H P L^-1, with P the lower triangle of L^H g and half of its diagonal; self-adjoint. */
static leat_status cholesky_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value l = call->outputs[0];
    (void)err;
    leat_value one = leati_matrices_diagonal(leat_op_ones_like(leati_matrices_diagonal_of(l)));
    leat_value inverse = leat_op_matrix_triangular_solve(l, one, true, false);
    leat_value middle = leati_matrices_product(l, call->output_gradients[0], true, false);
    middle = leat_op_set_diag(middle, leati_support_times(leati_matrices_diagonal_of(middle), 0.5),
                              &(int64_t){0}, 1, NULL);
    middle = leati_matrices_product(inverse, leat_op_band_part(middle, -1, 0), true, false);
    leat_value whole = leat_op_matmul(middle, inverse, false, false);
    /* The matrices are self-adjoint, so the gradient is made so. */
    call->input_gradients[0] =
        leati_support_times(leat_op_add(whole, leati_matrices_adjoint(whole)), 0.5);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_cholesky = {
    .name = "cholesky",
    .version = 1,
    .doc = "The lower triangles L with L L^H = A of self-adjoint positive definite matrices "
           "(tf.linalg.cholesky).",
    .names = "linalg.cholesky",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_matrices_infer_square,
    .kernel = cholesky_kernel,
    .gradient = cholesky_gradient,
};
