# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

OPERATIONS: Any
def ctc_decode(inputs: Any, sequence_lengths: Any, strategy: Any = 'greedy', beam_width: Any = 100, top_paths: Any = 1, merge_repeated: Any = True, mask_index: Any = 0) -> Any: ...
def ctc_loss(target: Any, output: Any, target_length: Any, output_length: Any, mask_index: Any = 0) -> Any: ...
def rearrange(tensor: Any, pattern: Any, **axes_lengths: Any) -> Any: ...
