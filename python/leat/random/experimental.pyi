# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def index_shuffle(index: TensorLike, seed: TensorLike, max_index: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Where an index goes in a pseudorandom permutation of 0 .. max_index (tf.random.experimental.index_shuffle)."""
    ...
