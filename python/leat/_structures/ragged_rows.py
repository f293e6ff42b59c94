"""What ragged tensors do by operations on their values and row splits; all of it can be traced."""

import numpy as np

from leat import dtypes
from leat._core.shapes import TensorShape
from leat._core.specs import RaggedTensorSpec
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._structures.ragged_places import take_inside

_ragged = RaggedTensorSpec.value_class  # whose methods are made of what stands here


def is_ragged(value):
    """Is it a ragged tensor?"""
    return hasattr(value, "row_splits")


def _numbers(value):
    """Row splits, lengths and the like as a tensor: int32 only where they say so."""
    if isinstance(value, Tensor) or isinstance(value, np.ndarray) and value.dtype == np.int32:
        return convert_to_tensor(value)
    return convert_to_tensor(np.asarray(value, np.int64))


def _size(value, dtype):
    """How many rows or slices a value has."""
    return count(value, dtype) if is_ragged(value) else F["shape"](value, dtype)[0]


# ---- making ----

def splits_of_lengths(row_lengths):
    """0 and the running totals."""
    lengths = _numbers(row_lengths)
    return F["concat"]([F["zeros_like"](lengths[:1]) if lengths.shape.rank != 1 or lengths.shape[0] != 0
                           else convert_to_tensor(np.zeros(1, lengths.dtype.as_numpy_dtype)),
                           F["cumsum"](lengths)], 0) if lengths.shape[0] is not None else _open_splits(lengths)


def _open_splits(lengths):
    zero = convert_to_tensor(np.zeros(1, lengths.dtype.as_numpy_dtype))
    return F["concat"]([zero, F["cumsum"](lengths)], 0)


def _values(value):
    return value if is_ragged(value) else convert_to_tensor(value)


def from_starts(maker, values, row_starts):
    """See RaggedTensor.from_row_starts."""
    values, starts = _values(values), _numbers(row_starts)
    last = F["expand_dims"](_size(values, starts.dtype), 0)
    return maker.from_row_splits(values, F["concat"]([starts, last], 0))


def from_limits(maker, values, row_limits):
    """See RaggedTensor.from_row_limits."""
    limits = _numbers(row_limits)
    zero = convert_to_tensor(np.zeros(1, limits.dtype.as_numpy_dtype))
    return maker.from_row_splits(_values(values), F["concat"]([zero, limits], 0))


def from_rowids(maker, values, value_rowids, nrows):
    """See RaggedTensor.from_value_rowids."""
    ids = _numbers(value_rowids)
    splits = segment_ids_to_row_splits(ids, nrows, ids.dtype)
    return maker.from_row_splits(_values(values), splits)


def from_uniform(maker, values, length, nrows):
    """See RaggedTensor.from_uniform_row_length."""
    values, length = _values(values), _numbers(length)
    if nrows is None:
        known = length._has_values and int(length) == 0
        nrows = 0 if known else F["math.floordiv"](_size(values, length.dtype), length)
    return uniform(maker, values, length, F["cast"](convert_to_tensor(nrows), length.dtype))


def uniform(maker, values, length, rows):
    """Rows of one length, a scalar of the dtype of the row splits, as which the result knows it."""
    return maker(_values(values), F["multiply"](F["range"](F["add"](rows, 1)), length), length)


