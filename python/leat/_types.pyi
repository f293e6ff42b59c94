# Written by tools/make_stubs.py (`make stubs`); not to be edited.
from collections.abc import Sequence
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from leat.dtypes import DType
from leat.shapes import TensorShape
from leat.tensor import Tensor

TensorLike: TypeAlias = Any
DTypeLike: TypeAlias = DType | str | type | np.dtype[Any]
IntLike: TypeAlias = int | np.integer[Any] | Tensor
FloatLike: TypeAlias = float | np.floating[Any] | np.integer[Any] | Tensor
StringLike: TypeAlias = str | bytes | PathLike[str] | Tensor
IntsLike: TypeAlias = IntLike | Sequence[Any] | np.ndarray[Any, Any] | TensorShape
StringsLike: TypeAlias = Any
ShapeLike: TypeAlias = TensorShape | Sequence[Any] | np.ndarray[Any, Any] | IntLike | None
