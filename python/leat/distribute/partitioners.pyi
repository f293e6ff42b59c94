# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

class FixedShardsPartitioner:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
class MaxSizePartitioner:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
class MinSizePartitioner:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
class Partitioner:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
