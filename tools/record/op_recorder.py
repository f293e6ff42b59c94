"""What the scripts that record cases of tensor operations from TensorFlow share.

A case is what tests/conform/make_op_cases.py documents; its outputs, or that there is an error, are TensorFlow's.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "conform"))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from op_case_model import DTYPE, NONE, SHAPE, STRUCTURE, VALUE, failure  # noqa: E402, F401: the scripts take them from here

F32, F64, I32, I64 = np.float32, np.float64, np.int32, np.int64
RNG = np.random.RandomState(20260917)
CASES = {}
WRONG = []  # cases that were not as their line says
CODES = {"InvalidArgumentError": "INVALID_ARGUMENT", "ValueError": "INVALID_ARGUMENT", "OutOfRangeError": "OUT_OF_RANGE",
         "TypeError": "INVALID_ARGUMENT", "NotFoundError": "INVALID_ARGUMENT", "DataLossError": "DATA_LOSS",
         "FailedPreconditionError": "FAILED_PRECONDITION"}


def floats(*shape, low=-2.0, high=2.0, dtype=F32):
    return np.asarray(RNG.rand(*shape) * (high - low) + low).astype(dtype)


def distinct(*shape, dtype=F32):
    """Floats that keep a distance from each other, so that no choice changes under a small step."""
    count = int(np.prod(shape))
    return ((RNG.permutation(count) - count / 2.3) * 0.37).astype(dtype).reshape(shape)


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
    return float(str(value)) if isinstance(value, np.float32) else float(value)


def text(value):
    return value.decode() if all(0x20 <= b < 0x7F for b in value) else {"hex": value.hex()}


def tensor(value):
    array = np.asarray(value, object if isinstance(value, bytes) else None)  # numpy's own texts lose zero bytes
    if array.dtype.kind in "OSU":
        flat = [x if isinstance(x, bytes) else str(x).encode() for x in array.reshape(-1)]
        return {"dtype": "string", "shape": list(array.shape), "data": [text(x) for x in flat]}
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": [number(x) for x in array.reshape(-1)]}


def record(op, name, call, inputs, attributes=None, fails=None, lists=False, **more):
    """Runs call(*inputs, **attributes) in TensorFlow; `fails`: reason and keyword of our error, where TensorFlow has one.

    `lists`: the inputs are handed over as one list.
    """
    line = {"name": name}
    if attributes:
        line["attributes"] = attributes
    inputs = [np.asarray(value) for value in inputs]
    line["inputs"] = [tensor(value) for value in inputs]
    given = [tf.constant(value) for value in inputs]
    try:
        found = call(given) if lists else call(*given, **(attributes or {}))
    except Exception as error:
        if fails is None:
            WRONG.append("%s %s: %.300s" % (op, name, error))
            return
        line["error"] = failure(CODES[type(error).__name__], *fails)
    else:
        if fails is not None:
            WRONG.append("%s %s: TensorFlow does not fail: %s" % (op, name, found))
            return
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        line["outputs"] = [tensor(one.numpy()) for one in found]
    line.update(more)
    CASES.setdefault(op, []).append(line)


def write(folder):
    if WRONG:
        sys.exit("\n".join(WRONG))
    for op, lines in CASES.items():
        names = [line["name"] for line in lines]
        assert len(set(names)) == len(names), (op, names)
        with open(os.path.join(folder, op + ".json"), "w") as out:
            out.write('{"op": "%s", "cases": [\n' % op)
            out.write(",\n".join(json.dumps(line) for line in lines))
            out.write("\n]}\n")
    print("%d operations, %d cases" % (len(CASES), sum(map(len, CASES.values()))), file=sys.stderr)
