"""``tf.quantization``: numbers rounded to what few bits can hold, with the gradients that training with them uses."""

from leat._core.tensor import convert_to_tensor
from leat._graph.graphs import ShapeError
from leat._graph.ops import FUNCTIONS as F
from leat._graph.tape import custom_gradient

__all__ = ["fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_vars",
           "fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_per_channel",
           "fake_quant_with_min_max_vars_per_channel_gradient"]


def _limits(low, high, num_bits, narrow_range):
    """(low, high, size of a step): the range moved a little, so that 0 is one of its numbers."""
    if not 2 <= num_bits <= 16:
        raise ShapeError(None, None, f"num_bits must be between 2 and 16, inclusive; found {num_bits}")
    first, last = (1. if narrow_range else 0.), float(2 ** num_bits - 1)
    scale = F["divide"](high - low, last - first)
    zero = first - F["divide"](low, scale)
    rounded = F["floor"](zero + 0.5)
    moved = F["where"](zero < first, F["zeros_like"](zero) + first, F["where"](
        zero > last, F["zeros_like"](zero) + last, rounded))
    return (first - moved) * scale, (last - moved) * scale, scale


def _rounded(inputs, low, high, num_bits, narrow_range):
    low, high, scale = _limits(low, high, num_bits, narrow_range)
    inside, steps = F["minimum"](F["maximum"](inputs, low), high), F["divide"](1., scale)
    zero = F["floor"](F["negative"](low) * steps + 0.5)
    return F["floor"]((inside - low) * steps - zero + 0.5) * scale, low, high


def _split(gradients, inputs, low, high, axes):
    """Gradients of inputs, low and high: where inputs lie between the bounds, below and above them."""
    zero = F["zeros_like"](gradients)
    below, above = inputs < low, inputs > high
    between = F["where"](F["math.logical_or"](below, above), zero, gradients)
    return (between, *(F["reduce_sum"](F["where"](where, gradients, zero), axes) for where in (below, above)))


def _fake(inputs, low, high, num_bits, narrow_range, axes):
    inputs, low, high = (convert_to_tensor(one, dtype_hint="float32") for one in (inputs, low, high))

    @custom_gradient
    def rounded(inputs, low, high):
        found, moved_low, moved_high = _rounded(inputs, low, high, num_bits, narrow_range)
        return found, lambda gradients: _split(gradients, inputs, moved_low, moved_high, axes)
    return rounded(inputs, low, high)


def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):  # noqa: A002
    """Numbers rounded to `num_bits` bits between two bounds, scalars, which get gradients
    (``tf.quantization.fake_quant_with_min_max_vars``)."""
    return _fake(inputs, min, max, num_bits, narrow_range, None)


def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):  # noqa: A002
    """The same of bounds that are numbers (``tf.quantization.fake_quant_with_min_max_args``). InvalidArgumentError
    unless the first is less than the second."""
    if min >= max:
        raise ShapeError(None, None, f"min has to be smaller than max, was: {min} >= {max}")
    return _fake(inputs, float(min), float(max), num_bits, narrow_range, None)


def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits=8, narrow_range=False,  # noqa: A002
                                             name=None):
    """The same with bounds for each place of the last dimension
    (``tf.quantization.fake_quant_with_min_max_vars_per_channel``)."""
    inputs = convert_to_tensor(inputs, dtype_hint="float32")
    return _fake(inputs, min, max, num_bits, narrow_range, list(range(inputs.shape.rank - 1)))


def _gradient(gradients, inputs, low, high, num_bits, narrow_range, axes):
    gradients, inputs, low, high = (convert_to_tensor(one, dtype_hint="float32") for one in (
        gradients, inputs, low, high))
    low, high, _ = _limits(low, high, num_bits, narrow_range)
    return _split(gradients, inputs, low, high, axes)


def fake_quant_with_min_max_args_gradient(gradients, inputs, min=-6, max=6, num_bits=8,  # noqa: A002
                                          narrow_range=False, name=None):
    """The gradient of fake_quant_with_min_max_args by its inputs."""
    return _gradient(gradients, inputs, float(min), float(max), num_bits, narrow_range, None)[0]


def fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max, num_bits=8,  # noqa: A002
                                          narrow_range=False, name=None):
    """The gradients of fake_quant_with_min_max_vars by inputs and bounds."""
    return _gradient(gradients, inputs, min, max, num_bits, narrow_range, None)


def fake_quant_with_min_max_vars_per_channel_gradient(gradients, inputs, min, max, num_bits=8,  # noqa: A002
                                                      narrow_range=False, name=None):
    """The gradients of fake_quant_with_min_max_vars_per_channel by inputs and bounds."""
    inputs = convert_to_tensor(inputs, dtype_hint="float32")
    return _gradient(gradients, inputs, min, max, num_bits, narrow_range, list(range(inputs.shape.rank - 1)))
