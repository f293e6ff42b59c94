"""``tf.quantization``: numbers as few bits hold them. Values of a quantized dtype are tensors of its integers here."""

import collections

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.tape import custom_gradient
from leat.errors import InvalidArgumentError

__all__ = ["dequantize", "quantize", "quantize_and_dequantize", "quantize_and_dequantize_v2"]

QuantizeV2 = collections.namedtuple("QuantizeV2", "output output_min output_max")
_BITS = {dtypes.qint8: dtypes.int8, dtypes.quint8: dtypes.uint8, dtypes.qint16: dtypes.int16,
         dtypes.quint16: dtypes.uint16, dtypes.qint32: dtypes.int32}
_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
_MOST = float(dtypes.float32.max)


def _integers(dtype):
    """The dtype that the values of a quantized one have here."""
    dtype = dtypes.as_dtype(dtype)
    found = _BITS.get(dtype, dtype)
    if found not in _BITS.values():
        raise InvalidArgumentError(None, None, f"Value for attr 'T' of {dtype.name} is not in the list of allowed "
                                   "values: qint8, quint8, qint32, qint16, quint16")
    return found


def _mode(mode):
    if mode not in _MODES:
        raise InvalidArgumentError(None, None, f"Value for attr 'mode' of \"{mode}\" is not in the list of allowed "
                                   f"values: {', '.join(_MODES)}")


def _along(bounds, x, axis):
    """Bounds that broadcast to `x`: numbers, or one for each place of `axis`."""
    bounds = convert_to_tensor(bounds, dtypes.float32)
    if axis is None or axis == -1 or bounds.shape.rank == 0:
        return F["reshape"](bounds, []) if bounds.shape.rank else bounds
    return F["reshape"](bounds, [-1 if place == axis else 1 for place in range(x.shape.rank)])


def _away_from_zero(x):
    # Not the floor of half more, which is 1 for the float below a half.
    whole = F["floor"](F["abs"](x))
    more = F["cast"](F["greater_equal"](F["abs"](x) - whole, 0.5), x.dtype)
    return F["sign"](x) * (whole + more)


def _reach(dtype):
    """How far the highest value of an integer dtype is from the lowest."""
    return int(dtype.max) - int(dtype.min)


def quantize(input, min_range, max_range, T, mode="MIN_COMBINED",  # noqa: A002
             round_mode="HALF_AWAY_FROM_ZERO", name=None, narrow_range=False, axis=None, ensure_minimum_range=0.01):
    """(float32 values as integers of `T`, the lowest value that these hold, the highest)
    (``tf.quantization.quantize``).

    The integers of tf.qint8 are a tensor of int8 here, and so of the others. `mode`: "MIN_COMBINED", "MIN_FIRST" or
    "SCALED", in which zero stays zero. `axis`: bounds are one for each place of it.
    """
    dtype = _integers(T)
    _mode(mode)
    if round_mode not in ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"):
        raise InvalidArgumentError(None, None, f"Value for attr 'round_mode' of \"{round_mode}\" is not in the list "
                                   "of allowed values: HALF_AWAY_FROM_ZERO, HALF_TO_EVEN")
    if round_mode != "HALF_AWAY_FROM_ZERO" and mode != "SCALED":
        raise InvalidArgumentError(None, None, "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode "
                                   f"is '{mode}'.")
    x = convert_to_tensor(input, dtypes.float32)
    low, high = convert_to_tensor(min_range, dtypes.float32), convert_to_tensor(max_range, dtypes.float32)
    from leat.debugging import assert_greater_equal
    assert_greater_equal(high, low, "input_max_range must be larger than input_min_range.")
    least = F["minimum"](low, 0.0)
    apart = F["maximum"](1.0, F["maximum"](F["abs"](low), F["abs"](high))) * ensure_minimum_range
    most = F["maximum"](F["maximum"](high, least + apart), 0.0)
    if mode == "SCALED":
        lowest = float(dtype.min + bool(narrow_range))
        steps = F["minimum"](*(F["where"](F["greater"](bound * side, 0.0), bound / side, _MOST) for bound, side in (
            (lowest, least), (float(dtype.max), most))))
        least, most = lowest / steps, float(dtype.max) / steps
    bottom, top = _along(least, x, axis), _along(most, x, axis)
    kept = F["maximum"](F["minimum"](x, top), bottom)
    if mode == "SCALED":
        scaled = kept * _along(steps, x, axis)
        out = F["math.rint"](scaled) if round_mode == "HALF_TO_EVEN" else _away_from_zero(scaled)
    elif mode == "MIN_FIRST":
        return QuantizeV2(_min_first(x, bottom, top, dtype), least, most)
    else:
        scale = float(_reach(dtype)) / (top - bottom)
        if dtype.is_unsigned:
            out = F["floor"]((kept - bottom) * scale + 0.5)
        else:
            out = _away_from_zero((kept - bottom) * scale - (_reach(dtype) + 1) / 2)
    return QuantizeV2(F["cast"](out, dtype), least, most)


