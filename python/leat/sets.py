"""``tf.sets``: sets that stand in the last dimension, one behind the other."""

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.ops import call
from leat._structures.sparse import SparseTensor

__all__ = ["difference", "intersection", "size", "union"]

_ALLOWED = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string)


def _parts(value):
    """(places, values, shape) of sets."""
    if isinstance(value, SparseTensor):
        return value.indices, value.values, F["cast"](convert_to_tensor(value.dense_shape), dtypes.int64)
    x = convert_to_tensor(value)
    places = F["where"](F["fill"](F["shape"](x), True))
    return places, F["reshape"](x, [-1]), F["shape"](x, dtypes.int64)


_INTERSECTION, _UNION, _A_MINUS_B, _B_MINUS_A = range(4)


def _joined(a, b, kind):
    first, second = _parts(a), _parts(b)
    if first[1].dtype is not second[1].dtype:
        raise TypeError(f"Types don't match, {first[1].dtype} vs {second[1].dtype}.")
    if first[1].dtype not in _ALLOWED:
        raise TypeError(f"a.dtype {first[1].dtype} not in {_ALLOWED}.")
    return SparseTensor(*call("set_operation", {"kind": kind}, [*first, *second]))


def intersection(a, b, validate_indices=True):
    """What both sets have, ordered (``tf.sets.intersection``); dense or sparse."""
    return _joined(a, b, _INTERSECTION)


def union(a, b, validate_indices=True):
    """What one of the sets has, ordered (``tf.sets.union``); dense or sparse."""
    return _joined(a, b, _UNION)


def difference(a, b, aminusb=True, validate_indices=True):
    """What the first set has and the second one has not, or the other way round (``tf.sets.difference``)."""
    return _joined(a, b, _A_MINUS_B if aminusb else _B_MINUS_A)


def size(a, validate_indices=True):
    """How many different elements each set has, int32 (``tf.sets.size``)."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    places, values, shape = _parts(a)
    if values.dtype not in _ALLOWED:
        raise TypeError(f"Invalid dtype `{values.dtype}` not in supported dtypes: `{_ALLOWED}`.")
    return F["ensure_shape"](call("set_size", None, [places, values, shape])[0], a.shape[:-1])
