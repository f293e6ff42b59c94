#!/usr/bin/env python3
"""Record the cases of the operations with random numbers.

    random_ops.py FOLDER        writes FOLDER/<operation>.json (tests/conform/ops) with what TensorFlow 2.21 gives

Of random_uniform and random_normal make_op_cases.py has the cases.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "conform"))

import tensorflow as tf  # noqa: E402
from op_case_model import DTYPE, INVALID, SHAPE, VALUE, failure  # noqa: E402

CASES = {}
random = tf.random


def literal(tensor):
    tensor = tf.convert_to_tensor(tensor)
    return {"dtype": tensor.dtype.name, "shape": tensor.shape.as_list(),
            "data": [number(x) for x in tensor.numpy().reshape(-1).tolist()]}


def number(value):
    """JSON has no infinities, and the reader no integers beyond int64."""
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def case(op, name, attributes, inputs, output, tolerance=0):
    """One call; its output from TensorFlow."""
    tf.random.set_seed(87654321)  # the seed of graphs that have none: what a seed without a global one is joined with
    entry = {"name": name, "attributes": attributes, "inputs": [literal(x) for x in inputs], "outputs": [literal(output())]}
    if tolerance:
        entry["tolerance"] = tolerance
    CASES.setdefault(op, []).append(entry)


def error(op, name, attributes, inputs, reason, keyword):
    CASES.setdefault(op, []).append({"name": name, "attributes": attributes, "inputs": [literal(x) for x in inputs],
                                     "error": failure(INVALID, reason, keyword)})


seed = tf.constant([3, -4])
wide = tf.constant([2**40, -(2**50)], tf.int64)
for op, function, tolerance in (("stateless_uniform", random.stateless_uniform, 0),
                                ("stateless_normal", random.stateless_normal, 3e-7),
                                ("stateless_truncated_normal", random.stateless_truncated_normal, 3e-7)):
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        case(op, dtype, {"shape": [2, 5], "dtype": dtype}, [seed],
             lambda: function([2, 5], seed, dtype=dtype), tolerance if "64" not in dtype else 1e-14 if tolerance else 0)
    case(op, "wide_seed", {"shape": [3]}, [wide], lambda: function([3], wide), tolerance)
    case(op, "scalar", {"shape": [], "alg": "philox"}, [seed], lambda: function([], seed), tolerance)
    case(op, "empty", {"shape": [0, 2]}, [seed], lambda: function([0, 2], seed))
    error(op, "open_shape", {"shape": [-1]}, [seed], SHAPE, "dimensions")
    error(op, "dtype", {"shape": [2], "dtype": "uint8"}, [seed], DTYPE, "float16")
    error(op, "seeds", {"shape": [2]}, [tf.constant([1, 2, 3, 4])], SHAPE, "integers")
    error(op, "float_seed", {"shape": [2]}, [tf.constant([1., 2])], SHAPE, "integers")
    error(op, "algorithm", {"shape": [2], "alg": "threefry"}, [seed], VALUE, "philox")
case("stateless_uniform", "range", {"shape": [5], "minval": -1.5, "maxval": 3.25}, [seed],
     lambda: random.stateless_uniform([5], seed, -1.5, 3.25))
for dtype in ("int32", "int64"):
    case("stateless_uniform", dtype, {"shape": [7], "minval": -5, "maxval": 1000, "dtype": dtype}, [seed],
         lambda: random.stateless_uniform([7], seed, -5, 1000, dtype))
case("stateless_uniform", "largest", {"shape": [3], "maxval": 2.0**63, "dtype": "int64"}, [seed],
     lambda: random.stateless_uniform([3], seed, 0, tf.int64.max, tf.int64))
error("stateless_uniform", "no_range", {"shape": [3], "minval": 5, "maxval": 5, "dtype": "int32"}, [seed], VALUE, "minval")
case("stateless_normal", "moved", {"shape": [5], "mean": 3.0, "stddev": 0.5}, [seed],
     lambda: random.stateless_normal([5], seed, 3, 0.5), 3e-7)
case("stateless_truncated_normal", "moved", {"shape": [5], "mean": 3.0, "stddev": 0.5}, [seed],
     lambda: random.stateless_truncated_normal([5], seed, 3, 0.5), 3e-7)
state = tf.constant([2**62, -1, 77], tf.int64)
case("stateless_uniform", "state", {"shape": [6]}, [state],
     lambda: random.Generator.from_state(state, "philox").uniform([6]))
case("stateless_normal", "state", {"shape": [6]}, [state],
     lambda: random.Generator.from_state(state, "philox").normal([6]), 3e-7)

for dtype in ("int32", "int64", "uint32", "uint64"):
    case("stateless_integers", dtype, {"shape": [5], "dtype": dtype}, [seed],
         lambda: random.stateless_uniform([5], seed, None, None, dtype))
case("stateless_integers", "state", {"shape": [3], "dtype": "uint64"}, [state],
     lambda: random.Generator.from_state(state, "philox").uniform_full_int([3]))
error("stateless_integers", "floats", {"shape": [2], "dtype": "float32"}, [seed], DTYPE, "int32")

for count in (0, 2, 3, 5):
    case("seed_split", f"num_{count}", {"num": count}, [seed], lambda: random.split(seed, count))
case("seed_split", "default", {}, [wide], lambda: random.split(wide))
error("seed_split", "matrix", {}, [tf.constant([[1, 2]])], SHAPE, "integers")
for data in (0, 5, -7):
    case("seed_fold_in", f"data_{data}".replace("-", "minus_"), {}, [seed, tf.constant(data)],
         lambda: random.fold_in(seed, tf.constant(data)))
case("seed_fold_in", "wide_data", {}, [seed, tf.constant(2**40, tf.int64)],
     lambda: random.fold_in(seed, tf.constant(2**40, tf.int64)))
case("seed_fold_in", "wide_seed", {}, [wide, tf.constant(9)], lambda: random.fold_in(wide, tf.constant(9)))
error("seed_fold_in", "vector", {}, [seed, tf.constant([1])], SHAPE, "rank")

VALUES = {"vector": tf.range(10), "rows": tf.reshape(tf.range(12.), [4, 3]), "one": tf.constant([7]), "scalar": tf.constant(7),
          "empty": tf.zeros([0, 2]), "bytes": tf.cast(tf.range(5), tf.uint8)}
for name, value in VALUES.items():
    if name != "scalar":
        case("stateless_shuffle", name, {}, [value, seed], lambda: random.experimental.stateless_shuffle(value, seed))
    case("random_shuffle", name, {"seed": 7}, [value], lambda: random.shuffle(value, seed=7))
error("stateless_shuffle", "seeds", {}, [tf.range(3), tf.constant([1, 2, 3])], SHAPE, "integers")

LOGITS = {"two_rows": tf.constant([[0.1, 2, -1], [3, 0, 0.5]]), "float64": tf.constant([[1., 2, 3]], tf.float64),
          "float16": tf.constant([[1., 2, 3]], tf.float16), "impossible": tf.constant([[1., float("-inf"), 2]]),
          "one_class": tf.constant([[5.]]), "no_rows": tf.zeros([0, 3])}
for name, logits in LOGITS.items():
    case("stateless_categorical", name, {"num_samples": 7}, [logits, seed],
         lambda: random.stateless_categorical(logits, 7, seed))
    case("random_categorical", name, {"num_samples": 7, "seed": 7}, [logits],
         lambda: random.categorical(logits, 7, seed=7))
case("random_categorical", "int32", {"num_samples": 3, "seed": 7, "dtype": "int32"}, [LOGITS["two_rows"]],
     lambda: random.categorical(LOGITS["two_rows"], 3, tf.int32, seed=7))
for op, more in (("stateless_categorical", [seed]), ("random_categorical", [])):
    error(op, "vector", {"num_samples": 2}, [tf.constant([0.1, 0.2]), *more], SHAPE, "rank")
    error(op, "integers", {"num_samples": 2}, [tf.constant([[1, 2]]), *more], DTYPE, "floats")
    error(op, "no_classes", {"num_samples": 2}, [tf.zeros([2, 0]), *more], SHAPE, "classes")

for dtype in ("float32", "float64", "float16", "bfloat16"):
    case("random_truncated_normal", dtype, {"shape": [9], "seed": 7, "dtype": dtype}, [],
         lambda: random.truncated_normal([9], seed=7, dtype=dtype), 3e-7 if "64" not in dtype else 1e-14)
case("random_truncated_normal", "moved", {"shape": [3], "seed": 7, "mean": 5.0, "stddev": 2.0}, [],
     lambda: random.truncated_normal([3], 5, 2, seed=7), 3e-7)
error("random_truncated_normal", "open_shape", {"shape": [-1]}, [], SHAPE, "dimensions")


def skipped(start, delta):
    generator = random.Generator.from_state(start, "philox")
    generator.skip(delta)
    return generator.state.read_value()


for name, start, delta in (("steps", [1, 2, 3], 5), ("none", [1, 2, 3], 0), ("carry", [-1, 2, 3], 1),
                           ("carry_over", [-256, -1, 3], 1), ("far", [0, 0, -3], 2**50)):
    start = tf.constant(start, tf.int64)
    delta = tf.constant(delta, tf.int64)
    case("rng_skip", name, {}, [start, delta], lambda: skipped(start, delta))
error("rng_skip", "short", {}, [tf.constant([1, 2], tf.int64), tf.constant(1, tf.int64)], SHAPE, "counter")

for op, cases in CASES.items():
    with open(os.path.join(sys.argv[1], op + ".json"), "w", encoding="utf-8") as out:
        body = ",\n".join(json.dumps(entry) for entry in cases)
        out.write(f'{{"op": "{op}", "cases": [\n{body}\n]}}\n')
