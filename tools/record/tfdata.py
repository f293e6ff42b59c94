#!/usr/bin/env python3
"""Record what TensorFlow answers to pipelines: prints cases in the form of tests/golden/data/README.md.

    tfdata.py PLANS.json > CASES.json

PLANS.json is a list of {"name", "op", "pipeline"} with the optional members "iterate" and "global_seed" of a case; paths in it
are relative to the working directory. Needs TensorFlow 2.21. Knows the operators and functions in the tables below.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

LONGEST = 60  # outcomes of one iterator, where none is said
CODES = {
    tf.errors.InvalidArgumentError: "INVALID_ARGUMENT", tf.errors.DataLossError: "DATA_LOSS",
    tf.errors.NotFoundError: "NOT_FOUND", tf.errors.InternalError: "INTERNAL",
    tf.errors.FailedPreconditionError: "FAILED_PRECONDITION", tf.errors.UnimplementedError: "UNIMPLEMENTED",
    tf.errors.OutOfRangeError: "OUT_OF_RANGE", tf.errors.UnknownError: "UNKNOWN",
    tf.errors.ResourceExhaustedError: "RESOURCE_EXHAUSTED",
}


def code_of(error):
    if isinstance(error, (ValueError, TypeError)):
        return "INVALID_ARGUMENT"
    for kind, code in CODES.items():
        if isinstance(error, kind):
            return code
    raise error


# ---- literals and specs ----


def text_of(data):
    if all(32 <= b < 127 for b in data):
        return data.decode()
    return {"hex": data.hex()}


def bytes_of(text):
    return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()


def array_of(tensor):
    dtype = tensor["dtype"]
    data = [bytes_of(t) for t in tensor["data"]] if dtype == "string" else tensor["data"]
    array = np.array([float(x) for x in data] if dtype.startswith("float") else data,
                     dtype=object if dtype == "string" else dtype)
    return tf.constant(array.reshape(tensor["shape"]), dtype=dtype)


def value_of(literal):
    if literal is None:
        return None
    if isinstance(literal, list):
        return [value_of(x) for x in literal]
    if not isinstance(literal, dict):
        return literal
    if "tuple" in literal:
        return tuple(value_of(x) for x in literal["tuple"])
    if "dict" in literal:
        return {k: value_of(v) for k, v in literal["dict"].items()}
    if "ragged" in literal:
        splits = [tf.constant(s, tf.as_dtype(literal["ragged"].get("row_splits_dtype", "int64")))
                  for s in literal["ragged"]["row_splits"]]
        return tf.RaggedTensor.from_nested_row_splits(array_of(literal["ragged"]["values"]), splits)
    if "sparse" in literal:
        parts = literal["sparse"]
        return tf.SparseTensor(array_of(parts["indices"]), array_of(parts["values"]), parts["dense_shape"])
    if "required" in literal:
        return tf.as_dtype(literal["required"])
    return array_of(literal)


def number_of(x, dtype):
    if dtype.startswith("float"):
        x = float(x)
        if np.isnan(x) or np.isinf(x):
            return "nan" if np.isnan(x) else "inf" if x > 0 else "-inf"
        return float(np.format_float_positional(np.float32(x), unique=True)) if dtype == "float32" else x
    return bool(x) if dtype == "bool" else text_of(x) if dtype == "string" else int(x)


def json_of_tensor(tensor):
    array, dtype = np.asarray(tensor), tf.as_dtype(tensor.dtype).name
    return {"dtype": dtype, "shape": list(array.shape), "data": [number_of(x, dtype) for x in array.reshape(-1)]}


def json_of(value):
    if value is None:
        return None
    if isinstance(value, tf.data.Dataset):
        return {"dataset": [json_of(v) for v in value.take(100)]}
    if isinstance(value, tuple):
        return {"tuple": [json_of(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": {k: json_of(value[k]) for k in sorted(value)}}
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": {"values": json_of_tensor(value.flat_values),
                           "row_splits": [[int(x) for x in s] for s in value.nested_row_splits]}}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": {"indices": json_of_tensor(value.indices), "values": json_of_tensor(value.values),
                           "dense_shape": [int(x) for x in value.dense_shape]}}
    return json_of_tensor(value)


def shape_of(shape):
    return None if shape.rank is None else [-1 if d is None else d for d in shape.as_list()]


def json_of_spec(spec):
    if isinstance(spec, tuple):
        return {"tuple": [json_of_spec(s) for s in spec]}
    if isinstance(spec, dict):
        return {"dict": {k: json_of_spec(spec[k]) for k in sorted(spec)}}
    if isinstance(spec, tf.NoneTensorSpec if hasattr(tf, "NoneTensorSpec") else type(None)):
        return None
    if isinstance(spec, tf.data.DatasetSpec):
        return {"dataset": json_of_spec(spec.element_spec)}
    if isinstance(spec, tf.RaggedTensorSpec):
        return {"ragged": {"dtype": spec.dtype.name, "shape": shape_of(spec.shape), "ragged_rank": spec.ragged_rank,
                           "row_splits_dtype": spec.row_splits_dtype.name}}
    if isinstance(spec, tf.SparseTensorSpec):
        return {"sparse": {"dtype": spec.dtype.name, "shape": shape_of(spec.shape)}}
    return {"dtype": spec.dtype.name, "shape": shape_of(spec.shape)}


# ---- functions ----


def shaped(value, shape):
    value.set_shape(shape)
    return value


def failing(bad):
    def function(x):
        with tf.control_dependencies([tf.debugging.Assert(tf.logical_not(bad(x)), ["failed"])]):
            return tf.identity(x)

    return function


def iota(x):
    return shaped(tf.range(x), [None])


FUNCTIONS = {
    "identity": lambda *x: x[0] if len(x) == 1 else x,
    "square": lambda x: x * x,
    "first": lambda a, b: a,
    "second": lambda a, b: b,
    "swap": lambda a, b: (b, a),
    "pair_with_square": lambda x: (x, x * x),
    "vec3": lambda x: tf.stack([x, x + 1, x + 2]),
    "iota": iota,
    "iota_mod_4": lambda x: iota(x % 4),
    "iota_pair": lambda x: (iota(x), x),
    "iota_string": lambda x: shaped(tf.strings.as_string(tf.range(x)), [None]),
    "fill_rows": lambda x: shaped(tf.fill([x, 2], x), [None, 2]),
    "fill_cols": lambda x: shaped(tf.fill([2, x], x), [2, None]),
    "fail_on_3": failing(lambda x: tf.equal(x, 3)),
    "fail_on_odd": failing(lambda x: tf.equal(x % 2, 1)),
    "always_true": lambda *x: tf.constant(True),
    "always_false": lambda *x: tf.constant(False),
    "is_even": lambda x: tf.equal(x % 2, 0),
    "batch_2": lambda w: w.batch(2),
    "batch_3": lambda w: w.batch(3),
    "slices_of": tf.data.Dataset.from_tensor_slices,
    "mod_2": lambda x: x % 2,
    "window_batch_3": lambda key, w: w.batch(3),
}


# ---- features of parse_example_dataset ----


def feature_of(spec, default, key):
    """A spec for one Example as a feature; `key` says where a composite one finds its values."""
    if "ragged" in spec:
        parts = spec["ragged"]
        return tf.io.RaggedFeature(tf.as_dtype(parts["dtype"]), value_key=key,
                                   row_splits_dtype=tf.as_dtype(parts.get("row_splits_dtype", "int64")))
    if "sparse" in spec:
        return tf.io.VarLenFeature(tf.as_dtype(spec["sparse"]["dtype"]))
    dtype, shape = tf.as_dtype(spec["dtype"]), spec["shape"]
    value = None if default is None else np.asarray(array_of(default).numpy()).tolist()
    if shape and shape[0] == -1:
        return tf.io.FixedLenSequenceFeature(shape[1:], dtype, allow_missing=True, default_value=value)
    return tf.io.FixedLenFeature(shape, dtype, value)


def features_of(args):
    defaults = (args.get("defaults") or {"dict": {}})["dict"]
    return {k: feature_of(s, defaults.get(k), None) for k, s in args["features"]["dict"].items()}


# ---- operators ----


def method(name, functions=(), literals=()):
    def make(args, inputs):
        given = {k: FUNCTIONS[v] if k in functions else value_of(v) if k in literals else v for k, v in args.items()}
        for k, v in given.items():
            given[k] = tf.data.AUTOTUNE if isinstance(v, str) and v == "AUTOTUNE" else v
        return getattr(inputs[0], name)(**given)

    return make


def constructor(function, literals=()):
    def make(args, inputs):
        given = {k: value_of(v) if k in literals else tf.data.AUTOTUNE if v == "AUTOTUNE" else v for k, v in args.items()}
        return function(**given)

    return make


def make_range(args, inputs):
    if "stop" in args and "start" not in args and "step" not in args:
        return tf.data.Dataset.range(args["stop"])
    return tf.data.Dataset.range(args.get("start", 0), args["stop"], args.get("step", 1))


def parse_example(args, inputs):
    rest = {k: v for k, v in args.items() if k in ("num_parallel_calls", "deterministic")}
    if rest.get("num_parallel_calls") == "AUTOTUNE":
        rest["num_parallel_calls"] = tf.data.AUTOTUNE
    return inputs[0].apply(tf.data.experimental.parse_example_dataset(features_of(args), **rest))


def batched_features(args, inputs):
    rest = {k: tf.data.AUTOTUNE if v == "AUTOTUNE" else v for k, v in args.items() if k not in ("features", "defaults")}
    return tf.data.experimental.make_batched_features_dataset(features=features_of(args), **rest)


def sparse_batch(args, inputs):
    return inputs[0].sparse_batch(args["batch_size"], [None if d == -1 else d for d in args["row_shape"]])


def zipped(args, inputs):
    return tf.data.Dataset.zip(tuple(inputs))


OPERATORS = {
    "range": make_range,
    "from_tensors": constructor(tf.data.Dataset.from_tensors, ["tensors"]),
    "from_tensor_slices": constructor(tf.data.Dataset.from_tensor_slices, ["tensors"]),
    "from_list": constructor(lambda elements: tf.data.experimental.from_list(elements), ["elements"]),
    "zip": zipped,
    "sparse_batch": sparse_batch,
    "concatenate": lambda args, inputs: inputs[0].concatenate(inputs[1]),
    "map": method("map", ["map_func"]),
    "filter": method("filter", ["predicate"]),
    "flat_map": method("flat_map", ["map_func"]),
    "group_by_window": method("group_by_window", ["key_func", "reduce_func", "window_size_func"]),
    "padded_batch": method("padded_batch", literals=["padded_shapes", "padding_values"]),
    "parse_example_dataset": parse_example,
    "make_batched_features_dataset": batched_features,
    "make_csv_dataset": constructor(tf.data.experimental.make_csv_dataset, ["column_defaults"]),
    "csv_dataset": constructor(tf.data.experimental.CsvDataset, ["record_defaults"]),
    "tf_record_dataset": constructor(tf.data.TFRecordDataset),
}
for name in ("take", "skip", "repeat", "batch", "unbatch", "ragged_batch", "rebatch", "shuffle", "cache", "prefetch",
             "shard", "enumerate", "window", "unique", "ignore_errors"):
    OPERATORS[name] = method(name)


def build(node):
    args = node.get("args", {})
    inputs = [build(n) for n in node.get("inputs", [])] or ([build(node["input"])] if "input" in node else [])
    return OPERATORS[node["op"]](args, inputs)


# ---- cases ----


def iterate(iterator, limit):
    outcomes = []
    while len(outcomes) < (LONGEST if limit is None else limit):
        try:
            outcomes.append(json_of(next(iterator)))
        except StopIteration:
            return outcomes
        except Exception as error:  # noqa: BLE001, code_of raises what it does not know
            outcomes.append({"error": code_of(error)})
    if limit is None:
        outcomes.append("no end after %d outcomes" % LONGEST)
    return outcomes


def record(plan):
    case = {k: plan[k] for k in ("name", "op", "global_seed", "pipeline", "iterate") if k in plan}
    tf.random.set_seed(plan["global_seed"]) if "global_seed" in plan else tf.random.set_seed(None)
    try:
        dataset = build(plan["pipeline"])
    except Exception as error:  # noqa: BLE001
        case["expect"] = {"error": {"when": "build", "code": code_of(error), "python": type(error).__name__}}
        return case
    expect = {"element_spec": json_of_spec(dataset.element_spec), "cardinality": int(dataset.cardinality())}
    keys = ("elements", "elements_epoch2", "elements_epoch3")
    for key, limit in zip(keys, plan.get("iterate", [None])):
        try:
            iterator = iter(dataset)
        except Exception as error:  # noqa: BLE001
            case["expect"] = {"error": {"when": "open", "code": code_of(error), "python": type(error).__name__}}
            return case
        expect[key] = iterate(iterator, limit)
    case["expect"] = expect
    return case


def main():
    with open(sys.argv[1]) as file:
        plans = json.load(file)
    cases = []
    for plan in plans:
        cases.append(record(plan))
    print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")


if __name__ == "__main__":
    main()
