"""The plans of tests/golden/data/README.md in TensorFlow: build(), and record(), which puts the answer into a case."""
import json
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.data.experimental.ops import global_shuffle_op

from plans import CODES, CURRIED, LONGEST
from plans_functions import FUNCTIONS, REDUCERS

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/golden/data")
FUNCTION_ARGUMENTS = ("map_func", "predicate", "key_func", "class_func", "element_length_func", "reduce_func", "scan_func",
                      "window_size_func", "transformation_func")
tf.autograph.set_verbosity(0)
plain = tf.autograph.experimental.do_not_convert
experimental = tf.data.experimental


# ---- literals ----

def scalar(value):
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return value


def tensor(literal):
    if "ragged" in literal:
        parts = literal["ragged"]
        splits = [tf.constant(s, tf.as_dtype(parts.get("row_splits_dtype", "int64"))) for s in parts["row_splits"]]
        return tf.RaggedTensor.from_nested_row_splits(tensor(parts["values"]), splits)
    if "sparse" in literal:
        parts = literal["sparse"]
        return tf.SparseTensor(tensor(parts["indices"]), tensor(parts["values"]), parts["dense_shape"])
    if "required" in literal:
        return tf.as_dtype(literal["required"])
    dtype = tf.as_dtype(literal["dtype"])
    data = [scalar(v) for v in literal["data"]]
    if dtype == tf.string:
        data = [v.encode() if isinstance(v, str) else v for v in data]
        return tf.constant(np.array(data, object).reshape(literal["shape"]), dtype)
    data = [(float(v) if dtype.is_floating else int(v)) if isinstance(v, str) else v for v in data]
    return tf.constant(np.array(data, dtype.as_numpy_dtype).reshape(literal["shape"]))


def structure(value, leaf):
    """`value` with leaf() of its leaves; tuples and dicts are spelt as the file format spells them."""
    if isinstance(value, dict) and "tuple" in value:
        return tuple(structure(v, leaf) for v in value["tuple"])
    if isinstance(value, dict) and "dict" in value:
        return {k: structure(v, leaf) for k, v in value["dict"].items()}
    return leaf(value)


def literal(value):
    return structure(value, lambda v: tensor(v) if isinstance(v, dict) else v)


def spec(value):
    def leaf(v):
        if "dataset" in v:
            return tf.data.DatasetSpec(spec(v["dataset"]))
        shape = None if v["shape"] is None else [None if d == -1 else d for d in v["shape"]]
        return tf.TensorSpec(shape, v["dtype"])
    return structure(value, leaf)


# ---- features of parse_example_dataset ----

def feature(spec, default):
    """A spec for one Example as a feature."""
    if "ragged" in spec:
        parts = spec["ragged"]
        return tf.io.RaggedFeature(tf.as_dtype(parts["dtype"]), row_splits_dtype=tf.as_dtype(parts.get("row_splits_dtype", "int64")))
    if "sparse" in spec:
        return tf.io.VarLenFeature(tf.as_dtype(spec["sparse"]["dtype"]))
    dtype, shape = tf.as_dtype(spec["dtype"]), spec["shape"]
    value = None if default is None else np.asarray(tensor(default).numpy()).tolist()
    if shape and shape[0] == -1:
        return tf.io.FixedLenSequenceFeature(shape[1:], dtype, allow_missing=True, default_value=value)
    return tf.io.FixedLenFeature(shape, dtype, value)


def features(args):
    defaults = (args.get("defaults") or {"dict": {}})["dict"]
    return {k: feature(s, defaults.get(k)) for k, s in args["features"]["dict"].items()}


# ---- pipelines ----

SOURCES = {"make_batched_features_dataset": experimental.make_batched_features_dataset,
           "make_csv_dataset": experimental.make_csv_dataset, "csv_dataset": experimental.CsvDataset,
           "tf_record_dataset": tf.data.TFRecordDataset, "from_list": experimental.from_list}


