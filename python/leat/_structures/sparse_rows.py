"""``tf.sparse``: what sparse tensors do by operations on their indices and values; all of it can be traced."""

import math

import numpy as np

from leat import dtypes
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.ops import call
from leat._graph.tape import custom_gradient
from leat._structures.sparse import SparseTensor
from leat.errors import InvalidArgumentError


def _make(indices, values, dense_shape):
    return SparseTensor(indices, values, dense_shape)


def _int64(value):
    return F["cast"](value if isinstance(value, Tensor) else convert_to_tensor(np.asarray(value, np.int64)),
                        dtypes.int64)


def _rank(value):
    rank = value.shape.rank
    if rank is None:
        raise ValueError("the rank of the sparse tensor must be known")
    return rank


def _axis(value, axis, more=0):
    rank = _rank(value) + more
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is outside [{-rank}, {rank})")
    return axis % rank


def _places(indices, dense_shape):
    """Row-major numbers of places."""
    steps = F["math.cumprod"](dense_shape, exclusive=True, reverse=True)
    return F["reduce_sum"](F["multiply"](indices, F["expand_dims"](steps, 0)), 1)


# ---- dense tensors ----

def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor (``tf.sparse.to_dense``); InvalidArgumentError where places repeat or are out of order."""
    if validate_indices and sp_input.indices._has_values and sp_input.dense_shape._has_values:
        _check_order(sp_input)
        if default_value is None and _are_sums(sp_input.values):
            return F["scatter_nd"](sp_input.indices, sp_input.values, sp_input.dense_shape.numpy().tolist())
    default = convert_to_tensor(_NOTHING.get(sp_input.dtype, 0) if default_value is None else default_value,
                                None if isinstance(default_value, Tensor) else sp_input.dtype)
    out = F["tensor_scatter_nd_update"](F["fill"](sp_input.dense_shape, default), sp_input.indices, sp_input.values)
    shape = sp_input.shape
    return out if out._has_values or shape.rank is None else F["ensure_shape"](out, shape)


_NOTHING = {dtypes.string: b"", dtypes.bool: False}


def _are_sums(values):
    """Is each value itself when it is added to 0? A zero with a sign is not, and of strings there is no sum."""
    if values.dtype.is_integer:
        return True
    if values.dtype not in (dtypes.float32, dtypes.float64) or not values._has_values:
        return False
    array = values.numpy()
    return not np.signbit(array[array == 0]).any()


def _check_order(value):
    indices, sizes = np.asarray(value.indices), value.dense_shape.numpy().tolist()
    if len(indices) < 2:
        return
    if math.prod(sizes) < 2**62:  # indices outside are refused where they are used
        places = indices[:, 0]
        for axis, size in enumerate(sizes[1:], 1):
            places = places * size + indices[:, axis]
        if (places[1:] > places[:-1]).all():
            return
    rises, same = np.zeros(len(indices) - 1, bool), np.ones(len(indices) - 1, bool)
    for before, after in zip(indices[:-1].T, indices[1:].T):
        rises |= same & (before < after)
        same &= before == after
    if rises.all():
        return
    rank = indices.shape[1]
    order = np.lexsort([indices[:, d] for d in range(rank)][::-1])
    falls = np.flatnonzero(order != np.arange(len(order)))
    if len(falls):
        place = int(falls[0])
        raise InvalidArgumentError(None, None, f"indices[{place}] is out of order. Many sparse ops require sorted "
                                   "indices. Use `tf.sparse.reorder` to create a correctly ordered copy.")
    same = np.flatnonzero((indices[1:] == indices[:-1]).all(1))
    if len(same):
        raise InvalidArgumentError(None, None, f"indices[{int(same[0]) + 1}] is repeated")


def from_dense(tensor, name=None):
    """The sparse tensor of what is not zero (``tf.sparse.from_dense``)."""
    tensor = convert_to_tensor(tensor)
    indices = F["where"](F["not_equal"](tensor, F["zeros_like"](tensor)))
    return _make(indices, F["gather_nd"](tensor, indices), F["shape"](tensor, dtypes.int64))._known(tensor.shape)


def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """Ones on the diagonal (``tf.sparse.eye``)."""
    columns = num_rows if num_columns is None else num_columns
    count = min(int(num_rows), int(columns))
    line = np.arange(count, dtype=np.int64)
    return _make(np.stack([line, line], 1), np.ones(count, dtypes.as_dtype(dtype).as_numpy_dtype),
                 np.array([num_rows, columns], np.int64))


def to_indicator(sp_input, vocab_size, name=None):
    """A bool tensor that is true at the values of each line (``tf.sparse.to_indicator``)."""
    indices = F["concat"]([sp_input.indices[:, :-1], F["expand_dims"](_int64(sp_input.values), 1)], 1)
    shape = F["concat"]([sp_input.dense_shape[:-1], _int64([vocab_size])], 0)
    zeros = F["fill"](shape, convert_to_tensor(False))
    values = F["cast"](F["ones_like"](sp_input.indices[:, 0]), dtypes.bool)
    return F["tensor_scatter_nd_update"](zeros, indices, values)


# ---- places ----

def reorder(sp_input, name=None):
    """The same in row-major order (``tf.sparse.reorder``)."""
    indices, order = call("sparse_order", None, [sp_input.indices, _int64(sp_input.dense_shape)])
    return _make(indices, F["gather"](sp_input.values, order), sp_input.dense_shape)


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors one behind the other along a dimension (``tf.sparse.concat``)."""
    inputs = list(sp_inputs) if isinstance(sp_inputs, (list, tuple)) else [sp_inputs]
    axis = _axis(inputs[0], axis)
    shapes = F["stack"]([value.dense_shape for value in inputs])
    shape, indices, before = F["reduce_max"](shapes, 0), [], None
    known = [value.dense_shape.numpy() for value in inputs if value.dense_shape._has_values]
    for other in known[1:]:
        if not expand_nonconcat_dims and any(a != b for d, (a, b) in enumerate(zip(known[0], other)) if d != axis):
            raise InvalidArgumentError(None, None, f"Input shapes should match: expected {known[0]}, got {other}, "
                                       f"which differ in another dimension than {axis}")
    sizes = [int(value[axis]) for value in known]
    if sum(sizes) > np.iinfo(np.int64).max:
        raise InvalidArgumentError(None, None, f"the sizes {sizes} of dimension {axis} add up to "
                                   "more than an int64 holds")
    one = np.zeros(_rank(inputs[0]), np.int64)
    one[axis] = 1
    for value in inputs:
        shift = F["multiply"](convert_to_tensor(one), before) if before is not None else convert_to_tensor(one * 0)
        indices.append(F["add"](value.indices, F["expand_dims"](shift, 0)))
        before = value.dense_shape[axis] if before is None else F["add"](before, value.dense_shape[axis])
    shape = F["where"](convert_to_tensor(one == 1), before, shape)
    return reorder(_make(F["concat"](indices, 0), F["concat"]([value.values for value in inputs], 0), shape))


