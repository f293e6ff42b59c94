"""``tf.nn``: functions that are made of operations, as TensorFlow makes them. The library's operations join them."""

from leat import dtypes
from leat._api.averages import compute_average_loss, scale_regularization_loss
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat.math import l2_normalize, log_softmax, softmax, softsign, zero_fraction

__all__ = ["batch_normalization", "bias_add", "compute_average_loss", "crelu", "depth_to_space", "dropout",
           "embedding_lookup", "gelu", "l2_loss", "l2_normalize", "leaky_relu", "log_poisson_loss", "log_softmax",
           "moments", "normalize_moments", "scale_regularization_loss", "selu", "sigmoid_cross_entropy_with_logits",
           "silu", "softmax", "softmax_cross_entropy_with_logits", "softsign", "space_to_depth", "swish",
           "weighted_cross_entropy_with_logits", "weighted_moments", "zero_fraction"]


# ---- biases ----

def bias_add(value, bias, data_format=None, name=None):
    """A vector added along the last dimension, or along the second one (``tf.nn.bias_add``)."""
    if data_format is not None and not (str(data_format).startswith("NC") or (
            str(data_format).startswith("N") and str(data_format).endswith("C"))):
        raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}")
    if data_format is None or not str(data_format).startswith("NC"):
        return F["nn.bias_add"](value, bias)
    value = convert_to_tensor(value)
    bias = convert_to_tensor(bias, value.dtype)
    if value.shape.rank is None:
        raise ValueError("bias_add with NC... needs an input of known rank; set it with ensure_shape")
    order = [0, *range(2, value.shape.rank), 1]
    return F["transpose"](F["nn.bias_add"](F["transpose"](value, order), bias),
                          [0, value.shape.rank - 1, *range(1, value.shape.rank - 1)])


# ---- activations ----

def leaky_relu(features, alpha=0.2, name=None):
    """x, or alpha * x where x is negative (``tf.nn.leaky_relu``)."""
    x = _floats(features)
    return F["where"](F["greater"](x, F["zeros_like"](x)), x, F["multiply"](x, convert_to_tensor(alpha, x.dtype)))


def gelu(features, approximate=False, name=None):
    """x times the normal distribution's share below x (``tf.nn.gelu``); `approximate` by a tanh."""
    x = convert_to_tensor(features)
    if not x.dtype.is_floating:
        raise ValueError(f"`features.dtype` must be a floating point tensor.Received:features.dtype={x.dtype}")
    if approximate:
        cubed = F["add"](x, F["multiply"](0.044715, F["pow"](x, 3)))
        share = F["add"](1.0, F["tanh"](F["multiply"](0.7978845608028654, cubed)))
    else:
        share = F["add"](1.0, F["math.erf"](F["divide"](x, convert_to_tensor(1.4142135623730951, x.dtype))))
    return F["multiply"](F["multiply"](0.5, x), share)


def selu(features, name=None):
    """scale * x, or scale * alpha * (exp(x) - 1) where x is negative (``tf.nn.selu``)."""
    x = convert_to_tensor(features)
    low = F["multiply"](1.7580993408473768, F["nn.elu"](x))
    return F["where"](F["less"](x, F["zeros_like"](x)), low, F["multiply"](1.0507009873554805, x))


def silu(features, beta=1.0, name=None):
    """x * sigmoid(beta * x) (``tf.nn.silu``)."""
    x = convert_to_tensor(features)
    return F["multiply"](x, F["sigmoid"](F["multiply"](x, convert_to_tensor(beta, x.dtype))))


swish = silu


def crelu(features, axis=-1, name=None):
    """relu of x and of -x, one behind the other along `axis` (``tf.nn.crelu``)."""
    x = convert_to_tensor(features)
    return F["nn.relu"](F["concat"]([x, F["negative"](x)], axis))


def _floats(value):
    x = convert_to_tensor(value)
    return F["cast"](x, dtypes.float32) if x.dtype.is_integer else x


# ---- moments ----

