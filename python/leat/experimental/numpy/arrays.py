"""numpy's functions that make tensors and move their elements."""

import numpy as np

import leat as tf
from leat.experimental.numpy.functions import default_of, modulo
from leat.experimental.numpy.types import asarray, cast_together, floating, result_type
from leat.keras import ops

_before = {*globals()}


# ---- making ----

def array(val, dtype=None, copy=True, ndmin=0):
    """A tensor of values, with `ndmin` dimensions at least (``tf.experimental.numpy.array``)."""
    made = asarray(val, dtype)
    missing = ndmin - len(made.shape)
    return made if missing <= 0 else tf.reshape(made, [1] * missing + list(made.shape))


def asanyarray(a, dtype=None):
    """A tensor of values."""
    return asarray(a, dtype)


ascontiguousarray = asanyarray


def copy(a):
    """A tensor of the same values."""
    return asarray(a)


def arange(start, stop=None, step=1, dtype=None):
    """Numbers at equal distances."""
    given = [one for one in (start, stop, step) if one is not None]
    dtype = result_type(*given) if dtype is None else default_of(dtype)
    start, stop = (0, start) if stop is None else (start, stop)
    if all(isinstance(one, (int, float, np.number)) for one in (start, stop, step)) and step != 0 and (
            stop - start) * step <= 0:
        return tf.zeros([0], dtype)
    counted = result_type(start, stop, step)
    counted = counted if counted in (tf.int32, tf.float32, tf.float64) else (
        tf.int64 if counted.is_integer else tf.float64)
    return tf.cast(tf.range(*(tf.cast(asarray(one), counted) for one in (start, stop, step))), dtype)


def full(shape, fill_value, dtype=None):
    """One value everywhere."""
    value = asarray(fill_value, None if dtype is None else default_of(dtype))
    return tf.broadcast_to(value, [shape] if isinstance(shape, int) else shape)


def zeros(shape, dtype=float):
    """Zeros."""
    return tf.zeros(shape, default_of(dtype))


def ones(shape, dtype=float):
    """Ones."""
    return tf.ones(shape, default_of(dtype))


empty = zeros


def zeros_like(a, dtype=None):
    """Zeros in the shape of another."""
    return tf.zeros_like(asarray(a), None if dtype is None else default_of(dtype))


def ones_like(a, dtype=None):
    """Ones in the shape of another."""
    return tf.ones_like(asarray(a), None if dtype is None else default_of(dtype))


empty_like = zeros_like


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """One value in the shape of another."""
    a = asarray(a)
    value = tf.cast(asarray(fill_value), a.dtype if dtype is None else default_of(dtype))
    return tf.broadcast_to(value, tf.shape(a) if shape is None else shape)


def eye(N, M=None, k=0, dtype=float):  # noqa: N803
    """Ones on a diagonal."""
    return ops.eye(N, M, k, default_of(dtype).name)


