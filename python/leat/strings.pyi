# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

from leat.tensor import Tensor
def as_string(input: TensorLike, precision: IntLike = -1, scientific: builtins.bool = False, shortest: builtins.bool = False, width: IntLike = -1, fill: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Numbers as text, true or false of booleans (tf.strings.as_string).

    precision: Digits after the point of floats, or of shortest in all; negative: six.
    scientific: Floats with an exponent.
    shortest: Floats with an exponent where that is shorter, without zeros at the end.
    width: The least number of bytes; negative: none.
    fill: What fills up to the width: nothing for blanks, or one of 0, -, +, # and a blank, which mean what they mean to printf.
    """
    ...
def bytes_split(input: Any, name: builtins.str | None = None) -> Any: ...
def format(template: Any, inputs: Any, placeholder: Any = '{}', summarize: Any = 3, name: builtins.str | None = None) -> Any: ...
def join(inputs: TensorLike, separator: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Strings one after the other with a separator between them (tf.strings.join).

    separator: What stands between two strings.
    """
    ...
def length(input: TensorLike, unit: StringLike = 'BYTE', name: builtins.str | None = None) -> Tensor:
    """The number of bytes or of characters of each string, as int32 (tf.strings.length).

    unit: BYTE, or UTF8_CHAR for the characters of UTF-8.
    """
    ...
def lower(input: TensorLike, encoding: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Letters in lower case (tf.strings.lower).

    encoding: utf-8, or nothing for ASCII.
    """
    ...
def ngrams(data: Any, ngram_width: Any, separator: Any = ' ', pad_values: Any = None, padding_width: Any = None, preserve_short_sequences: Any = False, name: builtins.str | None = None) -> Any: ...
def reduce_join(inputs: TensorLike, axis: IntsLike | None = None, keepdims: builtins.bool = False, separator: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Strings joined along the named dimensions, or all (tf.strings.reduce_join).

    axis: The dimensions to join along; none named: all.
    keepdims: Leave joined dimensions as 1.
    separator: What stands between two strings.
    """
    ...
def regex_full_match(input: TensorLike, pattern: StringLike, name: builtins.str | None = None) -> Tensor:
    """Is each string as a whole what a regular expression describes (tf.strings.regex_full_match)?

    pattern: The regular expression.
    """
    ...
def regex_replace(input: TensorLike, pattern: StringLike, rewrite: StringLike, replace_global: builtins.bool = True, name: builtins.str | None = None) -> Tensor:
    """Strings with what a regular expression finds in them replaced (tf.strings.regex_replace).

    pattern: The regular expression.
    rewrite: What stands in a match's place.
    replace_global: Replace every match, else the first.
    """
    ...
def split(input: Any, sep: Any = None, maxsplit: Any = -1, name: builtins.str | None = None) -> Any: ...
def strip(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """Strings without the white space at both ends (tf.strings.strip)."""
    ...
def substr(input: TensorLike, pos: TensorLike, len: TensorLike, unit: StringLike = 'BYTE', name: builtins.str | None = None) -> Tensor:
    """The part of each string from a place on, of at most so many bytes or characters, broadcast (tf.strings.substr).

    unit: BYTE, or UTF8_CHAR for the characters of UTF-8.
    """
    ...
def to_hash_bucket(input: TensorLike, num_buckets: IntLike, name: builtins.str | None = None) -> Tensor:
    """A number below num_buckets for each string (tf.strings.to_hash_bucket).

    num_buckets: How many numbers there are, at least 1.
    """
    ...
def to_hash_bucket_fast(input: TensorLike, num_buckets: IntLike, name: builtins.str | None = None) -> Tensor:
    """A number below num_buckets for each string, the same everywhere (tf.strings.to_hash_bucket_fast).

    num_buckets: How many numbers there are, at least 1.
    """
    ...
def to_hash_bucket_strong(input: TensorLike, num_buckets: IntLike, key: IntsLike, name: builtins.str | None = None) -> Tensor:
    """A number below num_buckets for each string, by a hash under a key (tf.strings.to_hash_bucket_strong).

    num_buckets: How many numbers there are, at least 1.
    key: Two numbers that choose the hash.
    """
    ...
def to_number(input: TensorLike, out_type: DTypeLike = ..., name: builtins.str | None = None) -> Tensor:
    """The number that a string says (tf.strings.to_number).

    out_type: int32, int64, uint32, uint64, float32 or float64.
    """
    ...
def unicode_decode(input: Any, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, replace_control_characters: Any = False, name: builtins.str | None = None) -> Any: ...
def unicode_decode_with_offsets(input: Any, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, replace_control_characters: Any = False, name: builtins.str | None = None) -> Any: ...
def unicode_encode(input: Any, output_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, name: builtins.str | None = None) -> Any: ...
def unicode_script(input: TensorLike, name: builtins.str | None = None) -> Tensor:
    """ICU's number of each code point's script (tf.strings.unicode_script)."""
    ...
def unicode_split(input: Any, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, name: builtins.str | None = None) -> Any: ...
def unicode_split_with_offsets(input: Any, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, name: builtins.str | None = None) -> Any: ...
def unicode_transcode(input: TensorLike, input_encoding: StringLike, output_encoding: StringLike, errors: StringLike = 'replace', replacement_char: IntLike = 65533, replace_control_characters: builtins.bool = False, name: builtins.str | None = None) -> Tensor:
    """Strings of one encoding in another one (tf.strings.unicode_transcode).

    input_encoding: UTF-8, or another name that ICU knows.
    output_encoding: UTF-8, UTF-16-BE or UTF-32-BE.
    errors: Malformed bytes: replace, ignore, or strict to fail.
    replacement_char: The code point in their place.
    replace_control_characters: Replace U+0000 to U+001F, too.
    """
    ...
def unsorted_segment_join(inputs: TensorLike, segment_ids: TensorLike, num_segments: IntLike, separator: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """The strings of each of num_segments segments joined, in their order (tf.strings.unsorted_segment_join).

    num_segments: How many segments there are.
    separator: What stands between two strings.
    """
    ...
def upper(input: TensorLike, encoding: StringLike = '', name: builtins.str | None = None) -> Tensor:
    """Letters in upper case (tf.strings.upper).

    encoding: utf-8, or nothing for ASCII.
    """
    ...
