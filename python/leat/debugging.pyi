# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
from leat.control import Assert as Assert
def check_numerics(tensor: TensorLike, message: StringLike, name: builtins.str | None = None) -> Tensor:
    """The input unchanged; NaN and infinities fail the run with the message (tf.debugging.check_numerics).

    message: The beginning of the failure's text.
    """
    ...
