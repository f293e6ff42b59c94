# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

class CallSignature:
    def __init__(self, call: Any) -> None: ...
    def tensors(self, args: Any, kwargs: Any, is_tensor: Any, leaves: Any) -> Any: ...
def shapes_for(function: Any, shapes: Any, signature: Any, class_name: Any) -> Any: ...
