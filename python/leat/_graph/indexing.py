"""Indexing of tensors: ``x[1:, None, ..., ::-1]``, by scalar tensors and by masks (``tf.Tensor.__getitem__``).

A key is taken apart into what happens to each dimension. A tensor that nothing records is cut with numpy, without a
copy where rows are taken from the front; others become slice, reverse, reshape and gather operations.
"""

from math import prod

import numpy as np

from leat import _native, dtypes
from leat._core.tensor import Tensor, _of_array, convert_to_tensor
from leat._graph import trace
from leat._graph.graphs import ShapeError

_VALID = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
          "valid indices, got {!r}")


def getitem(tensor, key):
    """The part of a tensor that `key` names; InvalidArgumentError where it is out of bounds."""
    if isinstance(key, int) and tensor._has_values and tensor._graph is None and not trace.aliased(tensor) and (
            not isinstance(key, bool)):
        return _row(tensor, key)
    mask = _mask(key)
    if mask is not None:
        return _boolean_mask(tensor, mask)
    parts = [_part(item) for item in (key if isinstance(key, (list, tuple)) else (key,))]
    if tensor._has_values and all(_is_known(part) for part in parts):
        plan = _Plan(parts, tensor._shape)
        if tensor._graph is None and not trace.aliased(tensor):
            return _cut(tensor, plan)
        return _symbolic(tensor, plan)
    shape = tensor.shape
    if shape.rank is None:
        return _of_unknown_rank(tensor, parts)
    return _dynamic(tensor, parts, shape)


def _row(tensor, index):
    shape = tensor._shape
    if not shape:
        raise ShapeError(None, None, "Attempting to slice scalar input. [Op:StridedSlice]")
    if not -shape[0] <= index < shape[0]:
        raise ShapeError(None, None, f"slice index {index} of dimension 0 out of bounds. [Op:StridedSlice]")
    return tensor._row(index + shape[0] if index < 0 else index)


def _mask(key):
    """The mask where the key is one: a bool tensor, array, or list of them; None: it is none."""
    if isinstance(key, bool):
        raise ValueError("mask cannot be scalar.")
    if isinstance(key, Tensor) and key.dtype is dtypes.bool or isinstance(key, np.ndarray) and key.dtype == np.bool_:
        return convert_to_tensor(key)
    return None


def _boolean_mask(tensor, mask):
    rank = mask.shape.rank
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if not (tensor._has_values and mask._has_values):
        from leat._graph import ops
        return ops.FUNCTIONS["boolean_mask"](tensor, mask)
    if tuple(mask._shape) != tuple(tensor._shape[:rank]):
        raise ValueError(f"Shapes {tensor.shape[:rank]} and {mask.shape} are incompatible")
    places = np.flatnonzero(mask.numpy().reshape(-1)).astype(np.int64)
    if tensor._graph is None and not trace.aliased(tensor):
        return _of_array(np.ascontiguousarray(_values(tensor)[mask.numpy()]), tensor.dtype)
    from leat._graph import ops
    flat = ops.FUNCTIONS["reshape"](tensor, [-1, *tensor._shape[rank:]])
    return ops.FUNCTIONS["gather"](flat, convert_to_tensor(places))


def _part(item):
    """One part of a key: an int, a slice of ints, None, Ellipsis; tensors of unknown value stay as they are."""
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return slice(*(None if bound is None else _integer(bound) for bound in (item.start, item.stop, item.step)))
    return _integer(item)


def _integer(item):
    if isinstance(item, bool) or isinstance(item, (str, bytes, float, np.floating)):
        raise TypeError(_VALID.format(item))
    if hasattr(item, "_as_tensor"):
        item = item._as_tensor()
    if isinstance(item, Tensor):
        if item.shape.rank not in (0, None) or not item.dtype.is_integer:
            raise TypeError(_VALID.format(item))
        return int(item) if item._has_values else item
    if isinstance(item, np.ndarray) and item.ndim:
        raise TypeError(_VALID.format(item))
    try:
        return item.__index__()
    except (AttributeError, TypeError):
        raise TypeError(_VALID.format(item)) from None


def _is_known(part):
    if isinstance(part, slice):
        return not any(isinstance(bound, Tensor) for bound in (part.start, part.stop, part.step))
    return not isinstance(part, Tensor)


def _refuse(text):
    raise ShapeError(None, None, f"{text} [Op:StridedSlice]")


