"""``tf.nn``: functions that are made of operations, as TensorFlow makes them. The library's operations join them."""

import numpy as np

from leat import dtypes
from leat._api.averages import compute_average_loss, scale_regularization_loss
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat.math import approx_max_k, approx_min_k, l2_normalize, log_softmax, softmax, softsign, zero_fraction

__all__ = ["approx_max_k", "approx_min_k", "bias_add", "compute_average_loss", "crelu", "depth_to_space", "gelu",
           "l2_normalize", "leaky_relu", "log_softmax", "moments", "normalize_moments", "scale_regularization_loss",
           "selu", "silu", "softmax", "softsign", "space_to_depth", "swish", "weighted_moments", "zero_fraction"]


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
    # TensorFlow keeps the number as a float32.
    alpha = convert_to_tensor(float(np.float32(alpha)) if type(alpha) is float else alpha, x.dtype)
    return F["where"](F["greater"](x, convert_to_tensor(0, x.dtype)), x, F["multiply"](x, alpha))


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
    return F["where"](F["less"](x, convert_to_tensor(0, x.dtype)), low, F["multiply"](1.0507009873554805, x))


def silu(features, beta=1.0, name=None):
    """x * sigmoid(beta * x) (``tf.nn.silu``)."""
    x = convert_to_tensor(features)
    scaled = x if type(beta) is float and beta == 1 else F["multiply"](x, convert_to_tensor(beta, x.dtype))
    return F["multiply"](x, F["sigmoid"](scaled))


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
    given, weights = convert_to_tensor(x), convert_to_tensor(frequency_weights)
    x = F["cast"](given, dtypes.float32) if given.dtype is dtypes.float16 else given
    weights = F["cast"](weights, x.dtype) if weights.dtype is not x.dtype else weights
    total = F["reduce_sum"](F["add"](weights, F["zeros_like"](x)), axes, True)

    def mean_of(values):
        return F["math.divide_no_nan"](F["reduce_sum"](F["multiply"](weights, values), axes, True), total)
    mean = mean_of(x)
    found = mean, mean_of(F["math.squared_difference"](x, mean))
    found = found if keepdims else tuple(F["squeeze"](one, axes) for one in found)
    return tuple(F["cast"](one, given.dtype) for one in found) if x is not given else found


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) of a count, a sum and a sum of squares (``tf.nn.normalize_moments``)."""
    share = F["math.reciprocal"](convert_to_tensor(counts))
    shifted = F["multiply"](mean_ss, share)
    mean = shifted if shift is None else F["add"](shifted, shift)
    return mean, F["subtract"](F["multiply"](variance_ss, share), F["square"](shifted))


# ---- the rest ----

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


_HOMES = {
    "leat._nn.convolutions": "atrous_conv2d atrous_conv2d_transpose conv1d conv1d_transpose conv2d conv2d_transpose "
                             "conv3d conv3d_transpose conv_transpose convolution depthwise_conv2d "
                             "depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input separable_conv2d",
    "leat._nn.ctc": "collapse_repeated ctc_beam_search_decoder ctc_greedy_decoder ctc_loss ctc_unique_labels",
    "leat._nn.dropouts": "dropout experimental",
    "leat._nn.embeddings": "compute_accidental_hits embedding_lookup embedding_lookup_sparse nce_loss "
                           "safe_embedding_lookup_sparse sampled_softmax_loss",
    "leat._nn.losses": "l2_loss log_poisson_loss sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
                       "weighted_cross_entropy_with_logits",
    "leat._nn.norms": "batch_norm_with_global_normalization batch_normalization isotonic_regression "
                      "local_response_normalization lrn sufficient_statistics",
    "leat._nn.pools": "avg_pool avg_pool1d avg_pool2d avg_pool3d dilation2d erosion2d max_pool max_pool1d max_pool2d "
                      "max_pool3d max_pool_with_argmax pool space_to_batch with_space_to_batch",
    "leat._nn.regions": "fractional_avg_pool fractional_max_pool",
    "leat.random.candidates": "all_candidate_sampler fixed_unigram_candidate_sampler "
                              "learned_unigram_candidate_sampler",
}
ops.join(__name__, homes=_HOMES)
