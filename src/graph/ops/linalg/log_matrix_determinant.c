/* log_matrix_determinant: the signs of the determinants of square matrices, and the logarithms of
 * their sizes, which do not overflow (tf.linalg.slogdet).
 *
 * A singular matrix has sign 0 and -inf. No failure modes in the run. No state, no locks. */
#include "graph/support/linalg/matrices.h"

#include <math.h>

static leat_status log_matrix_determinant_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape shape = leati_matrices_stack_of(&call->inputs[0].shape, NULL, 0);
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status log_matrix_determinant_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in),
               shape = leati_matrices_stack_of(&from, NULL, 0);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 1, &shape, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t n = m.rows, values = n * n;
    double *a = leati_matrices_doubles(call, values, err);
    int64_t *order = a == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count; i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        double sign = leati_factor_lu(a, n, order), size = sign == 0 ? -INFINITY : 0;
        for (int64_t k = 0; k < n && sign != 0; k++) {
            size += log(fabs(a[k * n + k]));
            sign = a[k * n + k] < 0 ? -sign : sign;
        }
        leati_matrices_write_doubles(&sign, &call->outputs[0], row, at, 1);
        leati_matrices_write_doubles(&size, &call->outputs[1], row, at, 1);
    }
    return LEAT_OK;
}

static leat_status log_matrix_determinant_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value share = call->output_gradients[1]; /* signs do not change */
    (void)err;
    if (share.id < 0)
        return LEAT_OK;
    share = leat_op_expand_dims(leat_op_expand_dims(share, -1), -1);
    call->input_gradients[0] =
        leat_op_multiply(share, leat_op_matrix_inverse(call->inputs[0], true));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_log_matrix_determinant = {
    .name = "log_matrix_determinant",
    .version = 1,
    .doc = "The signs of the determinants of square matrices, and the logarithms of their sizes "
           "(tf.linalg.slogdet).",
    .names = "linalg.slogdet",
    .inputs = "input",
    .types = "T",
    .outputs = "LogMatrixDeterminant(sign log_abs_determinant)",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = log_matrix_determinant_infer,
    .kernel = log_matrix_determinant_kernel,
    .gradient = log_matrix_determinant_gradient,
};