class Builder:
    def __init__(self, folder):
        self.folder, self.named = folder, {}

    def argument(self, name, value):
        if isinstance(value, str) and name in FUNCTION_ARGUMENTS:
            return plain(FUNCTIONS[value])
        if name == "reducer":
            return experimental.Reducer(*[plain(f) for f in REDUCERS[value]])
        if value == "AUTOTUNE" and name != "compression":
            return tf.data.AUTOTUNE
        if isinstance(value, str):
            return value.replace("$TMP", self.folder)
        if name == "elements":
            return [literal(v) for v in value]
        if isinstance(value, list):
            return [self.argument("", v) for v in value]
        if isinstance(value, dict) and ("op" in value or "ref" in value):
            return self.build(value)
        if name in ("element_spec", "output_signature"):
            return spec(value)
        return literal(value) if isinstance(value, dict) else value

    def build(self, plan):
        if "ref" in plan:
            return self.named[plan["ref"]]
        op = plan["op"]
        inputs = [self.build(p) for p in plan["inputs"]] if isinstance(plan.get("inputs"), list) else []
        if "input" in plan:
            inputs = [self.build(plan["input"])]
        if op == "zip":
            return tf.data.Dataset.zip(structure(plan["inputs"], self.build) if isinstance(plan["inputs"], dict)
                                       else tuple(inputs))
        args = {k: self.argument(k, v) for k, v in plan.get("args", {}).items() if k not in ("features", "defaults")}
        if "features" in plan.get("args", {}):
            args["features"] = features(plan["args"])
        if op in ("sample_from_datasets", "choose_from_datasets"):
            return getattr(tf.data.Dataset, op)(inputs, **args)
        if op == "range":
            numbers = [args[k] for k in ("start", "stop", "step") if k in args]
            if "step" in args and "start" not in args:
                numbers = [0] + numbers
            return tf.data.Dataset.range(*numbers, **{k: tf.as_dtype(args[k]) for k in args if k == "output_type"})
        if op == "counter" and "dtype" in args:
            args["dtype"] = tf.as_dtype(args["dtype"])
        if not inputs:
            return (SOURCES.get(op) or getattr(tf.data.Dataset, op))(**args)
        return self.method(op, inputs, args)

    def method(self, op, inputs, args):
        below = inputs[0]
        if op == "concatenate":
            for other in inputs[1:]:
                below = below.concatenate(other)
            return below
        if op == "global_shuffle":
            return global_shuffle_op._global_shuffle(below, **args)
        if op == "sparse_batch":
            args["row_shape"] = [None if d == -1 else d for d in args["row_shape"]]
        if op in CURRIED:
            return below.apply(getattr(experimental, op)(**args))
        if op == "with_options":
            options = tf.data.Options()
            for name, value in args.items():
                *path, last = name.split(".")
                at = options
                for part in path:
                    at = getattr(at, part)
                setattr(at, last, value)
            return below.with_options(options)
        if op == "ragged_batch" and "row_splits_dtype" in args:
            args["row_splits_dtype"] = tf.as_dtype(args["row_splits_dtype"])
        return getattr(below, op)(**args)


# ---- answers ----

def number_json(value, dtype):
    if dtype == tf.string:
        return value.decode() if all(32 <= c < 127 for c in value) else {"hex": value.hex()}
    if dtype.is_floating:
        if not np.isfinite(value):
            return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
        return float(str(value)) if dtype in (tf.float32, tf.float64) else float(value)
    return bool(value) if dtype == tf.bool else str(int(value)) if value >= 2 ** 63 else int(value)


