"""``tf.io.parse_example`` and what describes the features: serialised tf.train.Examples as tensors.

One Example is parsed by the operation parse_example, which runs without the GIL within functions. A batch of them is
parsed by the operator parse_example_dataset; within a function that is traced there is no operation for a batch, so
such a function is called in Python for each batch; ``data.experimental.parse_example_dataset``, or parsing before
``batch``, is quicker.
"""

import collections

import numpy as np

from leat import dtypes, nest, ops, specs, trace
from leat.errors import InvalidArgumentError
from leat.ragged import RaggedTensor
from leat.sparse import SparseTensor
from leat.tensor import convert_to_tensor

FixedLenFeature = collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
FixedLenFeature.__doc__ = "A feature of a known shape; `default_value` stands for one that is missing."
VarLenFeature = collections.namedtuple("VarLenFeature", ["dtype"])
VarLenFeature.__doc__ = "A feature of any number of values, as a SparseTensor."
FixedLenSequenceFeature = collections.namedtuple(
    "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"], defaults=[False, None])
FixedLenSequenceFeature.__doc__ = "Any number of values of a known shape; a batch is filled up with `default_value`."
SparseFeature = collections.namedtuple(
    "SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"], defaults=[False])
SparseFeature.__doc__ = "Values of one feature at the places of another one, as a SparseTensor of length `size`."
_Ragged = collections.namedtuple(
    "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])


class RaggedFeature(_Ragged):
    """Any number of values, cut into rows by `partitions`, which name other features (``tf.io.RaggedFeature``)."""

    __slots__ = ()
    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False):
        partitions = (partitions,) if hasattr(partitions, "_fields") else tuple(partitions)
        for partition in partitions:
            if not isinstance(partition, (cls.RowSplits, cls.RowLengths, cls.RowStarts, cls.RowLimits,
                                          cls.ValueRowIds, cls.UniformRowLength)):
                raise TypeError(f"`partitions` must be a list of partition objects {partition!r}")
        return super().__new__(cls, dtype, value_key, partitions, row_splits_dtype, validate)


# ---- from features to what the library parses ----

class _Plan:
    """Which features of a record are wanted: specs by key, and the defaults of some."""

    def __init__(self, features):
        if not features:
            raise ValueError("Invalid argument: features cannot be empty.")
        self.features = features
        self.specs, self.defaults, self._kinds = {}, {}, {}
        for key in sorted(features):
            self._add(key, features[key])

    def _add(self, key, feature):
        if isinstance(feature, FixedLenFeature):
            shape = specs.TensorSpec(feature.shape, feature.dtype).shape
            if shape.rank is None or not shape.is_fully_defined():
                raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
            self._want(key, "dense", specs.TensorSpec(shape, feature.dtype))
            if feature.default_value is not None:
                default = np.asarray(convert_to_tensor(feature.default_value, dtype=feature.dtype).numpy())
                self.defaults[key] = _like(np.broadcast_to(default.reshape(shape.as_list()) if default.size != 1 else (
                    default.reshape(())), shape.as_list()), feature.dtype)
        elif isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            self._want(key, "dense", specs.TensorSpec([None, *specs.TensorSpec(feature.shape).shape], feature.dtype))
            if feature.default_value is not None:
                self.defaults[key] = convert_to_tensor(feature.default_value, dtype=feature.dtype)
        elif isinstance(feature, VarLenFeature):
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}. Received feature={feature}")
            self._want(key, "sparse", specs.SparseTensorSpec([None], feature.dtype))
        elif isinstance(feature, SparseFeature):
            if not isinstance(feature.index_key, str):
                raise ValueError(f"{key}: index_key is {feature.index_key!r}; expected the name of one feature")
            self._want(feature.index_key, "sparse", specs.SparseTensorSpec([None], dtypes.int64))
            self._want(feature.value_key, "sparse", specs.SparseTensorSpec([None], feature.dtype))
        elif isinstance(feature, RaggedFeature):
            self._want_ragged(feature.value_key or key, feature.dtype, feature)
            for partition in feature.partitions:
                if not isinstance(partition, RaggedFeature.UniformRowLength):
                    self._want_ragged(partition.key, dtypes.int64, feature)
        else:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key '{key}'")

    def _want_ragged(self, key, dtype, feature):
        self._want(key, "ragged", specs.RaggedTensorSpec([None], dtype, 0, feature.row_splits_dtype))

    def _want(self, key, kind, spec):
        other = self._kinds.setdefault(key, kind)
        if other != kind:
            first, second = sorted((other, kind), key=["dense", "ragged", "sparse"].index)
            raise ValueError(f"{first.title()} and {second} keys must not intersect; both name {key!r}")
        if spec.dtype not in (dtypes.int64, dtypes.float32, dtypes.string):
            raise InvalidArgumentError(None, None, f"feature {key!r} is of {spec.dtype.name}, which is not in the list "
                                                   "of allowed values: float, int64, string")
        if self.specs.setdefault(key, spec).dtype != spec.dtype:
            raise ValueError(f"Conflicting type {self.specs[key].dtype.name} vs {spec.dtype.name} for feature {key}.")


