# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.keras.table_layer import TableLayer
class PictureLayer(TableLayer):
    data_format: Any
    bounding_box_format: Any
    def __call__(self, data: Any, *args: Any, **kwargs: Any) -> Any: ...
    def build(self, input_shape: Any = None) -> Any: ...
    def call(self, inputs: Any, training: Any = None) -> Any: ...
    def get_config(self) -> Any: ...
