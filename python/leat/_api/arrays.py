"""Functions of ``tf`` itself on numbers and arrays that are made of operations, as TensorFlow makes them."""

import numpy as np

from leat import dtypes
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat._graph.tape import of_slices, slices_of, sum_of_squares
from leat.errors import InvalidArgumentError

__all__ = ["batch_to_space", "broadcast_dynamic_shape", "broadcast_static_shape", "clip_by_global_norm",
           "clip_by_norm", "dynamic_stitch", "global_norm", "histogram_fixed_width_bins", "identity_n", "meshgrid",
           "ones_like", "repeat", "sequence_mask", "space_to_batch", "space_to_batch_nd", "stack", "unravel_index",
           "zeros_like"]


# ---- clipping ----

def clip_by_norm(t, clip_norm, axes=None, name=None):
    """t scaled so that its Euclidean norm, over `axes`, is at most clip_norm (``tf.clip_by_norm``)."""
    t = convert_to_tensor(t)
    parts = slices_of(t) if axes is None else []
    limit = F["maximum"](convert_to_tensor(clip_norm, dtype=t.dtype), 0)
    squares = F["reduce_sum"](F["multiply"](t, t), axes, True) if not parts else sum_of_squares(t)
    is_some = F["greater"](squares, 0)
    safe = F["where"](is_some, squares, F["ones_like"](squares))
    size = F["maximum"](F["where"](is_some, F["sqrt"](safe), squares), limit)

    def clipped(values):
        return F["divide"](F["multiply"](values, limit), size)
    return of_slices(t, parts, clipped) if parts else clipped(t)


def global_norm(t_list, name=None):
    """The Euclidean norm of all values of several tensors; None is passed over (``tf.linalg.global_norm``)."""
    if isinstance(t_list, (str, bytes)) or not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    halves = [sum_of_squares(convert_to_tensor(t)) for t in t_list if t is not None]
    if not halves:
        return convert_to_tensor(0, dtypes.float32)
    return F["sqrt"](F["reduce_sum"](F["stack"](halves)))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """(tensors scaled together so that their global norm is at most clip_norm, that norm) (``tf.clip_by_global_norm``).

    None among them stays. A norm that is not finite makes all values NaN.
    """
    if isinstance(t_list, (str, bytes)) or not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    size = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    limit = convert_to_tensor(clip_norm, dtype=size.dtype)
    scale = F["multiply"](limit, F["minimum"](F["divide"](1.0, size), F["divide"](1.0, limit)))
    scale = F["add"](scale, F["subtract"](size, size))
    return [None if t is None else _scaled(convert_to_tensor(t), scale) for t in t_list], size


def _scaled(t, scale):
    scale, parts = F["cast"](scale, t.dtype), slices_of(t)
    if parts:
        return of_slices(t, parts, lambda slices: F["multiply"](slices, scale))
    return F["multiply"](t, scale)


def zeros_like(input, dtype=None, name=None, layout=None):
    """Zeros of the shape, and where no dtype is given of the dtype, of a tensor (``tf.zeros_like``)."""
    return _like("zeros_like", input, dtype)


def ones_like(input, dtype=None, name=None, layout=None):
    """Ones of the shape, and where no dtype is given of the dtype, of a tensor (``tf.ones_like``)."""
    return _like("ones_like", input, dtype)


def _like(operation, value, dtype):
    value = value if hasattr(value, "_is_leaf_value") else convert_to_tensor(value)
    if dtype is None or value.dtype is dtypes.as_dtype(dtype):
        return F[operation](value)
    dtype = dtypes.as_dtype(dtype)
    if dtypes.string not in (dtype, value.dtype):
        return F["cast"](F[operation](value), dtype)
    from leat._graph.creation import ones, zeros
    return (zeros if operation == "zeros_like" else ones)(F["shape"](value), dtype)


# ---- shapes ----

def broadcast_static_shape(shape_x, shape_y):
    """The TensorShape that two shapes broadcast to (``tf.broadcast_static_shape``)."""
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    long, short = (x, y) if x.rank >= y.rank else (y, x)
    out = long.as_list()
    for i, dim in enumerate(reversed(short.as_list()), 1):
        other = out[-i]
        if dim is not None and other is not None and dim != other and 1 not in (dim, other):
            raise ValueError(f"Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension "
                             f"pair they are either equal or one of them is 1. Received: {x} and {y}.")
        if other == 1:
            out[-i] = dim
        elif other is None and dim is not None and dim > 1:
            out[-i] = dim
    return TensorShape(out)


