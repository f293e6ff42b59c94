# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

class Progbar:
    def __init__(self, target: Any, width: Any = 20, verbose: Any = 1, interval: Any = 0.05, stateful_metrics: Any = None, stateless_metrics: Any = None, unit_name: Any = 'step', tqdm: Any = False) -> None: ...
    def update(self, current: Any, values: Any = None, finalize: Any = None) -> Any: ...
    def add(self, n: Any, values: Any = None) -> Any: ...
