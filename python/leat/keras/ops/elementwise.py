"""``keras.ops``: operations on each element."""

import math

import leat as tf
from leat.keras._base.symbolic import KerasTensor
from leat.keras.backend import floatx
from leat.keras.ops.promote import (
    OPERATIONS, define, floats, operation, result_type, same_specs, spec_of_two, specified, tensor, together)


def _after(x, y):
    """The number next to x on the way to y; of halves as Keras rounds that of float64."""
    if x.dtype in ("float32", "float64"):
        return tf.math.nextafter(x, y)
    return tf.cast(tf.math.nextafter(tf.cast(x, "float64"), tf.cast(y, "float64")), x.dtype)


# name: the function of floats that it is
_OF_FLOATS = {
    "arccos": tf.acos, "arccosh": tf.acosh, "arcsin": tf.asin, "arcsinh": tf.asinh, "arctan": tf.atan,
    "arctanh": tf.atanh, "cos": tf.cos, "cosh": tf.cosh, "erf": tf.math.erf, "erfc": tf.math.erfc,
    "erfinv": tf.math.erfinv, "exp": tf.exp, "expm1": tf.math.expm1, "log": tf.math.log, "log1p": tf.math.log1p,
    "reciprocal": tf.math.reciprocal, "rsqrt": tf.math.rsqrt, "sin": tf.sin, "sinh": tf.sinh, "sqrt": tf.sqrt,
    "tan": tf.tan, "tanh": tf.tanh,
    "cbrt": lambda x: _cube_root(tf.cast(tf.math.real(x), floatx()) if x.dtype.is_complex else x),
    "exp2": lambda x: tf.pow(tf.cast(2, x.dtype), x),
    "fabs": tf.abs,
    "log10": lambda x: tf.math.log(x) / tf.constant(math.log(10), x.dtype),
    "log2": lambda x: tf.math.log(x) / tf.constant(math.log(2), x.dtype),
    "sinc": lambda x: _sinc(x),
}
# two operands of one dtype
_OF_TWO = {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "maximum": tf.maximum, "minimum": tf.minimum,
    "equal": tf.equal, "not_equal": tf.not_equal, "greater": tf.greater, "greater_equal": tf.greater_equal,
    "less": tf.less, "less_equal": tf.less_equal, "power": lambda x, y: _power(x, y),
}
_OF_TWO_FLOATS = {
    "arctan2": tf.math.atan2, "divide": tf.divide, "divide_no_nan": tf.math.divide_no_nan, "hypot":
    lambda x, y: tf.sqrt(_square_of_size(x) + _square_of_size(y)), "nextafter": _after,
    "logaddexp": lambda x, y: _log_sum(x, y, 1.0),
    "logaddexp2": lambda x, y: _log_sum(x, y, math.log(2)), "heaviside": lambda x, y: tf.where(
        x < 0, tf.zeros_like(x), tf.where(x > 0, tf.ones_like(x), y)),
}
_OF_TRUTHS = {"logical_and": tf.logical_and, "logical_or": tf.logical_or, "logical_xor": tf.math.logical_xor}
_OF_BITS = {"bitwise_and": tf.bitwise.bitwise_and, "bitwise_or": tf.bitwise.bitwise_or,
            "bitwise_xor": tf.bitwise.bitwise_xor, "bitwise_left_shift": tf.bitwise.left_shift,
            "bitwise_right_shift": tf.bitwise.right_shift}
_ALIASES = {"absolute": "abs", "true_divide": "divide", "conj": "conjugate", "bitwise_invert": "bitwise_not",
            "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"}


def _cube_root(x):
    return tf.sign(x) * tf.pow(tf.abs(x), tf.constant(1 / 3, x.dtype))


def _sinc(x):
    scaled = x * tf.constant(math.pi, x.dtype)
    safe = tf.where(x == 0, tf.ones_like(x), scaled)
    return tf.where(x == 0, tf.ones_like(x), tf.sin(safe) / safe)


