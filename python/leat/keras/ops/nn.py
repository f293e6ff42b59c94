"""``keras.ops``: activations, normalizations, convolutions, pools and losses of networks."""

import functools
import inspect
import math
import warnings

import numpy as np

import leat as tf
from leat._graph import ops as graph_ops
from leat.keras import activations
from leat.keras._base import calls, tables
from leat.keras._base.symbolic import KerasTensor
from leat.keras.ops import arrays, formats
from leat.keras.ops.promote import (OPERATIONS, define, floats, operation, place_of, places_of, specified, tensor,
                                    together)

_before = set(OPERATIONS)


# ---- activations ----

_WHOLE = ("relu", "relu6")  # they leave integers integers


def _activation(name, *parameters):
    function, converted = getattr(activations, name), tensor if name in _WHOLE else floats
    known = [inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD)] + [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value) for key, value in parameters]
    signature = inspect.Signature(known)

    def compute(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        return function(converted(given.pop("x")), **{**dict(parameters), **given})
    compute.__signature__ = signature
    define(globals(), name, compute, f"The activation {name} of each element (``keras.ops.{name}``).")


for _name in ("relu", "relu6", "sigmoid", "softplus", "softsign", "silu", "log_sigmoid", "hard_sigmoid", "hard_silu",
              "hard_tanh", "selu", "tanh_shrink", "sparse_plus", "sparse_sigmoid"):
    _activation(_name)
_activation("leaky_relu", ("negative_slope", 0.2))
_activation("elu", ("alpha", 1.0))
_activation("celu", ("alpha", 1.0))
_activation("gelu", ("approximate", True))
_activation("glu", ("axis", -1))
_activation("hard_shrink", ("threshold", 0.5))
_activation("soft_shrink", ("threshold", 0.5))
_activation("squareplus", ("b", 4))
swish, hard_swish = OPERATIONS["silu"], OPERATIONS["hard_silu"]


@operation
def threshold(x, threshold, default_value):
    """x above a threshold, else a value (``keras.ops.threshold``)."""
    return activations.threshold(floats(x), threshold, default_value)


def _over(x, axis, compute):
    x = floats(x)
    places_of(axis, len(x.shape))  # refuses what is out of bounds
    return compute(x, axis)


@operation
def softmax(x, axis=-1):
    """Exponentials divided by their sum (``keras.ops.softmax``); `axis`: one dimension, several, or None for all."""
    if isinstance(axis, int) and -len(x.shape) <= axis < len(x.shape) and x.shape[axis] == 1:
        warnings.warn(f"You are using a softmax over axis {axis} of a tensor of shape {tuple(x.shape)}. This axis has "
                      "size 1. The softmax operation will always return the value 1, which is likely not what you "
                      "intended. Did you mean to use a sigmoid instead?", stacklevel=3)
    return _over(x, axis, activations.softmax)


@operation
def log_softmax(x, axis=-1):
    """The logarithms of ``softmax`` (``keras.ops.log_softmax``)."""
    return _over(x, axis, activations.log_softmax)


@operation
def sparsemax(x, axis=-1):
    """The nearest point of the simplex (``keras.ops.sparsemax``; Martins and Astudillo 2016)."""
    x = arrays.moveaxis(floats(x), axis, -1)
    ordered = tf.sort(x, axis=-1, direction="DESCENDING")
    sums = tf.cumsum(ordered, -1)
    places = tf.range(1, tf.shape(x)[-1] + 1)
    inside = 1 + tf.cast(places, x.dtype) * ordered > sums
    count = tf.reduce_sum(tf.cast(inside, "int32"), -1, True)
    last = arrays.take_along_axis(sums, count - 1, -1)
    border = (last - 1) / tf.cast(count, x.dtype)
    return arrays.moveaxis(tf.maximum(x - border, tf.zeros_like(x)), -1, axis)


# ---- normalization ----

@operation
def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=0.001):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset along `axis` (``keras.ops.batch_normalization``)."""
    x = floats(x)
    shape = [1] * len(x.shape)
    shape[place_of(axis, len(x.shape))] = -1
    for name, value in (("mean", mean), ("variance", variance), ("offset", offset), ("scale", scale)):
        if value is not None and None not in (x.shape[axis], tensor(value).shape[0]) and (
                tuple(tensor(value).shape) != (x.shape[axis],)):
            raise ValueError(f"`{name}` must be a vector of length equal to the size of dimension {axis} of `x`. "
                             f"Received: {name}.shape={tuple(tensor(value).shape)}, x.shape={tuple(x.shape)}")

    def along(value):
        return tf.reshape(tensor(value, x.dtype), shape)
    factor = tf.math.rsqrt(along(variance) + tf.cast(epsilon, x.dtype))
    if scale is not None:
        factor = factor * along(scale)
    moved = -along(mean) * factor
    if offset is not None:
        moved = moved + along(offset)
    return x * factor + moved


@operation
def layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, **kwargs):
    """Mean 0 and variance 1 over dimensions, then gamma and beta (``keras.ops.layer_normalization``)."""
    if kwargs.pop("rms_scaling", False):
        warnings.warn("You passed `rms_scaling=True`, which is deprecated. This argument incorrectly scales the input "
                      "by the variance, not the root mean square. To correctly use RMS Normalization, please use "
                      "`keras.ops.rms_normalization` instead.", stacklevel=3)
        return _scaled_by_variance(floats(x), gamma, axis, epsilon)
    x = floats(x)
    dtype, x = x.dtype, _wide(x)
    axis = places_of(axis, len(x.shape)) if axis is not None else [-1]
    mean = tf.reduce_mean(x, axis, True)
    variance = tf.reduce_mean(tf.square(x - mean), axis, True)
    out = (x - mean) * tf.math.rsqrt(variance + tf.cast(1e-7 if epsilon is None else epsilon, x.dtype))
    if gamma is not None:
        out = out * _along(gamma, x, axis)
    return tf.cast(out if beta is None else out + _along(beta, x, axis), dtype)


def _wide(x):
    """Halves as float32, in which sums are taken."""
    return tf.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x


def _scaled_by_variance(x, gamma, axis, epsilon):
    axis = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    variance = tf.math.reduce_variance(x, axis, True)
    out = x * tf.math.rsqrt(variance + tf.cast(1e-7 if epsilon is None else epsilon, x.dtype))
    return out if gamma is None else out * _along(gamma, x, axis)


def _along(value, x, axis):
    value = tensor(value, x.dtype)
    if len(value.shape) == len(x.shape):
        return value
    kept = {one % len(x.shape) for one in axis}
    return tf.reshape(value, [x.shape[one] if one in kept else 1 for one in range(len(x.shape))])


@operation
def rms_normalization(x, scale=None, axis=-1, epsilon=None):
    """Divided by the root of the mean square (``keras.ops.rms_normalization``)."""
    x = floats(x)
    dtype, x = x.dtype, _wide(x)
    mean = tf.reduce_mean(tf.square(x), places_of(axis, len(x.shape)), True)
    out = x * tf.math.rsqrt(mean + tf.cast(1e-7 if epsilon is None else epsilon, x.dtype))
    return tf.cast(out if scale is None else out * tensor(scale, x.dtype), dtype)


@operation
def dot_product_attention(query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
                          attn_logits_soft_cap=None):
    """Scaled dot product attention over (batch, length, heads, size) (``keras.ops.dot_product_attention``).

    It is computed tile by tile, so memory does not grow with the product of the lengths; `flash_attention` changes
    nothing.
    """
    if attn_logits_soft_cap is not None:
        raise ValueError("attn_logits_soft_cap is only supported for JAX on TPU. Set attn_logits_soft_cap=None when "
                         "not using JAX on TPU.")
    query, key, value = together(query, key, value, floating=True)
    if {len(query.shape), len(key.shape), len(value.shape)} != {4}:
        raise ValueError("`dot_product_attention` only supports 4D inputs. Received: query.shape="
                         f"{tuple(query.shape)}, key.shape={tuple(key.shape)}, value.shape={tuple(value.shape)}.")
    dtype, given = query.dtype, [_wide(one) for one in (query, key, value)]
    if scale is None and query.shape[-1] is not None:
        scale = 1 / math.sqrt(query.shape[-1])
    elif scale is None:
        scale = tf.math.rsqrt(tf.cast(tf.shape(query)[-1], given[0].dtype))
    if not isinstance(scale, (int, float)):  # a tensor
        given[0], scale = given[0] * tf.cast(scale, given[0].dtype), 1
    if bias is not None:
        given.append(_wide(tensor(bias, dtype)))
    if mask is not None:
        given.append(tensor(mask, "bool"))
    out = graph_ops.call("dot_product_attention", {"scale": float(scale), "is_causal": bool(is_causal)}, given)[0]
    return tf.cast(out, dtype)


# ---- convolutions and pools ----

def _directions(value, count):
    return [value] * count if isinstance(value, int) else list(value)


@functools.lru_cache(256)
def _part(name, arguments):
    """The library's layer of these arguments; it holds no weights, so calls share it."""
    entry = next((one for one in tables.entries("layer") if one["name"] == name), None)
    if entry is None:
        raise ValueError(f"Input rank not supported: there is no {name}; expected inputs of rank 3, 4 or 5")
    return tables.part("layer", entry, dict(arguments))


