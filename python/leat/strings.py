"""``tf.strings``: functions with ragged results. Operations of the library's table join them."""

import numpy as np

from leat import dtypes
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat._structures.ragged import RaggedTensor

__all__ = ["bytes_split", "format", "ngrams", "split", "unicode_decode", "unicode_decode_with_offsets",
           "unicode_encode", "unicode_split", "unicode_split_with_offsets"]


def _per_string(name, input, parts):
    """What `parts` makes of a vector of strings (values and row splits, or several values and then splits) for strings
    of any shape: of a scalar vectors, of more RaggedTensors of one rank more."""
    if isinstance(input, RaggedTensor):
        return [input.with_values(values) for values in _per_string(name, input.values, parts)]
    tensor = input if isinstance(input, Tensor) else convert_to_tensor(input, dtypes.string)
    rank = tensor.shape.rank
    if rank is None and name == "split":
        tensor, rank = ops.FUNCTIONS["ensure_shape"](tensor, [None]), 1  # as TensorFlow takes it
    if rank is None:
        raise ValueError(f"strings.{name} needs an input of known rank; set it with ensure_shape")
    if rank > 1:
        return _of_rows(name, tensor, parts)
    *values, row_splits = parts(tensor if rank else ops.FUNCTIONS["reshape"](tensor, [1]))
    return [RaggedTensor.from_row_splits(value, row_splits, validate=False) if rank else value for value in values]


def _of_rows(name, tensor, parts):
    """Of rank 2 and more: the rows of the first dimension, all as long as the second."""
    shape = ops.FUNCTIONS["shape"](tensor, dtypes.int64)
    rows, known = shape[0], tensor.shape[1]
    columns = shape[1] if known is None else convert_to_tensor(known, dtypes.int64)
    inner = ops.FUNCTIONS["reshape"](tensor, ops.FUNCTIONS["concat"]([[-1], shape[2:]], 0))
    return [RaggedTensor.from_uniform_row_length(value, columns, rows) for value in _per_string(name, inner, parts)]


def split(input, sep=None, maxsplit=-1, name=None):
    """The parts of strings (``tf.strings.split``): of a scalar a vector, of more a RaggedTensor of one rank more.

    Without `sep` white space parts them; `maxsplit` of 0 or more bounds the cuts in each string.
    """
    sep = "" if sep is None else sep.decode() if isinstance(sep, bytes) else sep
    return _per_string("split", input, lambda strings: ops.call(
        "string_split", {"sep": sep, "maxsplit": maxsplit}, [strings]))[0]


def bytes_split(input, name=None):
    """The bytes of strings as strings (``tf.strings.bytes_split``): of a scalar a vector, of more a RaggedTensor."""
    return _per_string("bytes_split", input, lambda strings: ops.call("string_bytes_split", None, [strings]))[0]


# ---- texts as code points ----

def _decode(name, input, attributes):
    def parts(strings):
        points, row_splits, offsets = ops.call("unicode_decode", attributes, [strings])
        return points, offsets, row_splits
    return _per_string(name, input, parts)


def unicode_decode(input, input_encoding, errors="replace", replacement_char=65533, replace_control_characters=False,
                   name=None):
    """The code points of texts (``tf.strings.unicode_decode``): of a scalar a vector, of more a RaggedTensor, int32.

    Malformed bytes are replaced, ignored or an InvalidArgumentError as `errors` says: "replace", "ignore", "strict".
    Encodings other than UTF-8 are those of the library ICU.
    """
    return _decode("unicode_decode", input, _texts(input_encoding, errors, replacement_char,
                                                   replace_control_characters))[0]


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=65533,
                                replace_control_characters=False, name=None):
    """Code points as `unicode_decode`, and the int64 byte that each began at
    (``tf.strings.unicode_decode_with_offsets``)."""
    return tuple(_decode("unicode_decode_with_offsets", input, _texts(input_encoding, errors, replacement_char,
                                                                      replace_control_characters)))


def _texts(encoding, errors, replacement_char, replace_control_characters):
    return {"input_encoding": encoding, "errors": errors, "replacement_char": int(replacement_char),
            "replace_control_characters": bool(replace_control_characters)}


def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """The characters of texts as strings (``tf.strings.unicode_split``); errors as `unicode_decode`."""
    points = unicode_decode(input, input_encoding, errors, replacement_char)
    return _each_encoded(points, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """Characters as `unicode_split`, and the int64 byte that each began at
    (``tf.strings.unicode_split_with_offsets``)."""
    points, offsets = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char)
    return _each_encoded(points, input_encoding, errors, replacement_char), offsets


def _each_encoded(points, encoding, errors, replacement_char):
    if isinstance(points, RaggedTensor):
        return points.with_values(_each_encoded(points.values, encoding, errors, replacement_char))
    count = ops.FUNCTIONS["shape"](points, dtypes.int64)[0]
    return _encode(points, ops.FUNCTIONS["range"](count + 1), encoding, errors, replacement_char)


