"""``keras.ops``: operations that fold dimensions, sort and search."""

import builtins
import math

import numpy as np

import leat as tf
from leat.keras._base.symbolic import KerasTensor
from leat.keras.ops import elementwise
from leat.keras.ops.promote import (
    OPERATIONS, define, floats, operation, place_of, places_of, specified, tensor, together)

_before = set(elementwise.OPERATIONS)


def _axes(axis):
    return list(axis) if isinstance(axis, tuple) else axis


def _summed(x):
    """Small integers are added as int32, as numpy widens them."""
    x = tensor(x)
    if x.dtype in ("bool", "int8", "int16"):
        return tf.cast(x, "int32")
    return tf.cast(x, "uint32") if x.dtype in ("uint8", "uint16") else x


@operation
def sum(x, axis=None, keepdims=False):
    """The sum over dimensions, all of them by default (``keras.ops.sum``)."""
    return tf.reduce_sum(_summed(x), _axes(axis), keepdims)


@operation
def prod(x, axis=None, keepdims=False, dtype=None):
    """The product over dimensions (``keras.ops.prod``)."""
    x = _summed(x) if dtype is None else tensor(x, dtype)
    narrow = {"uint64": "uint32", "complex128": "complex64"}.get(x.dtype.name) if dtype is None else None
    return tf.reduce_prod(x if narrow is None else tf.cast(x, narrow), _axes(axis), keepdims)


@operation
def mean(x, axis=None, keepdims=False):
    """The mean over dimensions, a float (``keras.ops.mean``)."""
    return tf.reduce_mean(floats(x), _axes(axis), keepdims)


@operation
def var(x, axis=None, keepdims=False):
    """The mean squared distance from the mean (``keras.ops.var``)."""
    x = floats(x)
    found = tf.math.reduce_variance(x, _axes(axis), keepdims)
    return tf.cast(found, x.dtype)  # of complex numbers they are real


@operation
def std(x, axis=None, keepdims=False):
    """The root of the variance (``keras.ops.std``)."""
    return tf.math.reduce_std(floats(x), _axes(axis), keepdims)


def _extreme(x, axis, keepdims, initial, fold, two):
    x = tensor(x)
    if x.dtype == "bool":
        folded = tf.cast(fold(tf.cast(x, "int32"), _axes(axis), keepdims), "bool")
    else:
        folded = fold(x, _axes(axis), keepdims)
    return folded if initial is None else two(folded, tf.cast(initial, folded.dtype))


@operation
def max(x, axis=None, keepdims=False, initial=None):
    """The largest element over dimensions (``keras.ops.max``); `initial` is one more."""
    return _extreme(x, axis, keepdims, initial, tf.reduce_max, tf.maximum)


@operation
def min(x, axis=None, keepdims=False, initial=None):
    """The smallest element over dimensions (``keras.ops.min``); `initial` is one more."""
    return _extreme(x, axis, keepdims, initial, tf.reduce_min, tf.minimum)


@operation
def amax(x, axis=None, keepdims=False):
    """The largest element over dimensions (``keras.ops.amax``)."""
    return max(x, axis, keepdims)


@operation
def amin(x, axis=None, keepdims=False):
    """The smallest element over dimensions (``keras.ops.amin``)."""
    return min(x, axis, keepdims)


@operation
def ptp(x, axis=None, keepdims=False):
    """The distance between the largest and the smallest element (``keras.ops.ptp``)."""
    return max(x, axis, keepdims) - min(x, axis, keepdims)


@operation
def all(x, axis=None, keepdims=False):
    """Is every element true (``keras.ops.all``)?"""
    return tf.reduce_all(tensor(x, "bool"), _axes(axis), keepdims)


@operation
def any(x, axis=None, keepdims=False):
    """Is some element true (``keras.ops.any``)?"""
    return tf.reduce_any(tensor(x, "bool"), _axes(axis), keepdims)


@operation
def count_nonzero(x, axis=None):
    """How many elements are not 0, an int32 (``keras.ops.count_nonzero``)."""
    return tf.reduce_sum(tf.cast(tensor(x) != 0 if tensor(x).dtype != "bool" else tensor(x), "int32"), _axes(axis))