def identity(n, dtype=float):
    """A square of ones on the diagonal."""
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):  # noqa: N803
    """Ones on a diagonal and below."""
    return ops.tri(N, M, k, default_of(dtype or float).name)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """`num` numbers from one to another; with `retstep` their distance, too."""
    start, stop = floating(start, stop)
    made = ops.linspace(start, stop, num, endpoint=endpoint, axis=axis)
    made = made if dtype in (float, None) else tf.cast(made, default_of(dtype))
    steps = num - 1 if endpoint else num
    return (made, (stop - start) / steps if steps else np.nan) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of `base` from one to another."""
    powers = linspace(start, stop, num, endpoint, axis=axis)
    made = tf.pow(tf.cast(base, powers.dtype), powers)
    return made if dtype is None else tf.cast(made, default_of(dtype))


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers of equal ratios from one to another."""
    dtype = default_of(dtype) if dtype is not None else result_type(start, stop, tf.float64)
    computed = tf.as_dtype(np.promote_types(dtype.as_numpy_dtype, np.float32))
    start, stop = asarray(start, computed), asarray(stop, computed)
    both = [1 - tf.sign(ops.real(one)) for one in (start, stop)]
    flip = tf.cast(1 - both[0] * both[1] // 2, computed)  # -1 where both are negative
    ends = [tf.math.log(flip * one) / tf.cast(np.log(10), computed) for one in (start, stop)]
    made = flip * logspace(*ends, num, endpoint)
    return tf.cast(made if axis == 0 else ops.moveaxis(made, 0, axis), dtype)


def diag_indices(n, ndim=2):
    """The places of a diagonal."""
    return (tf.range(n),) * ndim


def meshgrid(*xi, **kwargs):
    """Grids of coordinates."""
    return tf.meshgrid(*map(asarray, xi), indexing=kwargs.get("indexing", "xy"))


def ix_(*args):
    """Index arrays that meet in a grid."""
    found = []
    for place, one in enumerate(map(asarray, args)):
        one = nonzero(one)[0] if one.dtype is tf.bool else one
        found.append(tf.reshape(one, [-1 if i == place else 1 for i in range(len(args))]))
    return found


def vander(x, N=None, increasing=False):  # noqa: N803
    """Powers of x in columns."""
    x = asarray(x)
    if x.shape.rank != 1:
        raise ValueError(f"x must be a one-dimensional array; found one of shape {x.shape}")
    return ops.vander(x, N, increasing)


# ---- shapes ----

def shape(a):
    """The shape, a TensorShape."""
    return asarray(a).shape


def size(x, axis=None):
    """How many elements there are."""
    x = asarray(x)
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    known = x.shape.num_elements()
    return tf.size(x) if known is None else np.int64(known)


def ndim(a):
    """How many dimensions there are."""
    return len(asarray(a).shape)


def reshape(a, newshape, order="C"):
    """The same elements in another shape, row by row, or with "F" column by column."""
    a = asarray(a)
    if order == "C":
        return tf.reshape(a, newshape)
    newshape = [newshape] if isinstance(newshape, int) else list(newshape)
    return tf.transpose(tf.reshape(tf.transpose(a), newshape[::-1]))


def ravel(a):
    """The elements as one list."""
    return tf.reshape(asarray(a), [-1])


def flatten(a, order="C"):
    """The elements as one list, row by row, or with "F" column by column."""
    return reshape(a, [-1], order)


def squeeze(a, axis=None):
    """Without dimensions of size 1."""
    return tf.squeeze(asarray(a), axis)


def transpose(a, axes=None):
    """The dimensions in another order, by default backwards."""
    return tf.transpose(asarray(a), axes)


def atleast_1d(*arys):
    """With one dimension at least."""
    return _at_least(1, arys)


def atleast_2d(*arys):
    """With two dimensions at least."""
    return _at_least(2, arys)


def atleast_3d(*arys):
    """With three dimensions at least: one of size 1 comes behind those of a matrix."""
    return _at_least(3, arys)


def _at_least(rank, arys):
    found = []
    for one in map(asarray, arys):
        if rank == 3 and len(one.shape) == 2:
            one = one[..., tf.newaxis]
        elif rank == 3 and len(one.shape) == 1:
            one = one[tf.newaxis, :, tf.newaxis]
        found.append(array(one, ndmin=rank))
    return found if len(found) != 1 else found[0]


def broadcast_arrays(*args, **kwargs):
    """Repeated until they have one shape; of nothing an empty tuple."""
    if not args:
        return ()
    args = list(map(asarray, args))
    dims = np.broadcast_shapes(*(tuple(one.shape) for one in args))
    return [tf.broadcast_to(one, dims) for one in args]


# ---- moving elements: keras.ops ----

def _moves(name, first, rest=""):
    target, texts = getattr(ops, name), [one for one in rest.split(", ") if one]

    def function(*args, **kwargs):
        named = dict(zip([first, *(text.partition("=")[0] for text in texts)], args))
        named.update(kwargs)
        value = named.pop(first)
        return target(asarray(value), *named.values()) if list(named) == [
            text.partition("=")[0] for text in texts[:len(named)]] else target(asarray(value), **named)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"numpy's `{name}` of tensors (``tf.experimental.numpy.{name}``)."
    return function


for _line in ("broadcast_to array shape", "diag v k=0", "diagflat v k=0", "diagonal a offset=0, axis1=0, axis2=1",
              "expand_dims a axis", "flip m axis=None", "fliplr m", "flipud m", "moveaxis a source, destination",
              "repeat a repeats, axis=None", "roll a shift, axis=None",
              "split ary indices_or_sections, axis=0", "dsplit ary indices_or_sections",
              "hsplit ary indices_or_sections", "vsplit ary indices_or_sections", "swapaxes a axis1, axis2",
              "tril m k=0", "triu m k=0", "diff a n=1, axis=-1"):
    _name, _first, *_rest = _line.split(" ", 2)
    globals()[_name] = _moves(_name, _first, *_rest)


def rot90(m, k=1, axes=(0, 1)):
    """Turned by k quarters in the plane of two dimensions; by none, what was given."""
    return m if k % 4 == 0 else ops.rot90(asarray(m), k, axes)


def vdot(a, b):
    """The sum of products, those of the first conjugated where they are complex."""
    a, b = (tf.reshape(one, [-1]) for one in cast_together(a, b))
    return tf.tensordot(tf.math.conj(a) if a.dtype.is_complex else a, b, 1)


def tile(a, reps):
    """Copies beside each other, as many along each dimension as `reps` says; fractions of a copy do not count."""
    if tf.is_symbolic_tensor(reps):
        return ops.tile(asarray(a), reps)
    with np.errstate(invalid="ignore"):
        return ops.tile(asarray(a), np.asarray(reps).astype(np.int32).tolist())


def _joins(name):
    target = getattr(ops, name)

    def function(arys, axis=0):
        if isinstance(arys, tf.Tensor) and name == "stack":
            return arys if axis == 0 else ops.swapaxes(arys, 0, axis)
        arys = cast_together(*([arys] if isinstance(arys, tf.Tensor) and name == "concatenate" else arys))
        if name == "concatenate" and len(arys) == 1:
            return arys[0]
        if name.endswith("stack") and name != "stack":
            return modulo(lambda *parts: target(list(parts)), *arys)
        return modulo(lambda *parts: target(list(parts), axis), *arys)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"numpy's `{name}` of tensors (``tf.experimental.numpy.{name}``)."
    return function


for _name in ("concatenate", "stack", "hstack", "vstack", "dstack"):
    globals()[_name] = _joins(_name)


def append(arr, values, axis=None):
    """Values behind others."""
    arr, values = cast_together(asarray(arr), asarray(values))
    return tf.concat([ravel(arr), ravel(values)], 0) if axis is None else tf.concat([arr, values], axis)


def pad(array, pad_width, mode, **kwargs):
    """More values at the ends: a constant, or with "reflect" and "symmetric" those of the other side."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    array = asarray(array)
    value = asarray(kwargs.get("constant_values", 0), array.dtype) if mode == "constant" else 0
    return tf.pad(array, asarray(pad_width, tf.int32), mode.upper(), value)


def take(a, indices, axis=None, out=None, mode="clip"):
    """The elements at some places; those outside are the last ones, or with "wrap" counted on from the beginning."""
    a, indices = asarray(a), asarray(indices)
    a, axis = (ravel(a), 0) if axis is None else (a, axis)
    count = tf.cast(tf.shape(a)[axis], indices.dtype)
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    places = tf.clip_by_value(indices, 0, count - 1) if mode == "clip" else indices % count
    return tf.gather(a, places, axis=axis)


def take_along_axis(arr, indices, axis):
    """For each place an element of its line."""
    return ops.take_along_axis(asarray(arr), asarray(indices), axis)


def compress(condition, a, axis=None):
    """The slices where the condition holds."""
    a, condition = asarray(a), tf.cast(asarray(condition), tf.bool)
    return tf.boolean_mask(ravel(a), condition) if axis is None else tf.boolean_mask(a, condition, axis)


def where(condition, x=None, y=None):
    """x where the condition holds, else y; without them the places where it does."""
    condition = tf.cast(asarray(condition), tf.bool)
    return nonzero(condition) if x is None and y is None else tf.where(condition, *cast_together(x, y))


def nonzero(a):
    """The places of what is not zero, a list for each dimension."""
    a = asarray(a)
    a = a if a.dtype is tf.bool else a != tf.zeros([], a.dtype)
    return tf.unstack(tf.where(array(a, ndmin=1)), axis=1, num=len(a.shape) or 1)


def select(condlist, choicelist, default=0):
    """The first choice whose condition holds."""
    default, *choices = cast_together(default, *choicelist)
    for condition, choice in reversed(list(zip(condlist, choices))):
        default = tf.where(tf.cast(asarray(condition), tf.bool), choice, default)
    return default


def sort(a, axis=-1, kind="quicksort", order=None):
    """Sorted values."""
    a = asarray(a)
    return tf.sort(ravel(a)) if axis is None else tf.sort(a, axis)


def argsort(a, axis=-1, kind="quicksort", order=None):
    """The places of the sorted values."""
    a = asarray(a)
    if a.shape.rank == 0:
        return tf.zeros([1], tf.int64)
    places = tf.argsort(ravel(a), stable=True) if axis is None else tf.argsort(a, axis, stable=True)
    return tf.cast(places, tf.int64)


# ---- products ----

def tensordot(a, b, axes=2):
    """Products summed over some dimensions."""
    return tf.tensordot(*cast_together(a, b), axes)


def einsum(subscripts, *operands, **kwargs):
    """Products and sums in Einstein's notation."""
    return tf.einsum(subscripts, *cast_together(*operands))


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross products."""
    return modulo(lambda *pair: ops.cross(*pair, axisa, axisb, axisc, axis), *cast_together(a, b))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """Sums of diagonals."""
    found = tf.reduce_sum(ops.diagonal(asarray(a), offset, axis1, axis2), -1)
    return found if dtype is None else tf.cast(found, default_of(dtype))


def polyval(p, x):
    """A polynomial's values, of coefficients with the highest power first."""
    p, x = cast_together(p, x)
    coefficients = tf.unstack(tf.reshape(p, [1]) if p.shape.rank == 0 else p)
    found = tf.math.polyval(coefficients, x)
    return tf.broadcast_to(found, tf.shape(x)) if len(coefficients) == 1 else found


# ---- what a value is ----

def angle(z, deg=False):
    """Angles of complex numbers."""
    found = tf.math.angle(asarray(z))
    return found * (180 / np.pi) if deg else found


def iscomplexobj(x):
    """Has it a complex dtype?"""
    return asarray(x).dtype.is_complex


def isrealobj(x):
    """Has it a real dtype?"""
    return not iscomplexobj(x)


def iscomplex(x):
    """Which values have an imaginary part."""
    return ops.imag(asarray(x)) != 0


def isreal(x):
    """Which values have none."""
    return ops.imag(asarray(x)) == 0


def isscalar(num):
    """Is it one number?"""
    return np.isscalar(num) or isinstance(num, tf.Tensor) and len(num.shape) == 0


def finfo(dtype):
    """The limits of a floating dtype."""
    return np.finfo(tf.as_dtype(dtype).as_numpy_dtype)


def iinfo(int_type):
    """The limits of an integer dtype."""
    return np.iinfo(tf.as_dtype(int_type).as_numpy_dtype)


def issubdtype(arg1, arg2):
    """Is one dtype a kind of the other?"""
    arg1, arg2 = (one.as_numpy_dtype if isinstance(one, tf.DType) else one for one in (arg1, arg2))
    return np.issubdtype(arg1, arg2)


__all__ = sorted(name for name in {*globals()} - _before if not name.startswith("_"))
