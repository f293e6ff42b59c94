# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

class FixedLenFeature(NamedTuple):
    shape: Any
    dtype: Any
    default_value: Any = ...
class FixedLenSequenceFeature(NamedTuple):
    shape: Any
    dtype: Any
    allow_missing: Any = ...
    default_value: Any = ...
class RaggedFeature(NamedTuple):
    dtype: Any
    value_key: Any
    partitions: Any
    row_splits_dtype: Any
    validate: Any
class SparseFeature(NamedTuple):
    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: Any = ...
class VarLenFeature(NamedTuple):
    dtype: Any
def operator_arguments(features: Any) -> Any: ...
def parse_example(serialized: Any, features: Any, example_names: Any = None, name: builtins.str | None = None) -> Any: ...
def parse_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None, example_names: Any = None, name: builtins.str | None = None) -> Any: ...
def parse_single_example(serialized: Any, features: Any, example_names: Any = None, name: builtins.str | None = None) -> Any: ...
def parse_single_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None, example_name: Any = None, name: builtins.str | None = None) -> Any: ...