@operation
def logsumexp(x, axis=None, keepdims=False):
    """log(sum(exp(x))) without overflow (``keras.ops.logsumexp``)."""
    return tf.reduce_logsumexp(floats(x), _axes(axis), keepdims)


@operation
def average(x, axis=None, weights=None):
    """The mean weighted by `weights` (``keras.ops.average``)."""
    if weights is None:
        return tf.reduce_mean(floats(x), _axes(axis))
    x, weights = together(x, weights, floating=True)
    if axis is not None and len(weights.shape) == 1 and len(x.shape) > 1:
        shape = [1] * len(x.shape)
        shape[axis] = -1
        weights = tf.reshape(weights, shape)
    if axis is None and len(weights.shape) != len(x.shape):
        raise ValueError("`weights` must have the same shape as `x` when axis=None. Received: weights.shape="
                         f"{tuple(weights.shape)}, x.shape={tuple(x.shape)}")
    weights = tf.broadcast_to(weights, tf.shape(x))
    return tf.reduce_sum(x * weights, _axes(axis)) / tf.reduce_sum(weights, _axes(axis))


@operation
def moments(x, axes, keepdims=False, synchronized=False):
    """(mean, variance) over dimensions (``keras.ops.moments``)."""
    if synchronized and tf.distribute.get_strategy().num_replicas_in_sync > 1:
        raise NotImplementedError("moments: synchronized=True is not supported for several replicas; a "
                                  "BatchNormalization layer has it")
    x = floats(x)
    if x.dtype not in ("float16", "bfloat16"):
        return mean(x, axes, keepdims), var(x, axes, keepdims)
    wide = tf.cast(x, "float32")  # squares of halves are soon infinite
    return tuple(tf.saturate_cast(fold(wide, axes, keepdims), x.dtype) for fold in (mean, var))


# ---- places ----

def _place(x, axis, keepdims, find):
    x = tensor(x)
    if x.dtype == "bool":
        x = tf.cast(x, "int32")
    rank = len(x.shape)
    flat = tf.reshape(x, [-1]) if axis is None else x
    found = find(flat, axis=0 if axis is None else axis, output_type="int32")
    if not keepdims:
        return found
    return tf.reshape(found, [1] * rank) if axis is None else tf.expand_dims(found, axis)


@operation
def argmax(x, axis=None, keepdims=False):
    """The place of the first largest element, an int32 (``keras.ops.argmax``); without an axis of all as one list."""
    return _place(x, axis, keepdims, tf.argmax)


@operation
def argmin(x, axis=None, keepdims=False):
    """The place of the first smallest element, an int32 (``keras.ops.argmin``)."""
    return _place(x, axis, keepdims, tf.argmin)


def _flat_axis(x, axis):
    x = tensor(x)
    if axis is None or not len(x.shape):
        return tf.reshape(x, [-1]), -1
    return x, place_of(axis, len(x.shape))


@operation
def argsort(x, axis=-1):
    """The places of the elements from the smallest to the largest, int32 (``keras.ops.argsort``); stable."""
    x, axis = _flat_axis(x, axis)
    return tf.argsort(tf.cast(x, "uint8") if x.dtype == "bool" else x, axis=axis, stable=True)


@operation
def argpartition(x, kth, axis=-1):
    """Places in an order in which the kth one has the element that sorting would put there, what is not larger before
    it (``keras.ops.argpartition``): int32; they are sorted as a whole, which is one such order."""
    if not isinstance(kth, int):
        raise ValueError(f"kth must be an integer. Received:kth = {kth}")
    if axis is not None:
        place_of(axis, len(tensor(x).shape))
    return argsort(x, axis)


@operation
def sort(x, axis=-1):
    """The elements from the smallest to the largest (``keras.ops.sort``)."""
    x, axis = _flat_axis(x, axis)
    if x.dtype == "bool":
        return tf.cast(tf.sort(tf.cast(x, "uint8"), axis=axis), "bool")
    return tf.sort(x, axis=axis)


@operation
def top_k(x, k, sorted=True):
    """(the k largest elements of the last dimension, their places) (``keras.ops.top_k``)."""
    return tf.math.top_k(tensor(x), k, sorted)


@specified(lambda targets, predictions, k: KerasTensor(targets.shape, "bool"))
@operation
def in_top_k(targets, predictions, k):
    """Is the class among the k most likely ones (``keras.ops.in_top_k``)?"""
    return tf.math.in_top_k(tensor(targets), tensor(predictions, "float32"), k)


