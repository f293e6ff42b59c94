"""``keras.ops``: moving the elements of tensors."""

import builtins  # functions here are called as some of these are

import numpy as np

import leat as tf
from leat import nest
from leat.keras._base.symbolic import KerasTensor
from leat.keras.ops import reductions
from leat.keras.ops.making import _shape
from leat.keras.ops.promote import (
    OPERATIONS, dtype_name, operation, place_of, places_of, same_specs, specified, tensor, together)

_before = set(OPERATIONS)


# ---- shapes ----

@operation
def reshape(x, newshape):
    """The same elements in another shape (``keras.ops.reshape``)."""
    if isinstance(newshape, int):
        newshape = (newshape,)
    if not isinstance(newshape, tf.Tensor):
        known = [size for size in newshape if isinstance(size, int)]
        if known and min(known) < -1:
            raise ValueError("Sizes of `newshape` must be a non-negative integer, or -1 for an unknown one. Received: "
                             f"newshape={newshape}")
        if known.count(-1) > 1:
            raise ValueError("There must be at most one unknown dimension (-1) in `newshape`. Received: "
                             f"newshape={newshape}")
    return tf.reshape(tensor(x), newshape)


@operation
def ravel(x):
    """The elements as one list (``keras.ops.ravel``)."""
    return tf.reshape(tensor(x), [-1])


@operation
def expand_dims(x, axis):
    """One more dimension of size 1, or several (``keras.ops.expand_dims``)."""
    x = tensor(x)
    if isinstance(axis, int):
        return tf.expand_dims(x, axis)
    rank = len(x.shape) + len(axis)
    for one in sorted(place % rank for place in axis):
        x = tf.expand_dims(x, one)
    return x


@operation
def squeeze(x, axis=None):
    """Without dimensions of size 1 (``keras.ops.squeeze``)."""
    x = tensor(x)
    if axis is None and x.shape.rank is not None:  # a dimension that is not known stays
        axis = [place for place, size in enumerate(x.shape) if size == 1]
        return tf.squeeze(x, axis) if axis else x
    for one in () if axis is None else [axis] if isinstance(axis, int) else axis:
        if x.shape[one] != 1:
            raise ValueError(f"Cannot squeeze axis={one}, because the dimension is not 1. Shape: {tuple(x.shape)}")
    return tf.squeeze(x, axis if axis is None or isinstance(axis, int) else list(axis))


@operation
def transpose(x, axes=None):
    """The dimensions in another order, by default backwards (``keras.ops.transpose``)."""
    x = tensor(x)
    rank = len(x.shape)
    if axes is not None and not all(isinstance(one, int) and -rank <= one < rank for one in axes):
        raise ValueError(f"Each axis in `axes` must be an integer in [-{rank}, {rank}). Received: axes={list(axes)}.")
    if axes is not None and sorted(places_of(axes, len(x.shape))) != list(range(len(x.shape))):
        raise ValueError("`axes` must be a list of the same length as the input shape, a permutation of it. "
                         f"Received: axes={axes}, x.shape={tuple(x.shape)}")
    return tf.transpose(x, None if axes is None else places_of(axes, len(x.shape)))


@operation
def swapaxes(x, axis1, axis2):
    """Two dimensions exchanged (``keras.ops.swapaxes``)."""
    x = tensor(x)
    order = list(range(len(x.shape)))
    axis1, axis2 = places_of((axis1, axis2), len(order))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


@operation
def moveaxis(x, source, destination):
    """Dimensions moved to other places (``keras.ops.moveaxis``)."""
    x = tensor(x)
    rank = len(x.shape)
    source, destination = places_of(source, rank), places_of(destination, rank)
    order = [one for one in range(rank) if one not in source]
    for place, one in sorted(zip(destination, source)):
        order.insert(place, one)
    return x if order == list(range(rank)) else tf.transpose(x, order)


@operation
def broadcast_to(x, shape):
    """Repeated along dimensions of size 1 (``keras.ops.broadcast_to``)."""
    return tf.broadcast_to(tensor(x), shape)


