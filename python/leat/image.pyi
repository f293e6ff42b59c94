# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Pictures of another dtype, scaled so that 1.0 is an integer's largest value (tf.image.convert_image_dtype).

    dtype: The dtype of the result.
    saturate: Clip what the result cannot hold.
    """
    ...
def decode_image(contents: TensorLike, channels: IntLike | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None, expand_animations: builtins.bool = True) -> Tensor:
    """The pixels of a picture of any format (tf.io.decode_image).

    channels: 0: those of the file; 1: grey; 3: RGB; 4: RGBA.
    dtype: The dtype of the pixels, a number.
    expand_animations: Of no effect: no format read here holds animations.
    """
    ...
def decode_jpeg(contents: TensorLike, channels: IntLike = 0, ratio: IntLike = 1, fancy_upscaling: builtins.bool = True, try_recover_truncated: builtins.bool = False, acceptable_fraction: FloatLike = 1.0, dct_method: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """The pixels of a JPEG, uint8 [height, width, channels] (tf.io.decode_jpeg).

    channels: 0: those of the file; 1: grey; 3: RGB.
    ratio: The picture is shrunk by 1, 2, 4 or 8.
    fancy_upscaling: Interpolate chroma instead of repeating it.
    try_recover_truncated: Fill what is missing instead of failing.
    acceptable_fraction: The least fraction of rows that must be there.
    dct_method: INTEGER_FAST (also when empty) or INTEGER_ACCURATE.
    """
    ...
def decode_png(contents: TensorLike, channels: IntLike = 0, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The pixels of a PNG, uint8 [height, width, channels] (tf.io.decode_png).

    channels: 0: those of the file; 1: grey; 3: RGB; 4: RGBA.
    dtype: uint8 or uint16.
    """
    ...
def flip_left_right(image: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Pictures mirrored along their width (tf.image.flip_left_right)."""
    ...
def resize(images: TensorLike, size: IntsLike, method: StringLike = 'bilinear', preserve_aspect_ratio: Any = False, antialias: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Pictures scaled to another size, as float32 (tf.image.resize).

    size: Height and width of the result, in pixels.
    method: bilinear.
    antialias: Blend all pixels that a smaller picture's pixel covers.
    """
    ...