def moments(x, axes, shift=None, keepdims=False, name=None):
    """(mean, variance) over `axes` (``tf.nn.moments``)."""
    x = convert_to_tensor(x)
    wide = F["cast"](x, dtypes.float32) if x.dtype is dtypes.float16 else x
    mean = F["reduce_mean"](wide, axes, True)
    variance = F["reduce_mean"](F["math.squared_difference"](wide, F["stop_gradient"](mean)), axes, True)
    if not keepdims:
        mean, variance = F["squeeze"](mean, axes), F["squeeze"](variance, axes)
    return (mean, variance) if wide is x else (F["cast"](mean, x.dtype), F["cast"](variance, x.dtype))


def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """(mean, variance) where each value counts as often as its weight says (``tf.nn.weighted_moments``)."""
    x, weights = convert_to_tensor(x), convert_to_tensor(frequency_weights)
    weights = F["cast"](weights, x.dtype) if weights.dtype is not x.dtype else weights
    spread = F["add"](weights, F["zeros_like"](x))
    total = F["reduce_sum"](spread, axes, True)
    mean = F["divide"](F["reduce_sum"](F["multiply"](weights, x), axes, True), total)
    distance = F["math.squared_difference"](x, mean)
    variance = F["divide"](F["reduce_sum"](F["multiply"](weights, distance), axes, True), total)
    return (mean, variance) if keepdims else (F["squeeze"](mean, axes), F["squeeze"](variance, axes))


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) of a count, a sum and a sum of squares (``tf.nn.normalize_moments``)."""
    share = F["math.reciprocal"](convert_to_tensor(counts))
    shifted = F["multiply"](mean_ss, share)
    mean = shifted if shift is None else F["add"](shifted, shift)
    return mean, F["subtract"](F["multiply"](variance_ss, share), F["square"](shifted))


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + epsilon), times `scale` and plus `offset` where given
    (``tf.nn.batch_normalization``)."""
    factor = F["math.rsqrt"](F["add"](convert_to_tensor(variance), variance_epsilon))
    factor = factor if scale is None else F["multiply"](factor, scale)
    moved = F["negative"](F["multiply"](mean, factor)) if offset is None else F["subtract"](
        offset, F["multiply"](mean, factor))
    return F["add"](F["multiply"](convert_to_tensor(x), factor), moved)


# ---- losses ----

def l2_loss(t, name=None):
    """Half the sum of squares (``tf.nn.l2_loss``)."""
    t = convert_to_tensor(t)
    return F["multiply"](F["reduce_sum"](F["square"](t)), convert_to_tensor(0.5, t.dtype))


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))
    (``tf.nn.sigmoid_cross_entropy_with_logits``)."""
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, dtype_hint=logits.dtype)
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({logits.shape} vs "
                         f"{labels.shape}).")
    above = F["subtract"](F["nn.relu"](logits), F["multiply"](logits, labels))
    return F["add"](above, F["math.log1p"](F["exp"](F["negative"](F["abs"](logits)))))


def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """The same with positive labels weighted by `pos_weight` (``tf.nn.weighted_cross_entropy_with_logits``)."""
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, dtype_hint=logits.dtype)
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({logits.shape} vs "
                         f"{labels.shape}).")
    weight = F["add"](1.0, F["multiply"](F["subtract"](pos_weight, 1.0), labels))
    tail = F["add"](F["math.log1p"](F["exp"](F["negative"](F["abs"](logits)))), F["nn.relu"](F["negative"](logits)))
    return F["add"](F["multiply"](F["subtract"](1.0, labels), logits), F["multiply"](weight, tail))


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy of distributions along `axis` (``tf.nn.softmax_cross_entropy_with_logits``)."""
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, dtype_hint=logits.dtype)
    labels = F["cast"](labels, logits.dtype) if labels.dtype is not logits.dtype else labels
    return F["negative"](F["reduce_sum"](F["multiply"](labels, log_softmax(logits, axis)), axis))


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - log_input * targets (``tf.nn.log_poisson_loss``); the full loss adds Stirling's
    approximation where targets exceed 1."""
    log_input = convert_to_tensor(log_input)
    targets = convert_to_tensor(targets, dtype_hint=log_input.dtype)
    loss = F["subtract"](F["exp"](log_input), F["multiply"](log_input, targets))
    if not compute_full_loss:
        return loss
    stirling = F["add"](F["subtract"](F["multiply"](targets, F["math.log"](targets)), targets),
                        F["multiply"](0.5, F["math.log"](F["multiply"](6.283185307179586, targets))))
    is_small = F["logical_and"](F["greater_equal"](targets, 0.0), F["less_equal"](targets, 1.0))
    return F["add"](loss, F["where"](is_small, F["zeros_like"](targets), stirling))


# ---- the rest ----

def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of `params` that `ids` number; their norms are at most `max_norm` (``tf.nn.embedding_lookup``)."""
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise NotImplementedError("embedding_lookup: params in several parts are not supported; concat them")
        params = params[0]
    params = params._as_tensor() if hasattr(params, "_as_tensor") else convert_to_tensor(params)
    if hasattr(ids, "with_flat_values"):
        return ids.with_flat_values(embedding_lookup(params, ids.flat_values, max_norm))
    found = F["gather"](params, ids)
    if max_norm is None:
        return found
    from leat._api.arrays import clip_by_norm
    first = convert_to_tensor(ids).shape.rank
    return clip_by_norm(found, max_norm, list(range(first, found.shape.rank)))


