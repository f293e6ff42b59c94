# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

class LogicalDevice(NamedTuple):
    name: Any
    device_type: Any
class LogicalDeviceConfiguration(NamedTuple):
    memory_limit: Any
    experimental_priority: Any
    experimental_device_ordinal: Any
class PhysicalDevice(NamedTuple):
    name: Any
    device_type: Any
experimental: Any
def get_logical_device_configuration(device: Any) -> Any: ...
def get_visible_devices(device_type: Any = None) -> Any: ...
def list_logical_devices(device_type: Any = None) -> Any: ...
def list_physical_devices(device_type: Any = None) -> Any: ...
def set_logical_device_configuration(device: Any, logical_devices: Any) -> Any: ...
def set_visible_devices(devices: Any, device_type: Any = None) -> Any: ...
threading: Any