def from_tensor(maker, tensor, lengths, padding, ragged_rank, dtype):
    """See RaggedTensor.from_tensor."""
    tensor = convert_to_tensor(tensor)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if ragged_rank < 1 or tensor.shape.rank is not None and ragged_rank >= tensor.shape.rank:
        raise ValueError(f"Argument `tensor` must have rank greater than {ragged_rank}, and ragged_rank be 1 or more; "
                         f"its shape is {tensor.shape}.")
    shape = F["shape"](tensor, dtype)
    rows, columns = shape[0], shape[1]
    flat = F["reshape"](tensor, F["concat"]([[-1], F["cast"](shape[2:], dtypes.int32)], 0))
    if ragged_rank > 1:
        inner = from_tensor(maker, flat, lengths, padding, ragged_rank - 1, dtype)
        return uniform(maker, inner, columns, rows)
    if lengths is None and padding is None:
        return uniform(maker, flat, columns, rows)
    if padding is not None:
        used = F["not_equal"](tensor, convert_to_tensor(padding, tensor.dtype))
        if tensor.shape.rank > 2:
            used = F["reduce_any"](used, list(range_(2, tensor.shape.rank)))
        ends = F["multiply"](F["cast"](used, dtype), F["add"](F["range"](columns), 1))
        zero = F["zeros_like"](F["reduce_sum"](ends, 1, True))
        lengths = F["reduce_max"](F["concat"]([zero, ends], 1), 1)
    lengths = F["cast"](F["minimum"](F["maximum"](F["cast"](_numbers(lengths), dtype), F["zeros_like"](columns)),
                                     columns), dtype)
    mask = F["sequence_mask"](lengths, F["cast"](columns, dtypes.int32))
    return maker.from_row_splits(F["boolean_mask"](tensor, mask), splits_of_lengths(lengths))


def from_sparse(maker, value, dtype):
    """See RaggedTensor.from_sparse."""
    if value.shape.rank not in (2, None):
        raise ValueError("from_sparse needs a sparse tensor of rank 2")
    ids = F["cast"](value.indices[:, 0], dtype)
    out = from_rowids(maker, value.values, ids, F["cast"](value.dense_shape[0], dtype))
    from leat._graph.control import Assert
    is_left = F["equal"](value.indices[:, 1], F["cast"](_columns(out), dtypes.int64))
    Assert(F["reduce_all"](is_left), ["SparseTensor is not right-ragged"])
    return out


# ---- measures ----

def count(value, out_type=None):
    """See RaggedTensor.nrows."""
    splits = value.row_splits
    dtype = splits.dtype if out_type is None else dtypes.as_dtype(out_type)
    known = splits.shape.rank == 1 and splits.shape[0] is not None
    return convert_to_tensor(splits.shape[0] - 1, dtype) if known else F["shape"](splits, dtype)[0] - 1


def lengths(value, axis=1):
    """See RaggedTensor.row_lengths."""
    axis = axis if axis >= 0 else axis + value.shape.rank
    if axis == 0:
        return count(value)
    if axis == 1:
        return value.row_splits[1:] - value.row_splits[:-1]
    if is_ragged(value.values):
        return value.with_values(lengths(value.values, axis - 1))
    dims = F["shape"](value.values, value.row_splits.dtype)
    return value.with_values(F["fill"](F["expand_dims"](dims[0], 0), dims[axis - 1]))


def rowids(value):
    """See RaggedTensor.value_rowids."""
    return row_splits_to_segment_ids(value.row_splits)


def _columns(value):
    """Each value's place in its row."""
    splits = value.row_splits
    return F["subtract"](F["range"](splits[-1]), F["repeat"](splits[:-1], splits[1:] - splits[:-1]))


def _width(value):
    """The length of the longest row, 0 where there is none."""
    own = lengths(value)
    return F["reduce_max"](F["concat"]([convert_to_tensor(np.zeros(1, own.dtype.as_numpy_dtype)), own], 0))


def bounds(value, axis=None, out_type=None):
    """See RaggedTensor.bounding_shape."""
    dtype = value.row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)

    def inner(part):
        if not is_ragged(part):
            shape = F["shape"](part, dtype)[1:]
            return [shape]
        return [F["expand_dims"](F["cast"](_width(part), dtype), 0), *inner(part.values)]
    whole = F["concat"]([F["expand_dims"](count(value, dtype), 0), *inner(value)], 0)
    return whole if axis is None else F["gather"](whole, axis)


# ---- other forms ----

