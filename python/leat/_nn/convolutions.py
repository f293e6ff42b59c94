"""``tf.nn``: convolutions in one to three directions, and their ways back.

One direction is two, the first of which has one row. Of three, the planes that the window meets along the first lie one
behind the other as channels, so that a convolution is one of planes. What TensorFlow refuses on a CPU, channels before
the directions and dilated volumes, is computed as it does on others.
"""

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat._nn import windows
from leat._nn.pools import with_space_to_batch
from leat.errors import InvalidArgumentError

__all__ = ["atrous_conv2d", "atrous_conv2d_transpose", "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose",
           "conv3d", "conv3d_transpose", "conv_transpose", "convolution", "depthwise_conv2d",
           "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input", "separable_conv2d"]


# ---- planes ----

def _attributes(strides, dilations, padding):
    return {"strides": list(strides), "dilations": list(dilations),
            "padding": padding if isinstance(padding, str) else "VALID"}


def _plane(x, filters, strides, padding, dilations):
    """A convolution [N, H, W, C] with [h, w, C or a group's, K]."""
    if x.dtype is dtypes.int32:
        return _of_integers(x, filters, lambda a, b: _plane(a, b, strides, padding, dilations))
    if not isinstance(padding, str):
        x = windows.pad_all(x, padding)
    return ops.call("conv2d", _attributes(strides, dilations, padding), [x, filters])[0]


def _of_integers(x, filters, compute):
    """Of int32, whose sums wrap: of two halves each, which float64 holds; what is beyond 32 bits falls off."""
    def halves(value):
        low = F["bitwise.bitwise_and"](value, 0xFFFF)
        return [F["cast"](one, dtypes.float64) for one in (low, F["bitwise.right_shift"](value, 16))]

    def low(value):
        return F["cast"](F["cast"](value, dtypes.int64), dtypes.int32)
    (low_x, high_x), (low_f, high_f) = halves(x), halves(filters)
    mixed = F["add"](low(compute(low_x, high_f)), low(compute(high_x, low_f)))
    return F["add"](low(compute(low_x, low_f)), F["bitwise.left_shift"](mixed, 16))


def _plane_back(shape, filters, value, strides, padding, dilations):
    """What flows back to an input of `shape`, four sizes."""
    sizes = list(shape)
    if not isinstance(padding, str):
        sizes = [sizes[0], *[size + sum(pair) for size, pair in zip(sizes[1:3], padding)], sizes[3]]
    like = F["zeros"](windows.shape_of(*sizes), value.dtype)
    out = ops.call("conv2d_backprop_input", _attributes(strides, dilations, padding), [like, filters, value])[0]
    if isinstance(padding, str):
        return out
    (top, _), (left, _) = padding
    return out[:, top:top + shape[1], left:left + shape[2]]


def _plane_filter(x, shape, value, strides, padding, dilations):
    """What flows back to filters of `shape`."""
    if not isinstance(padding, str):
        x = windows.pad_all(x, padding)
    like = F["zeros"](windows.shape_of(*shape), value.dtype)
    return ops.call("conv2d_backprop_filter", _attributes(strides, dilations, padding), [x, like, value])[0]


# ---- lines ----

def _row(x, axis=1):
    return F["expand_dims"](x, axis)


def _line_arguments(strides, padding, dilations):
    return [1, *strides], padding if isinstance(padding, str) else [[0, 0], *padding], [1, *dilations]


def _line(x, filters, strides, padding, dilations):
    return F["squeeze"](_plane(_row(x), _row(filters, 0), *_line_arguments(strides, padding, dilations)), [1])


def _line_back(shape, filters, value, strides, padding, dilations):
    sizes = [shape[0], 1, *shape[1:]]
    return F["squeeze"](_plane_back(sizes, _row(filters, 0), _row(value),
                                    *_line_arguments(strides, padding, dilations)), [1])


# ---- volumes ----

def _merged_filters(filters):
    """[d, h, w, C, K] as [h, w, d * C, K]."""
    depth, height, width, channels, made = windows.dims(filters)
    return windows.reshape(F["transpose"](filters, [1, 2, 0, 3, 4]), height, width, depth * channels, made)


def _depth_of(filters):
    if filters.shape[0] is None:
        raise ValueError("a convolution of volumes needs filters of known depth; set it with ensure_shape")
    return filters.shape[0]


