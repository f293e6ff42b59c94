"""``tf.sparse.cross`` and ``tf.ragged.cross``: all combinations of the values that several features have in a row."""

import numpy as np

from leat import dtypes
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._structures.ragged import RaggedTensor
from leat._structures.sparse import SparseTensor
from leat.errors import InvalidArgumentError

__all__ = ["ragged_cross", "ragged_cross_hashed", "sparse_cross", "sparse_cross_hashed"]
KEY, _FACTOR = 0xDECAFCAFFE, 0xC6A4A7935BD1E995


# ---- hashes ----

def _uint64(value):
    return convert_to_tensor(np.uint64(value % 2 ** 64))


def _mixed(x):
    return F["bitwise.bitwise_xor"](x, F["bitwise.right_shift"](x, _uint64(47)))


def joined(first, second):
    """FarmHash's fingerprint of two fingerprints."""
    found = F["bitwise.bitwise_xor"](first, _uint64(_FACTOR))
    found = F["bitwise.bitwise_xor"](found, _mixed(second * _uint64(_FACTOR)) * _uint64(_FACTOR)) * _uint64(_FACTOR)
    return _mixed(_mixed(found) * _uint64(_FACTOR))


def fingerprint(values):
    """A uint64 for each value: of a string its fingerprint, of an integer itself."""
    if values.dtype is not dtypes.string:
        return F["cast"](values, dtypes.uint64)
    flat = F["bitcast"](F["fingerprint"](F["reshape"](values, [-1])), dtypes.uint64)
    return F["reshape"](flat, F["shape"](values))


def _hashed(picks, num_buckets, key):
    found = F["fill"](F["shape"](picks[0]), _uint64(key))
    for values in picks:
        found = joined(found, fingerprint(values))
    return F["cast"](F["math.floormod"](found, _uint64(num_buckets or 2 ** 63 - 1)), dtypes.int64)


def _texts(picks, separator):
    return F["strings.join"]([values if values.dtype is dtypes.string else F["strings.as_string"](values)
                              for values in picks], separator)


# ---- combinations ----

class _Feature:
    """The values of a feature, where each row's begin and how many it has; `rows`: how many rows, if that is known."""

    def __init__(self, values, begins, counts, rows):
        self.values, self.begins, self.counts, self.rows = values, begins, counts, rows


def _of_sparse(value):
    rows = value.dense_shape[0]
    counts = F["math.unsorted_segment_sum"](F["ones_like"](value.indices[:, 0]), value.indices[:, 0], rows)
    return _Feature(value.values, F["cumsum"](counts, exclusive=True), counts, value.shape[0])


def _of_ragged(value):
    splits = F["cast"](value.row_splits, dtypes.int64)
    rows = value.row_splits.shape[0]
    return _Feature(value.values, splits[:-1], splits[1:] - splits[:-1], None if rows is None else rows - 1)


def _of_dense(value):
    shape = F["shape"](value, dtypes.int64)
    begins = F["range"](shape[0]) * shape[1]
    return _Feature(F["reshape"](value, [-1]), begins, F["fill"](F["shape"](begins), shape[1]), value.shape[0])


def _combined(features):
    """(the row of each combination, its place there, the values of each feature, how many each row has)."""
    counts = features[0].counts
    for feature in features[1:]:
        counts = counts * feature.counts
    rowids = RaggedTensor.from_row_lengths(F["range"](F["reduce_sum"](counts)), counts).value_rowids()
    places = F["range"](F["reduce_sum"](counts)) - F["gather"](F["cumsum"](counts, exclusive=True), rowids)
    rest, picks = places, []
    for feature in reversed(features):  # the last one changes from each combination to the next
        sizes = F["gather"](feature.counts, rowids)
        picks.insert(0, F["gather"](feature.values, F["gather"](feature.begins, rowids) +
                                    F["math.floormod"](rest, sizes)))
        rest = F["math.floordiv"](rest, sizes)
    return rowids, places, picks, counts


def _want_rows(features, text):
    """InvalidArgumentError where features are known to have other numbers of rows."""
    known = [feature.rows for feature in features if feature.rows is not None]
    for rows in known[1:]:
        if rows != known[0]:
            raise InvalidArgumentError(None, None, text.format(known[0], rows))


