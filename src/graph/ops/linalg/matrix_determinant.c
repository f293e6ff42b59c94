/* matrix_determinant: the determinants of square matrices (tf.linalg.det).
 *
 * The product of the diagonal of LU factors. No failure modes in the run. No state, no locks. */
#include "graph/support/linalg/matrices.h"

static leat_status matrix_determinant_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape shape = leati_matrices_stack_of(&call->inputs[0].shape, NULL, 0);
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status matrix_determinant_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in),
               shape = leati_matrices_stack_of(&from, NULL, 0);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t n = m.rows, values = n * n;
    double *a = leati_matrices_doubles(call, values, err);
    int64_t *order = a == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count; i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        double product = leati_factor_lu(a, n, order);
        for (int64_t k = 0; k < n && product != 0; k++)
            product *= a[k * n + k];
        leati_matrices_write_doubles(&product, &call->outputs[0], row, at, 1);
    }
    return LEAT_OK;
}

static leat_status matrix_determinant_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value share = leat_op_multiply(call->output_gradients[0], call->outputs[0]);
    (void)err;
    share = leat_op_expand_dims(leat_op_expand_dims(share, -1), -1);
    call->input_gradients[0] =
        leat_op_multiply(share, leat_op_matrix_inverse(call->inputs[0], true));
    return LEAT_OK;
}

leat_value leat_op_matrix_determinant(leat_value input) {
    return leati_graph_build1(&leati_tensor_op_matrix_determinant, NULL, input);
}

const leati_tensor_op leati_tensor_op_matrix_determinant = {
    .name = "matrix_determinant",
    .version = 1,
    .doc = "The determinants of square matrices (tf.linalg.det).",
    .names = "linalg.det",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = matrix_determinant_infer,
    .kernel = matrix_determinant_kernel,
    .gradient = matrix_determinant_gradient,
};