def operator_arguments(features):
    """(specs, defaults or None, is every feature one key of its own?) for the operators that parse batches."""
    plan = _Plan(features)
    is_plain = set(plan.specs) == set(features) and not any(
        isinstance(feature, SparseFeature) or getattr(feature, "partitions", ()) for feature in features.values())
    return _batched(plan.specs) if is_plain else plan.specs, plan.defaults or None, is_plain


def _like(array, dtype):
    return convert_to_tensor(np.array(array, dtype=object if dtype == dtypes.string else None))


# ---- one Example ----

def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialised Example, a scalar string (``tf.io.parse_single_example``): a dict by key.

    features: {key: FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, SparseFeature or RaggedFeature}.
    InvalidArgumentError where the record is no Example, or a feature is missing or of another dtype or length.
    """
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    plan = _Plan(features)
    keys = sorted(plan.specs)
    wanted = {key: plan.specs[key] if type(plan.specs[key]) is specs.TensorSpec else
              specs.TensorSpec([None], plan.specs[key].dtype) for key in keys}
    attributes = {"features": nest.to_json(wanted)}
    fixed = {key: ops.literal(value) for key, value in plan.defaults.items()
             if not isinstance(features[key], FixedLenSequenceFeature)}
    if fixed:
        attributes["defaults"] = {"dict": fixed}
    found = dict(zip(keys, ops.call("parse_example", attributes, [serialized])))
    return {key: _single(key, feature, found) for key, feature in features.items()}


def _single(key, feature, found):
    if isinstance(feature, VarLenFeature):
        values = found[key]
        places = _count(values)
        return SparseTensor(ops.FUNCTIONS["expand_dims"](places, 1), values, _length(values))
    if isinstance(feature, SparseFeature):
        places, values = found[feature.index_key], found[feature.value_key]
        if trace.is_tracing() and not places._has_values:
            raise trace.NotTraceable("SparseFeature")
        return _sparse(feature, [places.numpy()], [values.numpy()], None)
    if isinstance(feature, RaggedFeature):
        if feature.partitions and not found[feature.value_key or key]._has_values:
            raise trace.NotTraceable("RaggedFeature with partitions")
        return _partition(feature, found[feature.value_key or key], found)
    return found[key]


def _length(values):
    return ops.FUNCTIONS["shape"](values, out_type=dtypes.int64)


def _count(values):
    """0, 1, 2, ... for each value of a vector."""
    if values._has_values:
        return convert_to_tensor(np.arange(values._shape[0], dtype=np.int64))
    end = ops.FUNCTIONS["gather"](_length(values), 0)
    return ops.call("range", {}, [convert_to_tensor(np.int64(0)), end, convert_to_tensor(np.int64(1))])[0]


def _partition(feature, values, found):
    """The values of one Example cut into rows; the innermost partition comes last."""
    out = values
    for partition in reversed(feature.partitions):
        count = out.shape[0] if out.shape.rank and out.shape[0] is not None else len(out)
        if isinstance(partition, RaggedFeature.UniformRowLength):
            length = partition.length
            if isinstance(out, RaggedTensor):
                out = RaggedTensor.from_row_splits(out, _splits(np.arange(0, count + 1, length), feature))
            else:
                shape = [count // length, length, *out._shape[1:]]
                out = ops.FUNCTIONS["reshape"](out, shape)
            continue
        given = np.asarray(found[partition.key].numpy())
        out = RaggedTensor.from_row_splits(out, _splits(_row_splits(partition, given, count), feature))
    return out


def _row_splits(partition, given, count):
    if isinstance(partition, RaggedFeature.RowSplits):
        return given
    if isinstance(partition, RaggedFeature.RowLengths):
        return np.concatenate([[0], np.cumsum(given)])
    if isinstance(partition, RaggedFeature.RowStarts):
        return np.concatenate([given, [count]])
    if isinstance(partition, RaggedFeature.RowLimits):
        return np.concatenate([[0], given])
    rows = int(given[-1]) + 1 if len(given) else 0
    return np.concatenate([[0], np.cumsum(np.bincount(given, minlength=rows))])


def _splits(splits, feature):
    return np.asarray(splits).astype(dtypes.as_dtype(feature.row_splits_dtype).as_numpy_dtype)


# ---- a batch of Examples ----

def parse_example(serialized, features, example_names=None, name=None):
    """The features of a vector of serialised Examples as batches (``tf.io.parse_example``); of a scalar, as
    `parse_single_example`.

    VarLenFeature and SparseFeature give SparseTensors of rank 2, RaggedFeature RaggedTensors, FixedLenSequenceFeature
    tensors that are filled up to the longest. Errors as `parse_single_example`.
    """
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.shape.rank == 0:
        return parse_single_example(serialized, features)
    if serialized.shape.rank not in (1, None):
        raise InvalidArgumentError(None, None, "Expected serialized to be a scalar or vector, got shape: "
                                               f"{serialized.shape.as_list()}")
    if not serialized._has_values:
        raise trace.NotTraceable("parse_example of a batch; parse before batch with parse_single_example, or use "
                                 "data.experimental.parse_example_dataset")
    from leat.data.dataset import Dataset, make
    plan = _Plan(features)
    spec = {key: specs.RaggedTensorSpec([None, None], leaf.dtype, 1, leaf.row_splits_dtype)
            if isinstance(leaf, specs.RaggedTensorSpec) else leaf for key, leaf in plan.specs.items()}
    with trace.eagerly():
        batches = make("parse_example_dataset", (Dataset.from_tensors(serialized),),
                       {"features": _batched(spec), "defaults": plan.defaults or None})
        found = batches.get_single_element()
        return {key: _batch(key, feature, found) for key, feature in features.items()}


def _batched(spec):
    """The specs of one Example as the operator takes them: ragged ones by rank 1."""
    return {key: specs.RaggedTensorSpec([None], leaf.dtype, 0, leaf.row_splits_dtype)
            if isinstance(leaf, specs.RaggedTensorSpec) else leaf for key, leaf in spec.items()}


def _batch(key, feature, found):
    if isinstance(feature, SparseFeature):
        places, values = found[feature.index_key], found[feature.value_key]
        rows = int(values.dense_shape.numpy()[0])
        return _sparse(feature, _rows(places, rows), _rows(values, rows), rows)
    if isinstance(feature, RaggedFeature):
        values = found[feature.value_key or key]
        return values if not feature.partitions else _partition_rows(feature, values, found)
    return found[key]


def _rows(sparse, count):
    """The values of each row of a SparseTensor of rank 2."""
    row_of = sparse.indices.numpy()[:, 0]
    values = np.asarray(sparse.values.numpy())
    bounds = np.searchsorted(row_of, np.arange(count + 1))
    return [values[bounds[i]:bounds[i + 1]] for i in range(count)]


def _sparse(feature, places, values, rows):
    """Values at places of rows of length `size`; `rows` None: one Example."""
    indices, flat = [], []
    for row, (at, found) in enumerate(zip(places, values)):
        if len(at) != len(found):
            raise ValueError(f"feature {feature.value_key!r} has {len(found)} values for the {len(at)} places in "
                             f"{feature.index_key!r}")
        order = range(len(at)) if feature.already_sorted else np.argsort(at, kind="stable")
        for i in order:
            if not 0 <= at[i] < feature.size:
                raise InvalidArgumentError(None, None, f"place {at[i]} of feature {feature.index_key!r} is out of "
                                                       f"bounds: expected 0 to {feature.size - 1}")
            indices.append([at[i]] if rows is None else [row, at[i]])
            flat.append(found[i])
    shape = [feature.size] if rows is None else [rows, feature.size]
    dtype = dtypes.as_dtype(feature.dtype).as_numpy_dtype
    return SparseTensor(np.array(indices, np.int64).reshape(-1, len(shape)), np.array(flat, dtype=dtype), shape)


def _partition_rows(feature, values, found):
    """Rows of values, each cut by its own partitions: one ragged dimension more for each."""
    splits = np.asarray(values.row_splits.numpy())
    out, outer = values.flat_values, splits  # outer: where each Example begins in `out`
    for partition in reversed(feature.partitions):
        if isinstance(partition, RaggedFeature.UniformRowLength):
            inner = np.arange(0, outer[-1] + 1, partition.length)
            counts = np.diff(outer) // partition.length
        else:
            given = found[partition.key]
            starts, flat = np.asarray(given.row_splits.numpy()), np.asarray(given.flat_values.numpy())
            inner, counts = [0], []
            for row in range(len(outer) - 1):
                own = _row_splits(partition, flat[starts[row]:starts[row + 1]], outer[row + 1] - outer[row])
                inner.extend(outer[row] + own[1:])
                counts.append(max(len(own) - 1, 0))
        out = RaggedTensor.from_row_splits(out, _splits(inner, feature))
        outer = np.concatenate([[0], np.cumsum(counts)])
    return RaggedTensor.from_row_splits(out, _splits(outer, feature))
