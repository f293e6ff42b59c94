# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.autograph import convert as convert
from leat.autograph.experimental import do_not_convert as do_not_convert
from leat.autograph import experimental as experimental
from leat.autograph import operators as operators
from leat.autograph import rewrite as rewrite
def set_verbosity(level: Any, alsologtostdout: Any = False) -> Any: ...
def to_code(entity: Any, recursive: Any = True, experimental_optional_features: Any = None) -> Any: ...
def to_graph(entity: Any, recursive: Any = True, experimental_optional_features: Any = None) -> Any: ...
def trace(*args: Any) -> Any: ...