def to_tensor(value, default_value=None, shape=None):
    """See RaggedTensor.to_tensor."""
    shape = None if shape is None else TensorShape(shape) if not isinstance(shape, Tensor) else TensorShape(
        [None if d < 0 else d for d in shape.numpy().tolist()])
    if shape is not None and shape.rank is None:
        shape = None
    values = value.values
    if is_ragged(values):
        values = to_tensor(values, default_value, None if shape is None else [None, *shape[2:]])
    default = convert_to_tensor((b"" if value.dtype is dtypes.string else 0) if default_value is None else
                                default_value, value.dtype)
    dtype = value.row_splits.dtype
    rows, columns = rowids(value), _columns(value)
    size = [count(value), _width(value)]
    for i, part in enumerate((rows, columns)):
        if shape is not None and shape[i] is not None:
            size[i] = convert_to_tensor(shape[i], dtype)
    if shape is not None and (shape[0] is not None or shape[1] is not None):
        inside = F["logical_and"](F["less"](rows, size[0]), F["less"](columns, size[1]))
        rows, columns, values = (F["boolean_mask"](part, inside) for part in (rows, columns, values))
    dims = F["concat"]([F["stack"](size), F["shape"](values, dtype)[1:]], 0)
    empty = F["fill"](dims, default) if default.shape.rank == 0 else F["broadcast_to"](default, dims)
    out = F["tensor_scatter_nd_update"](empty, F["stack"]([rows, columns], axis=1), values)
    known = [value.row_splits.shape[0], None] if value.row_splits.shape.rank == 1 else [None, None]
    known[0] = known[0] - 1 if known[0] is not None else None
    if shape is not None:
        known = [shape[i] if shape[i] is not None else known[i] for i in (0, 1)]
    inner = values.shape[1:] if values.shape.rank is not None else TensorShape(None)
    if inner.rank is None or out._has_values:
        return out
    return F["ensure_shape"](out, [*known, *inner])


def to_sparse(value):
    """See RaggedTensor.to_sparse."""
    from leat._structures.sparse import SparseTensor
    flat = value.flat_values
    if flat.shape.rank != 1:
        raise NotImplementedError("to_sparse of ragged tensors whose values are not scalars is not supported")
    places = None
    for splits in reversed(value.nested_row_splits):
        ids = row_splits_to_segment_ids(splits)
        column = F["subtract"](F["range"](splits[-1]), F["gather"](splits, ids))
        if places is None:
            places = [ids, column]
        else:
            places = [F["gather"](ids, places[0]), F["gather"](column, places[0]), *places[1:]]
    indices = F["cast"](F["stack"](places, axis=1), dtypes.int64)
    return SparseTensor(indices, flat, bounds(value, out_type=dtypes.int64))


def with_splits_dtype(value, dtype):
    """See RaggedTensor.with_row_splits_dtype."""
    if dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {dtype}.")
    values = with_splits_dtype(value.values, dtype) if is_ragged(value.values) else value.values
    length = None if value._uniform is None else F["cast"](value._uniform, dtype)
    return _ragged.value(values, F["cast"](value.row_splits, dtype), length)


def merge(value, outer, inner):
    """See RaggedTensor.merge_dims."""
    rank = value.shape.rank
    outer, inner = (axis if axis >= 0 else axis + rank for axis in (outer, inner))
    if outer > inner:
        raise ValueError(f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})")
    if outer == inner:
        return value
    if not is_ragged(value):
        shape = F["shape"](value)
        return F["reshape"](value, F["concat"]([shape[:outer], [-1], shape[inner + 1:]], 0))
    if outer == 0:
        return merge(value.values, 0, inner - 1)
    if outer > 1:
        return value.with_values(merge(value.values, outer - 1, inner - 1))
    splits, values = value.row_splits, value.values
    for _ in range_(outer, inner):
        if is_ragged(values):
            splits, values = F["gather"](values.row_splits, splits), values.values
        else:
            splits = F["multiply"](splits, F["shape"](values, splits.dtype)[1])
            values = merge(values, 0, 1)
    return _ragged.value.from_row_splits(values, splits)


# ---- picking ----

def _gather(value, indices):
    """Rows of a ragged tensor by their numbers, a vector."""
    splits = value.row_splits
    begins = F["gather"](splits, indices)
    ends = F["gather"](splits, F["add"](indices, 1))
    return _cut(value.values, begins, ends)