def value_json(value):
    if value is None:
        return None
    if isinstance(value, tuple):
        return {"tuple": [value_json(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": {k: value_json(value[k]) for k in sorted(value)}}
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": {"values": value_json(value.flat_values), "row_splits": [s.numpy().tolist() for s in value.nested_row_splits]}}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": {"indices": value_json(value.indices), "values": value_json(value.values),
                           "dense_shape": value.dense_shape.numpy().tolist()}}
    if isinstance(value, tf.data.Dataset):
        return {"dataset": [value_json(v) for v in value.take(100)]}
    flat = np.asarray(value.numpy()).reshape(-1)
    return {"dtype": value.dtype.name, "shape": list(value.shape), "data": [number_json(v, value.dtype) for v in flat]}


def spec_json(value):
    if isinstance(value, tuple):
        return {"tuple": [spec_json(s) for s in value]}
    if isinstance(value, dict):
        return {"dict": {k: spec_json(value[k]) for k in sorted(value)}}
    if isinstance(value, tf.data.DatasetSpec):
        return {"dataset": spec_json(value.element_spec)}
    if isinstance(value, tf.NoneTensorSpec):
        return None
    shape = getattr(value, "_shape", None) if isinstance(value, tf.RaggedTensorSpec) else value.shape
    dims = None if shape.rank is None else [-1 if d is None else d for d in shape]
    if isinstance(value, tf.RaggedTensorSpec):
        return {"ragged": {"dtype": value.dtype.name, "shape": dims, "ragged_rank": value.ragged_rank,
                           "row_splits_dtype": value.row_splits_dtype.name}}
    if isinstance(value, tf.SparseTensorSpec):
        return {"sparse": {"dtype": value.dtype.name, "shape": dims}}
    return {"dtype": value.dtype.name, "shape": dims}


def code_of(error):
    return CODES[error.error_code] if isinstance(error, tf.errors.OpError) else "INVALID_ARGUMENT"


def error_json(error, when):
    return {"error": {"when": when, "code": code_of(error), "python": type(error).__name__}}


def iterate(iterator, count):
    """(results, whether it ended or made `count` calls)"""
    out = []
    while len(out) < (LONGEST if count is None else count):
        try:
            out.append(value_json(next(iterator)))
        except StopIteration:
            return out, True
        except tf.errors.OpError as error:
            out.append({"error": code_of(error)})
    return out, count is not None


def answer_terminal(dataset, terminal, builder, expect):
    op, args = terminal["op"], {k: builder.argument(k, v) for k, v in terminal.get("args", {}).items()}
    calls = {"reduce": lambda: dataset.reduce(**args), "get_single_element": dataset.get_single_element,
             "cardinality": dataset.cardinality, "length": lambda: tf.constant(len(dataset), tf.int64),
             "at": lambda: experimental.at(dataset, **args)}
    try:
        expect["value"] = value_json(calls[op]())
    except (tf.errors.OpError, ValueError, TypeError) as error:
        expect.update(error_json(error, "terminal"))


def answer(case, folder):
    """The `expect` of `case`; may put numbers into its `iterate`."""
    builder = Builder(folder)
    tf.random.set_seed(case["global_seed"]) if "global_seed" in case else tf.random.set_seed(None)
    try:
        for named in case.get("let", []):
            builder.named[named["name"]] = builder.build(named["node"])
        dataset = builder.build(case["pipeline"])
    except (tf.errors.OpError, ValueError, TypeError, AttributeError, OverflowError) as error:
        return error_json(error, "build")
    expect = {"element_spec": spec_json(dataset.element_spec)}
    try:
        expect["cardinality"] = int(dataset.cardinality())
    except tf.errors.OpError:
        pass
    if "terminal" in case:
        answer_terminal(dataset, case["terminal"], builder, expect)
        return expect
    counts = case.get("iterate", [None])
    for i, key in enumerate(("elements", "elements_epoch2", "elements_epoch3")[:len(counts)]):
        try:
            iterator = iter(dataset)
        except (tf.errors.OpError, ValueError, TypeError) as error:
            expect.update(error_json(error, "open"))
            return expect
        expect[key], ended = iterate(iterator, counts[i])
        if not ended:
            case["iterate"] = counts = counts[:i] + [LONGEST] + counts[i + 1:]
        del iterator
        if case.get("unordered"):
            expect[key].sort(key=json.dumps)
    return expect


def record(case):
    folder = tempfile.mkdtemp()
    case = {k: v for k, v in case.items() if k != "expect"}
    os.chdir(FILES)
    try:
        case["expect"] = answer(case, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return case
