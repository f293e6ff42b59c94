"""``keras.ops``: making tensors."""

import math

import numpy as np

import leat as tf
from leat.keras._base.sparse import as_sparse
from leat.keras.backend import floatx
from leat.keras.ops import core
from leat.keras.ops.promote import (OPERATIONS, dtype_name, floats, named, operation, result_type, tensor,
                                    together)

_before = set(OPERATIONS)


def _shape(shape):
    return [shape] if isinstance(shape, int) else shape if isinstance(shape, tf.Tensor) else list(shape)


def zeros(shape, dtype=None):
    """Zeros, float32 by default (``keras.ops.zeros``)."""
    return tf.zeros(_shape(shape), dtype_name(dtype or floatx()))


def ones(shape, dtype=None):
    """Ones, float32 by default (``keras.ops.ones``)."""
    return tf.ones(_shape(shape), dtype_name(dtype or floatx()))


def empty(shape, dtype=None):
    """Zeros (``keras.ops.empty``)."""
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None):
    """One value everywhere, broadcast (``keras.ops.full``)."""
    return tf.broadcast_to(tensor(fill_value, dtype or floatx()), _shape(shape))


@operation
def zeros_like(x, dtype=None):
    """Zeros of another's shape (``keras.ops.zeros_like``)."""
    x = tensor(x)
    return tf.zeros_like(x, dtype=dtype_name(dtype or x.dtype))


@operation
def ones_like(x, dtype=None):
    """Ones of another's shape (``keras.ops.ones_like``)."""
    x = tensor(x)
    return tf.ones_like(x, dtype=dtype_name(dtype or x.dtype))


@operation
def empty_like(x, dtype=None):
    """Zeros of another's shape (``keras.ops.empty_like``)."""
    return zeros_like(x, dtype)


@operation
def full_like(x, fill_value, dtype=None):
    """One value in another's shape (``keras.ops.full_like``)."""
    x = tensor(x)
    return tf.broadcast_to(tensor(fill_value, dtype or x.dtype), tf.shape(x))


def _distances(rows, columns):
    """How far each place of a matrix lies to the right of the diagonal."""
    return tf.range(columns)[None, :] - tf.range(rows)[:, None]


def eye(N, M=None, k=0, dtype=None):
    """Ones on the k-th diagonal (``keras.ops.eye``)."""
    for name, size in (("N", N), ("M", M)):
        if isinstance(size, float) or hasattr(size, "dtype") and "float" in dtype_name(size.dtype):
            raise TypeError(f"Argument `{name}` must be an integer or an integer tensor. Received: {name}={size}")
    return tf.cast(tf.equal(_distances(N, N if M is None else M), k), dtype_name(dtype or floatx()))


def identity(n, dtype=None):
    """Ones on the diagonal (``keras.ops.identity``)."""
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    """Ones on and below the k-th diagonal (``keras.ops.tri``)."""
    return tf.cast(_distances(N, N if M is None else M) <= k, dtype_name(dtype or floatx()))


def arange(start, stop=None, step=None, dtype=None):
    """Numbers from `start` to before `stop` (``keras.ops.arange``)."""
    given = [value for value in (start, stop, step) if value is not None]
    if start is None:
        raise ValueError("Invalid dtype: NoneType. `arange` is given a size that is unknown while a model is put "
                         "together; call it in a layer of your own, where `keras.ops.shape` gives it when it runs")
    if dtype is None:
        dtype = result_type(*[type(value) if type(value) in (int, float) else tensor(value).dtype for value in given])
    if stop is None:
        start, stop = 0, start
    dtype = dtype_name(dtype)
    inner = dtype if dtype in ("int32", "int64", "float32", "float64") else "int32" if "int" in dtype else "float32"
    return tf.cast(tf.range(start, stop, 1 if step is None else step, dtype=inner), dtype)


def _between(start, stop, num, endpoint, dtype, axis):
    if num < 0:
        raise ValueError(f"`num` must be a non-negative integer. Received: num={num}")
    start, stop = together(start, stop, floating=True)
    if endpoint or num < 2:
        out = tf.linspace(start, stop, num, axis=axis)
    else:
        out = tf.linspace(start, start + (stop - start) * tf.cast((num - 1) / num, start.dtype), num, axis=axis)
    return out if dtype is None else tf.cast(out, dtype_name(dtype))