def _spec_of_places(sorted_sequence, values, side="left"):
    _check_sequence(tuple(sorted_sequence.shape))
    return KerasTensor(values.shape, "int64" if sorted_sequence.shape[0] is None else "int32")


def _check_sequence(shape):
    if len(shape) != 1:
        raise ValueError("`searchsorted` only supports 1-D sorted sequences; `keras.ops.vectorized_map` extends it. "
                         f"Received: sorted_sequence.shape={shape}")


@specified(_spec_of_places)
@operation
def searchsorted(sorted_sequence, values, side="left"):
    """Where values would have to stand in a sorted list, int32 (``keras.ops.searchsorted``)."""
    _check_sequence(tuple(tensor(sorted_sequence).shape))
    sequence, values = together(sorted_sequence, values)
    found = tf.searchsorted(sequence, tf.reshape(values, [-1]), side)
    return tf.reshape(found, tf.shape(values))


@operation
def digitize(x, bins):
    """Between which borders each element lies, int32 (``keras.ops.digitize``)."""
    x, bins = together(x, bins)
    return tf.reshape(tf.searchsorted(bins, tf.reshape(x, [-1]), "right"), tf.shape(x))


@operation
def bincount(x, weights=None, minlength=0, sparse=False):
    """How often each number from 0 on occurs in each row (``keras.ops.bincount``); `weights` are added instead."""
    if sparse:
        return tf.sparse.from_dense(bincount(x, weights, minlength))
    x = tensor(x, "int32")
    depth = tf.maximum(tf.reduce_max(x) + 1, minlength) if tf.size(x) != 0 else tf.constant(minlength)
    hot = tf.one_hot(x, depth, dtype="int32" if weights is None else result_of(weights))
    if weights is not None:
        hot = hot * tf.expand_dims(tensor(weights, hot.dtype), -1)
    return tf.reduce_sum(hot, axis=len(x.shape) - 1)


def result_of(weights):
    """The dtype in which weights are added."""
    weights = tensor(weights)
    return "float32" if weights.dtype == "float64" else weights.dtype


def _unique_parts(x, axis, size, fill_value):
    """The different parts of a dimension in lexical order, the places of the first of each, which of them each part
    is, and their counts."""
    def find(x):
        values, index, inverse, counts = np.unique(x, axis=axis, return_index=True, return_inverse=True,
                                                   return_counts=True)
        if size is not None:
            missing = builtins.max(size - len(counts), 0)
            values = np.take(values, np.arange(builtins.min(size, len(counts))), axis)
            widths = [(0, missing if place == axis else 0) for place in builtins.range(x.ndim)]
            values = np.pad(values, widths, constant_values=0 if fill_value is None else fill_value)
            index, counts = (np.pad(one[:size], (0, missing), constant_values=filler)
                             for one, filler in ((index, 1), (counts, 0)))
        return values, *(one.reshape(-1).astype("int32") for one in (index, inverse, counts))
    values, index, inverse, counts = tf.numpy_function(find, [x], [x.dtype, "int32", "int32", "int32"])
    shape = [size if place == axis else length for place, length in enumerate(x.shape)]
    return (tf.ensure_shape(values, shape), tf.ensure_shape(index, [size]), tf.ensure_shape(inverse, [x.shape[axis]]),
            tf.ensure_shape(counts, [size]))


@operation
def unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False, axis=None, size=None,
           fill_value=None):
    """The different elements of all, or parts of a dimension, sorted (``keras.ops.unique``), and where asked the places
    of the first of each, which of them each is, and their counts. `size`: so many, cut off or filled with
    `fill_value`."""
    x = tensor(x)
    if axis is not None and len(x.shape) != 1:
        asked = [True, return_index, return_inverse, return_counts]
        found = _unique_parts(x, place_of(axis, len(x.shape)), size, fill_value)
        outputs = [one for one, wanted in zip(found, asked) if wanted]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
    flat = tf.reshape(x, [-1])
    values, places, counts = tf.unique_with_counts(flat)
    order = tf.argsort(values, stable=True)

    def sized(part, filler):
        part = tf.gather(part, order)
        if size is None:
            return part
        filled = tf.concat([part, tf.fill([size], tf.cast(filler, part.dtype))], 0)
        return tf.ensure_shape(filled[:size], [size])
    outputs = [sized(values, tf.reduce_min(values) if fill_value is None else fill_value)]
    if return_index:
        first = tf.math.unsorted_segment_min(tf.range(tf.size(flat)), places, tf.size(values))
        outputs.append(sized(first, tf.gather(first, order)[0]))
    if return_inverse:
        outputs.append(tf.reshape(tf.gather(tf.argsort(order), places), tf.shape(x)))
    if return_counts:
        outputs.append(sized(counts, 0))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


