/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/linalg.h>

leat_value leat_op_banded_triangular_solve(leat_value bands, leat_value rhs, bool lower,
                                           bool adjoint) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_banded_triangular_solve, NULL);
    leati_build_input(&build, bands);
    leati_build_input(&build, rhs);
    leati_build_bool(&build, "lower", lower);
    leati_build_bool(&build, "adjoint", adjoint);
    return leati_build_end(&build);
}

leat_value leat_op_eig(leat_value tensor, leat_value *v) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_eig, NULL);
    leati_build_input(&build, tensor);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, v);
    return first;
}

leat_value leat_op_einsum(const leat_value *inputs, int num_inputs, const char *equation) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_einsum, NULL);
    leati_build_inputs(&build, inputs, num_inputs);
    leati_build_text(&build, "equation", equation);
    return leati_build_end(&build);
}

leat_value leat_op_log_matrix_determinant(leat_value input, leat_value *log_abs_determinant) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_log_matrix_determinant, NULL);
    leati_build_input(&build, input);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, log_abs_determinant);
    return first;
}

leat_value leat_op_lu(leat_value input, leat_dtype output_idx_type, leat_value *p) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_lu, NULL);
    leati_build_input(&build, input);
    leati_build_dtype(&build, "output_idx_type", output_idx_type);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, p);
    return first;
}

leat_value leat_op_matmul(leat_value a, leat_value b, bool transpose_a, bool transpose_b) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matmul, NULL);
    leati_build_input(&build, a);
    leati_build_input(&build, b);
    leati_build_bool(&build, "transpose_a", transpose_a);
    leati_build_bool(&build, "transpose_b", transpose_b);
    return leati_build_end(&build);
}

leat_value leat_op_matrix_inverse(leat_value input, bool adjoint) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matrix_inverse, NULL);
    leati_build_input(&build, input);
    leati_build_bool(&build, "adjoint", adjoint);
    return leati_build_end(&build);
}

leat_value leat_op_matrix_solve(leat_value matrix, leat_value rhs, bool adjoint) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matrix_solve, NULL);
    leati_build_input(&build, matrix);
    leati_build_input(&build, rhs);
    leati_build_bool(&build, "adjoint", adjoint);
    return leati_build_end(&build);
}

leat_value leat_op_matrix_triangular_solve(leat_value matrix, leat_value rhs, bool lower,
                                           bool adjoint) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matrix_triangular_solve, NULL);
    leati_build_input(&build, matrix);
    leati_build_input(&build, rhs);
    leati_build_bool(&build, "lower", lower);
    leati_build_bool(&build, "adjoint", adjoint);
    return leati_build_end(&build);
}

leat_value leat_op_qr(leat_value input, bool full_matrices, leat_value *r) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_qr, NULL);
    leati_build_input(&build, input);
    leati_build_bool(&build, "full_matrices", full_matrices);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, r);
    return first;
}

leat_value leat_op_self_adjoint_eig(leat_value tensor, leat_value *v) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_self_adjoint_eig, NULL);
    leati_build_input(&build, tensor);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, v);
    return first;
}

leat_value leat_op_svd(leat_value tensor, bool full_matrices, bool compute_uv, leat_value *u,
                       leat_value *v) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_svd, NULL);
    leati_build_input(&build, tensor);
    leati_build_bool(&build, "full_matrices", full_matrices);
    leati_build_bool(&build, "compute_uv", compute_uv);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, u);
    leati_build_output(&build, 2, v);
    return first;
}

/* clang-format off */
LEATI_BUILDER_1(cholesky)
LEATI_BUILDER_1(eigvals)
LEATI_BUILDER_1(matrix_determinant)
LEATI_BUILDER_1(matrix_logarithm)
LEATI_BUILDER_1(matrix_square_root)
LEATI_BUILDER_1(self_adjoint_eigvals)
LEATI_BUILDER_2(tridiagonal_solve)
/* clang-format on */
