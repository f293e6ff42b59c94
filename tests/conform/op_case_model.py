"""What make_op_cases.py builds on: the list of cases, how values are written, and independent models of Philox and of tf.train.Example."""
import json
import os
import struct
import sys

import numpy as np

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops")
CASES = {}
RNG = np.random.RandomState(20240917)
F32, F64, I32, I64, U8 = np.float32, np.float64, np.int32, np.int64, np.uint8
INTS = [np.int8, np.int16, I32, I64, U8, np.uint16, np.uint32, np.uint64]


class Half:
    """float16 or bfloat16 as exact float values."""

    def __init__(self, dtype, data, shape=None):
        self.dtype, self.data = dtype, [float(x) for x in data]
        self.shape = [len(data)] if shape is None else list(shape)


def number(value):
    if isinstance(value, np.complexfloating):
        return [number(value.real), number(value.imag)]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value) if int(value) < 2**63 else str(int(value))
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, np.float32):
        return float(str(value))
    return float(value)


def text(value):
    if all(0x20 <= b < 0x7F for b in value):
        return value.decode()
    return {"hex": value.hex()}


def tensor(value):
    if isinstance(value, Half):
        return {"dtype": value.dtype, "shape": value.shape, "data": [number(x) for x in value.data]}
    if isinstance(value, (bytes, list)) or (isinstance(value, np.ndarray) and value.dtype == object):
        array = np.array(value, dtype=object)
        return {"dtype": "string", "shape": list(array.shape), "data": [text(x) for x in array.reshape(-1)]}
    array = np.asarray(value)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": [number(x) for x in array.reshape(-1)]}


def failure(code, reason, keyword):
    """What a test asks of a failure (tests/support/refused.h): no sentence, and no reason where the library gives none."""
    assert keyword and " " not in keyword.replace(", ", ","), keyword
    return {"code": code, **({} if reason == NONE else {"reason": reason}), "keyword": keyword}


def case(op, name, inputs, outputs=None, attributes=None, error=None, **more):
    line = {"name": name}
    if attributes:
        line["attributes"] = attributes
    line["inputs"] = [tensor(x) for x in inputs]
    if error is not None:
        line["error"] = failure(*error)
    else:
        line["outputs"] = [tensor(x) for x in (outputs if isinstance(outputs, tuple) else (outputs,))]
    line.update(more)
    CASES.setdefault(op, []).append(line)


def floats(*shape, low=-2.0, high=2.0, dtype=F32):
    return np.asarray(RNG.rand(*shape) * (high - low) + low).astype(dtype)


def distinct(*shape):
    """Floats that keep a distance from each other, so that no choice changes under a small step."""
    count = int(np.prod(shape))
    return ((RNG.permutation(count) - count / 2.3) * 0.37).astype(F32).reshape(shape)


INVALID = "INVALID_ARGUMENT"
DTYPE, SHAPE, STRUCTURE, VALUE, NONE = "DTYPE", "SHAPE", "STRUCTURE", "VALUE", "NONE"


def philox(seed, seed2, block):
    counter = ((seed2 & (2**64 - 1)) << 64) + block
    c = [(counter >> (32 * i)) & 0xFFFFFFFF for i in range(4)]
    k = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


assert philox(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def words(seed, seed2, blocks, start=0):
    return [w for b in range(blocks) for w in philox(seed, seed2, start + b)]


def unit(word):
    return F32(word & 0x7FFFFF) / F32(2**23)


def unit64(first, second):
    return struct.unpack("<d", struct.pack("<Q", (1023 << 52) | ((first & 0xFFFFF) << 32) | second))[0] - 1


def normals(ws):
    out = []
    for a, b in zip(ws[0::2], ws[1::2]):
        r = np.sqrt(F32(-2) * np.log(max(unit(a), F32(1e-7))))
        angle = F32(2 * np.pi * float(unit(b)))
        out += [F32(np.sin(angle)) * r, F32(np.cos(angle)) * r]
    return out


def varint(n):
    n &= 2**64 - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(kind, values):
    if kind == "bytes":
        return field(1, b"".join(field(1, v) for v in values))
    if kind == "float":
        return field(2, field(1, b"".join(struct.pack("<f", v) for v in values)))
    return field(3, field(1, b"".join(varint(v) for v in values)))


def example(**features):
    return field(1, b"".join(field(1, field(1, k.encode()) + field(2, feature(*v))) for k, v in features.items()))


def specs(**features):
    return {"dict": {k: {"dtype": d, "shape": s} for k, (d, s) in features.items()}}


def kept(op, recorded):
    """The cases in an operation's file that were recorded from TensorFlow (tools/record/operations.py), or the others."""
    try:
        with open(os.path.join(FOLDER, op + ".json")) as file:
            return [line for line in json.load(file).get("cases", []) if line.get("recorded", False) == recorded]
    except FileNotFoundError:
        return []


def write(tested_by):
    os.makedirs(FOLDER, exist_ok=True)
    for op, lines in CASES.items():
        lines = lines + kept(op, True)
        names = [line["name"] for line in lines]
        assert len(set(names)) == len(names), (op, sorted(n for n in names if names.count(n) > 1))
        with open(os.path.join(FOLDER, op + ".json"), "w") as out:
            out.write('{"op": "%s", "cases": [\n' % op)
            out.write(",\n".join(json.dumps(line) for line in lines))
            out.write("\n]}\n")
    for path, ops in tested_by.items():
        for op in ops:
            with open(os.path.join(FOLDER, op + ".json"), "w") as out:
                out.write('{"op": "%s", "tested_by": "%s"}\n' % (op, path))


def sum_of_squares_cases(x):
    """Cases of reduce_sum_squares, over `x` of three dimensions."""
    wide = x.astype(F64) ** 2
    for name, axis in (("all", None), ("first", 0), ("two", (0, 2)), ("inner", (1, 2))):
        named = {} if axis is None else {"axis": [axis] if isinstance(axis, int) else list(axis)}
        case("reduce_sum_squares", name, [x], np.asarray(np.sum(wide, axis=axis)).astype(F32), named or None,
             tolerance=1e-6, gradient=True)
    case("reduce_sum_squares", "keep", [x], np.sum(wide, axis=1, keepdims=True).astype(F32),
         {"axis": [1], "keepdims": True}, tolerance=1e-6, gradient=True)
    case("reduce_sum_squares", "float64", [x.astype(F64)], np.asarray(np.sum(wide)), tolerance=1e-12)
    case("reduce_sum_squares", "float16", [Half("float16", [1, 2, 4.5])], Half("float16", [25.25], []), tolerance=1e-3)
    case("reduce_sum_squares", "empty", [np.zeros((0, 2), F32)], np.zeros(2, F32), {"axis": [0]})
    case("reduce_sum_squares", "int32", [I32([1, 2])], error=(INVALID, DTYPE, "int32"))
    case("reduce_sum_squares", "axis_outside", [x], error=(INVALID, SHAPE, "3"), attributes={"axis": [3]})
