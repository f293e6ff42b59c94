"""numpy's functions on tensors: those of ``keras.ops``, with numpy's dtypes and parameters.

A line of the table is a kind and functions: how their arguments come to one dtype, then the work is keras.ops'.
"""

import functools
import inspect

import numpy as np

import leat as tf
from leat.experimental.numpy.types import OF_INTEGERS, asarray, cast_together, floating
from leat.keras import ops

_UNARY_FLOAT = ("arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad exp exp2 expm1 floor log "
                "log10 log1p log2 rad2deg sin sinc sinh sqrt tan tanh isnan isinf isfinite isneginf isposinf")
_UNARY = "abs absolute negative sign square conj conjugate signbit bitwise_not"
_BINARY = ("add subtract multiply maximum minimum mod floor_divide power gcd lcm bitwise_and bitwise_or bitwise_xor "
           "equal not_equal less less_equal greater greater_equal")
_QUOTIENTS = "true_divide divide"
_BINARY_FLOAT = "arctan2 hypot logaddexp logaddexp2 heaviside nextafter"
_LOGICAL = "logical_and logical_or logical_xor"
_PAIRS = "dot inner outer kron"  # of two arrays a and b


def _named(name, text):
    """A function of the parameters of a text, under the name of one of numpy's."""
    def decorate(function):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"numpy's `{name}` of tensors (``tf.experimental.numpy.{name}``)."
        function.__module__ = "leat.experimental.numpy"
        names = [one.strip() for one in text.split(",")]
        function.__signature__ = inspect.Signature([inspect.Parameter(
            one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in names])
        return function
    return decorate


# What truth values make of each other: as numbers they are in no operation.
_OF_TRUTHS = {"add": ops.logical_or, "maximum": ops.logical_or, "bitwise_or": ops.logical_or, "multiply":
              ops.logical_and, "minimum": ops.logical_and, "bitwise_and": ops.logical_and,
              "bitwise_xor": ops.logical_xor,
              "outer": lambda a, b: _counted(ops.outer, a, b), "kron": lambda a, b: _counted(ops.kron, a, b)}
_OF_INT8 = {"greater", "greater_equal", "less", "less_equal", "mod", "floor_divide"}


# keras.ops computes uint64 as uint32 and functions of complex128 as complex64; these keep the dtype, as numpy's do.
_KEPT = {
    "arccos": tf.acos, "arccosh": tf.acosh, "arcsin": tf.asin, "arcsinh": tf.asinh, "arctan": tf.atan, "arctanh":
    tf.atanh, "cos": tf.cos, "cosh": tf.cosh, "log": tf.math.log, "log1p": tf.math.log1p, "sin": tf.sin, "sinh":
    tf.sinh, "sqrt": tf.sqrt, "tan": tf.tan, "tanh": tf.tanh, "sign": tf.sign,
    "bitwise_not": lambda x: tf.logical_not(x) if x.dtype is tf.bool else tf.bitwise.invert(x),
    "log10": lambda x: tf.math.log(x) / np.log(10), "log2": lambda x: tf.math.log(x) / np.log(2),
    "sinc": lambda x: _sinc(x), "cbrt": lambda x: _cube_root(x), "signbit": lambda x: _signbit(x),
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "maximum": tf.maximum, "minimum": tf.minimum,
    "mod": tf.math.floormod, "floor_divide": tf.math.floordiv, "equal": tf.equal, "not_equal": tf.not_equal,
    "less": tf.less, "less_equal": tf.less_equal, "greater": tf.greater, "greater_equal": tf.greater_equal,
    "bitwise_and": tf.bitwise.bitwise_and, "bitwise_or": tf.bitwise.bitwise_or, "bitwise_xor": tf.bitwise.bitwise_xor,
    "true_divide": tf.truediv, "divide": tf.truediv,
    "outer": lambda a, b: tf.reshape(a, [-1, 1]) * tf.reshape(b, [-1]),
    "dot": lambda a, b: modulo(ops.dot, a, b), "inner": lambda a, b: modulo(ops.inner, a, b),
    "kron": lambda a, b: modulo(ops.kron, a, b),
}


def _counted(function, a, b):
    return tf.cast(function(tf.cast(a, tf.int32), tf.cast(b, tf.int32)), tf.bool)


def modulo(function, *values):
    """A function of keras.ops that moves values or adds products, which modulo 2^64 are those of numbers with a sign,
    too."""
    if values[0].dtype is not tf.uint64:
        return function(*values)
    return tf.cast(function(*[tf.cast(one, tf.int64) for one in values]), tf.uint64)


def _sinc(x):
    scaled = x * np.pi
    return tf.where(x == 0, tf.ones_like(x), tf.sin(scaled) / scaled)


def _cube_root(x):
    root = tf.pow(tf.abs(x), tf.constant(1 / 3, x.dtype))
    return tf.where(x < 0, -root, root)


def _signbit(x):
    return tf.fill(tf.shape(x), False) if x.dtype is tf.bool else x < 0


def _simple(name, prepare, text):
    target = _KEPT[name] if name in _KEPT else getattr(ops, name)

    @_named(name, text)
    def function(*args, **kwargs):
        bound = function.__signature__.bind(*args, **kwargs)
        values = prepare(*bound.args)
        if name in ("gcd", "lcm") and not values[0].dtype.is_integer:
            raise ValueError(f"{name} takes integers; found {values[0].dtype.name}")
        if prepare is cast_together and values[0].dtype is tf.bool:
            if name in _OF_INT8:
                values = [tf.cast(value, tf.int8) for value in values]
            return _OF_TRUTHS.get(name, getattr(ops, name))(*values)
        return target(*values)
    return function


def _truths(*values):
    return [tf.cast(asarray(value), tf.bool) for value in values]


def _dividends(*values):
    """Whole numbers stay: their quotients are float32 of narrow ones, else float64."""
    values = cast_together(*values)
    return floating(*values) if values[0].dtype is tf.bool else values


def _kept(*values):
    return [asarray(value) for value in values]


for _names, _prepare, _text in (
        (_UNARY_FLOAT, floating, "x"), (_UNARY, _kept, "x"), (_BINARY, cast_together, "x1, x2"),
        (_QUOTIENTS, _dividends, "x1, x2"), (_BINARY_FLOAT, floating, "x1, x2"), (_LOGICAL, _truths, "x1, x2"),
        ("logical_not", _truths, "x"), (_PAIRS, cast_together, "a, b"), ("matmul", cast_together, "x1, x2")):
    for _name in _names.split():
        globals()[_name] = _simple(_name, _prepare, _text)

remainder, float_power = mod, power  # noqa: F821 - of the table
ndarray, newaxis, pi, e, inf = tf.Tensor, None, np.pi, np.e, np.inf


def around(a, decimals=0):
    """Rounded to so many decimals (``tf.experimental.numpy.around``)."""
    a = asarray(a)
    return a if a.dtype.is_integer else ops.round(a, decimals)


round = around  # noqa: A001


def fix(x):
    """Rounded towards zero."""
    x = asarray(x)
    return tf.where(x < 0, tf.math.ceil(x), tf.math.floor(x)) if x.dtype.is_floating else x


def fabs(x):
    """Without the sign."""
    return tf.abs(asarray(x))


def positive(x):
    """The values as they are."""
    return asarray(x)


def reciprocal(x):
    """1 / x."""
    return tf.math.reciprocal(asarray(x))


def real(val):
    """The real part."""
    return ops.real(asarray(val))


def imag(val):
    """The imaginary part: zeros of real numbers."""
    return ops.imag(asarray(val))


def divmod(x1, x2):  # noqa: A001
    """Quotients rounded down, and what is left."""
    return floor_divide(x1, x2), mod(x1, x2)  # noqa: F821


def clip(a, a_min, a_max):
    """Values within two bounds, of which one may be None."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    bounds = [one for one in (a_min, a_max) if one is not None]
    a, *bounds = cast_together(a, *bounds)
    a = a if a_max is None else tf.minimum(a, bounds[-1])  # the lower bound counts where both cannot hold
    return a if a_min is None else tf.maximum(a, bounds[0])


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Which values are near each other."""
    a, b = floating(a, b)
    real = tf.abs(b).dtype
    near = tf.abs(a - b) <= tf.constant(atol, real) + tf.constant(rtol, real) * tf.abs(b)
    return near | (a != a) & (b != b) if equal_nan else near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Are all values near each other?"""
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2):
    """Are shapes and values equal?"""
    a1, a2 = cast_together(a1, a2)
    return tf.reduce_all(a1 == a2) if a1.shape == a2.shape else tf.constant(False)


# ---- reductions ----

def _wide(a, dtype):
    """For sums: integers as wide as int64, if no dtype is asked for."""
    a = asarray(a)
    if dtype is not None:
        return tf.cast(a, dtype)
    if a.dtype is tf.bool or a.dtype.is_integer and a.dtype.size < 8:
        return tf.cast(a, tf.uint64 if a.dtype.is_unsigned else OF_INTEGERS)
    return a


def sum(a, axis=None, dtype=None, keepdims=None):  # noqa: A001
    """Sums (``tf.experimental.numpy.sum``)."""
    return tf.reduce_sum(_wide(a, dtype), axis, bool(keepdims))


def prod(a, axis=None, dtype=None, keepdims=None):
    """Products."""
    return tf.reduce_prod(_wide(a, dtype), axis, bool(keepdims))


def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """Means."""
    a = floating(a)[0] if dtype is None else tf.cast(asarray(a), dtype)
    return tf.reduce_mean(a, axis, bool(keepdims))


def _extreme(reduce):
    def function(a, axis=None, keepdims=None):
        a = asarray(a)
        if a.dtype is tf.bool:
            return tf.cast(reduce(tf.cast(a, tf.int32), axis, bool(keepdims)), tf.bool)
        return reduce(a, axis, bool(keepdims))
    return function


max = functools.update_wrapper(_extreme(tf.reduce_max), tf.reduce_max, ("__doc__",), ())  # noqa: A001
min = functools.update_wrapper(_extreme(tf.reduce_min), tf.reduce_min, ("__doc__",), ())  # noqa: A001


def amax(a, axis=None, out=None, keepdims=None):
    """The largest values."""
    return max(a, axis, keepdims)


def amin(a, axis=None, out=None, keepdims=None):
    """The smallest values."""
    return min(a, axis, keepdims)


def any(a, axis=None, keepdims=None):  # noqa: A001
    """Is one true?"""
    return tf.reduce_any(_truths(a)[0], axis, bool(keepdims))


def all(a, axis=None, keepdims=None):  # noqa: A001
    """Are all true?"""
    return tf.reduce_all(_truths(a)[0], axis, bool(keepdims))


def std(a, axis=None, keepdims=None):
    """Standard deviations."""
    return tf.math.reduce_std(floating(a)[0], axis, bool(keepdims))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """Variances."""
    a = asarray(a)
    a = floating(a)[0] if dtype is None else tf.cast(a, np.result_type(a.dtype.as_numpy_dtype, np.dtype(
        tf.as_dtype(dtype).as_numpy_dtype)))
    distances = a - tf.reduce_mean(a, axis, True)
    deviations = tf.square(tf.abs(distances) if a.dtype.is_complex else distances)
    total = tf.reduce_sum(deviations, axis, bool(keepdims))
    count = tf.cast(tf.size(a), total.dtype) / tf.cast(tf.size(total), total.dtype)
    found = total / (count - ddof)
    return found if dtype is None else tf.cast(found, dtype)


def argmax(a, axis=None):
    """Where the largest values are."""
    return _place(tf.argmax, a, axis)


def argmin(a, axis=None):
    """Where the smallest values are."""
    return _place(tf.argmin, a, axis)


def _place(find, a, axis):
    a = asarray(a)
    a = tf.cast(a, tf.int32) if a.dtype is tf.bool else a
    return find(tf.reshape(a, [-1]) if axis is None else a, 0 if axis is None else axis)


def ptp(a, axis=None, keepdims=None):
    """The largest values less the smallest."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def count_nonzero(a, axis=None):
    """How many are not zero."""
    return tf.math.count_nonzero(asarray(a), axis)


def _signed(a, dtype):
    """For running totals: integers meet int64, without a sign, too, if no dtype is asked for."""
    a = asarray(a, dtype)
    return a if dtype is not None or not (a.dtype.is_integer or a.dtype is tf.bool) else tf.cast(
        a, tf.as_dtype(np.result_type(a.dtype.as_numpy_dtype, np.int64)))


def cumsum(a, axis=None, dtype=None):
    """Running totals."""
    a = _signed(a, dtype)
    return tf.cumsum(tf.reshape(a, [-1]) if axis is None else a, 0 if axis is None else axis)


def cumprod(a, axis=None, dtype=None):
    """Running products."""
    a = _signed(a, dtype)
    return tf.math.cumprod(tf.reshape(a, [-1]) if axis is None else a, 0 if axis is None else axis)


def _without_nan(a, value):
    a = asarray(a)
    return tf.where(tf.math.is_nan(a), tf.cast(value, a.dtype), a) if a.dtype.is_floating else a


def nansum(a, axis=None, dtype=None, keepdims=False):
    """Sums of what is a number."""
    return sum(_without_nan(a, 0), axis, dtype, keepdims)


def nanprod(a, axis=None, dtype=None, keepdims=False):
    """Products of what is a number."""
    return prod(_without_nan(a, 1), axis, dtype, keepdims)


def nanmean(a, axis=None, dtype=None, keepdims=None):
    """Means of what is a number."""
    a = asarray(a)
    if not a.dtype.is_floating and not a.dtype.is_complex:
        return mean(a, axis, dtype, None, keepdims)
    total = nansum(a, axis, dtype, keepdims)
    return total / tf.reduce_sum(tf.cast(~tf.math.is_nan(a), total.dtype), axis, bool(keepdims))


def average(a, axis=None, weights=None, returned=False):
    """Weighted means, and with `returned` the sums of the weights."""
    if weights is None:
        a = floating(a)[0]
        weights = tf.ones_like(a)
    a, weights = floating(a, weights)
    if weights.shape != a.shape:
        shape = [1] * len(a.shape)
        shape[axis] = -1
        weights = tf.broadcast_to(tf.reshape(weights, shape), a.shape)
    total = tf.reduce_sum(weights, axis)
    found = tf.reduce_sum(a * weights, axis) / total
    return (found, total) if returned else found


def default_of(dtype):
    """The dtype of a parameter, of which Python's float is float64."""
    return dtype if isinstance(dtype, tf.DType) else tf.as_dtype(np.dtype(dtype) if isinstance(dtype, type) else dtype)


__all__ = sorted(name for name in {*globals()} if not name.startswith("_") and name not in (
    "functools", "inspect", "np", "tf", "ops", "cast_together", "floating", "default_of", "OF_INTEGERS"))
