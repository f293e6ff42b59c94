# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

ABORTED: builtins.int
ALREADY_EXISTS: builtins.int
class AbortedError(OpError):
    error_code: Any
class AlreadyExistsError(OpError):
    error_code: Any
CANCELLED: builtins.int
class CancelledError(OpError):
    error_code: Any
DATA_LOSS: builtins.int
DEADLINE_EXCEEDED: builtins.int
class DataLossError(OpError):
    error_code: Any
class DeadlineExceededError(OpError):
    error_code: Any
FAILED_PRECONDITION: builtins.int
class FailedPreconditionError(OpError):
    error_code: Any
INTERNAL: builtins.int
INVALID_ARGUMENT: builtins.int
class InternalError(OpError):
    error_code: Any
class InvalidArgumentError(OpError):
    error_code: Any
NOT_FOUND: builtins.int
class NotFoundError(OpError):
    error_code: Any
OK: builtins.int
OUT_OF_RANGE: builtins.int
class OpError(builtins.Exception):
    error_code: Any
    def __init__(self, *args: Any) -> None: ...
    @property
    def experimental_payloads(self) -> Any: ...
    def __str__(self) -> builtins.str: ...
class OperatorNotAllowedInGraphError(builtins.TypeError):
    ...
class OutOfRangeError(OpError):
    error_code: Any
PERMISSION_DENIED: builtins.int
class PermissionDeniedError(OpError):
    error_code: Any
RESOURCE_EXHAUSTED: builtins.int
class ResourceExhaustedError(OpError):
    error_code: Any
UNAUTHENTICATED: builtins.int
UNAVAILABLE: builtins.int
UNIMPLEMENTED: builtins.int
UNKNOWN: builtins.int
class UnauthenticatedError(OpError):
    error_code: Any
class UnavailableError(OpError):
    error_code: Any
class UnimplementedError(OpError):
    error_code: Any
class UnknownError(OpError):
    error_code: Any