@operation
def tile(x, repeats):
    """Repeated as a whole (``keras.ops.tile``)."""
    x = tensor(x)
    repeats = [repeats] if isinstance(repeats, int) else list(repeats)
    rank = max(len(x.shape), len(repeats))
    if len(x.shape) < rank:
        x = tf.reshape(x, tf.concat([[1] * (rank - len(x.shape)), tf.shape(x)], 0))
    return tf.tile(x, [1] * (rank - len(repeats)) + repeats)


@operation
def repeat(x, repeats, axis=None):
    """Each element repeated (``keras.ops.repeat``)."""
    return tf.repeat(tensor(x), repeats, axis)


@operation
def flip(x, axis=None):
    """Backwards along dimensions, by default all (``keras.ops.flip``)."""
    x = tensor(x)
    return tf.reverse(x, list(range(len(x.shape))) if axis is None else [axis] if isinstance(axis, int) else list(axis))


@operation
def fliplr(x):
    """Columns backwards (``keras.ops.fliplr``)."""
    return flip(x, 1)


@operation
def flipud(x):
    """Rows backwards (``keras.ops.flipud``)."""
    return flip(x, 0)


@operation
def rot90(array, k=1, axes=(0, 1)):
    """Turned k times by 90 degrees in the plane of two dimensions (``keras.ops.rot90``)."""
    array = tensor(array)
    if len(array.shape) < 2:
        raise ValueError(f"Input array must have at least 2 dimensions. Received: array.ndim={len(array.shape)}")
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    k %= 4
    if k == 0:
        return array
    if k == 2:
        return flip(array, tuple(axes))
    return swapaxes(flip(array, axes[1]), *axes) if k == 1 else flip(swapaxes(array, *axes), axes[1])


@operation
def roll(x, shift, axis=None):
    """Moved along dimensions, what leaves comes in at the other end (``keras.ops.roll``)."""
    x = tensor(x)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    if isinstance(axis, (list, tuple)) and isinstance(shift, int):
        shift = [shift] * len(axis)
    return tf.roll(x, shift, axis)


@operation
def pad(x, pad_width, mode="constant", constant_values=None):
    """Larger at the ends of dimensions (``keras.ops.pad``). `mode`: constant, reflect, symmetric."""
    x = tensor(x)
    if isinstance(pad_width, int):
        pad_width = ((pad_width, pad_width),)
    pad_width = [list(one) if isinstance(one, (list, tuple)) else [one, one] for one in pad_width] if not (
        len(pad_width) == 2 and all(isinstance(one, int) for one in pad_width)) else [list(pad_width)]
    if len(pad_width) == 1:
        pad_width = pad_width * len(x.shape)
    if constant_values is not None and mode != "constant":
        raise ValueError("Argument `constant_values` can only be provided when `mode == 'constant'`. Received: "
                         f"mode={mode}")
    return tf.pad(x, pad_width, mode.upper(), constant_values=constant_values or 0)


@operation
def concatenate(xs, axis=0):
    """Tensors one after the other, as lists where `axis` is None (``keras.ops.concatenate``)."""
    if axis is None:
        return tf.concat([tf.reshape(x, [-1]) for x in together(*xs)], 0)
    parts = together(*xs)
    rank = len(parts[0].shape)
    others = [place for place in range(rank) if place != place_of(axis, rank)]
    for one in parts[1:]:
        if len(one.shape) != rank or any(None not in (one.shape[place], parts[0].shape[place])
                                         and one.shape[place] != parts[0].shape[place] for place in others):
            raise ValueError("Every value in `xs` must have the same shape except on the `axis` dim. But found element "
                             f"of shape {tuple(one.shape)}, which is different from the first element's shape "
                             f"{tuple(parts[0].shape)}.")
    return tf.concat(parts, axis)


@operation
def append(x1, x2, axis=None):
    """Two tensors one after the other, by default as lists (``keras.ops.append``)."""
    x1, x2 = together(x1, x2)
    if axis is None:
        return tf.concat([tf.reshape(x1, [-1]), tf.reshape(x2, [-1])], 0)
    return tf.concat([x1, x2], axis)


