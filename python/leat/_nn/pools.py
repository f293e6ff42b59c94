"""``tf.nn``: pools in one to three directions, with gaps, with places, of random regions; dilation and erosion.

One direction is two, the first of which has one row; three are two steps, planes and then depth, because a maximum of
maxima is the maximum of the box, and a mean of means too.
"""

import numpy as np

from leat import dtypes
from leat._core.table import named
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat._graph.ops import FUNCTIONS as F
from leat._graph.tape import custom_gradient
from leat._nn import windows
from leat.errors import InvalidArgumentError, UnimplementedError

__all__ = ["avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "dilation2d", "erosion2d", "max_pool", "max_pool1d",
           "max_pool2d", "max_pool3d", "max_pool_with_argmax", "pool", "space_to_batch", "with_space_to_batch"]


# ---- pools ----

def _plane(kind, x, size, strides, padding):
    return ops.call(f"{kind}_pool2d", {"ksize": size, "strides": strides, "padding": padding}, [x])[0]


def _volume(kind, x, size, strides, padding):
    batch, depth, height, width, channels = windows.dims(x)
    x = _plane(kind, windows.reshape(x, batch * depth, height, width, channels), size[1:], strides[1:], padding)
    _, height, width, _ = windows.dims(x)
    x = _plane(kind, windows.reshape(x, batch, depth, height * width, channels), [size[0], 1], [strides[0], 1], padding)
    return windows.reshape(x, batch, windows.dims(x)[1], height, width, channels)


def _lowest(dtype):
    return -np.inf if dtype.is_floating else dtype.min


def _pooled(kind, x, size, strides, padding):
    """Pooled with channels last, in as many directions as `size` has."""
    if not isinstance(padding, str):
        x, padding = windows.pad_all(x, padding, _lowest(x.dtype)), "VALID"
    if len(size) == 3:
        return _volume(kind, x, size, strides, padding)
    if len(size) == 2:
        return _plane(kind, x, size, strides, padding)
    return F["squeeze"](_plane(kind, F["expand_dims"](x, 1), [1, *size], [1, *strides], padding), [1])


def _over_channels(x, size, strides):
    """The maxima of channels that lie side by side, of windows [1, 1, 1, k]; None: the window is another one."""
    if not isinstance(size, (list, tuple)) or len(size) != 4 or size[3] == 1:
        return None
    if list(size[:3]) != [1, 1, 1]:
        raise UnimplementedError(None, None, "MaxPooling supports exactly one of pooling across depth or pooling "
                                 "across width/height.")
    if not isinstance(strides, (list, tuple)) or len(strides) != 4 or strides[3] != size[3]:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to equal the depth "
                                 "stride")
    batch, height, width, channels = windows.dims(x)
    if isinstance(channels, int) and channels % size[3]:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to evenly divide the "
                                 "input depth")
    return F["reduce_max"](windows.reshape(x, batch, height, width, channels // size[3], size[3]), 4)


def _pool_of(kind, count, value, ksize, strides, padding, data_format):
    first = windows.is_first(data_format, count)
    x = convert_to_tensor(value)
    if x.shape.rank not in (None, count + 2):
        raise InvalidArgumentError(None, None, f"tensor_in must be {count + 2}-dimensional: {x.shape}")
    if x.shape.rank is None:
        x = F["ensure_shape"](x, [None] * (count + 2))
    if kind == "avg" or count == 3:
        _is_text(padding)
    x = windows.to_last(x, first)
    deep = _over_channels(x, ksize, strides) if kind == "max" and not first else None
    if deep is not None:
        return deep
    size = windows.numbers(ksize, count, "ksize", first)
    steps = windows.numbers(strides, count, "strides", first)
    for name, found in (("ksize", size), ("strides", steps)):
        if min(found) < 1:
            raise ValueError(f"`{name}` must be positive. Received: {found}")
    return windows.from_last(_pooled(kind, x, size, steps, windows.pads(padding, count, first)), first)


def _is_text(padding):
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")


def _by_rank(kind, value, ksize, strides, padding, data_format):
    x = convert_to_tensor(value)
    rank = x.shape.rank if x.shape.rank is not None else len(data_format) if data_format else 4
    if not 3 <= rank <= 5:
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x.shape} of rank {rank}.")
    return _pool_of(kind, rank - 2, x, ksize, strides, padding, data_format)


def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The largest element of each window, in one to three directions (``tf.nn.max_pool``)."""
    return _by_rank("max", input, ksize, strides, padding, data_format)


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The largest element of each window of lines (``tf.nn.max_pool1d``)."""
    return _pool_of("max", 1, input, ksize, strides, padding, data_format)


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The largest element of each window of pictures (``tf.nn.max_pool2d``).

    `padding`: "SAME", "VALID", or a pair for each of the four dimensions. A window may lie along channels instead.
    """
    return _pool_of("max", 2, input, ksize, strides, padding, data_format)


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The largest element of each window of volumes (``tf.nn.max_pool3d``)."""
    return _pool_of("max", 3, input, ksize, strides, padding, data_format)


def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window, in one to three directions (``tf.nn.avg_pool``)."""
    return _by_rank("avg", input, ksize, strides, padding, data_format)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The mean of each window of lines (``tf.nn.avg_pool1d``)."""
    return _pool_of("avg", 1, input, ksize, strides, padding, data_format)


def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The mean of each window of pictures (``tf.nn.avg_pool2d``)."""
    return _pool_of("avg", 2, input, ksize, strides, padding, data_format)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The mean of each window of volumes (``tf.nn.avg_pool3d``)."""
    return _pool_of("avg", 3, input, ksize, strides, padding, data_format)


# ---- the places of maxima ----

def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", output_dtype=dtypes.int64,
                         include_batch_in_index=False, name=None):
    """(the largest element of each window, its place (row * width + column) * channels + channel)
    (``tf.nn.max_pool_with_argmax``)."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other  than 'NHWC' are not supported. Received: data_format="
                         f"{data_format}")
    x, output_dtype = convert_to_tensor(input), dtypes.as_dtype(output_dtype)
    _is_text(padding)
    attributes = {"ksize": windows.numbers(ksize, 2, "ksize"), "strides": windows.numbers(strides, 2, "strides"),
                  "padding": windows.pads(padding, 2)}

    @custom_gradient
    def compute(x):
        found, places = _places_of_maxima(x, attributes, include_batch_in_index)

        def gradient(upstream, *_):
            flat = places if include_batch_in_index else _places_of_maxima(x, attributes, True)[1]
            sums = F["math.unsorted_segment_sum"](F["reshape"](upstream, [-1]), F["reshape"](flat, [-1]), F["size"](x))
            return F["reshape"](sums, F["shape"](x))
        return (found, places), gradient
    found, places = compute(x)
    return named("max_pool_with_argmax", found, F["cast"](places, output_dtype))


def _places_of_maxima(x, attributes, batch):
    return ops.call("max_pool_with_argmax", {**attributes, "include_batch_in_index": bool(batch)}, [x])


# ---- dilation and erosion ----

def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """The largest sum of a picture's and a filter's values in each window; filters [h, w, C] (``tf.nn.dilation2d``)."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other  than 'NHWC' are not supported. Received: data_format="
                         f"{data_format}")
    x, filters = windows.tensors(input, filters)
    if filters.shape.rank != 3:
        raise InvalidArgumentError(None, None, f"filters must be 3-dimensional: {filters.shape}")
    _is_text(padding)
    attributes = {"strides": windows.numbers(list(strides), 2, "strides"), "padding": windows.pads(padding, 2),
                  "rates": windows.numbers(list(dilations), 2, "rates")}
    return ops.call("dilation2d", attributes, [x, filters])[0]


