# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def bitwise_and(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The bits that both integers have, broadcast (tf.bitwise.bitwise_and)."""
    ...
def bitwise_or(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The bits that either integer has, broadcast (tf.bitwise.bitwise_or)."""
    ...
def bitwise_xor(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The bits that one of two integers has, broadcast (tf.bitwise.bitwise_xor)."""
    ...
def invert(x: TensorLike, name: builtins.str | None = None) -> Tensor:
    """All bits of integers turned (tf.bitwise.invert)."""
    ...
def left_shift(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """X shifted left by y bits, broadcast (tf.bitwise.left_shift)."""
    ...
def right_shift(x: TensorLike, y: TensorLike, name: builtins.str | None = None) -> Tensor:
    """X shifted right by y bits, with its sign, broadcast (tf.bitwise.right_shift)."""
    ...