def _in_plane(padding):
    return padding if isinstance(padding, str) else padding[1:]


def _along(kernel, step, gap, padding):
    """How the first direction of volumes is taken apart, as that of pictures [N, D, H * W, C]."""
    return {"sizes": [1, kernel, 1, 1], "strides": [1, step, 1, 1], "rates": [1, gap, 1, 1],
            "padding": padding if isinstance(padding, str) else "VALID"}


def _volume(x, filters, strides, padding, dilations):
    if None not in (x.shape[4], filters.shape[3]) and x.shape[4] != filters.shape[3]:
        raise InvalidArgumentError(None, None, f"Number of channels in filter ({filters.shape[3]}) must match last "
                                   f"dimension of input ({x.shape[4]})")
    kernel, (batch, size, height, width, channels) = _depth_of(filters), windows.dims(x)
    own = padding if isinstance(padding, str) else padding[0]
    count, before, after = windows.along(size, kernel, strides[0], dilations[0], own)
    if not isinstance(padding, str):
        x, size = windows.pad(x, 1, before, after), size + before + after
    planes = windows.reshape(x, batch, size, height * width, channels)
    merged = ops.call("extract_patches", _along(kernel, strides[0], dilations[0], own), [planes])[0]
    merged = windows.reshape(merged, batch * count, height, width, kernel * channels)
    out = _plane(merged, _merged_filters(filters), strides[1:], _in_plane(padding), dilations[1:])
    return windows.reshape(out, batch, count, *windows.dims(out)[1:])


def _volume_back(shape, filters, value, strides, padding, dilations):
    kernel, (batch, size, height, width, channels) = _depth_of(filters), shape
    own = padding if isinstance(padding, str) else padding[0]
    count, before, after = windows.along(size, kernel, strides[0], dilations[0], own)
    flat = windows.reshape(value, batch * count, *windows.dims(value)[2:])
    back = _plane_back([batch * count, height, width, kernel * channels], _merged_filters(filters), flat, strides[1:],
                       _in_plane(padding), dilations[1:])
    back = windows.reshape(back, batch, count, height * width, kernel * channels)
    whole = size if isinstance(padding, str) else size + before + after
    like = F["zeros"](windows.shape_of(batch, whole, height * width, channels), back.dtype)
    total = ops.call("extract_patches_grad", _along(kernel, strides[0], dilations[0], own), [back, like])[0]
    total = windows.reshape(total, batch, whole, height, width, channels)
    return total if isinstance(padding, str) else total[:, before:before + size]


_FORWARD = {1: _line, 2: _plane, 3: _volume}
_BACK = {1: _line_back, 2: _plane_back, 3: _volume_back}


# ---- forwards ----

def _convolved(count, value, filters, strides, padding, data_format, dilations):
    first = windows.is_first(data_format, count)
    x, filters = windows.tensors(value, filters)
    arguments = (windows.numbers(strides, count, "strides", first), windows.pads(padding, count, first),
                 windows.numbers(dilations, count, "dilations", first))
    rank = x.shape.rank
    if rank is not None and rank < count + 2:
        raise InvalidArgumentError(None, None, f"convolution input must be at least {count + 2}-dimensional: "
                                   f"{x.shape}")
    if filters.shape.rank not in (None, count + 2):
        raise InvalidArgumentError(None, None, f"filter must be {count + 2}-dimensional: {filters.shape}")
    if rank is None or rank == count + 2:
        x = x if rank is not None else F["ensure_shape"](x, [None] * (count + 2))
        return windows.from_last(_FORWARD[count](windows.to_last(x, first), filters, *arguments), first)
    sizes = windows.dims(x)  # several dimensions of batches
    flat = windows.reshape(x, -1, *sizes[rank - count - 1:])
    out = windows.from_last(_FORWARD[count](windows.to_last(flat, first), filters, *arguments), first)
    return windows.reshape(out, *sizes[:rank - count - 1], *windows.dims(out)[1:])


def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """Lines [..., W, C] convolved with filters [w, C, K] (``tf.nn.conv1d``)."""
    return _convolved(1, input, filters, stride, padding, data_format, dilations)


