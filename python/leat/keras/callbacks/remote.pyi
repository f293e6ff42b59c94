# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.keras.callbacks.base import Callback
class RemoteMonitor(Callback):
    def __init__(self, root: Any = 'http://localhost:9000', path: Any = '/publish/epoch/end/', field: Any = 'data', headers: Any = None, send_as_json: Any = False) -> None: ...
    def on_epoch_end(self, epoch: Any, logs: Any = None) -> Any: ...