@operation
def stack(x, axis=0):
    """Tensors along a new dimension (``keras.ops.stack``)."""
    kinds = {str(getattr(one, "dtype", type(one))) for one in x}
    place_of(axis, len(tensor(x[0]).shape) + 1)
    return tf.stack(x if len(kinds) == 1 else together(*x), axis)


def _alone(xs):
    """One tensor in the place of a list: what TensorFlow's ``concat`` makes of it, itself."""
    xs = tensor(xs)
    if not len(xs.shape):
        raise TypeError("expected tensors to put together. Received: xs of rank 0")
    return xs


@operation
def hstack(xs):
    """Tensors one after the other along the second dimension, vectors along the first (``keras.ops.hstack``)."""
    if not isinstance(xs, (list, tuple)):
        return _alone(xs)
    xs = [tf.reshape(one, [1]) if not len(one.shape) else one for one in together(*xs)]
    return tf.concat(xs, 0 if len(xs[0].shape) == 1 else 1)


@operation
def vstack(xs):
    """Tensors below each other (``keras.ops.vstack``)."""
    if not isinstance(xs, (list, tuple)):
        return _alone(xs)
    return tf.concat([tf.reshape(one, [1, -1]) if len(one.shape) < 2 else one for one in together(*xs)], 0)


@operation
def dstack(xs):
    """Tensors behind each other, along the third dimension (``keras.ops.dstack``)."""
    return tf.concat([tf.reshape(one, [1, -1, 1]) if len(one.shape) < 2 else tf.expand_dims(one, 2)
                      if len(one.shape) == 2 else one for one in together(*xs)], 2)


