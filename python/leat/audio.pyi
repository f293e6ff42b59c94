# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def decode_wav(contents: Any, desired_channels: Any = -1, desired_samples: Any = -1, name: builtins.str | None = None) -> Any: ...
def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Samples from -1 to 1 as a WAV file of 16 bits (tf.audio.encode_wav)."""
    ...