def slice(sp_input, start, size, name=None):
    """The values from `start` on in each dimension, at most `size` (``tf.sparse.slice``)."""
    start, size = _int64(start), _int64(size)
    end = F["minimum"](F["add"](start, size), sp_input.dense_shape)
    inside = F["logical_and"](F["greater_equal"](sp_input.indices, start), F["less"](sp_input.indices, end))
    found = retain(sp_input, F["reduce_all"](inside, 1))
    shape = F["maximum"](F["subtract"](end, start), F["zeros_like"](end))
    return _make(F["subtract"](found.indices, start), found.values, shape)


def split(sp_input=None, num_split=None, axis=None, name=None):
    """`num_split` pieces along a dimension; the first are longer where it does not divide (``tf.sparse.split``)."""
    axis = _axis(sp_input, int(axis))
    dim = sp_input.dense_shape[axis]
    rank, out, begin = _rank(sp_input), [], convert_to_tensor(np.int64(0))
    for i in range(num_split):
        length = F["add"](F["math.floordiv"](dim, num_split), F["cast"](F["less"](
            convert_to_tensor(np.int64(i)), F["math.floormod"](dim, num_split)), dtypes.int64))
        zeros, here = np.zeros(rank, np.int64), np.arange(rank) == axis
        out.append(slice(sp_input, F["where"](here, begin, convert_to_tensor(zeros)), F["where"](
            here, length, sp_input.dense_shape)))
        begin = F["add"](begin, length)
    return out


def retain(sp_input, to_retain):
    """The values where a vector is true (``tf.sparse.retain``)."""
    return _make(F["boolean_mask"](sp_input.indices, to_retain), F["boolean_mask"](sp_input.values, to_retain),
                 sp_input.dense_shape)


def reset_shape(sp_input, new_shape=None):
    """The same in another dense shape; by default the smallest (``tf.sparse.reset_shape``)."""
    if new_shape is not None:
        return _make(sp_input.indices, sp_input.values, _int64(new_shape))
    rank = _rank(sp_input)
    padded = F["concat"]([np.full([1, rank], -1, np.int64), sp_input.indices], 0)
    return _make(sp_input.indices, sp_input.values, F["add"](F["reduce_max"](padded, 0), 1))