def _want_list(inputs):
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")


# ---- sparse ----

def _sparse_features(inputs):
    _want_list(inputs)
    if not all(isinstance(one, (SparseTensor, Tensor)) for one in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    sparse = [one for one in inputs if isinstance(one, SparseTensor)]
    dense = [one for one in inputs if isinstance(one, Tensor)]
    for place, one in enumerate(dense):
        if one.shape.rank not in (None, 2):
            raise InvalidArgumentError(None, None, "Dense inputs should be a matrix but received shape "
                                       f"{one.shape} at position {place}")
    features = [*map(_of_sparse, sparse), *map(_of_dense, dense)]
    for feature in features:
        if feature.values.dtype is not dtypes.string:
            feature.values = F["cast"](feature.values, dtypes.int64)
    _want_rows(features, "Expected batch size {} got {}")
    return features


def _sparse(inputs, combine, dtype):
    features = _sparse_features(inputs)
    if not features:
        return SparseTensor(np.zeros([0, 2], np.int64), F["zeros"]([0], dtype), np.zeros(2, np.int64))
    rowids, places, picks, counts = _combined(features)
    most = F["reduce_max"](F["concat"]([counts, [np.int64(0)]], 0))
    shape = F["stack"]([F["size"](counts, dtypes.int64), most])
    return SparseTensor(F["stack"]([rowids, places], axis=1), combine(picks), shape)


def sparse_cross(inputs, name=None, separator=None):
    """All combinations of the values that tensors, dense and sparse, have in a row, joined by `separator`, "_X_"
    (``tf.sparse.cross``); those of sparse ones stand first."""
    return _sparse(inputs, lambda picks: _texts(picks, "_X_" if separator is None else separator), dtypes.string)


def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The same as hashes, below `num_buckets` where it is not 0 (``tf.sparse.cross_hashed``)."""
    return _sparse(inputs, lambda picks: _hashed(picks, num_buckets, hash_key or KEY), dtypes.int64)


# ---- ragged ----

def _ragged_features(inputs):
    _want_list(inputs)
    features, splits = [], []
    for place, one in enumerate(inputs):
        one = one if isinstance(one, (SparseTensor, RaggedTensor)) else convert_to_tensor(one)
        if not one.dtype.is_integer and one.dtype is not dtypes.string:
            raise ValueError(f"Unexpected dtype for inputs[{place}]: {one.dtype!r}")
        if isinstance(one, RaggedTensor):
            if one.ragged_rank != 1:
                raise ValueError("tf.ragged.cross only supports inputs with rank=2")
            splits.append(one.row_splits.dtype)
        elif one.shape.rank not in (None, 2):
            raise InvalidArgumentError(None, None, "tf.ragged.cross only supports inputs with rank=2")
        features.append(_of_ragged(one) if isinstance(one, RaggedTensor) else _of_sparse(one) if isinstance(
            one, SparseTensor) else _of_dense(one))
        if features[-1].values.dtype is not dtypes.string:
            features[-1].values = F["cast"](features[-1].values, dtypes.int64)
    _want_rows(features, "inputs must all have the same batch dimension size: {} and {}")
    return features, dtypes.int32 if splits and all(one is dtypes.int32 for one in splits) else dtypes.int64


def _ragged(inputs, combine):
    features, dtype = _ragged_features(inputs)
    if not features:
        raise InvalidArgumentError(None, None, "tf.ragged.cross needs an input at least")
    _, _, picks, counts = _combined(features)
    return RaggedTensor.from_row_lengths(combine(picks), F["cast"](counts, dtype))


def ragged_cross(inputs, name=None):
    """All combinations of the values that tensors, dense, sparse and ragged, have in a row, joined by "_X_"
    (``tf.ragged.cross``)."""
    return _ragged(inputs, lambda picks: _texts(picks, "_X_"))


def ragged_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The same as hashes, below `num_buckets` where it is not 0 (``tf.ragged.cross_hashed``)."""
    key = KEY if hash_key is None else hash_key
    return _ragged(inputs, lambda picks: _hashed(picks, num_buckets, key))