def _power(x, y):
    """Of integers without a sign modulo their range, like their products."""
    if not x.dtype.is_unsigned:
        return tf.pow(x, y)
    return tf.cast(tf.pow(tf.cast(x, "int64"), tf.cast(y, "int64")), x.dtype)


def _log_sum(x, y, base):
    largest = tf.maximum(x, y)
    distance = tf.where(x == y, tf.zeros_like(x), -tf.abs(x - y))
    return largest + tf.math.log1p(tf.exp(distance * tf.constant(base, x.dtype))) / tf.constant(base, x.dtype)


# Of complex128 these are complex64, as in Keras.
_NARROW = {"arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos", "cosh", "log", "log10", "log1p",
           "log2", "sin", "sinc", "sinh", "sqrt", "tan", "tanh"}


def _of_floats(function, is_narrow):
    def compute(x):
        x = floats(x)
        return function(tf.cast(x, "complex64") if is_narrow and x.dtype == "complex128" else x)
    return compute


def _of_two(function, floating):
    return lambda x1, x2: function(*together(x1, x2, floating=floating))


def _of_truths(function):
    return lambda x1, x2: function(tensor(x1, "bool"), tensor(x2, "bool"))


def _of_bits(function):
    return lambda x, y: function(*together(x, y))


def _angles(name, factor):
    def compute(x):
        x = tensor(x)
        x = tf.cast(x, "float64") if x.dtype == "int64" else floats(x)
        return x * factor(tf.constant(math.pi, x.dtype), tf.constant(180.0, x.dtype))
    define(globals(), name, compute, f"Angles in the other unit, floats (``keras.ops.{name}``).")


_angles("deg2rad", lambda pi, half: pi / half)
_angles("rad2deg", lambda pi, half: half / pi)
for _name, _function in _OF_FLOATS.items():
    define(globals(), _name, _of_floats(_function, _name in _NARROW),
           f"{_name} of each element, a float (``keras.ops.{_name}``).")
for _name, _function in {**_OF_TWO, **_OF_TWO_FLOATS}.items():
    define(globals(), _name, _of_two(_function, _name in _OF_TWO_FLOATS),
          f"{_name} of two tensors, which are broadcast (``keras.ops.{_name}``).")
for _name, _function in _OF_TRUTHS.items():
    define(globals(), _name, _of_truths(_function), f"{_name} of two tensors as truth values (``keras.ops.{_name}``).")
for _name, _function in _OF_BITS.items():
    define(globals(), _name, _of_bits(_function), f"{_name} of integers (``keras.ops.{_name}``).")
    specified(spec_of_two)(globals()[_name])


@operation
def abs(x):
    """The distance of each element from 0 (``keras.ops.abs``)."""
    x = tensor(x)
    return x if x.dtype == "bool" or x.dtype.is_unsigned else tf.abs(x)


@operation
def negative(x):
    """-x (``keras.ops.negative``)."""
    return tf.negative(tensor(x))


@operation
def positive(x):
    """x."""
    return tensor(x)


@operation
def sign(x):
    """-1, 0 or 1 (``keras.ops.sign``)."""
    x = tensor(x)
    return tf.minimum(x, tf.ones_like(x)) if x.dtype.is_unsigned else tf.sign(x)


@operation
def signbit(x):
    """Has the number a minus, a negative zero included (``keras.ops.signbit``)?"""
    x = tensor(x)
    if not x.dtype.is_floating:
        return x < 0 if x.dtype != "bool" else tf.zeros_like(x)
    return tf.logical_or(x < 0, tf.logical_and(x == 0, tf.math.reciprocal(x) < 0))


@operation
def square(x):
    """x * x; truth values as int32 (``keras.ops.square``)."""
    x = tensor(x)
    return tf.square(tf.cast(x, "int32") if x.dtype == "bool" else x)


def _square_of_size(x):
    return tf.square(tf.abs(x) if x.dtype.is_complex else x)