def _cut(values, begins, ends):
    """Rows values[begins[i] : ends[i]]."""
    places = range(begins, ends, row_splits_dtype=begins.dtype)
    found = _gather(values, places.values) if is_ragged(values) else F["gather"](values, places.values)
    return places.with_values(found)


def item(value, key):
    """value[key]: by number, slice, or a tuple of these."""
    if isinstance(key, tuple):
        return _nested_item(value, [one for one in key])
    if key is Ellipsis:
        return value
    splits = value.row_splits
    if isinstance(key, slice):
        return _rows(value, key)
    if not isinstance(key, (int, np.integer, Tensor)):
        raise TypeError(f"a ragged tensor is indexed by an integer or a slice, not {key!r}")
    if isinstance(key, (int, np.integer)) and splits._has_values:
        known = splits._values()
        return value.values[known[:-1][key]:known[1:][key]]
    return value.values[splits[:-1][key]:splits[1:][key]]


def _rows(value, key):
    splits = value.row_splits
    if key.step in (None, 1) and not splits._has_values and all(
            end is None or isinstance(end, int) and end >= 0 for end in (key.start, key.stop)):
        cut = splits[key.start:None if key.stop is None else key.stop + 1]
        return _ragged.value(value.values[cut[0]:cut[-1]], cut - cut[0], value._uniform)
    if splits._has_values and (key.step in (None, 1)):
        start, stop, _ = key.indices(splits._shape[0] - 1)
        cut = splits.numpy()[start:max(stop, start) + 1]
        return _ragged.value(value.values[int(cut[0]):int(cut[-1])], convert_to_tensor(cut - cut[0]), value._uniform)
    return _gather(value, F["range"](count(value))[key])


def _nested_item(value, keys):
    if Ellipsis in [key for key in keys if not isinstance(key, Tensor)]:
        if len(keys) > 1 and keys[0] is not Ellipsis:
            keys = [key for key in keys if key is not Ellipsis]
        elif keys == [Ellipsis]:
            return value
        else:
            raise NotImplementedError("an ellipsis before other indices of a ragged tensor is not supported")
    first, rest = keys[0], keys[1:]
    if not isinstance(first, slice):
        found = item(value, first)
        return found[tuple(rest)] if rest else found
    value = value if first == slice(None) else _rows(value, first)
    if not rest:
        return value
    second, deeper = rest[0], rest[1:]
    splits = value.row_splits
    starts, limits = splits[:-1], splits[1:]
    if not isinstance(second, slice):
        found = F["gather"](value.values, (starts if second >= 0 else limits) + second) if not is_ragged(
            value.values) else _gather(value.values, (starts if second >= 0 else limits) + second)
        return found[(slice(None), *deeper)] if deeper else found
    if second.step not in (None, 1):
        raise NotImplementedError("a step in inner slices of a ragged tensor is not supported")
    if second != slice(None):
        def place(end, otherwise):
            return otherwise if end is None else F["minimum"](starts + end, limits) if end >= 0 else F["maximum"](
                limits + end, starts)
        begins = place(second.start, starts)
        value = _cut(value.values, begins, F["maximum"](place(second.stop, limits), begins))
    return value.with_values(value.values[(slice(None), *deeper)]) if deeper else value


# ---- tf.ragged ----