@operation
def isin(x1, x2, assume_unique=False, invert=False):
    """Which elements of x1 are among x2 (``keras.ops.isin``)?"""
    x1, x2 = together(x1, x2)
    found = tf.reduce_any(tf.equal(tf.expand_dims(x1, -1), tf.reshape(x2, [-1])), axis=-1)
    return tf.logical_not(found) if invert else found


@operation
def nonzero(x):
    """The places of elements that are not 0, a list of one tensor for each dimension, int32 (``keras.ops.nonzero``)."""
    x = tensor(x)
    places = tf.where(x if x.dtype == "bool" else x != 0)
    return [tf.cast(one, "int32") for one in tf.unstack(places, num=len(x.shape), axis=1)]


@operation
def histogram(x, bins=10, range=None):
    """(how many elements lie in each of equal bins, their borders) (``keras.ops.histogram``)."""
    x = floats(x)
    if len(x.shape) != 1:
        raise ValueError(f"Input tensor must be 1-dimensional. Received: x.shape={tuple(x.shape)}")
    if not isinstance(bins, int) or bins < 0:
        raise ValueError(f"Argument `bins` should be a non-negative integer. Received: bins={bins}")
    if range:
        if len(range) != 2:
            raise ValueError(f"Argument `range` must be a tuple of two elements. Received: range={range}")
        if range[1] < range[0]:
            raise ValueError("The second element of `range` must be greater than the first. Received: "
                             f"range={range}")
    low, high = (tf.reduce_min(x), tf.reduce_max(x)) if not range else [tf.constant(end, x.dtype) for end in range]
    borders = tf.linspace(low, high, bins + 1)
    flat = tf.reshape(x, [-1])
    flat = tf.boolean_mask(flat, tf.logical_and(flat >= low, flat <= high))
    places = tf.clip_by_value(tf.searchsorted(borders, flat, "right") - 1, 0, bins - 1)
    counts = tf.math.bincount(places, minlength=bins, maxlength=bins)
    return tf.ensure_shape(tf.cast(counts, x.dtype), [bins]), borders


# ---- running ----

def _running(x, axis, dtype, run):
    x = tensor(x) if dtype is None else tensor(x, dtype)
    if x.dtype == "bool":
        x = tf.cast(x, "int32")
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    return run(x, place_of(axis, len(x.shape)))


@operation
def cumsum(x, axis=None, dtype=None):
    """The running sum (``keras.ops.cumsum``)."""
    return _running(x, axis, dtype, tf.cumsum)


@operation
def cumprod(x, axis=None, dtype=None):
    """The running product (``keras.ops.cumprod``)."""
    return _running(x, axis, dtype, tf.math.cumprod)


def _neighbours(x, axis):
    """All but the last and all but the first parts of a dimension."""
    size = x.shape[axis]
    if size is None:
        places = tf.range(tf.maximum(tf.shape(x)[axis] - 1, 0))
    else:
        places = tf.constant(list(builtins.range(size - 1)), "int32")
    return [tf.gather(x, places + step, axis=axis) for step in (0, 1)]


@operation
def diff(a, n=1, axis=-1):
    """The n-th differences of neighbours (``keras.ops.diff``)."""
    a = tensor(a)
    axis = place_of(axis, len(a.shape))
    for _ in builtins.range(n):
        before, after = _neighbours(a, axis)
        a = tf.not_equal(after, before) if a.dtype == "bool" else after - before
    return a