def _expand(parts, rank):
    """The parts with the ellipsis written out, and one part for each dimension."""
    if sum(1 for part in parts if part is Ellipsis) > 1:
        _refuse("Multiple ellipses in slice spec not allowed")
    used = sum(1 for part in parts if part is not None and part is not Ellipsis)
    if used and rank == 0:
        _refuse("Attempting to slice scalar input.")
    if used > rank:
        _refuse(f"Index out of range using input dim {rank}; input has only {rank} dims")
    whole = [slice(None)] * (rank - used)
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    return [*parts[:at], *whole, *parts[at + 1:]]


class _Plan:
    """A key over known dimensions: for each of them a slice, and the shape of the result."""

    def __init__(self, parts, dims):
        self.parts = _expand(parts, len(dims))
        self.slices, self.shape, self.key = [], [], []
        rest = iter(enumerate(dims))
        for part in self.parts:
            if part is None:
                self.shape.append(1)
                self.key.append(None)
                continue
            axis, length = next(rest)
            if isinstance(part, slice):
                if part.step == 0:
                    _refuse(f"strides[{axis}] must be non-zero")
                self.slices.append(range(*part.indices(length)))
                self.shape.append(len(self.slices[-1]))
            elif not -length <= part < length:
                _refuse(f"slice index {part} of dimension {axis} out of bounds.")
            else:
                self.slices.append(range(part % length, part % length + 1))
            self.key.append(part)


def _values(tensor):
    if tensor.dtype is dtypes.bfloat16:
        return np.asarray(tensor._bits())
    if tensor.dtype is dtypes.string and not tensor._shape:
        out = np.empty((), object)
        out[()] = tensor.numpy()
        return out
    return np.asarray(tensor)


_LARGE = 1 << 15  # bytes of a part that the kernels move sooner than numpy


def _large(tensor, plan):
    """The same by strided_slice, whose kernel gives views and shares what is much between threads."""
    from leat._graph import ops
    # Backwards to the front a range ends at -1, which of a slice would be the last place.
    end = [rows.stop if rows.stop >= 0 else -length - 1 for rows, length in zip(plan.slices, tensor._shape)]
    out = ops.FUNCTIONS["strided_slice"](tensor, [rows.start for rows in plan.slices], end,
                                         [rows.step for rows in plan.slices])
    return out if plan.shape == list(out._shape) else ops.FUNCTIONS["reshape"](out, plan.shape)


def _cut(tensor, plan):
    if tensor.dtype is dtypes.variant:
        raise TypeError("a tensor of datasets has no parts")
    if tensor.dtype is not dtypes.string and prod(plan.shape) * tensor.dtype.size >= _LARGE:
        return _large(tensor, plan)
    values = _values(tensor)[tuple(plan.key)]
    if tensor.dtype is dtypes.string:
        flat = values.reshape(-1).tolist() if isinstance(values, np.ndarray) else [values]
        return _native.TensorBase.from_strings(flat, tuple(plan.shape))
    return _of_array(np.asarray(values), tensor.dtype)


def _symbolic(tensor, plan):
    """The same as operations of the table."""
    from leat._graph import ops
    for axis, rows in enumerate(plan.slices):
        if rows.step != 1 and len(rows) > 0:
            places = convert_to_tensor(np.array(rows, np.int64))
            tensor = ops.FUNCTIONS["gather"](tensor, places, axis=axis)
    begin = [rows.start if rows.step == 1 and len(rows) else 0 for rows in plan.slices]
    size = [len(rows) for rows in plan.slices]
    if size != list(tensor.shape):
        tensor = ops.FUNCTIONS["slice"](tensor, begin, size)
    return tensor if plan.shape == list(tensor.shape) else ops.FUNCTIONS["reshape"](tensor, plan.shape)


# ---- while tracing ----

def _dynamic(tensor, parts, shape):
    """Operations for dimensions or indices that are not known yet, one dimension after the other."""
    from leat._graph import ops
    parts = _expand(parts, shape.rank)
    drop = []
    for axis, part in enumerate(part for part in parts if part is not None):
        if isinstance(part, slice):
            tensor = _dynamic_slice(tensor, part, axis)
        else:
            tensor = _dynamic_index(tensor, part, axis)
            drop.append(axis)
    if drop:
        tensor = ops.FUNCTIONS["squeeze"](tensor, drop)
    kept = [part for part in parts if part is None or isinstance(part, slice)]
    for axis, part in enumerate(kept):  # after the indices, so that no tensor on the way has too many dimensions
        if part is None:
            tensor = ops.FUNCTIONS["expand_dims"](tensor, axis)
    return tensor


