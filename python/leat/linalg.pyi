# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def matmul(a: TensorLike, b: TensorLike, transpose_a: builtins.bool = False, transpose_b: builtins.bool = False, adjoint_a: Any = False, adjoint_b: Any = False, a_is_sparse: Any = False, b_is_sparse: Any = False, output_type: Any = None, grad_a: Any = False, grad_b: Any = False, name: builtins.str | None = None) -> Tensor:
    """Matrix products over the last two dimensions (tf.linalg.matmul).

    transpose_a: Transpose the matrices of a first.
    transpose_b: Transpose the matrices of b first.
    """
    ...
