# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.messages import Message
class BytesList(Message):
    @property
    def value(self) -> Any: ...
from leat.messages import DecodeError as DecodeError
class Example(Message):
    @property
    def features(self) -> Any: ...
class Feature(Message):
    @property
    def bytes_list(self) -> Any: ...
    @property
    def float_list(self) -> Any: ...
    @property
    def int64_list(self) -> Any: ...
class FeatureList(Message):
    @property
    def feature(self) -> Any: ...
class FeatureLists(Message):
    @property
    def feature_list(self) -> Any: ...
class Features(Message):
    @property
    def feature(self) -> Any: ...
class FloatList(Message):
    @property
    def value(self) -> Any: ...
class Int64List(Message):
    @property
    def value(self) -> Any: ...
class SequenceExample(Message):
    @property
    def context(self) -> Any: ...
    @property
    def feature_lists(self) -> Any: ...
