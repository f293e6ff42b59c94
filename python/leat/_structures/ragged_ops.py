"""More operations of the table on ragged tensors: dimensions turned round, texts joined."""

from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat._structures.ragged_broadcast import aligned
from leat._structures.ragged_rows import OPERATIONS, _columns, _gather, _width, count, is_ragged, rowids


def _reverse(values, arguments, name):
    """Rows, or what lies in them, in the other order, along each of some dimensions."""
    value, axes = values[0], arguments["axis"]
    if not isinstance(axes, (list, tuple)) and getattr(getattr(axes, "shape", None), "rank", 0) != 1:
        raise TypeError("`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor")
    rank = value.shape.rank
    for place, axis in enumerate(map(int, axes)):
        if not -rank <= axis < rank:
            raise ValueError(f"axis[{place}]={axis} out of bounds: expected {-rank}<=axis[{place}]<{rank}")
        value = _turned(value, axis % rank)
    return value


def _turned(value, axis):
    if not is_ragged(value):
        return F["reverse"](value, [axis])
    if axis == 0:
        return _gather(value, F["reverse"](F["range"](count(value)), [0]))
    if axis > 1:
        return value.with_values(_turned(value.values, axis - 1))
    splits, rows = value.row_splits, rowids(value)
    ends = F["subtract"](F["add"](splits[:-1], splits[1:]), 1)
    places = F["subtract"](F["gather"](ends, rows), F["range"](splits[-1]))
    inner = value.values
    return value.with_values(_gather(inner, places) if is_ragged(inner) else F["gather"](inner, places))


def _join(values, arguments, name):
    """Texts of ragged tensors in the same rows, and others, one behind the other."""
    flat, rows = aligned(values[0])
    return rows.with_flat_values(ops.dispatch(name, (flat,), tuple(arguments.values())))


def _reduce_join(values, arguments, name):
    """The texts of each row as one, or, over the first dimension, those of each column."""
    value, axis, separator = values[0], arguments["axis"], arguments["separator"]
    axis = axis[0] if isinstance(axis, (list, tuple)) and len(axis) == 1 else axis
    keeps, rank = arguments["keepdims"], value.shape.rank
    if axis is None:
        return F["strings.reduce_join"](value.flat_values, keepdims=keeps, separator=separator)
    if isinstance(axis, (list, tuple)):
        raise NotImplementedError(f"{name} over several dimensions of a ragged tensor; join one after the other")
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    axis = axis % rank
    if axis > 1:
        return value.with_values(F["strings.reduce_join"](value.values, axis - 1, keepdims=keeps, separator=separator))
    if is_ragged(value.values):
        raise NotImplementedError(f"{name} over an outer dimension of a ragged tensor of several is not supported")
    segments, many = (rowids(value), count(value)) if axis == 1 else (_columns(value), _width(value))
    joined = F["strings.unsorted_segment_join"](value.values, segments, many, separator=separator)
    return F["expand_dims"](joined, axis) if keeps else joined


OPERATIONS.update(reverse=_reverse, string_join=_join, string_reduce_join=_reduce_join)
