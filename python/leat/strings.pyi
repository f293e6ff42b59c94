# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def as_string(input: TensorLike, precision: Any = -1, scientific: Any = False, shortest: Any = False, width: Any = -1, fill: Any = '', name: builtins.str | None = None) -> Tensor:
    """The decimal text of numbers, true or false of booleans (tf.strings.as_string)."""
    ...
def join(inputs: TensorLike, separator: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Strings one after the other with a separator between them (tf.strings.join).

    separator: What stands between two strings.
    """
    ...
def length(input: TensorLike, unit: Any = 'BYTE', name: builtins.str | None = None) -> Tensor:
    """The number of bytes of each string, as int32 (tf.strings.length)."""
    ...
def lower(input: TensorLike, encoding: Any = '', name: builtins.str | None = None) -> Tensor:
    """ASCII letters in lower case (tf.strings.lower)."""
    ...
def reduce_join(inputs: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, separator: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Strings joined along the named dimensions, or all (tf.strings.reduce_join).

    axis: The dimensions to join along; none named: all.
    keepdims: Leave joined dimensions as 1.
    separator: What stands between two strings.
    """
    ...
def split(input: Any, sep: Any = None, maxsplit: Any = -1, name: builtins.str | None = None) -> Any: ...
def strip(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Strings without the white space at both ends (tf.strings.strip)."""
    ...
def substr(input: TensorLike, pos: TensorLike, len: TensorLike, unit: Any = 'BYTE', name: builtins.str | None = None) -> Tensor:
    """The part of each string from a place on, of at most so many bytes, broadcast (tf.strings.substr)."""
    ...
def to_hash_bucket_fast(input: TensorLike, num_buckets: IntLike, name: builtins.str | None = None) -> Tensor:
    """A number below num_buckets for each string, the same everywhere (tf.strings.to_hash_bucket_fast).

    num_buckets: How many numbers there are, at least 1.
    """
    ...
def to_number(input: TensorLike, out_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The number that a string says (tf.strings.to_number).

    out_type: int32, int64, float32 or float64.
    """
    ...
def upper(input: TensorLike, encoding: Any = '', name: builtins.str | None = None) -> Tensor:
    """ASCII letters in upper case (tf.strings.upper)."""
    ...
