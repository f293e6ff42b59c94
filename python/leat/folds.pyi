# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

EXPORTS: Any
from leat.errors import InvalidArgumentError as InvalidArgumentError
from leat.tensor import Tensor as Tensor
from leat.tensor import convert_to_tensor as convert_to_tensor
def foldl(fn: Any, elems: Any, initializer: Any = None, parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False, name: builtins.str | None = None) -> Any: ...
def foldr(fn: Any, elems: Any, initializer: Any = None, parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False, name: builtins.str | None = None) -> Any: ...
def map_fn(fn: Any, elems: Any, dtype: DTypeLike | None = None, parallel_iterations: Any = None, back_prop: Any = True, swap_memory: Any = False, infer_shape: Any = True, name: builtins.str | None = None, fn_output_signature: Any = None) -> Any: ...
def scan(fn: Any, elems: Any, initializer: Any = None, parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False, infer_shape: Any = True, reverse: Any = False, name: builtins.str | None = None) -> Any: ...
def vectorized_map(fn: Any, elems: Any, fallback_to_while_loop: Any = True, warn: Any = True) -> Any: ...
