"""``tf.io.parse_example`` and what describes the features: serialised messages of tf.train as tensors.

One record or a vector of them is parsed by the operations parse_example and parse_sequence_example, which run without
the GIL within functions; ragged_partition and merge_sparse put together what several features describe.
"""

import collections

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._structures.ragged import RaggedTensor
from leat._structures.sparse import SparseTensor
from leat.errors import InvalidArgumentError

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
            if feature.shape is None:
                raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
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
            for index_key in _listed(feature.index_key):
                self._want(index_key, "sparse", specs.SparseTensorSpec([None], dtypes.int64))
            self._want(feature.value_key, "sparse", specs.SparseTensorSpec([None], feature.dtype))
        elif isinstance(feature, RaggedFeature):
            self._want_ragged(feature.value_key or key, feature.dtype, feature)
            for partition in feature.partitions:
                if not isinstance(partition, RaggedFeature.UniformRowLength):
                    self._want_ragged(partition.key, dtypes.int64, feature)
        else:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key '{key}'")

    def in_order(self):
        """The features in the order of TensorFlow's results: sparse, dense and ragged ones, each by their keys; those
        that are put together of other keys come last."""
        own = [key for kind in ("sparse", "dense", "ragged") for key, other in self._kinds.items() if other == kind]
        return [*(key for key in own if key in self.features),
                *(key for key in sorted(self.features) if key not in self._kinds)]

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
    wanted = {key: plan.specs[key] for key in plan.in_order()} if is_plain else plan.specs
    return wanted, plan.defaults or None, is_plain


def _like(array, dtype):
    return convert_to_tensor(np.array(array, dtype=object if dtype == dtypes.string else None))


# ---- parsing ----

def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialised Example, a scalar string (``tf.io.parse_single_example``): a dict by key.

    features: {key: FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, SparseFeature or RaggedFeature}.
    InvalidArgumentError where the record is no Example, or a feature is missing or of another dtype or length.
    """
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    return _parse(_scalar(serialized), features, is_batch=False)


def _scalar(serialized):
    """One record, of which nothing else may be known while a function is traced."""
    return ops.FUNCTIONS["ensure_shape"](serialized, []) if serialized.shape.rank is None else serialized


def parse_example(serialized, features, example_names=None, name=None):
    """The features of a vector of serialised Examples as batches (``tf.io.parse_example``); of a scalar, as
    `parse_single_example`.

    VarLenFeature and SparseFeature give SparseTensors of rank 2, RaggedFeature RaggedTensors, FixedLenSequenceFeature
    tensors that are filled up to the longest. Errors as `parse_single_example`.
    """
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.shape.rank not in (0, 1, None):
        raise InvalidArgumentError(None, None, "Expected serialized to be a scalar or vector, got shape: "
                                               f"{serialized.shape.as_list()}")
    return _parse(serialized, features, is_batch=serialized.shape.rank != 0)


def _parse(serialized, features, is_batch):
    plan = _Plan(features)
    found = {}
    for keys in _portions(plan.specs):
        outputs = iter(ops.call("parse_example", _attributes(plan, keys), [serialized]))
        found.update((key, [next(outputs) for _ in range(_components(plan.specs[key]))]) for key in keys)
    return {key: _value(key, features[key], found, is_batch) for key in plan.in_order()}


# An operation has up to 64 outputs.
_MOST_OUTPUTS = 64


def _portions(wanted):
    """The keys, sorted, in portions that one operation parses."""
    portion, count = [], 0
    for key in sorted(wanted):
        count += _components(wanted[key])
        if count > _MOST_OUTPUTS:
            yield portion
            portion, count = [], _components(wanted[key])
        portion.append(key)
    yield portion


def _components(spec):
    return 3 if isinstance(spec, specs.SparseTensorSpec) else 2 if isinstance(spec, specs.RaggedTensorSpec) else 1


def _attributes(plan, keys):
    attributes = {"features": nest.to_json({key: plan.specs[key] for key in keys})}
    defaults = {key: ops.literal(plan.defaults[key]) for key in keys if key in plan.defaults}
    return dict(attributes, defaults={"dict": defaults}) if defaults else attributes


def _value(key, feature, found, is_batch):
    """A feature's value made of the tensors that were found."""
    if isinstance(feature, VarLenFeature):
        return SparseTensor(*found[key])
    if isinstance(feature, SparseFeature):
        keys = _listed(feature.index_key)
        if len(keys) > 1:
            return _sparse_of_several(feature, [found[one] for one in keys], found[feature.value_key], is_batch)
        feature = feature._replace(index_key=keys[0], size=_listed(feature.size)[0])
        return _sparse(feature, found[feature.index_key], found[feature.value_key], is_batch)
    if isinstance(feature, RaggedFeature):
        return _ragged(feature, found[feature.value_key or key], found, is_batch)
    return found[key][0]


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _sparse_of_several(feature, places, values, is_batch):
    """Values at places that several features give, one for each dimension."""
    from leat._structures.sparse_rows import reorder
    rows = [values[0][:, :1]] if is_batch else []
    columns = [ops.FUNCTIONS["expand_dims"](one[1], 1) for one in places]
    size = convert_to_tensor(_listed(feature.size), dtype=dtypes.int64)
    made = SparseTensor(ops.FUNCTIONS["concat"]([*rows, *columns], 1), values[1], ops.FUNCTIONS["concat"](
        [values[2][:1], size], 0) if is_batch else size)
    return made if feature.already_sorted else reorder(made)


