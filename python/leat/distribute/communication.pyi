# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

class CommunicationImplementation(enum.Enum):
    AUTO = 'AUTO'
    RING = 'RING'
    NCCL = 'NCCL'
class CommunicationOptions(NamedTuple):
    bytes_per_pack: Any = ...
    timeout_seconds: Any = ...
    implementation: Any = ...
class RunOptions(NamedTuple):
    experimental_enable_dynamic_batch_size: Any = ...
    experimental_bucketizing_dynamic_shape: Any = ...
    experimental_xla_options: Any = ...
