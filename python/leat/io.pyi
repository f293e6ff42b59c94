# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
from leat.parsing import FixedLenFeature as FixedLenFeature
from leat.parsing import FixedLenSequenceFeature as FixedLenSequenceFeature
from leat.parsing import RaggedFeature as RaggedFeature
from leat.parsing import SparseFeature as SparseFeature
from leat.records import TFRecordOptions as TFRecordOptions
from leat.records import TFRecordWriter as TFRecordWriter
from leat.parsing import VarLenFeature as VarLenFeature
def decode_and_crop_jpeg(contents: TensorLike, crop_window: TensorLike, channels: IntLike = 0, ratio: IntLike = 1, fancy_upscaling: builtins.bool = True, try_recover_truncated: builtins.bool = False, acceptable_fraction: FloatLike = 1.0, dct_method: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """A window of a JPEG's pixels, uint8 [height, width, channels] (tf.io.decode_and_crop_jpeg).

    channels: 0: those of the file; 1: grey; 3: RGB.
    ratio: The picture is shrunk by 1, 2, 4 or 8.
    fancy_upscaling: Interpolate chroma instead of repeating it.
    try_recover_truncated: Fill what is missing instead of failing.
    acceptable_fraction: The least fraction of rows that must be there.
    dct_method: INTEGER_FAST (also when empty) or INTEGER_ACCURATE.
    """
    ...
def decode_base64(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The bytes that text of encode_base64 stands for (tf.io.decode_base64)."""
    ...
def decode_bmp(contents: TensorLike, channels: IntLike = 0, name: builtins.str | None = None) -> Tensor:
    """The pixels of a bitmap, uint8 [height, width, channels] (tf.io.decode_bmp).

    channels: 0: those of the file; 3: RGB; 4: RGBA.
    """
    ...
def decode_compressed(bytes: TensorLike, compression_type: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Strings that were packed, as they were before (tf.io.decode_compressed).

    compression_type: ZLIB, GZIP, ZSTD, or nothing for strings as they are.
    """
    ...
def decode_csv(records: Any, record_defaults: Any, field_delim: Any = ',', use_quote_delim: Any = True, na_value: Any = '', select_cols: Any = None, name: builtins.str | None = None) -> Any: ...
def decode_gif(contents: TensorLike, name: builtins.str | None = None) -> Tensor:
    """All frames of a GIF, uint8 [frames, height, width, 3] (tf.io.decode_gif)."""
    ...
def decode_image(contents: TensorLike, channels: IntLike | None = None, dtype: DTypeLike = ..., name: builtins.str | None = None, expand_animations: builtins.bool = True) -> Tensor:
    """The pixels of a picture of any format (tf.io.decode_image).

    channels: 0: those of the file; 1: grey; 3: RGB; 4: RGBA.
    dtype: The dtype of the pixels, a number.
    expand_animations: All frames of a GIF, as [frames, height, width, channels]; else the first one.
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
def decode_json_example(json_examples: TensorLike, name: builtins.str | None = None) -> Tensor:
    """tf.train.Examples written as JSON, as their serialised form (tf.io.decode_json_example)."""
    ...
def decode_png(contents: TensorLike, channels: IntLike = 0, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The pixels of a PNG, uint8 [height, width, channels] (tf.io.decode_png).

    channels: 0: those of the file; 1: grey; 3: RGB; 4: RGBA.
    dtype: uint8 or uint16.
    """
    ...
def decode_raw(input_bytes: TensorLike, out_type: DTypeLike, little_endian: builtins.bool = True, fixed_length: IntLike | None = None, name: builtins.str | None = None) -> Tensor:
    """The bytes of strings as numbers (tf.io.decode_raw).

    out_type: The dtype of the numbers.
    little_endian: The lowest byte of a number comes first, else the highest.
    fixed_length: Bytes that each string is cut or filled up to; none: strings have one length.
    """
    ...
def decode_webp(contents: TensorLike, channels: IntLike = 0, dtype: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """All frames of a WebP, uint8 [frames, height, width, channels] (tf.io.decode_webp).

    channels: 0: those of the file; 3: RGB; 4: RGBA; it must be the file's.
    dtype: uint8.
    """
    ...
def encode_base64(input: TensorLike, pad: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Bytes as text of 64 letters that are safe in web addresses (tf.io.encode_base64).

    pad: Fill the last four letters up with "=".
    """
    ...
def encode_jpeg(image: TensorLike, format: StringLike = '', quality: IntLike = 95, progressive: builtins.bool = False, optimize_size: builtins.bool = False, chroma_downsampling: builtins.bool = True, density_unit: StringLike = 'in', x_density: IntLike = 300, y_density: IntLike = 300, xmp_metadata: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """A picture as the bytes of a JPEG (tf.io.encode_jpeg).

    format: grayscale or rgb, which demands 1 or 3 channels; empty: either.
    quality: From 0, the smallest file, to 100.
    progressive: Several scans, coarse to fine.
    optimize_size: Codes made for this picture.
    chroma_downsampling: Colours at half the resolution.
    density_unit: in or cm, of the densities.
    x_density: Pixels per unit, horizontally.
    y_density: Pixels per unit, vertically.
    xmp_metadata: Text that the file carries.
    """
    ...
def encode_png(image: TensorLike, compression: IntLike = -1, name: builtins.str | None = None) -> Tensor:
    """Pictures as the bytes of PNGs (tf.io.encode_png).

    compression: From 0, the fastest, to 9, the smallest file; -1: the library's.
    """
    ...
def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """Height, width and channels of a JPEG (tf.io.extract_jpeg_shape).

    output_type: int32 or int64.
    """
    ...
from leat import gfile as gfile
def is_jpeg(contents: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Do strings begin as a JPEG does (tf.io.is_jpeg)?"""
    ...
def matching_files(pattern: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The names of the files that match a pattern or one of several, sorted (tf.io.matching_files)."""
    ...
from leat.parsing import parse_example as parse_example
from leat.parsing import parse_sequence_example as parse_sequence_example
from leat.parsing import parse_single_example as parse_single_example
from leat.parsing import parse_single_sequence_example as parse_single_sequence_example
def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: builtins.str | None = None) -> Tensor:
    """The tensor that the bytes of TensorFlow's message say (tf.io.parse_tensor).

    out_type: The dtype of the tensor; a message of another fails.
    """
    ...
def read_file(filename: TensorLike, name: builtins.str | None = None) -> Tensor:
    """The contents of a file (tf.io.read_file)."""
    ...
def serialize_tensor(tensor: TensorLike, name: builtins.str | None = None) -> Tensor:
    """A tensor as the bytes of TensorFlow's message (tf.io.serialize_tensor)."""
    ...
def write_file(filename: Any, contents: Any, name: builtins.str | None = None) -> Any: ...