def _of_unknown_rank(tensor, parts):
    """The same where the rank is not known: dimensions counted from the front, behind an ellipsis from the end."""
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    axis = 0
    for part in parts[:at]:
        tensor = _along_unknown(tensor, part, axis)
        axis += part is None or isinstance(part, slice)
    axis = -1
    for part in reversed(parts[at + 1:]):
        tensor = _along_unknown(tensor, part, axis)
        axis -= part is None or isinstance(part, slice)
    return tensor


def _along_unknown(tensor, part, axis):
    from leat._graph import ops
    if part is Ellipsis:
        _refuse("Multiple ellipses in slice spec not allowed")
    if part is None:
        return ops.FUNCTIONS["expand_dims"](tensor, axis)
    if isinstance(part, slice):
        return tensor if part == slice(None) else ops.FUNCTIONS["gather"](
            tensor, ops.FUNCTIONS["range"](_length(tensor, axis))[part], axis=axis)
    return ops.FUNCTIONS["gather"](tensor, _place(tensor, part, axis), axis=axis)


def _place(tensor, index, axis):
    """An index along an axis, counted from the front, as an int64 scalar."""
    from leat._graph import ops
    place = ops.FUNCTIONS["cast"](convert_to_tensor(index), dtypes.int64)
    return ops.FUNCTIONS["where"](place < 0, place + _length(tensor, axis), place)


def _dynamic_index(tensor, index, axis):
    """One place along an axis, which stays with length 1."""
    from leat._graph import ops
    length = tensor.shape[axis]
    if not isinstance(index, Tensor) and (index >= 0 or length is not None):
        if length is not None and not -length <= index < length:
            raise ValueError(f"slice index {index} of dimension {axis} out of bounds.")
        begin = [0] * tensor.shape.rank
        begin[axis] = index + length if index < 0 else index
        return ops.FUNCTIONS["slice"](tensor, begin, [1 if d == axis else -1 for d in range(tensor.shape.rank)])
    place = _place(tensor, index, axis)
    return ops.FUNCTIONS["gather"](tensor, ops.FUNCTIONS["reshape"](place, [1]), axis=axis)


def _length(tensor, axis):
    """The length of a dimension as an int64 scalar."""
    from leat._graph import ops
    shape = ops.FUNCTIONS["shape"](tensor, dtypes.int64)
    if axis < 0:
        return shape[axis]
    return ops.FUNCTIONS["squeeze"](ops.FUNCTIONS["slice"](shape, [axis], [1]), [0])


def _dynamic_slice(tensor, part, axis):
    from leat._graph import ops
    if part == slice(None):
        return tensor
    length = tensor.shape[axis]
    if _is_known(part) and length is not None:
        plan = _Plan([slice(None)] * axis + [part], tensor.shape[:axis + 1].as_list() if axis == 0 else [
            0 if d is None else d for d in tensor.shape[:axis + 1]])
        return _along(tensor, plan.slices[axis], axis)
    step = 1 if part.step is None else part.step
    if isinstance(step, Tensor):
        raise trace.NotTraceable("the step of a slice is not known while tracing")
    if step == 0:
        raise ValueError(f"strides[{axis}] must be non-zero")
    before = (1 << axis) - 1  # dimensions that stay whole
    return ops.FUNCTIONS["strided_slice"](
        tensor, _entries(part.start, axis), _entries(part.stop, axis), [1] * axis + [step],
        begin_mask=before | (part.start is None) << axis, end_mask=before | (part.stop is None) << axis)


def _entries(bound, axis):
    """What a slice along an axis says to strided_slice: something for the dimensions before it, and the bound."""
    if not isinstance(bound, Tensor):
        return [0] * axis + [0 if bound is None else bound]
    from leat._graph import ops
    bound = ops.FUNCTIONS["cast"](bound, dtypes.int64)
    return ops.FUNCTIONS["stack"]([convert_to_tensor(0, dtypes.int64)] * axis + [bound])


def _along(tensor, rows, axis):
    from leat._graph import ops
    if rows.step != 1:
        return ops.FUNCTIONS["gather"](tensor, convert_to_tensor(np.array(rows, np.int64)), axis=axis)
    rank = tensor.shape.rank
    return ops.FUNCTIONS["slice"](tensor, [rows.start if d == axis and len(rows) else 0 for d in range(rank)],
                                  [len(rows) if d == axis else -1 for d in range(rank)])
