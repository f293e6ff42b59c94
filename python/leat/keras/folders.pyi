# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

AUTOTUNE: builtins.int
def image_dataset_from_directory(directory: Any, labels: Any = 'inferred', label_mode: Any = 'int', class_names: Any = None, color_mode: Any = 'rgb', batch_size: Any = 32, image_size: Any = ..., shuffle: Any = True, seed: Any = None, validation_split: Any = None, subset: Any = None, interpolation: Any = 'bilinear', follow_links: Any = False, crop_to_aspect_ratio: Any = False, pad_to_aspect_ratio: Any = False, data_format: Any = None, format: Any = 'tf', verbose: Any = True) -> Any: ...
def text_dataset_from_directory(directory: Any, labels: Any = 'inferred', label_mode: Any = 'int', class_names: Any = None, batch_size: Any = 32, max_length: Any = None, shuffle: Any = True, seed: Any = None, validation_split: Any = None, subset: Any = None, follow_links: Any = False, format: Any = 'tf', verbose: Any = True) -> Any: ...
