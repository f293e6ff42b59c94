#!/usr/bin/env python3
"""Record small datasets saved by TensorFlow, and what its load gives: tests/golden/data/files/saved and tfdata/load_files.json.

    saved_datasets.py [FOLDER]        FOLDER is tests/golden/data

Needs TensorFlow (2.21 made the files). Runs and times of creation differ from call to call; nothing else does.
"""
import collections
import json
import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

Point = collections.namedtuple("Point", "z a")


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return data.decode() if all(32 <= b < 127 for b in data) else {"hex": data.hex()}


def number(value, dtype):
    if dtype == "string":
        return text(value)
    if dtype == "bool":
        return bool(value)
    return float(value) if "float" in dtype else str(value) if int(value) >= 2**63 else int(value)


def tensor(t):
    dtype = t.dtype.name
    values = np.asarray(tf.cast(t, tf.float32) if t.dtype == tf.bfloat16 else t).reshape(-1)
    return {"dtype": dtype, "shape": list(t.shape), "data": [number(v, dtype) for v in values]}


def literal(x):
    if isinstance(x, dict):
        return {"dict": {k: literal(x[k]) for k in sorted(x)}}
    if isinstance(x, tuple):
        return {"tuple": [literal(v) for v in x]}
    if isinstance(x, tf.RaggedTensor):
        return {"ragged": {"values": tensor(x.flat_values), "row_splits": [np.asarray(s).tolist() for s in x.nested_row_splits]}}
    return tensor(x)


def dims(shape):
    return None if shape.rank is None else [-1 if d is None else d for d in shape.as_list()]


def spec(s):
    if isinstance(s, dict):
        return {"dict": {k: spec(s[k]) for k in sorted(s)}}
    if isinstance(s, tuple):
        return {"tuple": [spec(v) for v in s]}
    if isinstance(s, tf.RaggedTensorSpec):
        return {"ragged": {"dtype": s.dtype.name, "shape": dims(s.shape), "ragged_rank": s.ragged_rank,
                           "row_splits_dtype": s.row_splits_dtype.name}}
    return {"dtype": s.dtype.name, "shape": dims(s.shape)}


def datasets():
    numbers = tf.data.Dataset.range(5)
    yield "numbers", numbers, {}, {}
    yield "gzip", numbers, {"compression": "GZIP"}, {"compression": "GZIP"}
    yield "zlib", numbers, {"compression": "ZLIB"}, {"compression": "ZLIB"}
    yield "snappy", tf.data.Dataset.range(40).map(lambda x: tf.repeat(x, 200)), {"compression": "SNAPPY"}, {"compression": "SNAPPY"}
    yield "nested", numbers.map(lambda x: (x, {"a": tf.cast(x, tf.float32), "b": (tf.strings.as_string(x), x > 2)})), {}, {}
    yield "named_tuple", numbers.take(2).map(lambda x: Point(x, tf.stack([x, x]))), {}, {}
    yield "shapes", numbers.map(lambda x: (tf.range(x), tf.strings.as_string(tf.range(x)))), {}, {}
    yield "batches", numbers.batch(2), {}, {}
    yield "nothing", numbers.take(0), {}, {}
    yield "dtypes", tf.data.Dataset.from_tensors(
        (True, tf.constant(-1, tf.int8), tf.constant(2, tf.uint8), tf.constant(-3, tf.int16), tf.constant(4, tf.uint16),
         tf.constant(-5, tf.int32), tf.constant(2**32 - 1, tf.uint32), tf.constant(2**64 - 1, tf.uint64), tf.constant(0.5, tf.float16),
         tf.constant(1.5, tf.bfloat16), tf.constant(2.5, tf.float32), tf.constant(0.1, tf.float64), tf.constant([[], []], tf.int8),
         tf.constant([["a", "b\x00c"], ["", "d" * 200]]))), {}, {}
    yield "ragged", numbers.map(lambda x: (tf.RaggedTensor.from_row_splits(tf.range(x), [0, x // 2, x]), x)), {}, {}
    yield "ragged_twice", numbers.take(3).map(
        lambda x: tf.RaggedTensor.from_nested_row_splits(tf.cast(tf.range(x), tf.float32), [[0, 1, 2], [0, x // 2, x]])), {}, {}
    one = tf.data.Dataset.from_generator(lambda: iter([1, [2, 3]]), output_signature=tf.TensorSpec(None, tf.int32))
    yield "unknown_rank", one, {}, {}


def main(folder):
    cases = []
    shutil.rmtree(os.path.join(folder, "files", "saved"), ignore_errors=True)
    for name, dataset, save, load in datasets():
        path = os.path.join(folder, "files", "saved", name)
        dataset.save(path, **save)
        back = tf.data.Dataset.load(path, **load)
        expect = {"element_spec": spec(back.element_spec), "cardinality": int(back.cardinality()), "elements": [literal(e) for e in back]}
        pipeline = {"op": "load", "args": {"path": "files/saved/" + name, **load}}
        cases.append({"name": name, "op": "load", "pipeline": pipeline, "expect": expect})
    with open(os.path.join(folder, "tfdata", "load_files.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "tests/golden/data")