def reshape(sp_input, shape, name=None):
    """The values in another dense shape of as many places (``tf.sparse.reshape``); -1 stands for what fits."""
    shape = _int64(shape)
    if shape._has_values and sp_input.dense_shape._has_values:
        dims, old = shape.numpy().tolist(), _int64(sp_input.dense_shape)
        rest = math.prod(old.numpy().tolist()) // max(abs(math.prod(dims)), 1)
        shape = convert_to_tensor(np.array([rest if one == -1 else one for one in dims], np.int64))
        return _make(call("sparse_reshape", None, [sp_input.indices, old, shape])[0], sp_input.values, shape)
    count = F["reduce_prod"](sp_input.dense_shape)
    rest = F["math.floordiv"](count, F["maximum"](F["abs"](F["reduce_prod"](shape)), convert_to_tensor(np.int64(1))))
    shape = F["where"](F["equal"](shape, convert_to_tensor(np.int64(-1))), rest, shape)
    indices = call("sparse_reshape", None, [sp_input.indices, _int64(sp_input.dense_shape), shape])[0]
    return _make(indices, sp_input.values, shape)


def transpose(sp_input, perm=None, name=None):
    """The dimensions in another order (``tf.sparse.transpose``); by default reversed."""
    rank = _rank(sp_input)
    perm = np.asarray(perm if perm is not None else np.arange(rank)[::-1], np.int32)
    return reorder(_make(F["gather"](sp_input.indices, convert_to_tensor(perm), axis=1), sp_input.values,
                         F["gather"](sp_input.dense_shape, convert_to_tensor(perm))))


def expand_dims(sp_input, axis=None, name=None):
    """One more dimension of size 1 (``tf.sparse.expand_dims``)."""
    axis = _axis(sp_input, -1 if axis is None else axis, 1)
    zeros = F["zeros_like"](sp_input.indices[:, :1])
    one = convert_to_tensor(np.ones(1, np.int64))
    return _make(F["concat"]([sp_input.indices[:, :axis], zeros, sp_input.indices[:, axis:]], 1), sp_input.values,
                 F["concat"]([sp_input.dense_shape[:axis], one, sp_input.dense_shape[axis:]], 0))


def fill_empty_rows(sp_input, default_value, name=None):
    """(a sparse matrix with `default_value` at the first place of each empty row, which rows were empty)
    (``tf.sparse.fill_empty_rows``)."""
    indices, order, is_empty = call("sparse_fill_empty_rows", None, [sp_input.indices, _int64(sp_input.dense_shape)])
    default = F["reshape"](convert_to_tensor(default_value, sp_input.dtype), [1])
    values = F["gather"](F["concat"]([sp_input.values, default], 0), order)
    return _make(indices, values, sp_input.dense_shape), is_empty


def mask(a, mask_indices, name=None):
    """A sparse tensor without the rows of these numbers (``tf.sparse.mask``)."""
    wanted = _int64(mask_indices)
    hits = F["equal"](F["expand_dims"](a.indices[:, 0], 1), F["expand_dims"](wanted, 0))
    return retain(a, F["logical_not"](F["reduce_any"](hits, 1)))


# ---- values ----

def map_values(op, *args, **kwargs):
    """op of the values of sparse tensors with equal places (``tf.sparse.map_values``)."""
    found = [value for value in (*args, *kwargs.values()) if hasattr(value, "dense_shape")]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    flat = lambda value: value.values if hasattr(value, "dense_shape") else value  # noqa: E731
    out = op(*[flat(value) for value in args], **{key: flat(value) for key, value in kwargs.items()})
    return found[0].with_values(out)


def add(a, b, threshold=0):
    """The sum of sparse tensors, or of a sparse and a dense one, which is dense (``tf.sparse.add``).

    Sums whose absolute value is below `threshold` are left out of a sparse result.
    """
    is_sparse = [hasattr(value, "dense_shape") for value in (a, b)]
    if not any(is_sparse):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not all(is_sparse):
        a, b = (a, b) if is_sparse[0] else (b, a)
        dense = convert_to_tensor(b)
        return F["tensor_scatter_nd_add"](dense, a.indices, a.values)
    indices, *places = call("sparse_union", None, [a.indices, b.indices, _int64(a.dense_shape)])
    sums = F["math.unsorted_segment_sum"](F["concat"]([a.values, b.values], 0), F["concat"](places, 0),
                                          F["shape"](indices)[0])
    out = _make(indices, sums, a.dense_shape)
    limit = convert_to_tensor(threshold, a.dtype)
    if isinstance(threshold, (int, float)) and threshold == 0:
        return out
    return retain(out, F["greater_equal"](F["abs"](sums), limit))


