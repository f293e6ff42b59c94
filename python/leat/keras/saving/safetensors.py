"""Files of weights in the safetensors format: names, dtypes and shapes as JSON, then the bytes.

A file is 8 bytes that say how long the JSON is (little-endian), the JSON, padded with blanks to a multiple of 8, and
the values of each tensor at the place that the JSON gives for it. What does not fit together is a ValueError; so are
tensors that lie over each other, of which a small file could make many large ones.
"""

import json

import numpy as np

from leat import dtypes
from leat._core.paths import anywhere
from leat._files import json_text, limits, places

_NAMES = {"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
          "uint32": "U32", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}
_DTYPES = {short: name for name, short in _NAMES.items()}
_MOST_JSON = 100 << 20  # as the format's own reader allows
_MOST_RANK = 32  # of every version of numpy
_NOTES = "__metadata__"  # the name in the header that is no tensor's


def pieces(arrays):
    """The bytes of a file of {name: array}, as buffers that follow one another. ValueError for a dtype or a name that
    the format does not have."""
    if _NOTES in arrays:
        raise ValueError(f"safetensors files have no tensor of the name {_NOTES}, which is that of their notes; call "
                         "it something else")
    header, parts, at = {_NOTES: {"format": "leat"}}, [], 0
    for name, array in arrays.items():
        array = np.asarray(array)
        kind = dtypes.as_dtype(array.dtype).name
        if kind not in _NAMES:
            raise ValueError(f"safetensors files have no tensors of {kind}; found one at {name}")
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        header[name] = {"dtype": _NAMES[kind], "shape": list(array.shape), "data_offsets": [at, at + len(content)]}
        parts.append(content)
        at += len(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return [len(text).to_bytes(8, "little"), text, *parts]


def encode(arrays):
    """The same as one text."""
    return b"".join(pieces(arrays))


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _place(where, name, entry, most):
    """(dtype, shape, begin, end) of an entry of the header of a file with `most` bytes of values."""
    try:
        kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        dtype = np.dtype(dtypes.as_dtype(_DTYPES[kind]).as_numpy_dtype)
        if not isinstance(shape, list) or not all(map(_is_count, [*shape, begin, end])):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{where}: tensor '{name}' is described by {str(entry)[:200]}; expected a known dtype, a "
                         "shape and two data_offsets") from None
    size = dtype.itemsize
    for dim in shape:
        size *= dim
        if size > most:
            break
    if not begin <= end <= most or size != end - begin or len(shape) > _MOST_RANK:
        raise ValueError(f"{where}: tensor '{name}' of dtype {kind} and shape {str(shape)[:200]} should be the bytes "
                         f"{begin} to {end} of {most}; the file is cut short or damaged")
    limits.check("array_bytes", size, where, f"bytes of tensor '{name}'")
    return dtype, shape, begin, end


def decode(where, data):
    """{name: array} of a file's bytes; `where` names it in errors."""
    data = memoryview(data)
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(_MOST_JSON, len(data) - 8):
        raise ValueError(f"{where} is not a safetensors file: it has {len(data)} bytes, and says that {size} of them "
                         "are its header")
    header = json_text.parse(bytes(data[8:8 + size]), where, "the header")
    if not isinstance(header, dict):
        raise ValueError(f"{where} is not a safetensors file: its header is no JSON object")
    values = data[8 + size:]
    places = {name: _place(where, name, entry, len(values)) for name, entry in header.items() if name != _NOTES}
    behind = 0
    for name, (_, _, begin, end) in sorted(places.items(), key=lambda item: item[1][2:]):
        if begin < behind and end > begin:
            raise ValueError(f"{where}: tensor '{name}' begins at byte {begin}, inside of another one that ends at "
                             f"{behind}; the file is damaged")
        behind = max(behind, end)
    return {name: np.frombuffer(values[begin:end], dtype).reshape(shape)
            for name, (dtype, shape, begin, end) in places.items()}


def load(path):
    """{name: array} of a file. FileNotFoundError; ValueError."""
    path = anywhere(path)
    limits.check("total_bytes", places.size(path), path, "bytes of the file")
    return decode(path, places.content(path))