def _encode(points, row_splits, encoding, errors, replacement_char):
    return ops.call("unicode_encode", {"output_encoding": encoding, "errors": errors,
                                       "replacement_char": int(replacement_char)}, [points, row_splits])[0]


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """The texts of int32 code points, of the last dimension one text each (``tf.strings.unicode_encode``).

    output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE". Numbers that are no code points are replaced, ignored or an
    InvalidArgumentError as `errors` says.
    """
    if isinstance(input, RaggedTensor):
        if not isinstance(input.values, RaggedTensor) and input.values.shape.rank == 1:
            return _encode(input.values, input.row_splits, output_encoding, errors, replacement_char)
        return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char))
    points = convert_to_tensor(input, dtypes.int32)
    if points.shape.rank is None:
        raise ValueError("strings.unicode_encode needs an input of known rank; set it with ensure_shape")
    if points.shape.rank == 0:
        raise ValueError("input_tensor's rank should be at least 1.")
    shape = ops.FUNCTIONS["shape"](points, dtypes.int64)
    flat = ops.FUNCTIONS["reshape"](points, [-1])
    rows = ops.FUNCTIONS["reduce_prod"](shape[:-1])
    texts = _encode(flat, ops.FUNCTIONS["range"](rows + 1) * shape[-1], output_encoding, errors, replacement_char)
    return ops.FUNCTIONS["reshape"](texts, shape[:-1])


# ---- putting together ----

def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with a tensor in each placeholder's stead, as text (``tf.strings.format``): a scalar string.

    An axis longer than twice `summarize` shows as many of its first and last values; -1 shows all.
    """
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(f"The template expects {template.count(placeholder)} tensors, but the inputs only has "
                         f"{len(inputs)}. Please ensure the number of placeholders in template matches inputs length.")
    if not inputs:
        return convert_to_tensor(template, dtypes.string)
    return ops.call("string_format", {"template": template, "placeholder": placeholder, "summarize": summarize},
                    [convert_to_tensor(value) for value in inputs])[0]


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False,
           name=None):
    """Runs of `ngram_width` neighbouring strings of the last dimension, joined (``tf.strings.ngrams``).

    ngram_width: a number or several. pad_values: the strings before and behind a row, one for both or a pair; there are
    as many as fit, at most `padding_width`. A dense tensor gives a dense one, a RaggedTensor a RaggedTensor.
    """
    widths = [int(ngram_width)] if isinstance(ngram_width, (int, np.integer)) else [int(width) for width in ngram_width]
    if not all(width >= 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if pad_values is None and padding_width is not None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    pads = pad_values if isinstance(pad_values, (tuple, list)) else (pad_values or "", pad_values or "")
    if len(pads) != 2 or not all(isinstance(pad, (str, bytes)) for pad in pads):
        raise TypeError(f"pad_values must be a string, tuple of strings, or None. Got {pad_values!r}")
    attributes = {"ngram_widths": widths, "separator": separator, "left_pad": pads[0], "right_pad": pads[1],
                  "pad_width": 0 if pad_values is None else -1 if padding_width is None else int(padding_width),
                  "preserve_short_sequences": bool(preserve_short_sequences)}
    if isinstance(data, RaggedTensor):
        return _ragged_ngrams(data, attributes)
    tensor = convert_to_tensor(data, dtypes.string)
    if tensor.shape.rank is None:
        raise ValueError("strings.ngrams needs data of known rank; set it with ensure_shape")
    if tensor.shape.rank == 0:
        raise ValueError("Data must have rank>0")
    if tensor.shape.num_elements() == 0:  # TensorFlow has no row without strings, whatever pads there are
        return ops.FUNCTIONS["fill"]([*tensor.shape[:-1], 0], "")
    shape = ops.FUNCTIONS["shape"](tensor, dtypes.int64)
    rows = ops.FUNCTIONS["reduce_prod"](shape[:-1])
    flat = ops.FUNCTIONS["reshape"](tensor, [-1])
    grams, _ = ops.call("string_ngrams", attributes, [flat, ops.FUNCTIONS["range"](rows + 1) * shape[-1]])
    if tensor.shape.rank == 1:
        return grams
    return ops.FUNCTIONS["reshape"](grams, ops.FUNCTIONS["concat"]([shape[:-1], [-1]], 0))


def _ragged_ngrams(data, attributes):
    if isinstance(data.values, RaggedTensor):
        return RaggedTensor.from_row_splits(_ragged_ngrams(data.values, attributes), data.row_splits, validate=False)
    grams, row_splits = ops.call("string_ngrams", attributes, [data.values, data.row_splits])
    return RaggedTensor.from_row_splits(grams, row_splits, validate=False)


ops.join(__name__)
