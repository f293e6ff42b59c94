"""More operations of the table on ragged tensors: dimensions turned round, texts joined."""

from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat._structures.ragged_broadcast import aligned
from leat._structures.ragged_rows import OPERATIONS, _gather, count, is_ragged, rowids


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


OPERATIONS.update(reverse=_reverse, string_join=_join)
