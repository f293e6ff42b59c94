"""``tf.sparse``: functions of the numbers of sparse tensors, whose places are joined, counted or crossed."""

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.ops import call
from leat._structures.sparse import SparseTensor

__all__ = ["bincount", "maximum", "minimum", "sampled_addmm", "softmax"]


def _steps(shape):
    """How far apart the places of each dimension lie in one row of all."""
    return F["math.cumprod"](shape, exclusive=True, reverse=True)


def _flat(indices, shape):
    return F["reduce_sum"](F["multiply"](indices, _steps(shape)), 1)


def _want_sparse(value):
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor. Received: {value}")
    return value


def softmax(sp_input, name=None):
    """Softmax of the values of each row of the last dimension, without what is missing (``tf.sparse.softmax``)."""
    x = _want_sparse(sp_input)
    shape = convert_to_tensor(x.dense_shape, dtypes.int64)
    rows, count = _flat(x.indices[:, :-1], shape[:-1]), F["reduce_prod"](shape[:-1])
    most = F["stop_gradient"](F["math.unsorted_segment_max"](x.values, rows, count))
    powers = F["exp"](F["subtract"](x.values, F["gather"](most, rows)))
    sums = F["math.unsorted_segment_sum"](powers, rows, count)
    return SparseTensor(x.indices, F["divide"](powers, F["gather"](sums, rows)), x.dense_shape)


def maximum(sp_a, sp_b, name=None):
    """The larger value of each place that one of two sparse tensors has, what is missing being 0
    (``tf.sparse.maximum``)."""
    return _joined(sp_a, sp_b, F["maximum"])


def minimum(sp_a, sp_b, name=None):
    """The smaller value of each place that one of two sparse tensors has, what is missing being 0
    (``tf.sparse.minimum``)."""
    return _joined(sp_a, sp_b, F["minimum"])


def _joined(sp_a, sp_b, function):
    a, b = _want_sparse(sp_a), _want_sparse(sp_b)
    if not a.shape.is_compatible_with(b.shape):
        from leat.errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"Operands' shapes do not match: {a.shape} and {b.shape}")
    shape = convert_to_tensor(a.dense_shape, dtypes.int64)
    indices, *places = call("sparse_union", None, [a.indices, b.indices, shape])
    count = F["shape"](indices)[:1]
    values = function(*[F["scatter_nd"](F["expand_dims"](at, 1), one.values, count) for one, at in zip((a, b), places)])
    return SparseTensor(indices, values, a.dense_shape)


def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """How often each number 0, 1, ... occurs, or the sums of their weights, as a sparse tensor of what occurs; in all
    values, or with `axis=-1` in each row (``tf.sparse.bincount``)."""
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if not hasattr(values, "dense_shape") and not hasattr(values, "value_rowids"):
        values = convert_to_tensor(values)
    counted = dtypes.int64 if values.dtype is dtypes.int64 else dtypes.int32  # counts have the dtype of the numbers
    numbers, rows, count = _numbers_of(values, axis)
    given = None if weights is None else _numbers_of(weights, axis)[0]
    none = convert_to_tensor([-1], dtypes.int64)
    size = F["reduce_max"](F["concat"]([numbers, none], 0)) + 1
    size = size if minlength is None else F["maximum"](size, convert_to_tensor(minlength, dtypes.int64))
    if maxlength is not None:
        size = F["minimum"](size, convert_to_tensor(maxlength, dtypes.int64))
        kept = F["less"](numbers, size)
        given = None if given is None else F["boolean_mask"](given, kept)
        numbers, rows = F["boolean_mask"](numbers, kept), F["boolean_mask"](rows, kept)
    flat = rows * size + numbers
    places, _ = F["unique"](F["sort"](flat))
    found = F["searchsorted"](places, flat)
    if binary_output:
        sums = F["ones_like"](F["cast"](places, counted))
    else:
        each = F["ones_like"](F["cast"](numbers, counted)) if given is None else given
        sums = F["math.unsorted_segment_sum"](each, found, F["size"](places))
    columns = F["expand_dims"](F["math.floormod"](places, size), 1)
    if axis == 0:
        return SparseTensor(columns, sums, F["stack"]([size]))
    indices = F["concat"]([F["expand_dims"](F["math.floordiv"](places, size), 1), columns], 1)
    return SparseTensor(indices, sums, F["stack"]([count, size]))


def _numbers_of(values, axis):
    """(the values in a row, the row of each, how many rows); without an axis all are of row 0."""
    if isinstance(values, SparseTensor):
        flat, rows, count = values.values, values.indices[:, 0], convert_to_tensor(values.dense_shape, dtypes.int64)[0]
    elif hasattr(values, "value_rowids"):
        flat, rows, count = values.values, values.value_rowids(), values.nrows()
    else:
        x = convert_to_tensor(values)
        flat, count = F["reshape"](x, [-1]), F["shape"](x, dtypes.int64)[0] if x.shape.rank else 1
        width = F["size"](x) // F["cast"](F["maximum"](count, 1), dtypes.int32)
        rows = F["repeat"](F["range"](F["cast"](count, dtypes.int64)), F["maximum"](width, 1))[:F["size"](x)]
    if flat.dtype.is_integer:
        flat = F["cast"](flat, dtypes.int64)
    rows = F["zeros_like"](F["cast"](rows, dtypes.int64)) if axis == 0 else F["cast"](rows, dtypes.int64)
    return flat, rows, F["cast"](count, dtypes.int64)


def sampled_addmm(indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0, output_type=dtypes.float32,
                  name=None):
    """(indices, beta * values + alpha * the product of two matrices there, dense_shape)
    (``tf.sparse.sampled_addmm``)."""
    indices = F["cast"](convert_to_tensor(indices), dtypes.int64)
    values, mat1, mat2 = (F["cast"](convert_to_tensor(one), output_type) for one in (values, mat1, mat2))
    rank = mat1.shape.rank
    batch = [indices[:, place] for place in range(rank - 2)]
    rows = F["gather_nd"](mat1, F["stack"]([*batch, indices[:, rank - 2]], 1))
    turned = F["transpose"](mat2, [*range(rank - 2), rank - 1, rank - 2])
    columns = F["gather_nd"](turned, F["stack"]([*batch, indices[:, rank - 1]], 1))
    products = F["reduce_sum"](F["multiply"](rows, columns), 1)
    out = F["add"](F["multiply"](float(alpha), products), F["multiply"](float(beta), values))
    return indices, out, convert_to_tensor(dense_shape)