def _pieces(size, parts, equal):
    if not isinstance(parts, int) and size is None:
        borders = [0, *[int(one) for one in nest.flatten(list(parts))]]
        return [*[max(end - start, 0) for start, end in zip(borders, borders[1:])], -1]
    if not isinstance(parts, int):
        borders = [0, *[int(one) for one in nest.flatten(list(parts))], size]
        return [max(end - start, 0) for start, end in zip(borders, borders[1:])]
    if equal and size % parts:
        raise ValueError(f"`indices_or_sections` must divide the dimension of size {size}. Received: {parts}")
    return [size // parts + (1 if place < size % parts else 0) for place in range(parts)]


@operation
def split(x, indices_or_sections, axis=0):
    """Equal parts, or those between borders (``keras.ops.split``)."""
    x = tensor(x)
    axis = place_of(axis, len(x.shape))
    if x.shape[axis] is None and isinstance(indices_or_sections, int):
        return tf.split(x, indices_or_sections, axis)
    return tf.split(x, _pieces(x.shape[axis], indices_or_sections, True), axis)


@operation
def array_split(x, indices_or_sections, axis=0):
    """Parts of about equal size (``keras.ops.array_split``)."""
    x = tensor(x)
    axis = place_of(axis, len(x.shape))
    if x.shape[axis] is None and isinstance(indices_or_sections, int):
        whole = tf.shape(x)[axis]
        size, more = whole // indices_or_sections, whole % indices_or_sections
        starts = [size * place + tf.minimum(more, place) for place in range(indices_or_sections + 1)]
        whole = (builtins.slice(None),) * axis
        return [x[(*whole, builtins.slice(start, end))] for start, end in zip(starts, starts[1:])]
    return tf.split(x, _pieces(x.shape[axis], indices_or_sections, False), axis)


@operation
def hsplit(x, indices_or_sections):
    """Parts of the second dimension, of the first of a vector (``keras.ops.hsplit``)."""
    return split(x, indices_or_sections, 0 if len(tensor(x).shape) == 1 else 1)


@operation
def vsplit(x, indices_or_sections):
    """Parts of the first dimension (``keras.ops.vsplit``)."""
    return split(x, indices_or_sections, 0)


@operation
def dsplit(x, indices_or_sections):
    """Parts of the third dimension (``keras.ops.dsplit``)."""
    return split(x, indices_or_sections, 2)


@operation
def unstack(x, num=None, axis=0):
    """The parts of a dimension as a list (``keras.ops.unstack``)."""
    x = tensor(x)
    if num is None and x.shape[place_of(axis, len(x.shape))] is None:
        raise ValueError(f"Cannot infer argument `num` from shape {tuple(x.shape)}. Either provide a tensor with a "
                         "concrete shape in the `axis` dimension or explicitly pass the `num` argument.")
    return tf.unstack(tensor(x), num, axis)


# ---- elements by number ----

@operation
def diag(x, k=0):
    """A vector on the k-th diagonal of a matrix, or that of a matrix (``keras.ops.diag``)."""
    x = tensor(x)
    if len(x.shape) == 1:
        length = tf.shape(x)[0] if x.shape[0] is None else x.shape[0]
        size = length + abs(k)
        rows = tf.range(length) + max(-k, 0)
        return tf.scatter_nd(tf.stack([rows, rows + k], axis=1), x, [size, size])
    if len(x.shape) == 2:
        return diagonal(x, k)
    raise ValueError(f"`x` must be 1d or 2d. Received: x.shape={tuple(x.shape)}")


@operation
def diagflat(x, k=0):
    """All elements on the k-th diagonal of a matrix (``keras.ops.diagflat``)."""
    return diag(tf.reshape(tensor(x), [-1]), k)


@operation
def diagonal(x, offset=0, axis1=0, axis2=1):
    """The diagonals of the matrices of two dimensions (``keras.ops.diagonal``)."""
    x = tensor(x)
    if len(x.shape) < 2:
        raise ValueError(f"`diagonal` requires an array of at least two dimensions. Received: x.shape="
                         f"{tuple(x.shape)}")
    if place_of(axis1, len(x.shape)) == place_of(axis2, len(x.shape)):
        raise ValueError(f"`axis1` and `axis2` cannot be the same. Received: axis1={axis1}, axis2={axis2}")
    x = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = x.shape[-2], x.shape[-1]
    if rows is None or columns is None:
        return tf.linalg.diag_part(x, k=offset)
    places = [(row, row + offset) for row in range(rows) if 0 <= row + offset < columns]
    flat = tf.reshape(x, tf.concat([tf.shape(x)[:-2], [rows * columns]], 0))
    return tf.gather(flat, np.array([row * columns + column for row, column in places], "int32"), axis=-1)


@operation
def trace(x, offset=0, axis1=0, axis2=1):
    """The sum of the diagonal (``keras.ops.trace``)."""
    return reductions.sum(diagonal(x, offset, axis1, axis2), -1)


def _wrapped(indices, size):
    indices = tensor(indices)
    if not indices.dtype.is_integer:
        raise ValueError(f"`indices` must be integers. Received: dtype={indices.dtype.name}")
    return tf.where(indices < 0, indices + tf.cast(size, indices.dtype), indices)


def _spec_of_take(x, indices, axis=None):
    places, shape = tuple(indices.shape) if hasattr(indices, "shape") else np.shape(indices), tuple(x.shape)
    if axis is not None:
        axis = place_of(axis, len(shape))
        places = (*shape[:axis], *places, *shape[axis + 1:])
    return KerasTensor(places, dtype_name(x.dtype))


@specified(_spec_of_take)
@operation
def take(x, indices, axis=None):
    """The parts of a dimension that numbers name, negative ones from its end (``keras.ops.take``)."""
    x = tensor(x)
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    axis = place_of(axis, len(x.shape))
    if hasattr(indices, "flat_values"):
        numbers = _wrapped(indices.flat_values, tf.shape(x)[axis])
        return tf.gather(x, indices.with_flat_values(numbers), axis=axis)
    return tf.gather(x, _wrapped(indices, tf.shape(x)[axis]), axis=axis)


@operation
def take_along_axis(x, indices, axis=None):
    """For each place of a dimension the element that a number names (``keras.ops.take_along_axis``)."""
    x, indices = tensor(x), tensor(indices)
    indices = indices if indices.dtype.is_integer else tf.cast(indices, "int64")
    if axis is None:
        if len(indices.shape) != 1:
            raise ValueError("`indices` must be 1D if axis=None. Received: indices.shape=" f"{tuple(indices.shape)}")
        return take_along_axis(tf.reshape(x, [-1]), indices, 0)
    rank = len(x.shape)
    if len(indices.shape) != rank:
        raise ValueError(f"`x` and `indices` must have the same number of dimensions. Received: x.shape="
                         f"{tuple(x.shape)}, indices.shape={tuple(indices.shape)}")
    axis = place_of(axis, rank)
    others = [(a, b) for place, (a, b) in enumerate(zip(x.shape, indices.shape)) if place != axis]
    if any(None not in (a, b) and a != b and 1 not in (a, b) for a, b in others):
        raise ValueError("`x` and `indices` cannot be broadcast outside of `axis`. Received: x.shape="
                         f"{tuple(x.shape)}, indices.shape={tuple(indices.shape)}, axis={axis}")
    indices, found = _wrapped(indices, tf.shape(x)[axis]), indices.shape[axis]
    places = [axis % rank, *[one for one in range(rank) if one != axis % rank]]
    x, indices = tf.transpose(x, _last(places)), tf.transpose(indices, _last(places))
    shape = tf.broadcast_dynamic_shape(tf.shape(x)[:-1], tf.shape(indices)[:-1])
    x = tf.broadcast_to(x, tf.concat([shape, tf.shape(x)[-1:]], 0))
    indices = tf.broadcast_to(indices, tf.concat([shape, tf.shape(indices)[-1:]], 0))
    taken = tf.gather(x, indices, batch_dims=rank - 1, axis=-1) if rank > 1 else tf.gather(x, indices)
    order = list(range(rank - 1))
    order.insert(axis % rank, rank - 1)
    known = [b if a == 1 or b is not None and b != 1 else a for a, b in others]  # 1 gives way, in either
    known.insert(axis, found)
    return tf.ensure_shape(tf.transpose(taken, order), known)


def _last(places):
    return [*places[1:], places[0]]


@operation
def get_item(x, key):
    """x[key] (``keras.ops.get_item``)."""
    return tensor(x)[key]


@operation
def slice(inputs, start_indices, shape):
    """The block of `shape` from a place on (``keras.ops.slice``)."""
    inputs, start_indices = tensor(inputs), tensor(start_indices, "int32")
    if len(shape) != len(inputs.shape):
        raise ValueError(f"The number of dimensions in `inputs` must match the number of dimensions in `shape`. "
                         f"Received: inputs.shape={tuple(inputs.shape)}, shape={shape}")
    if start_indices.shape[0] not in (None, len(inputs.shape)):
        raise ValueError("The number of dimensions in `start_indices` must match the number of dimensions in "
                         f"`inputs`. Received: {start_indices.shape[0]} numbers for inputs.shape="
                         f"{tuple(inputs.shape)}")
    return tf.slice(inputs, start_indices, tensor(shape, "int32"))


@operation
def slice_update(inputs, start_indices, updates):
    """With a block from a place on replaced (``keras.ops.slice_update``)."""
    inputs, updates = tensor(inputs), tensor(updates)
    starts = tf.unstack(tensor(start_indices, "int32"), num=len(inputs.shape))
    sizes = [tf.unstack(tf.shape(one), num=len(inputs.shape)) for one in (inputs, updates)]
    # A block that would reach beyond the end, or begin before the beginning, is moved inside.
    ranges = [tf.range(size) + tf.maximum(tf.minimum(start, whole - size), 0)
              for whole, size, start in zip(*sizes, starts)]
    places = tf.stack(tf.meshgrid(*ranges, indexing="ij"), axis=-1)
    return tf.tensor_scatter_nd_update(inputs, places, tf.cast(updates, inputs.dtype))


@specified(lambda indices, values, shape: KerasTensor(_shape(shape), values.dtype))
@operation
def scatter(indices, values, shape):
    """Zeros with values added at places (``keras.ops.scatter``)."""
    return tf.scatter_nd(tensor(indices), tensor(values), _shape(shape))


_UPDATES = {None: "update", "add": "add", "max": "max", "min": "min"}


def _products_at(inputs, indices, updates):
    """The products of the updates of each place, 1 where there are none."""
    count = indices.shape[-1]
    shape = tf.cast(tf.shape(inputs), indices.dtype)
    numbers = tf.zeros(tf.shape(indices)[:-1], indices.dtype)
    for place in range(count):
        numbers = numbers * shape[place] + indices[..., place]
    products = tf.math.unsorted_segment_prod(updates, numbers, tf.reduce_prod(shape[:count]))
    return tf.reshape(products, tf.shape(inputs))


@specified(lambda inputs, indices, updates, reduction=None: same_specs(inputs))
@operation
def scatter_update(inputs, indices, updates, reduction=None):
    """With values at places replaced (``keras.ops.scatter_update``). `reduction`: add, max, min, mul."""
    inputs = tensor(inputs)
    if reduction == "mul":
        return inputs * _products_at(inputs, tensor(indices), tensor(updates, inputs.dtype))
    if reduction not in _UPDATES:
        raise ValueError(f"scatter_update: expected reduction None, add, max, min or mul, found {reduction!r}")
    return getattr(tf, f"tensor_scatter_nd_{_UPDATES[reduction]}")(inputs, tensor(indices),
                                                                   tensor(updates, inputs.dtype))


@operation
def unravel_index(indices, shape):
    """Numbers of the flat list as places, one list for each dimension (``keras.ops.unravel_index``)."""
    indices = tensor(indices)
    size = int(np.prod(shape))
    left = tf.where(indices < 0, indices + size, indices)
    places = []
    for one in reversed(shape):
        places.append(tf.math.floormod(left, one))
        left = tf.math.floordiv(left, one)
    return tuple(reversed(places))


@operation
def view(x, dtype=None):
    """The same bytes as another dtype (``keras.ops.view``); the last dimension grows or shrinks."""
    x = tensor(x)
    wanted = tf.as_dtype(dtype_name(dtype or x.dtype))
    if wanted.size < x.dtype.size and len(x.shape):
        out = tf.reshape(tf.bitcast(x, wanted), tf.concat([tf.shape(x)[:-1], [-1]], 0))
        last = None if x.shape[-1] is None else x.shape[-1] * (x.dtype.size // wanted.size)
        return tf.ensure_shape(out, [*x.shape[:-1], last])
    if wanted.size == x.dtype.size:
        return tf.bitcast(x, wanted)
    ratio = wanted.size // x.dtype.size
    if not len(x.shape) or not ratio or x.shape[-1] is None or x.shape[-1] % ratio:
        raise ValueError(f"Cannot view array of shape {tuple(x.shape)} and dtype {x.dtype.name} as dtype {wanted.name} "
                         "because the total number of bytes is not divisible by the new itemsize.")
    return tf.bitcast(tf.reshape(x, tf.concat([tf.shape(x)[:-1], [x.shape[-1] // ratio, ratio]], 0)), wanted)


@operation
def copy(x):
    """The same values (``keras.ops.copy``)."""
    return tf.identity(tensor(x))


@operation
def size(x):
    """The number of elements (``keras.ops.size``)."""
    return tf.size(tensor(x))


def ndim(x):
    """The number of dimensions (``keras.ops.ndim``); of a KerasTensor one that stands for it, as in Keras."""
    if isinstance(x, KerasTensor):
        return KerasTensor((len(x.shape),))
    return len(x.shape) if hasattr(x, "shape") else len(tensor(x).shape)


KerasTensor.reshape, KerasTensor.squeeze = reshape, squeeze  # its methods

__all__ = [name for name in OPERATIONS if name not in _before] + ["ndim"]