def _min_first(x, low, high, dtype):
    """Places from the lowest value, which is a whole number of steps itself."""
    bits = 8 * dtype.size
    steps = float(1 << bits)
    scale = F["cast"](steps, dtypes.float64) / F["cast"]((high - low) * (steps / (steps - 1)), dtypes.float64)
    scale = F["cast"](scale, dtypes.float32)
    out = _away_from_zero(x * scale) - _away_from_zero(low * scale) + float(dtype.min)
    return F["cast"](F["clip_by_value"](F["cast"](out, dtypes.float64), F["cast"](dtype.min, dtypes.float64),
                                        F["cast"](dtype.max, dtypes.float64)), dtype)


def dequantize(input, min_range, max_range, mode="MIN_COMBINED", name=None, axis=None,  # noqa: A002
               narrow_range=False, dtype=dtypes.float32):
    """The floats that quantized integers stand for (``tf.quantization.dequantize``): float32 or bfloat16.

    input: integers of 8, 16 or 32 bits, as ``quantize`` makes them.
    """
    x, dtype = convert_to_tensor(input), dtypes.as_dtype(dtype)
    kind = _integers(x.dtype)
    _mode(mode)
    if dtype not in (dtypes.float32, dtypes.bfloat16):
        raise InvalidArgumentError(None, None, f"Output type must be bfloat16 or float, is '{dtype.name}'")
    if dtype is dtypes.bfloat16 and mode != "MIN_COMBINED":
        raise InvalidArgumentError(None, None, "When output type is bfloat16, Mode string must be 'MIN_COMBINED', is "
                                   f"'{mode}'")
    low, high = _along(min_range, x, axis), _along(max_range, x, axis)
    value = F["cast"](x, dtypes.float32)
    if mode == "MIN_COMBINED":
        half = 0.0 if kind.is_unsigned else float(_reach(kind) + 1) / 2
        out = (value + half) * ((high - low) / float(_reach(kind))) + low
    elif mode == "SCALED":
        scale = high / float(kind.max)
        if not kind.is_unsigned:
            scale = F["maximum"](low / float(kind.min + bool(narrow_range)), scale)
        out = value * scale
    else:
        steps = float(1 << 8 * kind.size)
        step = (high - low) * (steps / (steps - 1)) / steps
        out = _away_from_zero(low / step) * step + (value - float(kind.min)) * step
    return F["cast"](out, dtype)


def _rounded(x, low, high, signed_input, num_bits, range_given, round_mode, narrow_range):
    """The values as integers of so many bits hold them, as floats."""
    lowest = -float(1 << num_bits - 1) + bool(narrow_range) if signed_input else 0.0
    highest = float((1 << num_bits - bool(signed_input)) - 1)
    by_low, by_high = (F["where"](F["greater"](bound * side, 0.0), bound / side, side.dtype.max) for bound, side in (
        (lowest, low), (highest, high)))
    is_low = F["less"](by_low, by_high)
    scale = F["where"](is_low, by_low, by_high)
    back = F["where"](is_low, low / lowest if lowest else low, high / highest)
    if range_given:
        x = F["maximum"](F["minimum"](x, F["where"](is_low, highest * back, high)),
                         F["where"](is_low, low, lowest * back))
    scaled = x * scale
    return (F["math.rint"](scaled) if round_mode == "HALF_TO_EVEN" else F["floor"](scaled + 0.5)) * back


def _both(x, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis):
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise InvalidArgumentError(None, None, "Round mode string must be 'HALF_TO_EVEN' or 'HALF_UP', is "
                                   f"'{round_mode}'")
    if not (1 + bool(signed_input)) <= num_bits <= 62:
        raise InvalidArgumentError(None, None, f"num_bits is out of range: {num_bits} with signed_input {signed_input}")
    if range_given:
        low, high = (F["cast"](_along(one, x, axis), x.dtype) for one in (input_min, input_max))
    else:
        axes = None if axis is None or axis == -1 else [one for one in range(x.shape.rank) if one != axis]
        low, high = F["reduce_min"](x, axes, axes is not None), F["reduce_max"](x, axes, axes is not None)
    return low, high, _rounded(x, low, high, signed_input, num_bits, range_given, round_mode, narrow_range)


def quantize_and_dequantize(input, input_min, input_max, signed_input=True, num_bits=8,  # noqa: A002
                            range_given=False, round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None):
    """Floats as integers of `num_bits` hold them (``tf.quantization.quantize_and_dequantize``); a gradient passes."""
    x = convert_to_tensor(input)

    @custom_gradient
    def compute(value):
        made = _both(value, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis)
        return made[2], lambda upstream: upstream
    return compute(x)


def quantize_and_dequantize_v2(input, input_min, input_max, signed_input=True, num_bits=8,  # noqa: A002
                               range_given=False, round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None):
    """The same (``tf.quantization.quantize_and_dequantize_v2``); a gradient passes within the bounds alone."""
    x = convert_to_tensor(input)
    bounds = [convert_to_tensor(one, x.dtype) for one in (input_min, input_max)]

    @custom_gradient
    def compute(value, *bounds):
        _, _, out = _both(value, *bounds, signed_input, num_bits, range_given, round_mode, narrow_range, axis)

        def gradient(upstream):
            low, high = (F["cast"](_along(one, value, axis), value.dtype) for one in bounds)
            inside = F["logical_and"](F["greater_equal"](value, low), F["less_equal"](value, high))
            return F["where"](inside, upstream, F["zeros_like"](upstream)), *(F["zeros_like"](one) for one in bounds)
        return out, gradient
    return compute(x, *bounds)