def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """Pictures [..., H, W, C] convolved with filters [h, w, C, K] (``tf.nn.conv2d``).

    `padding`: "SAME", "VALID", or a pair for each of the four dimensions. Filters of fewer channels convolve groups of
    the input's channels apart.
    """
    return _convolved(2, input, filters, strides, padding, data_format, dilations)


def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """Volumes [N, D, H, W, C] convolved with filters [d, h, w, C, K] (``tf.nn.conv3d``)."""
    return _convolved(3, input, filters, _five("strides", strides), _text(padding), data_format, dilations)


def _five(name, value):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Expected list for '{name}' argument to 'conv3d' Op, not {value}.")
    if len(value) != 5:
        raise InvalidArgumentError(None, None, f"Sliding window {name} field must specify 5 dimensions")
    return value


def _text(padding):
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    return padding


def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """The convolution of as many directions as the filters have, one to three (``tf.nn.convolution``)."""
    x, filters = windows.tensors(input, filters)
    count = filters.shape.rank - 2 if filters.shape.rank is not None else x.shape.rank - 2
    if not 1 <= count <= 3:
        raise ValueError("`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims=%d." % count)
    steps, gaps = windows.numbers(strides, count, "strides"), windows.numbers(dilations, count, "dilations")
    if max(steps) > 1 and max(gaps) > 1:
        raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                         f"strides={steps} and dilation_rate={gaps}")
    return _convolved(count, x, filters, steps, padding, _format_of(data_format, count), gaps)


def _format_of(data_format, count):
    """TensorFlow takes any name that begins with NC for channels that come first."""
    if data_format is None or not data_format.startswith("NC"):
        return None
    return {1: "NCW", 2: "NCHW", 3: "NCDHW"}[count]


def atrous_conv2d(value, filters, rate, padding, name=None):
    """A convolution whose window has gaps (``tf.nn.atrous_conv2d``)."""
    return convolution(value, filters, None, padding, None, [rate, rate])


# ---- each channel alone ----

def _in_groups(filters):
    """[h, w, C, M] as filters of groups of one channel."""
    height, width, channels, multiplier = windows.dims(filters)
    return windows.reshape(filters, height, width, 1, channels * multiplier)


def _depthwise_arguments(strides, padding, data_format, dilations):
    first = windows.is_first(data_format, 2)
    if len(strides) != 4:
        raise InvalidArgumentError(None, None, "Sliding window strides field must specify 4 dimensions")
    steps, gaps = windows.numbers(list(strides), 2, "strides", first), windows.numbers(dilations, 2, "dilations", first)
    if steps[0] != steps[1]:
        raise InvalidArgumentError(None, None, "Current implementation only supports equal length strides in the row "
                                   "and column dimensions.")
    return first, steps, windows.pads(padding, 2, first), gaps