range_ = range


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """A row of rising or falling numbers for each start, limit and step (``tf.ragged.range``)."""
    if limits is None:
        starts, limits = 0, starts
    parts = [convert_to_tensor(part, dtype if not isinstance(part, Tensor) else None) for part in (
        starts, limits, deltas)]
    kind = dtypes.as_dtype(dtype) if dtype is not None else next(
        (part.dtype for part, given in zip(parts, (starts, limits, deltas)) if isinstance(given, Tensor)), max(
            (part.dtype for part in parts), key=lambda one: (one.is_floating, one.size)))
    parts = [F["cast"](part, kind) for part in parts]
    parts = [F["expand_dims"](part, 0) if part.shape.rank == 0 else part for part in parts]
    rows = F["shape"](F["add"](F["add"](parts[0], parts[1]), parts[2]))
    starts, limits, deltas = (F["broadcast_to"](part, rows) for part in parts)
    if kind.is_integer:
        gaps = F["subtract"](limits, starts)
        own = F["negative"](F["math.floordiv"](F["negative"](gaps), deltas))
    else:
        own = F["math.ceil"](F["divide"](F["subtract"](limits, starts), deltas))
    splits_dtype = dtypes.as_dtype(row_splits_dtype)
    own = F["cast"](F["maximum"](own, F["zeros_like"](own)), splits_dtype)
    splits = splits_of_lengths(own)
    place = F["cast"](F["subtract"](F["range"](splits[-1]), F["repeat"](splits[:-1], own)), kind)
    values = F["add"](F["repeat"](starts, own), F["multiply"](place, F["repeat"](deltas, own)))
    return _ragged.value.from_row_splits(values, splits)


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value (``tf.ragged.row_splits_to_segment_ids``)."""
    splits = _numbers(splits)
    own = splits[1:] - splits[:-1]
    ids = F["repeat"](F["range"](F["size"](own, splits.dtype)), own)
    return ids if out_type is None else F["cast"](ids, out_type)


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Row splits of values whose rows are given (``tf.ragged.segment_ids_to_row_splits``)."""
    ids = _numbers(segment_ids)
    if num_segments is None:
        last = F["concat"]([convert_to_tensor(np.full(1, -1, ids.dtype.as_numpy_dtype)), ids], 0)[-1]
        num_segments = F["add"](last, 1)
    own = F["math.unsorted_segment_sum"](F["ones_like"](ids), ids, num_segments)
    return splits_of_lengths(own if out_type is None else F["cast"](own, out_type))


def map_flat_values(op, *args, **kwargs):
    """op of the values below all ragged dimensions of its arguments, which have equal rows
    (``tf.ragged.map_flat_values``)."""
    found = [value for value in (*args, *kwargs.values()) if is_ragged(value)]
    if not found:
        return op(*args, **kwargs)
    flat = lambda value: value.flat_values if is_ragged(value) else value  # noqa: E731
    out = op(*[flat(value) for value in args], **{key: flat(value) for key, value in kwargs.items()})
    return found[0].with_flat_values(out)


def boolean_mask(data, mask, name=None):
    """The slices of `data` where `mask` holds, in its rows (``tf.ragged.boolean_mask``)."""
    data, mask = _values(data), _values(mask)
    if mask.dtype is not dtypes.bool:
        mask = F["cast"](mask, dtypes.bool)
    if mask.shape.rank == 0:
        raise ValueError("mask cannot be scalar.")
    if not is_ragged(mask) and mask.shape.rank == 1:
        if not is_ragged(data):
            return F["boolean_mask"](data, mask)
        return _gather(data, F["reshape"](F["where"](mask), [-1]))
    if not is_ragged(mask):
        mask = from_tensor(_ragged.value, mask, None, None, 1, dtypes.int64)
    if not is_ragged(data):
        data = from_tensor(_ragged.value, data, None, None, 1, dtypes.int64)
    inner = boolean_mask(data.values, mask.values)
    if is_ragged(mask.values):
        return mask.with_values(inner)
    held = F["math.unsorted_segment_sum"](F["cast"](mask.values, mask.row_splits.dtype), rowids(mask), count(mask))
    return _ragged.value.from_row_splits(inner, splits_of_lengths(held))


def _as_ragged(value):
    value = _values(value)
    return value if is_ragged(value) else from_tensor(_ragged.value, value, None, None, 1, dtypes.int64)


def concat_rows(values):
    """Ragged tensors, one behind the other."""
    values = [_as_ragged(value) for value in values]
    inner = [value.values for value in values]
    if any(is_ragged(one) for one in inner):
        inner = concat_rows(inner)
    else:
        inner = F["concat"](inner, 0)
    own = F["concat"]([lengths(value) for value in values], 0)
    return _ragged.value.from_row_splits(inner, splits_of_lengths(own))