def _sparse(feature, places, values, is_batch):
    """Values at places of rows of length `size`."""
    counts = [tensor.shape[0] if tensor.shape.rank else None for tensor in (places[1], values[1])]
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(f"feature {feature.value_key!r} has {counts[1]} values for the {counts[0]} places in "
                         f"{feature.index_key!r}")
    indices, flat = ops.call("merge_sparse", {"size": feature.size, "already_sorted": bool(feature.already_sorted)},
                             [places[0], places[1], values[1], values[0]])
    size = convert_to_tensor([feature.size], dtype=dtypes.int64)
    return SparseTensor(indices, flat, ops.FUNCTIONS["concat"]([values[2][:1], size], 0) if is_batch else size)


_KINDS = {RaggedFeature.RowSplits: "row_splits", RaggedFeature.RowLengths: "row_lengths",
          RaggedFeature.RowStarts: "row_starts", RaggedFeature.RowLimits: "row_limits",
          RaggedFeature.ValueRowIds: "value_rowids", RaggedFeature.UniformRowLength: "uniform"}


def _ragged(feature, value, found, is_batch):
    """Values cut into rows by the partitions, of which the innermost comes last, and a batch into its records."""
    out, outer = value  # outer: where each record begins in `out`
    for partition in reversed(feature.partitions):
        attributes, inputs = {"kind": _KINDS[type(partition)]}, [outer]
        if isinstance(partition, RaggedFeature.UniformRowLength):
            attributes["length"] = partition.length
        else:
            inputs += found[partition.key]
        inner, outer = ops.call("ragged_partition", attributes, inputs)
        if "length" in attributes and not isinstance(out, RaggedTensor):
            out = ops.FUNCTIONS["reshape"](out, [-1, partition.length, *out.shape[1:]])
        else:
            out = RaggedTensor.from_row_splits(out, inner, validate=False)
    return RaggedTensor.from_row_splits(out, outer, validate=False) if is_batch else out


# ---- sequences ----

_IN_ORDER = (specs.SparseTensorSpec, specs.TensorSpec, specs.RaggedTensorSpec)


