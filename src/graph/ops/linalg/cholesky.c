/* cholesky: the lower triangles L with L L^T = A of symmetric positive definite matrices A, of
 * which the lower triangle is read (tf.linalg.cholesky).
 *
 * A matrix that is not positive definite has a triangle of NaN, as in TensorFlow. No failure modes
 * in the run. No state, no locks. */
#include "base/stop.h"
#include "graph/support/linalg/matrices.h"

#include <math.h>

static leat_status cholesky_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&shape, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t values = m.rows * m.rows;
    double *a = leati_matrices_doubles(call, values, err);
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* One loop over the matrices of all rows; `at` is the matrix in its row. */
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        bool definite = leati_factor_cholesky(a, m.rows);
        /* What the factor has written before it failed is replaced, too. */
        for (int64_t k = 0; k < values && !definite; k++)
            a[k] = k / m.rows >= k % m.rows ? NAN : 0;
        leati_matrices_write_doubles(a, &call->outputs[0], row, at * values, values);
    }
    return LEAT_OK;
}

/* L^-T P L^-1, with P the lower triangle of L^T g and half of its diagonal; symmetric. */
static leat_status cholesky_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value l = call->outputs[0];
    (void)err;
    leat_value inverse = leat_op_matrix_inverse(l, false);
    leat_value middle = leat_op_matmul(l, call->output_gradients[0], true, false);
    middle = leat_op_set_diag(
        middle, leati_support_times(leat_op_diag_part(middle, &(int64_t){0}, 1, 0, NULL), 0.5),
        &(int64_t){0}, 1, NULL);
    middle = leat_op_matmul(inverse, leat_op_band_part(middle, -1, 0), true, false);
    leat_value whole = leat_op_matmul(middle, inverse, false, false);
    /* The matrices are symmetric, so the gradient is made so. */
    call->input_gradients[0] =
        leati_support_times(leat_op_add(whole, leati_matrices_transposed(whole)), 0.5);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_cholesky = {
    .name = "cholesky",
    .version = 1,
    .doc = "The lower triangles L with L L^T = A of symmetric positive definite matrices "
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
