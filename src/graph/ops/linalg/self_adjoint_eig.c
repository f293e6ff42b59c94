/* self_adjoint_eig: the eigenvalues of symmetric matrices, of which the lower triangle is read, in
 * ascending order, and their vectors as columns (tf.linalg.eigh).
 *
 * Fails where a matrix has values that are no numbers. No state, no locks. */
#include "base/stop.h"
#include "graph/support/linalg/matrices.h"

static leat_status self_adjoint_eig_infer(leati_infer_call *call, leat_error *err) {
    leat_shape in = leati_matrices_square_of(&call->inputs[0].shape);
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape values = leati_matrices_stack_of(&in, in.rank < 2 ? NULL : &in.dims[in.rank - 1], 1);
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &values, NULL, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &in, NULL, err);
}

static leat_status self_adjoint_eig_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    leat_shape shape = leati_matrices_stack_of(&from, &from.dims[from.rank - 1], 1);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 1, &from, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t n = m.rows, values = n * n;
    /* Behind the matrix its eigenvalues and scratch. */
    double *a = leati_matrices_doubles(call, values + 2 * n, err);
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        if (!leati_factor_eigen(a, n, a + values, a + values + n))
            return leati_matrices_refuse(call, row, at,
                                         "Self-adjoint eigen decomposition was not successful. The "
                                         "input might not be valid.",
                                         err);
        leati_matrices_write_doubles(a + values, &call->outputs[0], row, at * n, n);
        leati_matrices_write_doubles(a, &call->outputs[1], row, at * values, values);
    }
    return LEAT_OK;
}

static leat_status self_adjoint_eig_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value e = call->outputs[0], v = call->outputs[1];
    leat_value de = call->output_gradients[0], dv = call->output_gradients[1];
    (void)err;
    leat_value middle = leat_op_diag(
        de.id < 0 ? leat_op_zeros_like(e) : de,
        &(leat_op_diag_options){LEAT_OP_DIAG_DEFAULTS, .k = &(int64_t){0}, .num_k = 1});
    /* A vector turns towards another the faster the nearer their eigenvalues are. */
    if (dv.id >= 0)
        middle = leat_op_add(
            middle, leat_op_multiply(leati_matrices_gaps(e), leat_op_matmul(v, dv, true, false)));
    leat_value whole = leat_op_matmul(v, leat_op_matmul(middle, v, false, true), false, false);
    /* The upper triangle was not read, so all flows to the lower one. */
    call->input_gradients[0] = leati_matrices_lower_half(whole);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_self_adjoint_eig = {
    .name = "self_adjoint_eig",
    .version = 1,
    .doc = "The eigenvalues of symmetric matrices in ascending order, and their vectors as columns "
           "(tf.linalg.eigh).",
    .names = "linalg.eigh",
    .inputs = "tensor",
    .types = "T",
    .outputs = "e v",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = self_adjoint_eig_infer,
    .kernel = self_adjoint_eig_kernel,
    .gradient = self_adjoint_eig_gradient,
};
