# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def eye(num_rows: IntLike, num_columns: IntLike | None = None, batch_shape: IntsLike | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere (tf.eye).

    num_rows: How many rows.
    num_columns: How many columns; none: as many as rows.
    batch_shape: The shape of a tensor of such matrices; none: one matrix.
    dtype: The dtype of the result, a number or bool.
    """
    ...
def matmul(a: TensorLike, b: TensorLike, transpose_a: builtins.bool = False, transpose_b: builtins.bool = False, adjoint_a: Any = False, adjoint_b: Any = False, a_is_sparse: Any = False, b_is_sparse: Any = False, output_type: Any = None, grad_a: Any = False, grad_b: Any = False, name: builtins.str | None = None) -> Tensor:
    """Matrix products over the last two dimensions (tf.linalg.matmul).

    transpose_a: Transpose the matrices of a first.
    transpose_b: Transpose the matrices of b first.
    """
    ...