def _ragged_shape(tensor):
    from leat._structures.ragged_shapes import DynamicRaggedShape
    return DynamicRaggedShape.from_tensor(tensor)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that two shapes broadcast to, as a tensor (``tf.broadcast_dynamic_shape``)."""
    if hasattr(shape_x, "_is_leaf_value") or hasattr(shape_y, "_is_leaf_value"):
        return _ragged_shape(F["math.logical_or"](F["fill"](shape_x, False), F["fill"](shape_y, False)))
    x, y = (convert_to_tensor(shape, dtype_hint=dtypes.int32) for shape in (shape_x, shape_y))
    count = F["maximum"](F["size"](x), F["size"](y))

    def padded(shape):
        ones = F["fill"](F["expand_dims"](F["subtract"](count, F["size"](shape)), 0), convert_to_tensor(1, shape.dtype))
        return F["concat"]([ones, shape], 0)
    x, y = padded(x), padded(y)
    from leat._graph.control import Assert
    fits = F["logical_or"](F["equal"](x, y), F["logical_or"](F["equal"](x, 1), F["equal"](y, 1)))
    Assert(F["reduce_all"](fits), ["Incompatible shapes for broadcasting:", x, y])
    return F["where"](F["equal"](x, 1), y, x)


def meshgrid(*args, **kwargs):
    """Coordinates of a grid for each of several vectors (``tf.meshgrid``); `indexing` is 'xy' or 'ij'."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    vectors = [F["reshape"](convert_to_tensor(x), [-1]) for x in args]
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = [1, 0]
    sizes = [F["shape"](x)[0] for x in vectors]
    shape = [sizes[places.index(i)] for i in range(len(vectors))]
    out = []
    for x, place in zip(vectors, places):
        line = F["reshape"](x, [-1 if i == place else 1 for i in range(len(vectors))])
        out.append(F["broadcast_to"](line, F["stack"](shape)))
    return out


def unravel_index(indices, dims, name=None):
    """The coordinates of numbered places of an array, one row for each dimension (``tf.unravel_index``)."""
    indices, dims = convert_to_tensor(indices), convert_to_tensor(dims)
    from leat._graph.control import Assert
    inside = F["less"](indices, F["reduce_prod"](dims))
    Assert(F["reduce_all"](inside), ["index is out of bound as with dims", dims])
    steps = F["math.cumprod"](dims, exclusive=True, reverse=True)
    if indices.shape.rank != 0:
        steps, dims = F["expand_dims"](steps, 1), F["expand_dims"](dims, 1)
    return F["truncatemod"](F["truncatediv"](indices, steps), dims)


