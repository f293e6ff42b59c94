# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.random.generator import Algorithm as Algorithm
from leat.random.generator import Generator as Generator
from leat.tensor import Tensor as Tensor
def categorical(logits: TensorLike, num_samples: IntLike, dtype: DTypeLike | None = None, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Classes drawn by their unnormalised logarithms (tf.random.categorical).

    num_samples: How many classes to draw for each row.
    dtype: The dtype of the classes: int32 or int64.
    seed: The operation's seed.
    """
    ...
from leat.tensor import convert_to_tensor as convert_to_tensor
from leat.random.generator import create_rng_state as create_rng_state
from leat.random import experimental as experimental
def fold_in(seed: TensorLike, data: TensorLike, alg: StringLike = 'auto_select', name: builtins.str | None = None) -> Tensor:
    """A seed of another and an integer (tf.random.fold_in).

    alg: The algorithm: philox, or auto_select, which is the same.
    """
    ...
from leat.random import generator as generator
from leat.random.generator import get_global_generator as get_global_generator
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike | None = ..., seed: Any = None, name: builtins.str | None = None) -> Any: ...
from leat.random.generator import set_global_generator as set_global_generator
def set_seed(seed: Any) -> Any: ...
def shuffle(value: TensorLike, seed: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """Rows, along the first dimension, in a random order (tf.random.shuffle).

    seed: The operation's seed.
    """
    ...
def split(seed: TensorLike, num: IntLike = 2, alg: StringLike = 'auto_select', name: builtins.str | None = None) -> Tensor:
    """Many seeds of one (tf.random.split).

    num: How many seeds.
    alg: The algorithm: philox, or auto_select, which is the same.
    """
    ...
def stateless_categorical(logits: TensorLike, num_samples: IntLike, seed: TensorLike, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """Classes drawn by their unnormalised logarithms (tf.random.stateless_categorical).

    num_samples: How many classes to draw for each row.
    dtype: The dtype of the classes: int32 or int64.
    """
    ...
def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike | None = ..., name: builtins.str | None = None, alg: Any = 'auto_select') -> Any: ...
def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike | None = ..., name: builtins.str | None = None, alg: Any = 'auto_select') -> Any: ...
def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: DTypeLike | None = ..., name: builtins.str | None = None, alg: Any = 'auto_select') -> Any: ...
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike | None = ..., seed: Any = None, name: builtins.str | None = None) -> Any: ...
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: DTypeLike | None = ..., seed: Any = None, name: builtins.str | None = None) -> Any: ...
