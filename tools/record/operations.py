#!/usr/bin/env python3
"""Record cases of tensor operations on records and strings into tests/conform/ops/<operation>.json.

    operations.py [OPERATION ...]

What TensorFlow 2.21 computes, or the code it fails with, is a case marked "recorded": inputs and attributes are those of the operation
here, the call beside them is TensorFlow's. Cases that tests/conform/make_op_cases.py writes into the same file stay. Without names all
operations of this script are recorded. Needs TensorFlow 2.21.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

WANTED = sys.argv[1:]
sys.argv[1:] = []
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "conform"))

import op_case_model as model  # noqa: E402

CODES = {code: name for name, code in vars(tf.errors).items() if isinstance(code, int) and name.isupper()}


def values(result):
    """What a call gave as a tuple of numpy arrays, composite tensors as their parts."""
    found = []
    for item in result if isinstance(result, (tuple, list)) else [result]:
        if isinstance(item, tf.RaggedTensor):
            found += [item.flat_values, *reversed(item.nested_row_splits)]
        elif isinstance(item, tf.SparseTensor):
            found += [item.indices, item.values, item.dense_shape]
        else:
            found.append(item)
    return tuple(array(item.numpy() if hasattr(item, "numpy") else item) for item in found)


def array(value):
    """A value as an array of bytes where it is made of texts."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "SU":
        return np.asarray(value)
    made = np.array(value, object)
    flat = [item.encode() if isinstance(item, str) else item for item in made.reshape(-1)]
    if flat and not isinstance(flat[0], bytes):
        return np.asarray(value)
    out = np.empty(len(flat), object)
    out[:] = flat
    return out.reshape(made.shape)


def case(op, name, inputs, call, attributes=None, fails=None, **more):
    """Records call(*inputs); `fails`: reason and keyword of the failure here, where TensorFlow has one."""
    if WANTED and op not in WANTED:
        return
    inputs = [array(value) for value in inputs]
    try:
        found = values(call(*inputs))
    except (tf.errors.OpError, ValueError, TypeError) as failure:
        if fails is None:
            sys.exit("%s %s: %s" % (op, name, failure))
        code = CODES[failure.error_code] if isinstance(failure, tf.errors.OpError) else model.INVALID
        model.case(op, name, inputs, error=(code, *fails), attributes=attributes, recorded=True, **more)
    else:
        model.case(op, name, inputs, found, attributes, recorded=True, **more)


def write():
    for op, lines in model.CASES.items():
        own = model.kept(op, False)
        names = [line["name"] for line in own + lines]
        assert len(set(names)) == len(names), (op, sorted(name for name in names if names.count(name) > 1))
        with open(os.path.join(model.FOLDER, op + ".json"), "w") as out:
            out.write('{"op": "%s", "cases": [\n' % op)
            out.write(",\n".join(json.dumps(line) for line in own + lines))
            out.write("\n]}\n")


if __name__ == "__main__":
    sys.modules["operations"] = sys.modules["__main__"]
    import operations_files  # noqa: F401: each adds its cases
    import operations_records  # noqa: F401
    import operations_texts  # noqa: F401
    write()
