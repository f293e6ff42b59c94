# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
from leat.random.generator import Algorithm as Algorithm
from leat.random.generator import Generator as Generator
from leat.random.generator import create_rng_state as create_rng_state
from leat.random.generator import get_global_generator as get_global_generator
def index_shuffle(index: TensorLike, seed: TensorLike, max_index: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Where an index goes in a pseudorandom permutation of 0 .. max_index (tf.random.experimental.index_shuffle)."""
    ...
from leat.random.generator import set_global_generator as set_global_generator
def stateless_fold_in(seed: TensorLike, data: TensorLike, alg: StringLike = 'auto_select', name: builtins.str | None = None) -> Tensor:
    """A seed of another and an integer (tf.random.fold_in).

    alg: The algorithm: philox, or auto_select, which is the same.
    """
    ...
def stateless_shuffle(value: TensorLike, seed: TensorLike, alg: StringLike = 'auto_select', name: builtins.str | None = None) -> Tensor:
    """Rows, along the first dimension, in the order of a seed (tf.random.experimental.stateless_shuffle).

    alg: The algorithm: philox, or auto_select, which is the same.
    """
    ...
def stateless_split(seed: TensorLike, num: IntLike = 2, alg: StringLike = 'auto_select', name: builtins.str | None = None) -> Tensor:
    """Many seeds of one (tf.random.split).

    num: How many seeds.
    alg: The algorithm: philox, or auto_select, which is the same.
    """
    ...
