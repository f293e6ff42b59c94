# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
F: Any
def adjoint(matrix: Any, name: builtins.str | None = None) -> Any: ...
def band_part(input: TensorLike, num_lower: IntLike, num_upper: IntLike, name: builtins.str | None = None) -> Tensor:
    """Matrices with zeros outside a band around the diagonal (tf.linalg.band_part).

    num_lower: How many diagonals below the main one stay; negative: all.
    num_upper: How many diagonals above the main one stay; negative: all.
    """
    ...
def cholesky(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The lower triangles L with L L^T = A of symmetric positive definite matrices (tf.linalg.cholesky)."""
    ...
def cholesky_solve(chol: Any, rhs: Any, name: builtins.str | None = None) -> Any: ...
def cross(a: Any, b: Any, name: builtins.str | None = None) -> Any: ...
def det(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The determinants of square matrices (tf.linalg.det)."""
    ...
def diag(diagonal: TensorLike, name: builtins.str | None = None, k: IntsLike = 0, num_rows: IntLike = -1, num_cols: IntLike = -1, padding_value: FloatLike = 0.0, align: StringLike = 'RIGHT_LEFT') -> Tensor:
    """Matrices made of their diagonals (tf.linalg.diag).

    k: One diagonal, 0 the main one and 1 the next above, or the lowest and the highest of several.
    num_rows: How many rows a matrix has; -1: as few as can be.
    num_cols: How many columns a matrix has; -1: as few as can be.
    padding_value: What stands where there is no value.
    align: Where short diagonals stand, those from the main one up and those below it: RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT.
    """
    ...
def diag_part(input: TensorLike, name: builtins.str | None = None, k: IntsLike = 0, padding_value: FloatLike = 0.0, align: StringLike = 'RIGHT_LEFT') -> Tensor:
    """The diagonals of matrices (tf.linalg.diag_part).

    k: One diagonal, 0 the main one and 1 the next above, or the lowest and the highest of several.
    padding_value: What stands where there is no value.
    align: Where short diagonals stand, those from the main one up and those below it: RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT.
    """
    ...
def eigh(tensor: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The eigenvalues of symmetric matrices in ascending order, and their vectors as columns (tf.linalg.eigh)."""
    ...
def eigvalsh(tensor: Any, name: builtins.str | None = None) -> Any: ...
from leat.arrays import einsum as einsum
def expm(input: Any, name: builtins.str | None = None) -> Any: ...
def eye(num_rows: IntLike, num_columns: IntLike | None = None, batch_shape: IntsLike | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere (tf.eye).

    num_rows: How many rows.
    num_columns: How many columns; none: as many as rows.
    batch_shape: The shape of a tensor of such matrices; none: one matrix.
    dtype: The dtype of the result, a number or bool.
    """
    ...
def global_norm(t_list: Any, name: builtins.str | None = None) -> Any: ...
def inv(input: TensorLike, adjoint: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The inverse of square matrices (tf.linalg.inv).

    adjoint: The inverse of the transpose instead.
    """
    ...
from leat.math import l2_normalize as l2_normalize
def logdet(matrix: Any, name: builtins.str | None = None) -> Any: ...
def lstsq(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: Any = True, name: builtins.str | None = None) -> Any: ...
def lu(input: TensorLike, output_idx_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """Square matrices as products of lower and upper triangles, with rows exchanged (tf.linalg.lu).

    output_idx_type: The dtype of p: int32 or int64.
    """
    ...
def lu_matrix_inverse(lower_upper: Any, perm: Any, validate_args: Any = False, name: builtins.str | None = None) -> Any: ...
def lu_reconstruct(lower_upper: Any, perm: Any, validate_args: Any = False, name: builtins.str | None = None) -> Any: ...
def lu_solve(lower_upper: Any, perm: Any, rhs: Any, validate_args: Any = False, name: builtins.str | None = None) -> Any: ...
def matmul(a: Any, b: Any, transpose_a: Any = False, transpose_b: Any = False, adjoint_a: Any = False, adjoint_b: Any = False, a_is_sparse: Any = False, b_is_sparse: Any = False, output_type: Any = None, grad_a: Any = False, grad_b: Any = False, name: builtins.str | None = None) -> Any: ...
def matrix_rank(a: Any, tol: Any = None, validate_args: Any = False, name: builtins.str | None = None) -> Any: ...
def matrix_transpose(a: Any, name: builtins.str | None = 'matrix_transpose', conjugate: Any = False) -> Any: ...
def matvec(a: Any, b: Any, transpose_a: Any = False, adjoint_a: Any = False, a_is_sparse: Any = False, b_is_sparse: Any = False, name: builtins.str | None = None) -> Any: ...
def norm(tensor: Any, ord: Any = 'euclidean', axis: Any = None, keepdims: Any = None, name: builtins.str | None = None) -> Any: ...
def normalize(tensor: Any, ord: Any = 'euclidean', axis: Any = None, name: builtins.str | None = None) -> Any: ...
def pinv(a: Any, rcond: Any = None, validate_args: Any = False, name: builtins.str | None = None) -> Any: ...
def qr(input: TensorLike, full_matrices: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Matrices as products Q R of orthonormal columns and upper triangles (tf.linalg.qr).

    full_matrices: A square Q, and an R with rows of zeros.
    """
    ...
def set_diag(input: TensorLike, diagonal: TensorLike, name: builtins.str | None = None, k: IntsLike = 0, align: StringLike = 'RIGHT_LEFT') -> Tensor:
    """Matrices with other values on their diagonals (tf.linalg.set_diag).

    k: One diagonal, 0 the main one and 1 the next above, or the lowest and the highest of several.
    align: Where short diagonals stand, those from the main one up and those below it: RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT.
    """
    ...
def slogdet(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The signs of the determinants of square matrices, and the logarithms of their sizes (tf.linalg.slogdet)."""
    ...
def solve(matrix: TensorLike, rhs: TensorLike, adjoint: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The X of A X = B for square matrices A (tf.linalg.solve).

    adjoint: Solve with the transposes of the matrices.
    """
    ...
def svd(tensor: TensorLike, full_matrices: builtins.bool = False, compute_uv: builtins.bool = True, name: builtins.str | None = None) -> Tensor:
    """The singular values of matrices in descending order, and the U and V with A = U diag(s) V^T (tf.linalg.svd).

    full_matrices: Square U and V.
    compute_uv: Give s, U and V, not s alone.
    """
    ...
def tensor_diag(diagonal: Any, name: builtins.str | None = None) -> Any: ...
def tensor_diag_part(input: Any, name: builtins.str | None = None) -> Any: ...
def tensordot(a: Any, b: Any, axes: Any, name: builtins.str | None = None) -> Any: ...
def trace(x: Any, name: builtins.str | None = None) -> Any: ...
def triangular_solve(matrix: TensorLike, rhs: TensorLike, lower: builtins.bool = True, adjoint: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """The X of A X = B for triangular matrices A (tf.linalg.triangular_solve).

    lower: The matrices are lower triangles, not upper ones.
    adjoint: Solve with the transposes of the matrices.
    """
    ...
