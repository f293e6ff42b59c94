"""``tf.nn``: normalizations, sums for moments, and what orders values along an axis."""

import numpy as np

from leat import dtypes
from leat._core.table import named
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.ops import call
from leat._graph.tape import custom_gradient
from leat.errors import InvalidArgumentError

__all__ = ["batch_norm_with_global_normalization", "batch_normalization", "isotonic_regression",
           "local_response_normalization", "lrn", "sufficient_statistics"]


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """Each value divided by (bias + alpha * the sum of squares of channels up to `depth_radius` away) ^ beta
    (``tf.nn.local_response_normalization``)."""
    x = convert_to_tensor(input)
    if x.dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32):
        raise InvalidArgumentError(None, None, f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed "
                                   "values: half, bfloat16, float")
    if x.shape.rank not in (4, None):
        raise InvalidArgumentError(None, None, f"in must be 4-dimensional, found {x.shape}")
    wide = F["cast"](x, dtypes.float32) if x.dtype is not dtypes.float32 else x
    sums = _sums_around(F["square"](wide), depth_radius)
    norm = F["add"](float(bias), F["multiply"](float(alpha), sums) if alpha != 1 else sums)
    if float(beta) == 0.5:
        out = F["multiply"](wide, F["math.rsqrt"](norm))
    elif float(beta) == 1.0:
        out = F["divide"](wide, norm)
    else:
        out = F["multiply"](wide, F["pow"](norm, -float(beta)))
    out = F["ensure_shape"](out, x.shape)
    return F["cast"](out, x.dtype) if x.dtype is not dtypes.float32 else out


def _sums_around(x, radius):
    """The sum of the channels up to `radius` away from each; one for all where that is every channel."""
    channels = x.shape[3]
    if channels is not None and radius >= channels - 1:
        return F["reduce_sum"](x, [3], True)
    from leat.linalg import matmul
    places = F["range"](F["shape"](x)[3])
    apart = F["abs"](F["expand_dims"](places, 0) - F["expand_dims"](places, 1))
    band = F["cast"](apart <= radius, dtypes.float32)
    flat = F["reshape"](x, F["stack"]([-1, F["shape"](x)[3]]))
    return F["reshape"](matmul(flat, band), F["shape"](x))


lrn = local_response_normalization


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + epsilon), times `scale` and plus `offset` where given
    (``tf.nn.batch_normalization``)."""
    factor = F["math.rsqrt"](F["add"](convert_to_tensor(variance), variance_epsilon))
    factor = factor if scale is None else F["multiply"](factor, scale)
    moved = F["negative"](F["multiply"](mean, factor)) if offset is None else F["subtract"](
        offset, F["multiply"](mean, factor))
    return F["add"](F["multiply"](convert_to_tensor(x), factor), moved)


def batch_norm_with_global_normalization(input, mean, variance, beta, gamma, variance_epsilon,
                                         scale_after_normalization, name=None):
    """``batch_normalization`` with offset `beta`, and scale `gamma` where asked for
    (``tf.nn.batch_norm_with_global_normalization``)."""
    return batch_normalization(input, mean, variance, beta, gamma if scale_after_normalization else None,
                               variance_epsilon)


def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """(how many values, their sum, the sum of their squares, shift) over `axes`, of the values without the shift
    (``tf.nn.sufficient_statistics``)."""
    x, axes = convert_to_tensor(x), sorted(set(np.asarray(axes).reshape(-1).tolist()))
    sizes = F["gather"](F["shape"](x), convert_to_tensor(np.array([one % x.shape.rank for one in axes], np.int32)))
    known = [x.shape[one] for one in axes]
    count = F["cast"](F["reduce_prod"](sizes), x.dtype) if None in known else convert_to_tensor(
        np.prod(known), x.dtype)
    moved, squares = x, F["square"](x)
    if shift is not None:
        shift = convert_to_tensor(shift, x.dtype)
        moved, squares = F["subtract"](x, shift), F["math.squared_difference"](x, shift)
    return count, F["reduce_sum"](moved, axes, keepdims), F["reduce_sum"](squares, axes, keepdims), shift


# ---- order ----

def isotonic_regression(inputs, decreasing=True, axis=-1):
    """(the nearest values that do not rise, or not fall, along an axis, the number of the block of each)
    (``tf.nn.isotonic_regression``)."""
    x = convert_to_tensor(inputs)
    x = x if x.dtype.is_floating else F["cast"](x, dtypes.float64 if x.dtype.size > 2 else dtypes.float32)
    rank = x.shape.rank
    if rank == 0:
        return tuple(F["reshape"](one, []) for one in _isotonic(F["reshape"](x, [1]), decreasing))
    if axis % rank == rank - 1:
        return named("isotonic_regression", *_isotonic(x, decreasing))
    order = [one for one in range(rank) if one != axis % rank] + [axis % rank]
    back = [order.index(one) for one in range(rank)]
    values, segments = _isotonic(F["transpose"](x, order), decreasing)
    return named("isotonic_regression", F["transpose"](values, back), F["transpose"](segments, back))


def _isotonic(x, decreasing):
    """Along the last axis. A gradient is the mean of its block's."""
    found, segments = call("isotonic_regression", {"decreasing": bool(decreasing)}, [F["stop_gradient"](x)])
    size = F["shape"](x)[-1]

    def means(values):
        flat = F["reshape"](values, F["stack"]([-1, size]))
        line = F["expand_dims"](F["range"](F["shape"](flat)[0]) * size, 1)
        places = F["reshape"](F["reshape"](segments, F["stack"]([-1, size])) + line, [-1])
        from leat.math import unsorted_segment_mean
        found = unsorted_segment_mean(F["reshape"](flat, [-1]), places, F["size"](flat))
        return F["reshape"](F["gather"](found, places), F["shape"](values))

    @custom_gradient
    def compute(values):
        return found, means
    return compute(x), segments
