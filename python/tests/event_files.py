"""Event files as Python's values, read without TensorBoard: for tests of what writes them."""

import glob
import os

import numpy as np

_DTYPES = {1: "<f4", 2: "<f8", 3: "<i4", 4: "u1", 9: "<i8", 10: "?"}


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """[(number, value)] of a message; values are numbers or bytes."""
    at, out = 0, []
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
        else:
            size, at = _varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            value, at = data[at:at + size], at + size
        out.append((tag >> 3, value))
    return out


def message(data):
    """{number: last value} of a message."""
    return dict(fields(data))


def tensor(data):
    """The values of a TensorProto: an array, of strings a list of bytes with its shape."""
    found = message(data)
    shape = [message(dim).get(1, 0) for number, dim in fields(found.get(2, b"")) if number == 2]
    if found[1] == 7:
        return {"shape": shape, "strings": [value for number, value in fields(data) if number == 8]}
    kind = _DTYPES[found[1]]
    if 4 in found:
        return np.frombuffer(found[4], kind).reshape(shape)
    content = b"".join(value for number, value in fields(data) if number in (5, 6))  # packed float_val, double_val
    values = np.frombuffer(content, kind)
    return np.resize(values, shape) if values.size else np.zeros(shape, kind)


def records(path):
    """The records of a TFRecord file, unchecked: their checksums have tests of their own."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 8], "little")
        yield data[at + 12:at + 12 + size]
        at += size + 16


def read(folder):
    """(values, graphs) of a folder's event files: [{tag, step, metadata, value}], [nodes by name]."""
    values, graphs = [], []
    for path in sorted(glob.glob(os.path.join(folder, "events.out.tfevents.*"))):
        for record in records(path):
            event = message(record)
            for number, summary in fields(event.get(5, b"")):
                one = message(summary)
                values.append({"tag": one[1].decode(), "step": event.get(2, 0), "metadata": one.get(9, b""),
                               "value": tensor(one[8])})
            if 4 in event:
                nodes = [message(node) for number, node in fields(event[4]) if number == 1]
                graphs.append({node[1].decode(): node[2].decode() for node in nodes})
    return values, graphs


def tags(folder):
    """{tag: [(step, value), ...]} of a folder; values of numbers as Python's."""
    out = {}
    for one in read(folder)[0]:
        value = one["value"]
        value = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
        out.setdefault(one["tag"], []).append((one["step"], value))
    return out
