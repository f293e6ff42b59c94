# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None, call_function: Any = None, recursive: Any = False) -> Any: ...