def _reduce(value, axis, keepdims, segments, starts, name):
    rank = _rank(value)
    axes = list(range(rank)) if axis is None else sorted({_axis(value, int(a)) for a in np.asarray(axis).reshape(-1)})
    kept = [d for d in range(rank) if d not in axes]
    if not kept and value.values._has_values and value.values.shape[0]:
        return F["reduce_" + segments](value.values) if not keepdims else F["reshape"](
            F["reduce_" + segments](value.values), [1] * rank)
    shape = F["gather"](value.dense_shape, convert_to_tensor(np.array(kept, np.int32)))
    indices = F["gather"](value.indices, convert_to_tensor(np.array(kept, np.int32)), axis=1)
    places = _places(indices, shape) if kept else F["zeros_like"](value.indices[:, 0])
    count = F["reduce_prod"](shape)
    out = F["math.unsorted_segment_" + segments](value.values, places, count)
    if starts:
        some = F["math.unsorted_segment_sum"](F["ones_like"](places), places, count)
        out = F["where"](F["equal"](some, F["zeros_like"](some)), F["zeros_like"](out), out)
    if not keepdims:
        return F["reshape"](out, shape)
    dims = [convert_to_tensor(np.int64(1)) if d in axes else value.dense_shape[d] for d in range(rank)]
    return F["reshape"](out, F["stack"](dims))


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """Sums over dimensions (``tf.sparse.reduce_sum``)."""
    out = _reduce(sp_input, axis, keepdims, "sum", False, name)
    return from_dense(out) if output_is_sparse else out


def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The largest of the values that are there, 0 where there is none (``tf.sparse.reduce_max``)."""
    out = _reduce(sp_input, axis, keepdims, "max", True, name)
    return from_dense(out) if output_is_sparse else out


def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """A sparse matrix times a dense one (``tf.sparse.sparse_dense_matmul``)."""
    if not hasattr(sp_a, "dense_shape"):
        turned = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return F["transpose"](turned)
    b = convert_to_tensor(b)
    b = F["transpose"](b) if adjoint_b else b
    if b.dtype in (dtypes.float32, dtypes.float64):
        return _product(sp_a.indices, sp_a.values, sp_a.dense_shape, b, adjoint_a)
    rows, columns = (1, 0) if adjoint_a else (0, 1)
    lines = F["gather"](b, sp_a.indices[:, columns])
    products = F["multiply"](lines, F["expand_dims"](sp_a.values, 1))
    return F["math.unsorted_segment_sum"](products, sp_a.indices[:, rows], sp_a.dense_shape[rows])


def _product(indices, values, shape, b, adjoint_a):
    shape = _int64(shape)
    rows, columns = (1, 0) if adjoint_a else (0, 1)

    @custom_gradient
    def compute(values, b):
        out = call("sparse_dense_matmul", {"adjoint_a": bool(adjoint_a)}, [indices, values, shape, b])[0]

        def gradient(upstream):
            lines = F["gather"](upstream, indices[:, rows])
            of_values = F["reduce_sum"](F["multiply"](lines, F["gather"](b, indices[:, columns])), 1)
            return of_values, _product(indices, values, shape, upstream, not adjoint_a)
        return out, gradient
    return compute(values, b)


# ---- segments ----

def _segments(kind, data, indices, segment_ids, num_segments):
    rows = F["gather"](convert_to_tensor(data), indices)
    if num_segments is None:
        if kind == "sqrt_n" and rows.shape.rank is None:
            ids = convert_to_tensor(segment_ids)
            last = F["concat"]([ids[-1:] + 1, F["zeros_like"](ids)[:1]], 0)
            return _unsorted(kind, rows, ids, F["reduce_max"](last))
        if kind == "sqrt_n":
            ids = convert_to_tensor(segment_ids)
            count = F["math.segment_sum"](F["ones_like"](F["cast"](ids, rows.dtype)), ids)
            roots = F["sqrt"](F["maximum"](count, convert_to_tensor(1, rows.dtype)))
            shape = [-1] + [1] * (rows.shape.rank - 1)
            return F["divide"](F["math.segment_sum"](rows, ids), F["reshape"](roots, shape))
        return F["math.segment_" + kind](rows, segment_ids)
    return _unsorted(kind, rows, segment_ids, num_segments)


def _unsorted(kind, rows, segment_ids, num_segments):
    from leat import math
    return getattr(math, "unsorted_segment_" + kind)(rows, segment_ids, num_segments)


def segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sums of the rows that `indices` number, by segments that rise (``tf.sparse.segment_sum``)."""
    return _segments("sum", data, indices, segment_ids, num_segments)


def segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The means of the rows that `indices` number, by segments that rise (``tf.sparse.segment_mean``)."""
    return _segments("mean", data, indices, segment_ids, num_segments)


def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sums of such rows, divided by the root of their number (``tf.sparse.segment_sqrt_n``)."""
    return _segments("sqrt_n", data, indices, segment_ids, num_segments)