def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Each channel convolved with filters of its own, [h, w, C, M] (``tf.nn.depthwise_conv2d``)."""
    first, *arguments = _depthwise_arguments(strides, padding, data_format, dilations)
    x, filters = windows.tensors(input, filter)
    x = windows.to_last(x, first)
    if None not in (x.shape[3], filters.shape[2]) and x.shape[3] != filters.shape[2]:
        raise InvalidArgumentError(None, None, f"input and filter must have the same depth: {x.shape[3]} vs "
                                   f"{filters.shape[2]}")
    steps, pads, gaps = arguments
    if max(steps) == 1 or max(gaps) == 1:
        return windows.from_last(_plane(x, _in_groups(filters), steps, pads, gaps), first)

    def compute(blocks, num_spatial_dims, padding):  # steps count among the places that gaps leave, as in TensorFlow
        return _plane(blocks, _in_groups(filters), steps, padding, [1, 1])
    return windows.from_last(with_space_to_batch(x, gaps, pads, compute, filters.shape[:2]), first)


def depthwise_conv2d_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format="NHWC",
                                    dilations=[1, 1, 1, 1], name=None):
    """What flows back to an input of `input_sizes` (``tf.nn.depthwise_conv2d_backprop_input``)."""
    first, *arguments = _depthwise_arguments(strides, padding, data_format, dilations)
    value, filters = windows.tensors(out_backprop, filter)
    sizes = _sizes(input_sizes, 4)
    sizes = [sizes[0], sizes[2], sizes[3], sizes[1]] if first else sizes
    return windows.from_last(_plane_back(sizes, _in_groups(filters), windows.to_last(value, first), *arguments), first)


def depthwise_conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NHWC",
                                     dilations=[1, 1, 1, 1], name=None):
    """What flows back to filters of `filter_sizes` (``tf.nn.depthwise_conv2d_backprop_filter``)."""
    first, *arguments = _depthwise_arguments(strides, padding, data_format, dilations)
    x, value = windows.tensors(input, out_backprop)
    height, width, channels, multiplier = _sizes(filter_sizes, 4)
    out = _plane_filter(windows.to_last(x, first), [height, width, 1, channels * multiplier],
                        windows.to_last(value, first), *arguments)
    return windows.reshape(out, height, width, channels, multiplier)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None,
                     name=None):
    """``depthwise_conv2d``, and a convolution of size 1 after it (``tf.nn.separable_conv2d``)."""
    between = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    pointwise = convert_to_tensor(pointwise_filter, dtype_hint=between.dtype)
    if pointwise.shape.rank == 4 and not pointwise.shape.is_compatible_with([1, 1, None, None]):
        raise ValueError("Shapes of pointwise_filter must be [1, 1, channels, made]. Received: "
                         f"{pointwise.shape}")
    return conv2d(between, pointwise, 1, "VALID", "NHWC" if data_format is None else data_format)


# ---- backwards ----

def _sizes(shape, count):
    """The sizes of a shape of `count` dimensions, numbers where they are known."""
    if hasattr(shape, "dtype") and not getattr(shape, "_has_values", True):
        return F["unstack"](F["cast"](shape, dtypes.int32), count)
    given = shape.numpy().tolist() if hasattr(shape, "numpy") else list(shape)
    if len(given) != count:
        raise ValueError(f"`output_shape` must have {count} sizes. Received: {given}")
    return [one if hasattr(one, "dtype") and not hasattr(one, "item") else int(one) for one in given]


def _transposed(count, value, filters, output_shape, strides, padding, data_format, dilations):
    first = windows.is_first(data_format, count)
    value, filters = windows.tensors(value, filters)
    arguments = (windows.numbers(strides, count, "strides", first), windows.pads(padding, count, first),
                 windows.numbers(dilations, count, "dilations", first))
    value, sizes = windows.to_last(value, first), _sizes(output_shape, count + 2)
    if first:
        sizes = [sizes[0], *sizes[2:], sizes[1]]
    made = value.shape[count + 1]
    if None not in (made, filters.shape[-1]) and made != filters.shape[-1]:
        raise InvalidArgumentError(None, None, f"input channels does not match filter's output channels, {made} != "
                                   f"{filters.shape[-1]}")
    return windows.from_last(_BACK[count](sizes, filters, value, *arguments), first)


def conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None,
                     name=None):
    """The way back of a convolution of lines, to `output_shape` (``tf.nn.conv1d_transpose``)."""
    return _transposed(1, input, filters, output_shape, strides, padding, data_format, dilations)


def conv2d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None,
                     name=None):
    """The way back of a convolution of pictures, to `output_shape`; filters [h, w, made, channels]
    (``tf.nn.conv2d_transpose``)."""
    return _transposed(2, input, filters, output_shape, strides, padding, data_format, dilations)


def conv3d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None,
                     name=None):
    """The way back of a convolution of volumes, to `output_shape` (``tf.nn.conv3d_transpose``)."""
    return _transposed(3, input, filters, output_shape, strides, padding, data_format, dilations)


def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):
    """The way back of a convolution of as many directions as the shape has (``tf.nn.conv_transpose``)."""
    shape = output_shape.shape if hasattr(output_shape, "dtype") else [len(output_shape)]
    count = shape[0] - 2
    if not 1 <= count <= 3:
        raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape} of length "
                         f"{count + 2}.")
    return _transposed(count, input, filters, output_shape, strides, padding, _format_of(data_format, count), dilations)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The way back of ``atrous_conv2d`` (``tf.nn.atrous_conv2d_transpose``)."""
    value, filters = windows.tensors(value, filters)
    if rate < 1:
        raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
    return _transposed(2, value, filters, output_shape, 1, padding, "NHWC", rate)