class _SequencePlan:
    """Specs of a sequence's feature lists, and which of them a record may lack."""

    def __init__(self, features):
        self.specs, self.allow_missing = {}, []
        for key in sorted(features):
            self._add(key, features[key])

    def in_order(self):
        """As _Plan's."""
        return sorted(self.specs, key=lambda key: (_IN_ORDER.index(type(self.specs[key])), key))

    def _add(self, key, feature):
        if isinstance(feature, FixedLenSequenceFeature):
            if feature.default_value is not None:
                raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
            if feature.allow_missing:
                self.allow_missing.append(key)
            self.specs[key] = specs.TensorSpec([None, *specs.TensorSpec(feature.shape).shape], feature.dtype)
        elif isinstance(feature, VarLenFeature):
            self.specs[key] = specs.SparseTensorSpec([None, None], feature.dtype)
        elif isinstance(feature, RaggedFeature):
            if feature.partitions or feature.value_key not in (None, key):
                raise NotImplementedError(f"RaggedFeature of the feature list {key!r}: value_key and partitions are "
                                          "not supported; parse the lists and put them together")
            self.specs[key] = specs.RaggedTensorSpec([None, None], feature.dtype, 1, feature.row_splits_dtype)
        else:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key '{key}'")


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Features, feature lists and their lengths of serialised SequenceExamples, a vector of strings
    (``tf.io.parse_sequence_example``): three dicts by key.

    context_features: {key: FixedLenFeature, VarLenFeature or RaggedFeature}. sequence_features:
    {key: FixedLenSequenceFeature, VarLenFeature or RaggedFeature}; the first give tensors that are filled up with 0,
    whose lengths are the third dict, and the others have one dimension more than in the context.
    InvalidArgumentError where a record is no SequenceExample, or lacks a feature.
    """
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.shape.rank not in (0, 1, None):
        raise InvalidArgumentError(None, None, "Expected serialized to be a scalar or vector, got shape: "
                                               f"{serialized.shape.as_list()}")
    return _parse_sequence(serialized, context_features, sequence_features, serialized.shape.rank != 0)


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None,
                                  name=None):
    """Features and feature lists of one serialised SequenceExample, a scalar string
    (``tf.io.parse_single_sequence_example``): two dicts by key, as `parse_sequence_example`.
    """
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    return _parse_sequence(_scalar(serialized), context_features, sequence_features, False)[:2]


def _parse_sequence(serialized, context_features, sequence_features, is_batch):
    if not (context_features or sequence_features):
        raise ValueError("Both `context_features` and `sequence_features` argument are None, but at least one should "
                         "have values.")
    context_features, sequence_features = context_features or {}, sequence_features or {}
    for key, feature in context_features.items():
        if not isinstance(feature, (FixedLenFeature, VarLenFeature, RaggedFeature)):
            raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key '{key}'")
    context = _Plan(context_features) if context_features else None
    sequence = _SequencePlan(sequence_features)
    wanted = context.specs if context else {}
    attributes = _attributes(context, sorted(wanted)) if context else {"features": nest.to_json({})}
    attributes["context"] = attributes.pop("features")
    attributes["sequence"] = nest.to_json(sequence.specs)
    if sequence.allow_missing:
        attributes["allow_missing"] = sequence.allow_missing
    outputs = iter(ops.call("parse_sequence_example", attributes, [serialized]))
    found = {key: [next(outputs) for _ in range(_components(wanted[key]))] for key in sorted(wanted)}
    lists, lengths = {}, {}
    for key, spec in sequence.specs.items():
        first, second = next(outputs), next(outputs)
        if isinstance(spec, specs.TensorSpec):
            lists[key], lengths[key] = first, second
        elif isinstance(spec, specs.SparseTensorSpec):
            lists[key] = SparseTensor(first, second, next(outputs))
        else:
            rows, outer = RaggedTensor.from_row_splits(first, second, validate=False), next(outputs)
            lists[key] = RaggedTensor.from_row_splits(rows, outer, validate=False) if is_batch else rows
    keys = context.in_order() if context else ()
    values = {key: _value(key, context_features[key], found, is_batch) for key in keys}
    return values, {key: lists[key] for key in sequence.in_order()}, lengths