def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """x with values dropped at `rate`, the others scaled by 1 / (1 - rate) (``tf.nn.dropout``)."""
    x = convert_to_tensor(x)
    is_number = isinstance(rate, (int, float))
    if is_number and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if not x.dtype.is_floating:
        raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                         f"x_dtype={x.dtype}")
    if is_number and rate == 0:
        return x
    shape = F["shape"](x)
    if noise_shape is not None:
        dims = [shape[i] if d is None else d for i, d in enumerate(noise_shape)]
        shape = F["stack"](dims) if any(hasattr(d, "dtype") for d in dims) else dims
    drawn = F["random.uniform"](shape, seed=seed, dtype=x.dtype)
    rate = convert_to_tensor(rate, x.dtype) if is_number else F["cast"](rate, x.dtype)
    kept = F["greater_equal"](drawn, rate)
    return F["where"](kept, F["divide"](x, F["subtract"](convert_to_tensor(1, x.dtype), rate)), F["zeros_like"](x))


def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Blocks of pixels as channels (``tf.nn.space_to_depth``)."""
    x, b = _pictures("space_to_depth", input, block_size, data_format), block_size
    batch, height, width, depth = _dims(x)
    x = F["reshape"](x, _shape(batch, _over(height, b), b, _over(width, b), b, depth))
    return F["reshape"](F["transpose"](x, [0, 1, 3, 2, 4, 5]),
                        _shape(batch, _over(height, b), _over(width, b), depth * b * b))


def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """Channels as blocks of pixels (``tf.nn.depth_to_space``)."""
    x, b = _pictures("depth_to_space", input, block_size, data_format), block_size
    batch, height, width, depth = _dims(x)
    x = F["reshape"](x, _shape(batch, height, width, b, b, _over(depth, b * b)))
    return F["reshape"](F["transpose"](x, [0, 1, 3, 2, 4, 5]),
                        _shape(batch, height * b, width * b, _over(depth, b * b)))


def _pictures(function, value, block_size, data_format):
    if data_format != "NHWC":
        raise NotImplementedError(f"{function}: data_format={data_format!r} is not supported; leave it at 'NHWC'")
    if block_size < 2:
        raise ValueError(f"Block size should be > 1, but was: {block_size}")
    x = convert_to_tensor(value)
    if x.shape.rank not in (4, None):
        raise ValueError(f"Input rank should be 4, found shape {x.shape}")
    return x


def _dims(x):
    """The dimensions, numbers where they are known."""
    known = x.shape.as_list() if x.shape.rank is not None else [None] * 4
    if None not in known:
        return known
    shape = F["shape"](x)
    return [shape[i] if d is None else d for i, d in enumerate(known)]


def _over(dim, block):
    if isinstance(dim, int) and dim % block:
        from leat.errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"dimension {dim} should be divisible by {block}")
    return dim // block


def _shape(*dims):
    return list(dims) if all(isinstance(d, int) for d in dims) else F["stack"](list(dims))


ops.join(__name__)