def _layer(name, inputs, weights, data_format, **arguments):
    part = _part(name, tuple(sorted((key, tuple(value) if isinstance(value, list) else value)
                                    for key, value in arguments.items())))

    def compute(x):
        given = [_wide(one) for one in (x, *weights)]
        return tf.cast(calls.call(part, given[:1], given[1:])[0], x.dtype)
    return formats.with_channels_last(compute, inputs, data_format)


def _convolution(name, inputs, kernel, strides, padding, data_format, dilation_rate, **more):
    inputs, kernel = together(inputs, kernel, floating=True)
    count = len(inputs.shape) - 2
    if not 1 <= count <= 3:
        raise ValueError(f"expected inputs of 3 to 5 dimensions, found shape {tuple(inputs.shape)}")
    return _layer(name.format(count), inputs, [kernel], data_format, kernel_size=list(kernel.shape[:count]),
                  strides=_directions(strides, count), padding=padding, use_bias=False,
                  dilation_rate=_directions(dilation_rate, count), **more)


def _check_channels(inputs, of_kernel, data_format):
    channels = inputs.shape[1 if formats.is_first(data_format) else -1]
    if None not in (channels, of_kernel) and channels != of_kernel:
        raise ValueError("The number of input channels must match the kernel's input channels. Received: input "
                         f"channels={channels}, kernel input channels={of_kernel}, data_format='{data_format}'.")


