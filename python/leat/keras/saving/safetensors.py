"""Files of weights in the safetensors format: names, dtypes and shapes as JSON, then the bytes.

A file is 8 bytes that say how long the JSON is (little-endian), the JSON, padded with blanks to a multiple of 8, and
the values of each tensor at the place that the JSON gives for it. What does not fit together is a ValueError.
"""

import json
import os

import numpy as np

from leat import dtypes

_NAMES = {"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
          "uint32": "U32", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}
_DTYPES = {short: name for name, short in _NAMES.items()}
_MOST_JSON = 100 << 20  # as the format's own reader allows


def pieces(arrays):
    """The bytes of a file of {name: array}, as buffers that follow one another. ValueError for a dtype that the format
    does not have."""
    header, parts, at = {"__metadata__": {"format": "leat"}}, [], 0
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


def _tensor(where, name, entry, data):
    """The array of an entry of the header."""
    try:
        kind, shape, (begin, end) = entry["dtype"], [int(size) for size in entry["shape"]], entry["data_offsets"]
        dtype = np.dtype(dtypes.as_dtype(_DTYPES[kind]).as_numpy_dtype)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{where}: tensor '{name}' is described by {entry!r}; expected a known dtype, a shape and two "
                         "data_offsets") from None
    size = dtype.itemsize
    for dim in shape:
        size *= dim
    if not (isinstance(begin, int) and isinstance(end, int) and 0 <= begin <= end <= len(data)) or (
            size != end - begin or min(shape, default=0) < 0):
        raise ValueError(f"{where}: tensor '{name}' of dtype {kind} and shape {shape} should be the bytes {begin} to "
                         f"{end} of {len(data)}; the file is cut short or damaged")
    return np.frombuffer(data[begin:end], dtype).reshape(shape)


def decode(where, data):
    """{name: array} of a file's bytes; `where` names it in errors."""
    data = memoryview(data)
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(_MOST_JSON, len(data) - 8):
        raise ValueError(f"{where} is not a safetensors file: it has {len(data)} bytes, and says that {size} of them "
                         "are its header")
    try:
        header = json.loads(bytes(data[8:8 + size]))
        entries = header.items()
    except (ValueError, AttributeError, RecursionError):
        raise ValueError(f"{where} is not a safetensors file: its header is no JSON object") from None
    return {name: _tensor(where, name, entry, data[8 + size:]) for name, entry in entries if name != "__metadata__"}


def load(path):
    """{name: array} of a file. FileNotFoundError; ValueError."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        return decode(path, file.read())