@operation
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral by trapezoids (``keras.ops.trapezoid``)."""
    y = floats(y)
    if x is not None:
        dx = diff(floats(x), axis=-1 if len(tensor(x).shape) == 1 else axis)
        if len(dx.shape) == 1 and len(y.shape) > 1:
            shape = [1] * len(y.shape)
            shape[axis] = -1
            dx = tf.reshape(dx, shape)
    before, after = _neighbours(y, axis)
    return tf.reduce_sum((after + before) * 0.5 * tensor(dx, y.dtype), axis=axis)


# ---- quantiles ----

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _between(at, method, pick):
    """What stands at places between elements, which ``pick`` gives by number."""
    low, high = tf.cast(tf.floor(at), "int32"), tf.cast(tf.math.ceil(at), "int32")
    if method == "nearest":
        return pick(tf.cast(tf.round(at), "int32"))
    if method in ("lower", "higher"):
        return pick(low if method == "lower" else high)
    if method == "midpoint":
        return (pick(low) + pick(high)) / 2
    part = at - tf.floor(at)
    below = pick(low)
    return tf.where(part == 0, below, below * (1 - part) + pick(high) * part)  # infinities times 0 are no numbers


def _quantiles(x, q, axis, method, keepdims, skips):
    """Quantiles of all elements, or (`skips`) of those that are numbers; q first, then the dimensions that stay."""
    if method not in _METHODS:
        raise ValueError(f"Invalid `method`: expected linear, lower, higher, midpoint or nearest, found {method!r}")
    x, q = floats(x), floats(q)
    rank = len(x.shape)
    axes = places_of(axis, rank)
    kept = [one for one in builtins.range(rank) if one not in axes]
    folded = tf.transpose(x, kept + axes)
    folded = tf.reshape(folded, tf.concat([tf.shape(folded)[:len(kept)], [-1]], 0))
    is_nan = tf.math.is_nan(folded)
    places = tf.cast(tf.reshape(q, [-1]), x.dtype)
    if skips:
        ordered = tf.sort(tf.where(is_nan, tf.cast(math.inf, x.dtype), folded), axis=-1)
        last = tf.reduce_sum(tf.cast(tf.logical_not(is_nan), "int32"), -1, True) - 1
        at = tf.cast(tf.maximum(last, 0), x.dtype) * places
        found = _between(at, method, lambda numbers: tf.gather(ordered, numbers, axis=-1, batch_dims=len(kept)))
        nan = last < 0
    else:
        ordered = tf.sort(folded, axis=-1)
        at = places * tf.cast(tf.shape(ordered)[-1] - 1, x.dtype)
        found = _between(at, method, lambda numbers: tf.gather(ordered, numbers, axis=-1))
        nan = tf.reduce_any(is_nan, axis=-1, keepdims=True)
    found = tf.where(nan, tf.cast(math.nan, x.dtype), found)
    found = tf.transpose(found, [len(kept), *builtins.range(len(kept))])
    if keepdims:
        shape = [1 if one in axes else tf.shape(x)[one] for one in builtins.range(rank)]
        found = tf.reshape(found, tf.stack([tf.shape(found)[0], *shape]))
    if len(q.shape) > 1:
        return tf.reshape(found, tf.concat([tf.shape(q), tf.shape(found)[1:]], 0))
    return found if len(q.shape) else tf.squeeze(found, [0])


@operation
def quantile(x, q, axis=None, method="linear", keepdims=False):
    """The q-th quantiles, q of [0, 1] (``keras.ops.quantile``). `method`: linear, lower, higher, midpoint, nearest."""
    return _quantiles(x, q, axis, method, keepdims, False)


@operation
def percentile(x, q, axis=None, method="linear", keepdims=False):
    """The q-th percentiles, q of [0, 100] (``keras.ops.percentile``)."""
    return quantile(x, floats(q) / 100, axis, method, keepdims)


@operation
def median(x, axis=None, keepdims=False):
    """The middle element, or the mean of two (``keras.ops.median``)."""
    return quantile(x, 0.5, axis, "linear", keepdims)


# ---- without NaN ----

@operation
def nanquantile(x, q, axis=None, method="linear", keepdims=False):
    """The q-th quantiles of the elements that are numbers (``keras.ops.nanquantile``)."""
    return _quantiles(x, q, axis, method, keepdims, True)


@operation
def nanpercentile(x, q, axis=None, method="linear", keepdims=False):
    """The q-th percentiles of the elements that are numbers (``keras.ops.nanpercentile``)."""
    return _quantiles(x, floats(q) / 100, axis, method, keepdims, True)


@operation
def nanmedian(x, axis=None, keepdims=False):
    """The middle element of those that are numbers (``keras.ops.nanmedian``)."""
    return _quantiles(x, 0.5, axis, "linear", keepdims, True)


def _running_numbers(name, run, instead):
    def compute(x, axis=None, dtype=None):
        x = tensor(x)
        if x.dtype.is_floating:
            x = tf.where(tf.math.is_nan(x), tf.cast(instead, x.dtype), x)
        if not isinstance(axis, (tuple, list)):
            return run(x, axis, dtype)
        for one in axis:
            x = run(x, one, dtype)
        return x
    define(globals(), name, compute, f"{name[3:]} with NaN as {instead} (``keras.ops.{name}``).")


_running_numbers("nancumsum", cumsum, 0.0)
_running_numbers("nancumprod", cumprod, 1.0)


def _without_nan(name, fold, instead, nothing=None):
    def compute(x, axis=None, keepdims=False):
        x = tensor(x)
        if not x.dtype.is_floating:
            return fold(x, axis, keepdims)
        is_nan = tf.math.is_nan(x)
        out = fold(tf.where(is_nan, tf.cast(instead, x.dtype), x), axis, keepdims)
        if nothing is None:
            return out
        return tf.where(tf.reduce_all(is_nan, _axes(axis), keepdims), tf.cast(nothing, out.dtype), out)
    end = "" if nothing is None else f", {nothing} where there are none"
    define(globals(), name, compute, f"{name[3:]} of the elements that are numbers{end} (``keras.ops.{name}``).")


_without_nan("nansum", sum, 0.0)
_without_nan("nanprod", prod, 1.0)
_without_nan("nanmax", max, -math.inf, math.nan)
_without_nan("nanmin", min, math.inf, math.nan)
_without_nan("nanargmax", argmax, -math.inf, -1)
_without_nan("nanargmin", argmin, math.inf, -1)


@operation
def nanmean(x, axis=None, keepdims=False):
    """The mean of the elements that are numbers (``keras.ops.nanmean``)."""
    x = floats(x)
    count = tf.reduce_sum(tf.cast(tf.logical_not(tf.math.is_nan(x)), x.dtype), _axes(axis), keepdims)
    return OPERATIONS["nansum"](x, axis, keepdims) / count


@operation
def nanvar(x, axis=None, keepdims=False):
    """The variance of the elements that are numbers (``keras.ops.nanvar``)."""
    x = floats(x)
    return nanmean(tf.square(x - nanmean(x, axis, True)), axis, keepdims)


@operation
def nanstd(x, axis=None, keepdims=False):
    """The deviation of the elements that are numbers (``keras.ops.nanstd``)."""
    return tf.sqrt(nanvar(x, axis, keepdims))


# ---- segments ----

def _segments(name, fold, fold_sorted):
    def compute(data, segment_ids, num_segments=None, sorted=False):
        if sorted and num_segments is not None:
            raise ValueError("Argument `num_segments` cannot be set when sorted is True when using the tensorflow "
                             f"backend. Received: num_segments={num_segments}, sorted={sorted}.")
        data, segment_ids = tensor(data), tensor(segment_ids)
        if len(segment_ids.shape) > 1:
            raise ValueError(f"Argument `segment_ids` should be an 1-D vector, got shape: {len(segment_ids.shape)}")
        if None not in (segment_ids.shape[0], data.shape[0]) and segment_ids.shape[0] != data.shape[0]:
            raise ValueError("Argument `segment_ids` and `data` should have same leading dimension. Got "
                             f"{tuple(segment_ids.shape)} v.s. {tuple(data.shape)}.")
        if sorted:
            return fold_sorted(data, segment_ids)
        if num_segments is None:  # of no rows the maximum is the lowest number
            num_segments = tf.maximum(tf.reduce_max(segment_ids) + 1, 0)
        return fold(data, segment_ids, num_segments)
    define(globals(), name, compute, f"The {name[8:]} of the rows with the same number (``keras.ops.{name}``).")


for _name in ("segment_sum", "segment_max", "segment_min", "segment_prod"):
    _segments(_name, getattr(tf.math, f"unsorted_{_name}"), getattr(tf.math, _name))

__all__ = [name for name in elementwise.OPERATIONS if name not in _before]
