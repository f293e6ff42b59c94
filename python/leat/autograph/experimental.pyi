# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

class Feature(enum.Enum):
    ALL = 'ALL'
    AUTO_CONTROL_DEPS = 'AUTO_CONTROL_DEPS'
    ASSERT_STATEMENTS = 'ASSERT_STATEMENTS'
    BUILTIN_FUNCTIONS = 'BUILTIN_FUNCTIONS'
    EQUALITY_OPERATORS = 'EQUALITY_OPERATORS'
    LISTS = 'LISTS'
    NAME_SCOPES = 'NAME_SCOPES'
def do_not_convert(func: Any = None) -> Any: ...
def set_loop_options(parallel_iterations: Any = None, swap_memory: Any = None, maximum_iterations: Any = None, shape_invariants: Any = None) -> Any: ...
