/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: linear algebra; see leat/ops.h. */
#ifndef LEAT_OPS_LINALG_H
#define LEAT_OPS_LINALG_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The X of A X = B for triangular matrices A of few diagonals, which the lines of bands are
 * (tf.linalg.banded_triangular_solve).
 * `lower`: the matrices are lower triangles, whose main diagonal is the first line, not upper
 * ones, whose last it is; by default true.
 * `adjoint`: solve with the adjoints of the matrices; by default false. */
LEAT_API leat_value leat_op_banded_triangular_solve(leat_value bands, leat_value rhs, bool lower,
                                                    bool adjoint);

/* The lower triangles L with L L^H = A of self-adjoint positive definite matrices
 * (tf.linalg.cholesky). */
LEAT_API leat_value leat_op_cholesky(leat_value input);

/* The eigenvalues of square matrices, as complex numbers, and their vectors as columns
 * (tf.linalg.eig).
 * Returns `e`; `v` may be NULL. */
LEAT_API leat_value leat_op_eig(leat_value tensor, leat_value *v);

/* The eigenvalues of square matrices, as complex numbers (tf.linalg.eigvals). */
LEAT_API leat_value leat_op_eigvals(leat_value tensor);

/* Sums of products of tensors, by a text that names dimensions (tf.einsum).
 * `equation`: letters for the dimensions of each operand, separated by commas, and after ->
 * those of the result. */
LEAT_API leat_value leat_op_einsum(const leat_value *inputs, int num_inputs, const char *equation);

/* The signs of the determinants of square matrices, and the logarithms of their sizes
 * (tf.linalg.slogdet).
 * Returns `sign`; `log_abs_determinant` may be NULL. */
LEAT_API leat_value leat_op_log_matrix_determinant(leat_value input,
                                                   leat_value *log_abs_determinant);

/* Square matrices as products of lower and upper triangles, with rows exchanged (tf.linalg.lu).
 * `output_idx_type`: the dtype of p: int32 or int64; by default "int32".
 * Returns `lu`; `p` may be NULL. */
LEAT_API leat_value leat_op_lu(leat_value input, leat_dtype output_idx_type, leat_value *p);

/* Matrix products over the last two dimensions (tf.linalg.matmul).
 * `transpose_a`: transpose the matrices of a first; by default false.
 * `transpose_b`: transpose the matrices of b first; by default false. */
LEAT_API leat_value leat_op_matmul(leat_value a, leat_value b, bool transpose_a, bool transpose_b);

/* The determinants of square matrices (tf.linalg.det). */
LEAT_API leat_value leat_op_matrix_determinant(leat_value input);

/* The inverse of square matrices (tf.linalg.inv).
 * `adjoint`: the inverse of the adjoint instead; by default false. */
LEAT_API leat_value leat_op_matrix_inverse(leat_value input, bool adjoint);

/* The logarithms of complex square matrices (tf.linalg.logm). */
LEAT_API leat_value leat_op_matrix_logarithm(leat_value input);

/* The X of A X = B for square matrices A (tf.linalg.solve).
 * `adjoint`: solve with the adjoints of the matrices; by default false. */
LEAT_API leat_value leat_op_matrix_solve(leat_value matrix, leat_value rhs, bool adjoint);

/* The square roots of square matrices (tf.linalg.sqrtm). */
LEAT_API leat_value leat_op_matrix_square_root(leat_value input);

/* The X of A X = B for triangular matrices A (tf.linalg.triangular_solve).
 * `lower`: the matrices are lower triangles, not upper ones; by default true.
 * `adjoint`: solve with the adjoints of the matrices; by default false. */
LEAT_API leat_value leat_op_matrix_triangular_solve(leat_value matrix, leat_value rhs, bool lower,
                                                    bool adjoint);

/* Matrices as products Q R of orthonormal columns and upper triangles (tf.linalg.qr).
 * `full_matrices`: a square Q, and an R with rows of zeros; by default false.
 * Returns `q`; `r` may be NULL. */
LEAT_API leat_value leat_op_qr(leat_value input, bool full_matrices, leat_value *r);

/* The eigenvalues of self-adjoint matrices in ascending order, and their vectors as columns
 * (tf.linalg.eigh).
 * Returns `e`; `v` may be NULL. */
LEAT_API leat_value leat_op_self_adjoint_eig(leat_value tensor, leat_value *v);

/* The eigenvalues of self-adjoint matrices in ascending order (tf.linalg.eigvalsh). */
LEAT_API leat_value leat_op_self_adjoint_eigvals(leat_value tensor);

/* The singular values of matrices in descending order, and the U and V with A = U diag(s) V^H
 * (tf.linalg.svd).
 * `full_matrices`: square U and V; by default false.
 * `compute_uv`: give s, U and V, not s alone; by default true.
 * Returns `s`; `u` and `v` may be NULL. */
LEAT_API leat_value leat_op_svd(leat_value tensor, bool full_matrices, bool compute_uv,
                                leat_value *u, leat_value *v);

/* The X of A X = B for matrices A of three diagonals: that above the main one, the main one and
 * that below it are the lines of diagonals (tf.linalg.tridiagonal_solve). */
LEAT_API leat_value leat_op_tridiagonal_solve(leat_value diagonals, leat_value rhs);

#ifdef __cplusplus
}
#endif
#endif
