# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

def model_to_dot(model: Any, *args: Any, **kwargs: Any) -> Any: ...
def plot_model(model: Any, to_file: Any = 'model.svg', show_shapes: Any = False, show_dtype: Any = False, show_layer_names: Any = False, rankdir: Any = 'TB', expand_nested: Any = False, dpi: Any = 200, show_layer_activations: Any = False, show_trainable: Any = False, splines: Any = 'ortho', **kwargs: Any) -> Any: ...