def _rounded(name, function):
    def compute(x):
        x = tensor(x)
        if x.dtype.is_floating or x.dtype.is_complex:
            return function(x)
        return tf.cast(x, "float32") if name in ("ceil", "floor") else x
    define(globals(), name, compute, f"{name} of each element (``keras.ops.{name}``).")


_rounded("ceil", tf.math.ceil)
_rounded("floor", tf.floor)
_rounded("trunc", lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)))


@operation
def round(x, decimals=0):
    """The nearest number of `decimals` decimal places, halves to the even one (``keras.ops.round``)."""
    x = tensor(x)
    if not x.dtype.is_floating and not x.dtype.is_complex:
        if decimals >= 0:
            return x
        return tf.cast(round(tf.cast(x, "float32"), decimals), x.dtype)
    if decimals == 0:
        return tf.round(x)
    scale = tf.cast(10.0 ** decimals, x.dtype)
    return tf.round(x * scale) / scale


def _division(name, function):
    def compute(x1, x2):
        x1, x2 = together(tensor(x1), tensor(x2)) if name == "mod" else together(x1, x2)
        if x1.dtype == "bool":
            x1, x2 = tf.cast(x1, "int32"), tf.cast(x2, "int32")
        return function(x1, x2)
    define(globals(), name, compute, f"{name} of two tensors, which are broadcast (``keras.ops.{name}``).")


def _fmod(x, y):
    return tf.truncatemod(x, y)


_division("floor_divide", tf.math.floordiv)
_division("mod", tf.math.floormod)
_division("fmod", _fmod)


def _ignoring_nan(name, function):
    def compute(x1, x2):
        x1, x2 = together(x1, x2)
        if not x1.dtype.is_floating:
            return function(x1, x2)
        return tf.where(tf.math.is_nan(x1), x2, tf.where(tf.math.is_nan(x2), x1, function(x1, x2)))
    define(globals(), name, compute, f"The {name[1:]}imum of two tensors; a number beats NaN (``keras.ops.{name}``).")


_ignoring_nan("fmax", tf.maximum)
_ignoring_nan("fmin", tf.minimum)


@operation
def ldexp(x1, x2):
    """x1 * 2**x2 (``keras.ops.ldexp``)."""
    x1, x2 = floats(x1), tensor(x2)
    if not x2.dtype.is_integer:
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype}")
    return x1 * tf.pow(tf.cast(2, x1.dtype), tf.cast(x2, x1.dtype))


def _integers(name, x1, x2):
    """Both in their common dtype; TypeError where one is of floats."""
    x1, x2 = (tf.convert_to_tensor(one) for one in (x1, x2))
    if not all(one.dtype.is_integer or one.dtype.is_bool for one in (x1, x2)):
        raise TypeError(f"Arguments to {name} must be integers. Received: x1.dtype={x1.dtype.name}, "
                        f"x2.dtype={x2.dtype.name}")
    return together(x1, x2)


@operation
def gcd(x1, x2):
    """The greatest common divisor of integers (``keras.ops.gcd``)."""
    x1, x2 = _integers("gcd", x1, x2)
    shape = tf.shape(x1 + x2)
    x1, x2 = (tf.broadcast_to(one if one.dtype.is_unsigned else tf.abs(one), shape) for one in (x1, x2))
    return tf.while_loop(lambda a, b: tf.reduce_any(b != 0), lambda a, b: (
        tf.where(b != 0, b, a), tf.where(b != 0, tf.math.floormod(a, tf.where(b != 0, b, tf.ones_like(b))), b)),
        (x1, x2))[0]


@operation
def lcm(x1, x2):
    """The least common multiple of integers (``keras.ops.lcm``)."""
    x1, x2 = _integers("lcm", x1, x2)
    divisor = gcd(x1, x2)
    safe = tf.where(divisor == 0, tf.ones_like(divisor), divisor)
    product = tf.math.floordiv(x1, safe) * x2
    return product if product.dtype.is_unsigned else tf.abs(product)


