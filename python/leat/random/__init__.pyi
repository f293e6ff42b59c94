# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
from leat.random import experimental as experimental
def normal(shape: ShapeLike, mean: FloatLike = 0.0, stddev: FloatLike = 1.0, dtype: DTypeLike = ..., seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Random floats of a normal distribution (tf.random.normal).

    shape: The shape of the result, without unknown dimensions.
    mean: The mean.
    stddev: The standard deviation.
    dtype: float32 or float64; of uniform numbers also int32 or int64.
    seed: The operation's seed.
    """
    ...
set_seed: Any
def uniform(shape: ShapeLike, minval: FloatLike = 0.0, maxval: FloatLike | None = None, dtype: DTypeLike = ..., seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Random numbers in [minval, maxval) (tf.random.uniform).

    shape: The shape of the result, without unknown dimensions.
    minval: The lowest value.
    maxval: The end of the range, not reached.
    dtype: float32 or float64; of uniform numbers also int32 or int64.
    seed: The operation's seed.
    """
    ...