@operation
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """`num` numbers at equal distances (``keras.ops.linspace``); `retstep`: and the distance."""
    out = _between(start, stop, num, endpoint, dtype, axis)
    if not retstep:
        return out
    start, stop = together(start, stop, floating=True)
    parts = num - 1 if endpoint else num
    return out, (stop - start) / tf.cast(parts if parts > 0 else math.nan, start.dtype)


@operation
def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    """`base` to the powers of ``linspace`` (``keras.ops.logspace``)."""
    powers = _between(start, stop, num, endpoint, None, axis)
    out = tf.pow(tf.cast(base, powers.dtype), powers)
    return out if dtype is None else tf.cast(out, dtype_name(dtype))


@operation
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers at equal ratios (``keras.ops.geomspace``)."""
    start, stop = floats(start), floats(stop)
    powers = [tf.math.log(tf.abs(one)) / math.log(10.0) for one in (start, stop)]
    sign = tf.sign(start)
    out = logspace(*powers, num, endpoint, axis=axis) * (tf.expand_dims(sign, axis) if len(sign.shape) else sign)
    return out if dtype is None else tf.cast(out, dtype_name(dtype))


def array(x, dtype=None):
    """A value as a tensor (``keras.ops.array``)."""
    return core.convert_to_tensor(x, dtype)


def _window(name, weights, counts=int):
    def compute(x):
        count = counts(tensor(x))
        if count == 1:
            return tf.ones([1])
        return weights(tf.range(count, dtype="float32"), count)
    named(globals(), name, compute, f"The {name} window of x samples (``keras.ops.{name}``).")


def _cosines(*factors):
    return lambda n, count: sum(factor * tf.cos(2 * math.pi * k * n / (count - 1)) for k, factor in enumerate(factors))


@operation
def kaiser(x, beta):
    """The Kaiser window of x samples (``keras.ops.kaiser``)."""
    return tf.constant(np.kaiser(int(tensor(x)), float(beta)), "float32")


_window("bartlett", lambda n, count: 1 - tf.abs(2 * n / (count - 1) - 1), float)
_window("blackman", _cosines(0.42, -0.5, 0.08), float)
_window("hamming", _cosines(0.54, -0.46))
_window("hanning", _cosines(0.5, -0.5))


@operation
def meshgrid(*x, indexing="xy"):
    """Coordinates of a grid (``keras.ops.meshgrid``)."""
    return tf.meshgrid(*[tensor(one) for one in x], indexing=indexing)


def _triangle(x, keep):
    x = tensor(x)
    return tf.where(keep(_distances(tf.shape(x)[-2], tf.shape(x)[-1])), x, tf.zeros_like(x))


@operation
def tril(x, k=0):
    """Zeros above the k-th diagonal (``keras.ops.tril``)."""
    return _triangle(x, lambda distance: distance <= k)


@operation
def triu(x, k=0):
    """Zeros below the k-th diagonal (``keras.ops.triu``)."""
    return _triangle(x, lambda distance: distance >= k)


@operation
def vander(x, N=None, increasing=False):
    """Powers of a vector as columns (``keras.ops.vander``)."""
    x = tensor(x)
    count = N or (tf.shape(x)[0] if x.shape[0] is None else x.shape[0])
    powers = tf.range(count) if increasing else tf.range(count - 1, -1, -1)
    if x.dtype.is_unsigned:  # no powers of them
        return tf.cast(tf.pow(tf.cast(x, "int64")[:, None], tf.cast(powers, "int64")[None, :]), x.dtype)
    return tf.pow(x[:, None], tf.cast(powers, x.dtype)[None, :])


@operation
def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """Numbers as vectors with a 1 (``keras.ops.one_hot``)."""
    made = tf.one_hot(tensor(x, "int64"), num_classes, axis=axis, dtype=dtype_name(dtype or floatx()))
    return as_sparse(made) if sparse else made


@operation
def multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False, **kwargs):
    """Lists of numbers as vectors with a 1 for each (``keras.ops.multi_hot``)."""
    num_classes = kwargs.pop("num_tokens", num_classes)
    inputs = tensor(inputs)
    fold = 1 if len(inputs.shape) > 1 else 0
    hot = one_hot(inputs, num_classes, axis, dtype)
    made = (tf.reduce_any if hot.dtype == "bool" else tf.reduce_max)(hot, axis=fold)
    return as_sparse(made) if sparse else made


__all__ = [name for name in OPERATIONS if name not in _before] + [
    "zeros", "ones", "empty", "full", "eye", "identity", "tri", "arange", "array",
    "bartlett", "blackman", "hamming", "hanning"]