def space_to_batch_nd(input, block_shape, paddings, name=None):
    """Blocks of padded spatial dimensions moved into the batch dimension (``tf.space_to_batch_nd``)."""
    x = convert_to_tensor(input)
    blocks = _blocks(block_shape)
    count, rank = len(blocks), x.shape.rank
    _check_blocks(rank, count)
    before = np.asarray(paddings).reshape(-1, 2).tolist()
    if any(a or b for a, b in before):
        x = F["pad"](x, [[0, 0], *before, *[[0, 0]] * (rank - 1 - count)])
    shape, join = _dims(x)
    split = [shape[0]]
    for i, block in enumerate(blocks):
        split += [shape[i + 1] // block, block]
    rest = [shape[i] for i in range(count + 1, rank)]
    x = F["reshape"](x, join(split + rest))
    order = [2 * i + 2 for i in range(count)] + [0] + [2 * i + 1 for i in range(count)]
    x = F["transpose"](x, order + list(range(2 * count + 1, 2 * count + 1 + len(rest))))
    joined = [shape[0] * int(np.prod(blocks))] + [shape[i + 1] // block for i, block in enumerate(blocks)] + rest
    return F["reshape"](x, join(joined))


def _check_blocks(rank, count):
    if rank is not None and rank < count + 1:
        raise InvalidArgumentError(None, None, f"input rank should be >= {count + 1} instead of {rank}")


def _blocks(block_shape):
    blocks = [int(b) for b in np.asarray(block_shape).reshape(-1)]
    if blocks and min(blocks) < 1:
        raise InvalidArgumentError(None, None, f"All values in block_shape must be positive, found {blocks}")
    return blocks


def _dims(x):
    """(the dimensions: numbers where all are known, what makes a shape of some)."""
    if x.shape.rank is not None and None not in x.shape.as_list():
        return x.shape.as_list(), list
    return F["shape"](x), F["stack"]


def space_to_batch(input, block_shape, paddings, name=None):
    """The same (``tf.space_to_batch``)."""
    return space_to_batch_nd(input, block_shape, paddings)


def batch_to_space(input, block_shape, crops, name=None):
    """Blocks moved from the batch dimension into spatial ones, which are then cropped (``tf.batch_to_space``)."""
    x = convert_to_tensor(input)
    blocks = _blocks(block_shape)
    cut = np.asarray(crops).reshape(-1, 2).tolist()
    _check_blocks(x.shape.rank, len(blocks))
    (shape, join), count, rank = _dims(x), len(blocks), x.shape.rank
    rest = [shape[i] for i in range(count + 1, rank)]
    batch = shape[0] // int(np.prod(blocks))
    x = F["reshape"](x, join([*blocks, batch, *[shape[i + 1] for i in range(count)], *rest]))
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    x = F["transpose"](x, order + list(range(2 * count + 1, 2 * count + 1 + len(rest))))
    x = F["reshape"](x, join([batch, *[shape[i + 1] * block for i, block in enumerate(blocks)], *rest]))
    if not any(a or b for a, b in cut):
        return x
    begin = [0, *[a for a, _ in cut], *[0] * len(rest)]
    size = [-1, *[shape[i + 1] * block - a - b for i, (block, (a, b)) in enumerate(zip(blocks, cut))],
            *[-1] * len(rest)]
    return F["slice"](x, begin, join(size))


# ---- the rest ----

def stack(values, axis=0, name="stack"):
    """Tensors of one shape along a new dimension (``tf.stack``). Of a tensor, its slices."""
    if not isinstance(values, (list, tuple)) or not any(isinstance(value, Tensor) or hasattr(value, "_as_tensor") or (
            hasattr(value, "_is_leaf_value")) for value in values):
        whole = values if hasattr(values, "_is_leaf_value") else convert_to_tensor(values)
        if axis == 0:
            return whole
        values = F["unstack"](whole)
    return F["stack"](values, axis)


def dynamic_stitch(indices, data, name=None):
    """Slices put at numbered places of one tensor (``tf.dynamic_stitch``)."""
    places = [convert_to_tensor(one, dtypes.int32) for one in indices]
    hint = convert_to_tensor(data[0]).dtype if len(data) > 0 else None
    return ops.call("dynamic_stitch", None, places + [convert_to_tensor(one, dtype_hint=hint) for one in data])[0]


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """In which of `nbins` equal parts of a range each value lies, int32 whatever `dtype`
    (``tf.histogram_fixed_width_bins``)."""
    values = convert_to_tensor(values)
    bounds = convert_to_tensor(value_range, dtype=values.dtype)
    if isinstance(nbins, int) and nbins <= 0:
        raise InvalidArgumentError(None, None, "nbins must be positive.")
    wide = values.dtype if values.dtype.is_floating else dtypes.float64
    low, high = F["unstack"](F["cast"](bounds, wide), 2)
    count = F["cast"](convert_to_tensor(nbins), wide)
    scaled = F["divide"](F["subtract"](F["cast"](values, wide), low), F["subtract"](high, low))
    places = F["floor"](F["multiply"](count, scaled))
    return F["cast"](F["clip_by_value"](places, 0.0, F["subtract"](count, 1.0)), dtypes.int32)


def repeat(input, repeats, axis=None, name=None):
    """The slices of a tensor along `axis`, each as often as `repeats` says (``tf.repeat``); without an axis all values
    as one vector."""
    if not hasattr(repeats, "_is_leaf_value"):
        repeats = convert_to_tensor(repeats, dtype_hint=dtypes.int32)
        if repeats.dtype.is_integer and repeats.dtype not in (dtypes.int32, dtypes.int64):
            repeats = F["cast"](repeats, dtypes.int32)
    return F["repeat"](input, repeats, axis)


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """For each length a vector that is true at as many places from the front (``tf.sequence_mask``). A length that is
    no whole number ends behind the place that it reaches into; with `maxlen` a whole number it is cut to one."""
    lengths = convert_to_tensor(lengths)
    if maxlen is not None:
        maxlen = convert_to_tensor(maxlen)
        if maxlen.dtype is dtypes.bool:
            raise TypeError("sequence_mask: maxlen is bool; expected a whole number")
        if maxlen.dtype.is_floating:
            lengths, maxlen = F["math.ceil"](F["cast"](lengths, maxlen.dtype)), F["math.ceil"](maxlen)
            maxlen = F["cast"](maxlen, dtypes.int32)
    elif lengths.dtype.is_floating:
        lengths = F["math.ceil"](lengths)
    if lengths.dtype.is_floating or maxlen is not None and lengths.dtype is dtypes.bool:
        lengths = F["cast"](lengths, dtypes.int32)
    return F["sequence_mask"](lengths, maxlen, dtype)


def identity_n(input, name=None):
    """Each tensor itself, in a list (``tf.identity_n``)."""
    return [F["identity"](tensor) for tensor in input]