def _check_block(block_size):
    if block_size < 2:
        raise ValueError(f"`block_size` must be at least 2. Received: block_size={block_size}")


def _with_channels(inputs, count, data_format):
    """Inputs of an unknown number of channels, which is to be found as many as the kernel has when it runs."""
    place = 1 if formats.is_first(data_format) else len(inputs.shape) - 1
    if inputs.shape[place] is not None or count is None:
        return inputs
    return tf.ensure_shape(inputs, [count if d == place else size for d, size in enumerate(inputs.shape)])


@operation
def conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution in 1 to 3 directions (``keras.ops.conv``); groups follow from the kernel's channels."""
    inputs, kernel = tensor(inputs), tensor(kernel)
    inputs = _with_channels(inputs, kernel.shape[-2], data_format)
    channels, of_kernel = inputs.shape[1 if formats.is_first(data_format) else -1], kernel.shape[-2]
    if channels % of_kernel:
        raise ValueError("The number of input channels must be evenly divisible by kernel's in_channels: input "
                         "channels must match the kernel, or be its multiple for groups. Received input channels "
                         f"{channels} and kernel in_channels {of_kernel}.")
    return _convolution("Conv{}D", inputs, kernel, strides, padding, data_format, dilation_rate,
                        filters=kernel.shape[-1], groups=channels // of_kernel)


@operation
def depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution of each channel alone (``keras.ops.depthwise_conv``)."""
    inputs, kernel = tensor(inputs), tensor(kernel)
    inputs = _with_channels(inputs, kernel.shape[-2], data_format)
    _check_channels(inputs, kernel.shape[-2], data_format)
    return _convolution("DepthwiseConv{}D", inputs, kernel, strides, padding, data_format, dilation_rate,
                        depth_multiplier=kernel.shape[-1])


@operation
def separable_conv(inputs, depthwise_kernel, pointwise_kernel, strides=1, padding="valid", data_format=None,
                   dilation_rate=1):
    """``depthwise_conv``, and a convolution of size 1 after it (``keras.ops.separable_conv``)."""
    between = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(between, pointwise_kernel, 1, "valid", data_format)


@operation
def conv_transpose(inputs, kernel, strides=1, padding="valid", output_padding=None, data_format=None, dilation_rate=1):
    """The gradient of a convolution as an operation (``keras.ops.conv_transpose``)."""
    inputs, kernel = tensor(inputs), tensor(kernel)
    _check_channels(inputs, kernel.shape[-1], data_format)
    more = {} if output_padding is None else {"output_padding": _directions(output_padding, len(inputs.shape) - 2)}
    return _convolution("Conv{}DTranspose", inputs, kernel, strides, padding, data_format, dilation_rate,
                        filters=kernel.shape[-2], **more)


def _pool(name, inputs, pool_size, strides, padding, data_format):
    inputs = tensor(inputs)
    count = len(inputs.shape) - 2
    return _layer(f"{name}{count}D", inputs, [], data_format, pool_size=_directions(pool_size, count),
                  strides=_directions(pool_size if strides is None else strides, count), padding=padding)


@operation
def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """The largest element of each window (``keras.ops.max_pool``)."""
    return _pool("MaxPooling", inputs, pool_size, strides, padding, data_format)


@operation
def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """The mean of each window (``keras.ops.average_pool``)."""
    return _pool("AveragePooling", floats(inputs), pool_size, strides, padding, data_format)


def _adaptive(name, inputs, output_size, data_format):
    inputs = tensor(inputs)
    count = len(inputs.shape) - 2
    return _layer(f"{name}{count}D", inputs, [], data_format, output_size=_directions(output_size, count))


@operation
def adaptive_average_pool(inputs, output_size, data_format=None):
    """The means of windows that make a picture this large (``keras.ops.adaptive_average_pool``)."""
    return _adaptive("AdaptiveAveragePooling", floats(inputs), output_size, data_format)


@operation
def adaptive_max_pool(inputs, output_size, data_format=None):
    """The largest elements of windows that make a picture this large (``keras.ops.adaptive_max_pool``)."""
    return _adaptive("AdaptiveMaxPooling", inputs, output_size, data_format)


@operation
def space_to_depth(x, block_size, data_format="channels_last"):
    """Blocks of places as channels (``keras.ops.space_to_depth``)."""
    _check_block(block_size)
    return formats.with_channels_last(lambda x: tf.nn.space_to_depth(x, block_size), x, data_format)


@operation
def depth_to_space(x, block_size, data_format="channels_last"):
    """Channels as blocks of places (``keras.ops.depth_to_space``)."""
    _check_block(block_size)
    return formats.with_channels_last(lambda x: tf.nn.depth_to_space(x, block_size), x, data_format)


# ---- windows of pictures [batch, channels, height, width] ----

def _window_places(sizes, kernel, dilation, padding, stride):
    """For both directions the number of an element for each (window, place in it)."""
    found = []
    for size, side, gap, border, step in zip(sizes, kernel, dilation, padding, stride):
        count = (size + 2 * border - gap * (side - 1) - 1) // step + 1
        found.append(np.arange(count)[:, None] * step + np.arange(side)[None, :] * gap)
    return found


@operation
def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of pictures [N, C, H, W] as columns [N, C * window, windows] (``keras.ops.unfold``)."""
    x = tensor(x)
    if len(x.shape) != 4:
        raise ValueError(f"Input must be a 4D tensor. Received: input.shape={tuple(x.shape)}")
    kernel, dilation, padding, stride = [_directions(one, 2) for one in (kernel_size, dilation, padding, stride)]
    rows, columns = _window_places(x.shape[2:], kernel, dilation, padding, stride)
    x = tf.pad(x, [[0, 0], [0, 0], [padding[0]] * 2, [padding[1]] * 2])
    x = tf.gather(tf.gather(x, rows.astype("int32"), axis=2), columns.astype("int32"), axis=4)
    x = tf.transpose(x, [0, 1, 3, 5, 2, 4])
    return tf.reshape(x, [-1, x.shape[1] * kernel[0] * kernel[1], len(rows) * len(columns)])


@operation
def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Windows as columns, added up to pictures [N, C, height, width] (``keras.ops.fold``)."""
    x = tensor(x)
    if len(x.shape) != 3:
        raise ValueError(f"Input must be a 3D tensor. Received: input.shape={tuple(x.shape)}")
    size, kernel = _directions(output_size, 2), _directions(kernel_size, 2)
    dilation, padding, stride = [_directions(one, 2) for one in (dilation, padding, stride)]
    if x.shape[1] % (kernel[0] * kernel[1]):
        text = (f"The second dimension of the input ({x.shape[1]}) must be divisible by kernel_size product "
                f"({kernel[0] * kernel[1]}).")
        raise tf.errors.InvalidArgumentError(None, None, text) if tf.executing_eagerly() else ValueError(text)
    channels = x.shape[1] // (kernel[0] * kernel[1])
    rows, columns = _window_places(size, kernel, dilation, padding, stride)
    height, width = size[0] + 2 * padding[0], size[1] + 2 * padding[1]
    places = rows.T[:, None, :, None] * width + columns.T[None, :, None, :]
    flat = tf.transpose(tf.reshape(x, [-1, places.size]))
    summed = tf.scatter_nd(places.reshape(-1, 1).astype("int32"), flat, tf.stack([height * width, tf.shape(flat)[1]]))
    out = tf.reshape(tf.transpose(summed), [-1, channels, height, width])
    return out[:, :, padding[0]:padding[0] + size[0], padding[1]:padding[1] + size[1]]


# ---- losses ----

def _same_shape(target, output, name):
    if len(target.shape) != len(output.shape) or any(
            a is not None and b is not None and a != b for a, b in zip(target.shape, output.shape)):
        raise ValueError(f"Arguments `target` and `output` must have the same shape. Received: target.shape="
                         f"{tuple(target.shape)}, output.shape={tuple(output.shape)} in {name}")


@operation
def binary_crossentropy(target, output, from_logits=False):
    """The cross-entropy of each element (``keras.ops.binary_crossentropy``)."""
    target, output = tensor(target), floats(output)
    _same_shape(target, output, "binary_crossentropy")
    target = tf.cast(target, output.dtype)
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = tf.clip_by_value(output, tf.cast(1e-7, output.dtype), tf.cast(1 - 1e-7, output.dtype))
    return -(target * tf.math.log(output) + (1 - target) * tf.math.log(1 - output))


@operation
def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross-entropy of vectors (``keras.ops.categorical_crossentropy``)."""
    target, output = tensor(target), floats(output)
    _same_shape(target, output, "categorical_crossentropy")
    target = tf.cast(target, output.dtype)
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(target, output, axis)
    output = output / tf.reduce_sum(output, axis, True)
    output = tf.clip_by_value(output, tf.cast(1e-7, output.dtype), tf.cast(1 - 1e-7, output.dtype))
    return -tf.reduce_sum(target * tf.math.log(output), axis)


@operation
def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross-entropy of classes given by number (``keras.ops.sparse_categorical_crossentropy``)."""
    target, output = tensor(target, "int64"), floats(output)
    if len(target.shape) == len(output.shape) and target.shape[-1] == 1:
        target = tf.squeeze(target, [-1])
    if from_logits:
        logs = log_softmax(output, axis)
    else:
        output = tf.clip_by_value(output, tf.cast(1e-7, output.dtype), tf.cast(1 - 1e-7, output.dtype))
        logs = log_softmax(tf.math.log(output), axis)
    hot = tf.one_hot(target, output.shape[axis], axis=axis, dtype=output.dtype)
    return -tf.reduce_sum(hot * logs, axis)


@specified(lambda x1, x2, max_val: KerasTensor(()))
@operation
def psnr(x1, x2, max_val):
    """The peak signal to noise ratio in decibels (``keras.ops.psnr``)."""
    x1, x2 = together(x1, x2, floating=True)
    _same_shape(x1, x2, "psnr")
    error = tf.reduce_mean(tf.square(x1 - x2))
    peak = tf.cast(max_val, x1.dtype)
    return 20 * tf.math.log(peak) / math.log(10) - 10 * tf.math.log(error) / math.log(10)


__all__ = [name for name in OPERATIONS if name not in _before] + ["swish", "hard_swish"]
