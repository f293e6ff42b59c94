# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.keras.applications.resnet import ResNet101 as ResNet101
from leat.keras.applications.resnet import ResNet152 as ResNet152
from leat.keras.applications.resnet import ResNet50 as ResNet50
from leat.keras.applications import resnet as resnet
from leat.keras.applications import resnet50 as resnet50