@operation
def logical_not(x):
    """Is it 0 (``keras.ops.logical_not``)?"""
    return tf.logical_not(tensor(x, "bool"))


@specified(same_specs)
@operation
def bitwise_not(x):
    """Every bit the other way (``keras.ops.bitwise_not``)."""
    return tf.bitwise.invert(tensor(x))


# ---- kinds of numbers ----

def _test_of_floats(name, function, text):
    def compute(x):
        x = tensor(x)
        has_others = x.dtype.is_floating or x.dtype.is_complex
        return function(x) if has_others else tf.fill(tf.shape(x), name == "isfinite")
    define(globals(), name, compute, f"{text} (``keras.ops.{name}``)?")


_test_of_floats("isfinite", tf.math.is_finite, "Is it neither infinite nor NaN")
_test_of_floats("isinf", tf.math.is_inf, "Is it infinite")
_test_of_floats("isnan", tf.math.is_nan, "Is it NaN")
_test_of_floats("isposinf", lambda x: tf.equal(x, tf.cast(math.inf, x.dtype)), "Is it plus infinity")
_test_of_floats("isneginf", lambda x: tf.equal(x, tf.cast(-math.inf, x.dtype)), "Is it minus infinity")


@operation
def isreal(x):
    """Where the imaginary part is 0: always of real numbers (``keras.ops.isreal``)."""
    x = tensor(x)
    return tf.math.imag(x) == 0 if x.dtype.is_complex else tf.ones_like(x, dtype="bool")


@operation
def conjugate(x):
    """The conjugates of complex numbers; real ones as they are (``keras.ops.conjugate``)."""
    x = tensor(x)
    return tf.math.conj(x) if x.dtype.is_complex else x


@operation
def real(x):
    """The real part (``keras.ops.real``)."""
    x = tensor(x)
    return tf.math.real(x) if x.dtype.is_complex else x


@operation
def imag(x):
    """The imaginary part, 0 of real numbers (``keras.ops.imag``)."""
    x = tensor(x)
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


@operation
def angle(x):
    """The angle of complex numbers; of real ones 0, or pi where they are negative (``keras.ops.angle``)."""
    x = floats(x)
    return tf.math.angle(tf.cast(x, "complex64") if x.dtype == "complex128" else x)


@operation
def view_as_complex(x):
    """The complex numbers whose parts are the last dimension (``keras.ops.view_as_complex``). ValueError where that is
    not 2."""
    x = floats(x)
    if len(x.shape) < 1 or x.shape[-1] != 2:
        raise ValueError("Last dimension of input must be size 2 (real and imaginary). Received shape: "
                         f"{tuple(x.shape)}")
    if x.dtype.is_complex:  # as if they were parts
        return x[..., 0] + tf.constant(1j, x.dtype) * x[..., 1]
    x = tf.cast(x, "float32")  # Keras' numbers are complex64
    return tf.complex(x[..., 0], x[..., 1])


@operation
def view_as_real(x):
    """The parts of numbers as a last dimension (``keras.ops.view_as_real``)."""
    x = tensor(x)
    return tf.stack([tf.math.real(x), tf.math.imag(x)], -1)


@specified(lambda abs_, angle: KerasTensor(abs_.shape, "complex64"))
@operation
def polar(abs_, angle):
    """The complex numbers of magnitudes and angles (``keras.ops.polar``)."""
    size, turn = together(abs_, angle, floating=True)
    return tf.complex(size * tf.cos(turn), size * tf.sin(turn))


_NEAR = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
_FAR = (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377)


def _polynomial(factors, x):
    out = tf.zeros_like(x) + tf.constant(factors[-1], x.dtype)
    for factor in reversed(factors[:-1]):
        out = out * x + tf.constant(factor, x.dtype)
    return out


