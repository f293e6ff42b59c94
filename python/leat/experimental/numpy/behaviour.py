"""``experimental_enable_numpy_behavior``: tensors with numpy's methods, operators and indexing."""

import leat as tf
from leat.errors import UnimplementedError
from leat.experimental.numpy import arrays, functions, types

_enabled = [False]
_OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
              "mod": "mod", "pow": "power", "matmul": "matmul"}
_COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
                "ge": "greater_equal"}


def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """From now on tensors have numpy's methods (`T`, `astype`, `reshape`, `max`, ...), their operators bring dtypes
    together as numpy does, and they are indexed by lists and arrays (TensorFlow's function of this name).

    UnimplementedError for another `dtype_conversion_mode` than "legacy": Python's weak types of "all" and "safe".
    """
    if dtype_conversion_mode != "legacy":
        raise UnimplementedError(None, None, f"experimental_enable_numpy_behavior: dtype_conversion_mode="
                                 f"{dtype_conversion_mode!r}; leave it out and cast where dtypes differ")
    types.prefer_float32(prefer_float32)
    if _enabled[0]:
        return
    _enabled[0] = True
    for short, name in _OPERATORS.items():
        _install(short, getattr(functions, name))
        _install(short, getattr(functions, name), True)
    for short, name in _COMPARISONS.items():
        _install(short, getattr(functions, name))
    for name, value in _METHODS.items():
        setattr(tf.Tensor, name, value)
    _index()


def _install(short, function, reflected=False):
    own = getattr(tf.Tensor, f"__{'r' if reflected else ''}{short}__")

    def operator(self, other):
        if not _is_number(self) or not _is_number(other) or short in ("eq", "ne") and not _broadcasts(self, other):
            return own(self, other)
        return function(other, self) if reflected else function(self, other)
    setattr(tf.Tensor, f"__{'r' if reflected else ''}{short}__", operator)


def _is_number(value):
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return value.dtype.is_numeric or value.dtype is tf.bool
    return isinstance(value, (bool, int, float, list, tuple)) or hasattr(value, "__array_interface__")


def _broadcasts(one, other):
    try:
        tf.broadcast_static_shape(one.shape, types.asarray(other).shape)
        return True
    except (ValueError, TypeError):
        return False


def _index():
    own = tf.Tensor.__getitem__

    def getitem(self, key):
        parts = list(key) if isinstance(key, tuple) else [key]
        if not any(map(_is_array, parts)):
            return own(self, key)
        if len(parts) == 1 and types.asarray(parts[0]).dtype is tf.bool:
            return tf.boolean_mask(self, types.asarray(parts[0]))
        return _indexed(own, self, _spread(parts, len(self.shape)))
    tf.Tensor.__getitem__ = getitem


def _is_array(part):
    return isinstance(part, (list, tuple)) or hasattr(part, "__array_interface__") and part.ndim > 0 or getattr(
        getattr(part, "shape", None), "rank", None) not in (None, 0)


def _spread(parts, rank):
    """The parts of an index with masks as the numbers of their places, and slices for ``...`` and what is left out."""
    spread = []
    for part in parts:
        part = types.asarray(part) if _is_array(part) else part
        is_mask = getattr(part, "dtype", None) is tf.bool
        spread += tf.unstack(tf.where(part), len(part.shape), 1) if is_mask else [part]
    rest = [slice(None)] * (rank - sum(part is not None and part is not Ellipsis for part in spread))
    place = next((i for i, part in enumerate(spread) if part is Ellipsis), None)
    return [*spread, *rest] if place is None else [*spread[:place], *rest, *spread[place + 1:]]


def _indexed(own, tensor, parts):
    """The parts of a tensor at arrays of numbers: numpy's advanced indexing, after that by numbers and slices."""
    listed = [place for place, part in enumerate(parts) if _is_array(part)]
    rest = tuple(slice(None) if place in listed else part for place, part in enumerate(parts))
    if any(part != slice(None) for part in rest):
        tensor = own(tensor, rest)
    kept = [part for part in parts if part is None or isinstance(part, slice) or _is_array(part)]
    arrays_of = [types.asarray(parts[place]) for place in listed]
    listed = [place for place, part in enumerate(kept) if _is_array(part)]
    if len(listed) == 1:
        return arrays.take(tensor, arrays_of[0], listed[0], mode="wrap")
    together = arrays.broadcast_arrays(*types.cast_together(*arrays_of))
    sizes = tf.cast(tf.shape(tensor), together[0].dtype)
    together = [one % sizes[place] for one, place in zip(together, listed)]
    order = [*listed, *(place for place in range(len(kept)) if place not in listed)]
    found = tf.gather_nd(tf.transpose(tensor, order), tf.stack(together, -1))
    if listed != list(range(listed[0], listed[0] + len(listed))):
        return found
    count, first = len(together[0].shape), listed[0]  # the dimensions before stand behind those of the indices now
    return tf.transpose(found, [*range(count, count + first), *range(count), *range(count + first, len(found.shape))])


def _reshape(self, *newshape, order="C"):
    """The same elements in another shape."""
    return arrays.reshape(self, newshape[0] if len(newshape) == 1 else newshape, order)


def _transposed(self, *axes):
    """The dimensions in another order."""
    return arrays.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)


def _astype(self, dtype):
    """The values in another dtype."""
    return types.asarray(self, functions.default_of(dtype))


_METHODS = {
    "T": property(lambda self: arrays.transpose(self)), "data": property(lambda self: self),
    "size": property(lambda self: arrays.size(self)), "ndim": property(lambda self: len(self.shape)),
    "astype": _astype, "reshape": _reshape, "transpose": _transposed, "clip": functions.clip, "max": functions.max,
    "min": functions.min, "mean": functions.mean, "ravel": arrays.ravel, "flatten": arrays.flatten,
    "tolist": lambda self: self.numpy().tolist()}
