"""``tf.sets``: sets that stand in the last dimension, one behind the other; Python compares them."""

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.creation import numpy_function
from leat._graph.ops import FUNCTIONS as F
from leat._structures.sparse import SparseTensor
from leat.errors import InvalidArgumentError

__all__ = ["difference", "intersection", "size", "union"]

_ALLOWED = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string)


def _parts(value):
    """(places, values, shape) of sets."""
    if isinstance(value, SparseTensor):
        return value.indices, value.values, F["cast"](convert_to_tensor(value.dense_shape), dtypes.int64)
    x = convert_to_tensor(value)
    places = F["where"](F["fill"](F["shape"](x), True))
    return places, F["reshape"](x, [-1]), F["shape"](x, dtypes.int64)


def _sets(places, values):
    """{place of a set: its elements}."""
    found = {}
    for place, value in zip(map(tuple, places[:, :-1].tolist()), values.tolist()):
        found.setdefault(place, set()).add(value)
    return found


def _joined(a, b, function):
    first, second = _parts(a), _parts(b)
    if first[1].dtype is not second[1].dtype:
        raise TypeError(f"Types don't match, {first[1].dtype} vs {second[1].dtype}.")
    if first[1].dtype not in _ALLOWED:
        raise TypeError(f"a.dtype {first[1].dtype} not in {_ALLOWED}.")
    rank = first[0].shape[1]

    def compute(places_a, values_a, shape_a, places_b, values_b, shape_b):
        if not np.array_equal(shape_a[:-1], shape_b[:-1]):
            raise InvalidArgumentError(None, None, f"Mismatched group shapes {shape_a[:-1]} and {shape_b[:-1]}")
        sets = _sets(places_a, values_a), _sets(places_b, values_b)
        made = {place: sorted(function(*[one.get(place, set()) for one in sets]))
                for place in sorted({*sets[0], *sets[1]})}
        indices = [(*place, at) for place, one in made.items() for at in range(len(one))]
        longest = max([len(one) for one in made.values()] + [0])
        return (np.array(indices, np.int64).reshape(-1, len(shape_a)),
                np.array([value for one in made.values() for value in one], values_a.dtype),
                np.array([*shape_a[:-1], longest], np.int64))
    indices, values, shape = numpy_function(compute, [*first, *second], [dtypes.int64, first[1].dtype, dtypes.int64])
    return SparseTensor(F["ensure_shape"](indices, [None, rank]), F["ensure_shape"](values, [None]),
                        F["ensure_shape"](shape, [rank]))


def intersection(a, b, validate_indices=True):
    """What both sets have, ordered (``tf.sets.intersection``); dense or sparse."""
    return _joined(a, b, lambda a, b: a & b)


def union(a, b, validate_indices=True):
    """What one of the sets has, ordered (``tf.sets.union``); dense or sparse."""
    return _joined(a, b, lambda a, b: a | b)


def difference(a, b, aminusb=True, validate_indices=True):
    """What the first set has and the second one has not, or the other way round (``tf.sets.difference``)."""
    return _joined(a, b, (lambda a, b: a - b) if aminusb else (lambda a, b: b - a))


def size(a, validate_indices=True):
    """How many different elements each set has, int32 (``tf.sets.size``)."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    places, values, shape = _parts(a)
    if values.dtype not in _ALLOWED:
        raise TypeError(f"Invalid dtype `{values.dtype}` not in supported dtypes: `{_ALLOWED}`.")

    def compute(places, values, shape):
        out = np.zeros(shape[:-1], np.int32)
        for place, one in _sets(places, values).items():
            out[place] = len(one)
        return out
    out = numpy_function(compute, [places, values, shape], dtypes.int32)
    return F["ensure_shape"](out, a.shape[:-1])
