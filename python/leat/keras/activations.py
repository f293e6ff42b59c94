"""``keras.activations``: functions of tensors, and of KerasTensors, that layers take by name."""

import functools
import inspect

from leat._core.later import Hook
from leat._core.tensor import convert_to_tensor
from leat.keras._base import calls, registry
from leat.keras._base.named import op as _op
from leat.keras._base.symbolic import OPERATIONS

relu_layer = Hook()  # the layer that relu of a KerasTensor is; leat.keras.layers


def _symbolic(function):
    """The function; of a KerasTensor the operation of its name in ``keras.ops``, a part of the model."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def whole(*args, **kwargs):
        x = args[0] if args else kwargs.get("x")
        if not hasattr(x, "_history"):  # every value but a KerasTensor
            return function(*args, **kwargs)
        if function.__name__ == "mish":
            return x * OPERATIONS["tanh"](OPERATIONS["softplus"](x))
        given = signature.bind(*args, **kwargs)
        if function.__name__ == "relu":
            return relu_layer(**{key: value for key, value in given.arguments.items() if key != "x"})(x)
        given.apply_defaults()
        return OPERATIONS[{"exponential": "exp"}.get(function.__name__, function.__name__)](**given.arguments)
    return whole


def linear(x):
    """x."""
    return x


@_symbolic
def relu(x, negative_slope=0.0, max_value=None, threshold=0.0):
    """max(x, 0); below `threshold` with `negative_slope`, at most `max_value`."""
    if not negative_slope and max_value is None and not threshold:
        return _op("nn.relu", x)
    x = convert_to_tensor(x)
    low = negative_slope * (x - threshold)
    above = _op("cast", x > threshold, x.dtype) if threshold else None
    out = _op("nn.relu", x) if above is None else x * above
    if max_value is not None:
        out = _op("math.minimum", out, max_value)
    return out if not negative_slope else _op("where", x > threshold, out, low)


@_symbolic
def leaky_relu(x, negative_slope=0.2):
    """x, below 0 times `negative_slope`."""
    return relu(x, negative_slope=negative_slope)


@_symbolic
def relu6(x):
    """x between 0 and 6."""
    return _op("nn.relu6", x)


@_symbolic
def softmax(x, axis=-1):
    """Positive numbers that sum to 1 along `axis`, in proportion to exp(x)."""
    x = convert_to_tensor(x)
    if _is_several(axis):
        return _over_several(x, axis, softmax)
    if axis not in (-1, x.shape.rank - 1):
        return _moved(x, axis, "nn.softmax")
    out = _op("nn.softmax", x)
    calls.remember_logits(out, softmax, x)
    return out


@_symbolic
def log_softmax(x, axis=-1):
    """The logarithm of softmax."""
    x = convert_to_tensor(x)
    if _is_several(axis):
        return _over_several(x, axis, log_softmax)
    return _op("nn.log_softmax", x) if axis in (-1, x.shape.rank - 1) else _moved(x, axis, "nn.log_softmax")


def _is_several(axis):
    return axis is None or isinstance(axis, (list, tuple))


def _over_several(x, axis, compute):
    """A function along the last dimension over several dimensions, or all, taken as one."""
    rank = x.shape.rank
    axes = list(range(rank)) if axis is None else [one % rank for one in axis]
    order = [one for one in range(rank) if one not in axes] + axes
    moved = _op("transpose", x, order)
    kept = _op("shape", moved)[:rank - len(axes)]
    flat = compute(_op("reshape", moved, _op("concat", [kept, [-1]], 0)))
    return _op("transpose", _op("reshape", flat, _op("shape", moved)), sorted(range(rank), key=order.__getitem__))


def _moved(x, axis, path):
    rank = x.shape.rank
    order = [d for d in range(rank) if d != axis % rank] + [axis % rank]
    back = sorted(range(rank), key=order.__getitem__)
    return _op("transpose", _op(path, _op("transpose", x, order)), back)


@_symbolic
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    x = convert_to_tensor(x)
    out = _op("math.sigmoid", x)
    calls.remember_logits(out, sigmoid, x)
    return out


@_symbolic
def tanh(x):
    """The hyperbolic tangent."""
    return _op("math.tanh", x)


@_symbolic
def elu(x, alpha=1.0):
    """x, below 0 alpha (exp(x) - 1)."""
    out = _op("nn.elu", x)
    return out if alpha == 1 else _op("where", convert_to_tensor(x) > 0, out, alpha * out)


@_symbolic
def selu(x):
    """The scaled elu that keeps mean and variance."""
    x = convert_to_tensor(x)
    return 1.0507009873554805 * _op("where", x >= 0, x, 1.6732632423543772 * _op("nn.elu", x))


@_symbolic
def softplus(x):
    """log(1 + exp(x))."""
    return _op("math.softplus", x)


@_symbolic
def softsign(x):
    """x / (1 + |x|)."""
    return x / (1.0 + _op("math.abs", x))


@_symbolic
def exponential(x):
    """exp(x)."""
    return _op("math.exp", x)


@_symbolic
def silu(x):
    """x sigmoid(x)."""
    return x * sigmoid(x)


@_symbolic
def gelu(x, approximate=False):
    """x times the probability of a normal number below x; `approximate`: by tanh."""
    x = convert_to_tensor(x)
    if approximate:
        return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1.0 + _op("math.erf", x * 0.7071067811865476))


@_symbolic
def mish(x):
    """x tanh(softplus(x))."""
    return x * tanh(softplus(x))


@_symbolic
def hard_sigmoid(x):
    """x / 6 + 0.5 between 0 and 1."""
    return relu6(convert_to_tensor(x) + 3.0) / 6.0


@_symbolic
def hard_silu(x):
    """x hard_sigmoid(x)."""
    return x * hard_sigmoid(x)


@_symbolic
def log_sigmoid(x):
    """The logarithm of sigmoid."""
    return -softplus(-convert_to_tensor(x))


@_symbolic
def tanh_shrink(x):
    """x - tanh(x)."""
    return x - tanh(x)


@_symbolic
def hard_shrink(x, threshold=0.5):
    """x outside of [-threshold, threshold], else 0."""
    x = convert_to_tensor(x)
    return _op("where", _op("math.abs", x) > threshold, x, _op("zeros_like", x))


@_symbolic
def soft_shrink(x, threshold=0.5):
    """x moved towards 0 by `threshold`, and 0 where it would pass it."""
    x = convert_to_tensor(x)
    return _op("nn.relu", x - threshold) - _op("nn.relu", -x - threshold)


@_symbolic
def squareplus(x, b=4):
    """(x + sqrt(x^2 + b)) / 2."""
    x = convert_to_tensor(x)
    return 0.5 * (x + _op("math.sqrt", x * x + b))


@_symbolic
def hard_tanh(x):
    """x between -1 and 1."""
    return _op("clip_by_value", x, -1.0, 1.0)


@_symbolic
def celu(x, alpha=1.0):
    """x, below 0 alpha (exp(x / alpha) - 1)."""
    x = convert_to_tensor(x)
    return _op("math.maximum", x, 0.0) + alpha * _op("math.expm1", _op("math.minimum", x, 0.0) / alpha)


@_symbolic
def glu(x, axis=-1):
    """The first half along `axis` times the sigmoid of the second."""
    first, second = _op("split", convert_to_tensor(x), 2, axis)
    return first * sigmoid(second)


@_symbolic
def threshold(x, threshold, default_value):
    """x above `threshold`, else `default_value`."""
    x = convert_to_tensor(x)
    return _op("where", x > threshold, x, _op("zeros_like", x) + default_value)


@_symbolic
def sparse_plus(x):
    """0 up to -1, (x + 1)^2 / 4 up to 1, then x."""
    x = convert_to_tensor(x)
    return _op("where", x <= -1.0, _op("zeros_like", x), _op("where", x < 1.0, 0.25 * (x + 1.0) * (x + 1.0), x))


@_symbolic
def sparse_sigmoid(x):
    """(x + 1) / 2 between 0 and 1."""
    return _op("clip_by_value", 0.5 * (convert_to_tensor(x) + 1.0), 0.0, 1.0)


@_symbolic
def sparsemax(x, axis=-1):
    """The nearest point of the simplex (Martins and Astudillo 2016)."""
    return OPERATIONS["sparsemax"](x, axis=axis)


_BY_NAME = {function.__name__: function for function in (
    linear, relu, leaky_relu, relu6, softmax, log_softmax, sigmoid, tanh, elu, selu, softplus, softsign, exponential,
    silu, gelu, mish, hard_sigmoid, hard_silu, log_sigmoid, tanh_shrink, hard_shrink, soft_shrink, squareplus,
    hard_tanh, celu, glu, threshold, sparse_plus, sparse_sigmoid, sparsemax)}
swish, hard_swish = silu, hard_silu
_BY_NAME.update(swish=silu, hard_swish=hard_silu)


def get(identifier):
    """An activation by name, or a function itself; None is linear (``keras.activations.get``). ValueError."""
    if identifier is None:
        return linear
    found = identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        found = _BY_NAME.get(identifier) or registry.get_registered_object(identifier)
    if callable(found):
        return found
    raise ValueError(f"Could not interpret activation function identifier: {identifier}")


def serialize(activation):
    """The name of an activation, or the configuration of a program's own."""
    name = getattr(activation, "__name__", None)
    if _BY_NAME.get(name) is activation:
        return name
    if name is None:
        return registry.serialize_keras_object(activation)
    return registry.serialize_function(activation)


def deserialize(config, custom_objects=None):
    """The activation of a name or a configuration."""
    if isinstance(config, dict):
        return registry.deserialize_keras_object(config, custom_objects)
    return (custom_objects or {}).get(config) or get(config)