def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """The smallest difference of a picture's and a turned filter's values in each window (``tf.nn.erosion2d``)."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other  than 'NHWC' are not supported. Received: data_format="
                         f"{data_format}")
    turned = F["reverse"](convert_to_tensor(filters), [0, 1])
    return F["negative"](dilation2d(F["negative"](value), turned, strides, padding, data_format, dilations))


# ---- gaps ----

def space_to_batch(input, block_shape, paddings, name=None):
    """Blocks of padded dimensions moved into the batch (``tf.nn.space_to_batch``)."""
    from leat._api.arrays import space_to_batch_nd
    return space_to_batch_nd(input, block_shape, paddings)


def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """Applies `op(input, num_spatial_dims=, padding=)` to every `dilation_rate`-th place of the directions, as if its
    window had gaps (``tf.nn.with_space_to_batch``)."""
    from leat._api.arrays import batch_to_space, space_to_batch_nd
    x = convert_to_tensor(input)
    rates = [int(one) for one in np.asarray(dilation_rate).reshape(-1)]
    count, first = len(rates), data_format is not None and data_format.startswith("NC")
    places = sorted(spatial_dims) if spatial_dims is not None else list(range(2, count + 2) if first else
                                                                          range(1, count + 1))
    if min(rates) < 1:
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={dilation_rate}")
    if len(set(places)) != count or places[0] < 1:
        raise ValueError(f"`spatial_dims` must be {count} different dimensions behind the batch. Received: {places}")
    if max(rates) == 1:
        return op(x, num_spatial_dims=count, padding=padding)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape=None and "
                             "padding=SAME")
        extra = [(int(size) - 1) * rate for size, rate in zip(np.asarray(filter_shape).reshape(-1), rates)]
        base = [[one // 2, one - one // 2] for one in extra]
    elif padding == "VALID":
        base = [[0, 0]] * count
    else:
        raise ValueError(f"Invalid `padding` method {padding}.")
    order = [0, *places, *[one for one in range(1, x.shape.rank) if one not in places]]
    back = [order.index(one) for one in range(x.shape.rank)]
    x = F["transpose"](x, order)
    sizes = windows.dims(x)
    whole = [size + before + after for size, (before, after) in zip(sizes[1:], base)]
    pads = [[before, after + (rate - total % rate) % rate]
            for (before, after), rate, total in zip(base, rates, whole)]
    crops = [[0, (rate - total % rate) % rate] for rate, total in zip(rates, whole)]
    blocks = F["transpose"](space_to_batch_nd(x, rates, pads), back)
    out = op(blocks, num_spatial_dims=count, padding="VALID")
    return F["transpose"](batch_to_space(F["transpose"](out, order), rates, crops), back)


def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """Maxima ("MAX") or means ("AVG") of windows of one to three directions, with or without gaps (``tf.nn.pool``)."""
    count = len(window_shape)
    steps, gaps = windows.numbers(strides, count, "strides"), windows.numbers(dilations, count, "dilations")
    if not 1 <= count <= 3 or pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
    if max(steps) > 1 and max(gaps) > 1:
        raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                         f"strides={steps} and dilation_rate={gaps}")
    if padding == "SAME" and max(gaps) > 1:
        raise ValueError("pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
                         f"padding={padding} and dilation_rate={gaps}")
    is_first = data_format is not None and data_format.startswith("NC")
    form = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[count] if is_first else None

    def compute(x, num_spatial_dims, padding):
        return _pool_of(pooling_type.lower(), count, x, list(window_shape), steps, padding, form)
    return with_space_to_batch(input, gaps, padding, compute, list(window_shape), data_format=form)