def _concat(values, arguments, name):
    values = [_as_ragged(value) for value in values[0]]
    axis = int(arguments["axis"])
    rank = next((value.shape.rank for value in values if value.shape.rank is not None), None)
    axis = axis if axis >= 0 else axis + rank
    if axis == 0:
        return concat_rows(values)
    if axis > 1:
        inner = _concat([[value.values for value in values]], {"axis": axis - 1}, name) if any(
            is_ragged(value.values) for value in values) else F["concat"]([value.values for value in values], axis - 1)
        return values[0].with_values(inner)
    rows, many = count(values[0]), len(values)
    whole = concat_rows(values)
    order = F["reshape"](F["transpose"](F["reshape"](F["range"](F["multiply"](rows, many)), [many, -1])), [-1])
    turned = _gather(whole, order)
    return _ragged.value.from_row_splits(turned.values, turned.row_splits[::many])


def stack(values, axis=0, name=None):
    """Tensors whose lengths may differ, along a new dimension (``tf.ragged.stack``)."""
    values = [_values(value) for value in values]
    if all(not is_ragged(value) and value.shape.rank == 0 for value in values):
        return F["stack"](values)
    rank = values[0].shape.rank
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank - 1}<=axis<{rank + 1}")
    axis %= rank + 1
    if rank == 1 and not any(is_ragged(value) for value in values):
        if axis == 1:
            return F["stack"](values, 1)
        own = F["stack"]([F["size"](value) for value in values])
        return _ragged.value.from_row_splits(F["concat"](values, 0), splits_of_lengths(own))
    values = [_as_ragged(value) for value in values]
    own = F["stack"]([F["cast"](count(value), dtypes.int64) for value in values])
    if axis == 0:
        return _ragged.value.from_row_splits(concat_rows(values), splits_of_lengths(own))
    _check_alike(own, values, axis)
    if axis == 1:  # row i of each value, one behind the other
        places = F["range"](F["multiply"](own[0], len(values)))
        turned = F["transpose"](F["reshape"](places, [len(values), -1]))
        rows = _gather(concat_rows(values), F["reshape"](turned, [-1]))
        return from_uniform(_ragged.value, rows, len(values), own[0])
    inner = [value.values for value in values]
    joined = stack(inner, axis - 1) if any(map(is_ragged, inner)) else F["stack"](inner, axis - 1)
    return _ragged.value.from_row_splits(joined, values[0].row_splits, validate=False)


def _check_alike(counts, values, axis):
    """InvalidArgumentError unless the values have as many rows, and for `axis` beyond 1 rows of equal lengths."""
    from leat._graph.control import Assert
    Assert(F["reduce_all"](F["equal"](counts, counts[0])), ["Inputs must have the same number of rows", counts])
    for value in values[1:] if axis > 1 else ():
        same = F["equal"](value.row_splits, values[0].row_splits)
        Assert(F["reduce_all"](same), ["Inputs must have identical ragged splits", value.row_splits])


def _tile(values, arguments, name):
    """The value so many times behind itself along each dimension."""
    value, multiples = values[0], arguments["multiples"]
    times = [int(n) for n in np.asarray(multiples.numpy() if hasattr(multiples, "numpy") else multiples)]
    if len(times) != value.shape.rank or min(times) < 0:
        raise ValueError(f"tile: multiples are {times}; expected a number for each of {value.shape.rank} dimensions")
    for axis, n in enumerate(times):
        if n == 0:
            raise NotImplementedError("tile of a ragged tensor 0 times is not supported")
        value = value if n == 1 else _concat([[value] * n], {"axis": axis}, "concat")
    return value


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """The slices of `data` by the partition that each belongs to (``tf.ragged.stack_dynamic_partitions``)."""
    data, ids = _values(data), convert_to_tensor(partitions)
    order = F["argsort"](ids, stable=True)
    sorted_ids = F["gather"](ids, order)
    found = _gather(data, order) if is_ragged(data) else F["gather"](data, order)
    return _ragged.value.from_row_splits(found, segment_ids_to_row_splits(sorted_ids, num_partitions))


