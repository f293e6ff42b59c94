# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

def print(*inputs: Any, output_stream: Any = None, summarize: Any = 3, sep: Any = ' ', end: Any = '\n', name: builtins.str | None = None) -> Any: ...
def text_of(value: Any, summarize: Any, top: Any = True) -> Any: ...
