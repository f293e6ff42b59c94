# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.summary.state import get_step as get_step
from leat.summary.state import set_step as set_step
from leat.summary.kinds import summary_scope as summary_scope
from leat.summary.kinds import write_raw_pb as write_raw_pb