# ---- operations of the table ----

def _take(values, arguments, name):
    params, indices = values[0], values[1]
    if is_ragged(indices) and not is_ragged(params) and arguments.get("axis") and not arguments.get("batch_dims"):
        return take_inside(params, indices, int(arguments["axis"]))
    if arguments.get("axis") not in (None, 0) or arguments.get("batch_dims") not in (None, 0):
        raise NotImplementedError("gather from ragged tensors along other dimensions than the first is not supported")
    if is_ragged(indices):
        return indices.with_flat_values(_take([params, indices.flat_values], arguments, name))
    if not is_ragged(params):
        return F["gather"](params, indices)
    indices = convert_to_tensor(indices)
    if indices.shape.rank == 0:
        return item(params, indices)
    if indices.shape.rank > 1:
        rows = from_tensor(_ragged.value, indices, None, None, indices.shape.rank - 1, params.row_splits.dtype)
        return rows.with_flat_values(_take([params, rows.flat_values], arguments, name))
    return _gather(params, F["cast"](indices, params.row_splits.dtype))


_SEGMENT = {"reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod", "reduce_mean": "sum",
            "reduce_any": "max", "reduce_all": "min"}


def _reduce(values, arguments, name):
    value = values[0]
    axis = arguments.get("axis")
    axis = axis[0] if isinstance(axis, (list, tuple)) and len(axis) == 1 else axis
    if arguments.get("keepdims"):
        raise NotImplementedError(f"{name} of ragged tensors: keepdims=True is not supported")
    if axis is None:
        return F[name](value.flat_values)
    if isinstance(axis, (list, tuple)):
        for one in sorted((a if a >= 0 else a + value.shape.rank for a in axis), reverse=True):
            value = F[name](value, one)
        return value
    axis = int(axis) if axis >= 0 else int(axis) + value.shape.rank
    if axis > 1:
        return value.with_values(F[name](value.values, axis - 1))
    if is_ragged(value.values):
        raise NotImplementedError(f"{name} over an outer dimension of a ragged tensor of several is not supported")
    segments, many = (rowids(value), count(value)) if axis == 1 else (_columns(value), _width(value))
    flat = value.values
    if flat.dtype is dtypes.bool:
        flat = F["cast"](flat, dtypes.int32)
    out = F["math.unsorted_segment_" + _SEGMENT[name]](flat, segments, many)
    if name == "reduce_mean":
        out = F["divide"](out, F["math.unsorted_segment_sum"](F["ones_like"](flat), segments, many))
    return F["greater"](out, 0) if name in ("reduce_any", "reduce_all") else out


def _expand(values, arguments, name):
    value, axis = values[0], int(arguments["axis"])
    axis = axis if axis >= 0 else axis + value.shape.rank + 1
    if axis in (0, 1):
        rows, one = count(value), convert_to_tensor(1, value.row_splits.dtype)
        return uniform(_ragged.value, value, one if axis else rows, rows if axis else one)
    inner = value.values
    return value.with_values(_expand([inner], {"axis": axis - 1}, name) if is_ragged(inner) else F["expand_dims"](
        inner, axis - 1))


OPERATIONS = {"concat": _concat, "tile": _tile,
              "gather": _take, "expand_dims": _expand, **dict.fromkeys(_SEGMENT, _reduce),
              "stack": lambda values, arguments, name: stack(values[0], arguments.get("axis") or 0),
              "size": lambda values, arguments, name: F["size"](values[0].flat_values),
              "boolean_mask": lambda values, arguments, name: boolean_mask(values[0], values[1])}


# ---- operators ----

def operator_of(path, reflected=False):
    """An operator of ragged tensors: of values in rows of equal lengths, or with a scalar."""
    def operator(self, other):
        return F[path](other, self) if reflected else F[path](self, other)
    return operator
