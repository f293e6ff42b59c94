# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.summary.state import SummaryWriter as SummaryWriter
from leat.summary.kinds import audio as audio
from leat.summary.state import create_file_writer as create_file_writer
from leat.summary.state import create_noop_writer as create_noop_writer
from leat.summary import experimental as experimental
from leat.summary.state import flush as flush
from leat.summary.kinds import graph as graph
from leat.summary.kinds import histogram as histogram
from leat.summary.kinds import image as image
from leat.summary import kinds as kinds
from leat.summary.state import record_if as record_if
from leat.summary.kinds import scalar as scalar
from leat.summary.state import should_record_summaries as should_record_summaries
from leat.summary import state as state
from leat.summary.kinds import text as text
from leat.summary.kinds import trace_export as trace_export
from leat.summary.kinds import trace_off as trace_off
from leat.summary.kinds import trace_on as trace_on
from leat.summary.kinds import write as write