@operation
def i0(x):
    """The modified Bessel function of order 0 (``keras.ops.i0``), to 2e-7 of its value (Abramowitz and Stegun 9.8)."""
    x = tf.abs(floats(x))
    border = tf.cast(3.75, x.dtype)
    near = _polynomial(_NEAR, tf.square(tf.minimum(x, border) / border))
    large = tf.maximum(x, border)
    return tf.where(x < border, near, tf.exp(large) * tf.math.rsqrt(large) * _polynomial(_FAR, border / large))


@operation
def isclose(x1, x2, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Is |x1 - x2| <= atol + rtol * |x2| (``keras.ops.isclose``)?"""
    x1, x2 = together(x1, x2, floating=True)
    sizes = [tf.abs(x1), tf.abs(x2)]
    close = tf.abs(x1 - x2) <= tf.cast(atol, sizes[1].dtype) + tf.cast(rtol, sizes[1].dtype) * sizes[1]
    finite = tf.logical_and(*(tf.math.is_finite(size) for size in sizes))
    close = tf.where(finite, close, x1 == x2)
    if equal_nan:
        close = tf.logical_or(close, tf.logical_and(*(tf.math.is_nan(size) for size in sizes)))
    return close


@operation
def allclose(x1, x2, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Are all elements close (``keras.ops.allclose``)?"""
    return tf.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


@operation
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """NaN as `nan`, infinities as the largest numbers or as said (``keras.ops.nan_to_num``)."""
    x = tensor(x)
    if not x.dtype.is_floating and not x.dtype.is_complex:
        return x
    x = tf.where(tf.math.is_nan(x), tf.cast(nan, x.dtype), x)
    most = (2 - 2 ** -7) * 2.0 ** 127 if x.dtype == "bfloat16" else x.dtype.max
    x = tf.where(x == math.inf, tf.constant(most if posinf is None else posinf, x.dtype), x)
    return tf.where(x == -math.inf, tf.constant(-most if neginf is None else neginf, x.dtype), x)


@operation
def clip(x, x_min, x_max):
    """Each element moved into [x_min, x_max] (``keras.ops.clip``)."""
    x = tensor(x)
    if x.dtype == "bool":
        x = tf.cast(x, "int32")
    met = result_type(x.dtype, *[type(bound) if type(bound) in (int, float) else tensor(bound).dtype
                                 for bound in (x_min, x_max)])
    return tf.clip_by_value(tensor(x, met), tensor(x_min, met), tensor(x_max, met))


def _spec_of_where(condition, x1=None, x2=None):
    if x1 is None and x2 is None:
        return KerasTensor(condition.shape, "int32")
    if x1 is None or x2 is None:
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value.")
    chosen = spec_of_two(x1, x2)
    return KerasTensor(spec_of_two(condition, chosen).shape, chosen.dtype)


@specified(_spec_of_where)
@operation
def where(condition, x1=None, x2=None):
    """x1 where the condition holds, else x2; alone: the places where it holds (``keras.ops.where``)."""
    condition = tensor(condition, "bool")
    if x1 is None and x2 is None:
        return tf.unstack(tf.cast(tf.where(condition), "int32"), num=len(condition.shape), axis=1)
    if x1 is None or x2 is None:
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value.")
    return tf.where(condition, *together(x1, x2))


@operation
def select(condlist, choicelist, default=0):
    """For each element the first choice whose condition holds (``keras.ops.select``)."""
    if not isinstance(condlist, (list, tuple)) or not isinstance(choicelist, (list, tuple)):
        raise ValueError("condlist and choicelist must be lists. Received: type(condlist) = "
                         f"{type(condlist)}, type(choicelist) = {type(choicelist)}")
    *choices, chosen = together(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices))):
        chosen = tf.where(tensor(condition, "bool"), choice, chosen)
    return chosen


for _alias, _name in _ALIASES.items():
    globals()[_alias] = globals()[_name]

__all__ = [name for name in (*OPERATIONS, *_ALIASES) if name in globals()]
