"""``tf.nn``: pools over regions whose borders are drawn (Graham 2014)."""

import math

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat.random.philox import Stream, seeds

__all__ = ["fractional_avg_pool", "fractional_max_pool"]


def _lengths(size, count, stream, pseudo_random):
    """How long each of `count` regions along `size` places is."""
    whole, rest = divmod(size, count)
    if not pseudo_random or rest == 0:
        found = np.full(count, whole)
        found[:rest] += 1
        for place in range(count - 1):
            drawn = place + stream.bits() % (count - place)
            found[place], found[drawn] = found[drawn], found[place]
        return found
    ratio = size / count
    start = stream.double() * min((whole + 2) / ratio - 1, (size + 1 - whole) / ratio - (count - 1))
    borders = [1, *[math.ceil(ratio * (i + start)) for i in range(1, count)], size + 1]
    return np.diff(borders)


def _borders(x, ratios, pseudo_random, seed):
    """The borders of the regions of rows and of columns."""
    sizes = x.shape.as_list()
    if x.shape.rank != 4 or None in sizes[1:3]:
        raise ValueError("fractional pools need pictures [N, H, W, C] of known height and width; set them with "
                         "ensure_shape")
    pair, block, out = seeds(seed if seed != 0 else None), 0, []
    for size, ratio in zip(sizes[1:3], ratios[1:3]):
        count = int(math.floor(size / ratio))
        lengths = _lengths(size, count, Stream(*pair, block), pseudo_random)
        block += 1 if pseudo_random else -(-count // 4)
        out.append(np.concatenate([[0], np.cumsum(lengths)]))
    return out


def _ratios(pooling_ratio):
    given = [float(one) for one in (pooling_ratio if isinstance(pooling_ratio, (list, tuple)) else [pooling_ratio])]
    if len(given) == 1:
        given = [1.0, *given * 2, 1.0]
    elif len(given) == 2:
        given = [1.0, *given, 1.0]
    if len(given) != 4:
        raise ValueError(f"Expected pooling_ratio to have length 1, 2 or 4. Received: {pooling_ratio}")
    if any(one < 1 for one in given):
        raise ValueError(f"pooling_ratio should be at least 1.0. Received: {pooling_ratio}")
    if (given[0], given[3]) != (1.0, 1.0):
        from leat.errors import UnimplementedError
        raise UnimplementedError(None, None, "Fractional pooling is not yet supported on the batch and channel "
                                 "dimensions.")
    return given


def _places(borders, overlapping):
    """(places [regions, longest], which of them belong to the region)."""
    begin, end = borders[:-1, None], borders[1:, None] - 1
    if overlapping:
        end = np.minimum(end + 1, borders[-1] - 1)
    places = begin + np.arange(int((end - begin).max()) + 1)
    return np.minimum(places, end), places <= end


def _joined(kind, x, axis, places, inside):
    """The regions along `axis`: the first place of each, the second one, and so on, joined."""
    out = None
    for at in range(places.shape[1]):
        values = F["gather"](x, convert_to_tensor(places[:, at].astype(np.int32)), axis=axis)
        if kind == "avg" and not inside[:, at].all():
            mask = inside[:, at].astype(x.dtype.as_numpy_dtype).reshape(-1, *[1] * (x.shape.rank - 1 - axis))
            values = F["multiply"](values, convert_to_tensor(mask))
        out = values if out is None else F["maximum" if kind == "max" else "add"](out, values)
    return out


def _pooled(kind, value, pooling_ratio, pseudo_random, overlapping, seed):
    x = convert_to_tensor(value)
    borders = _borders(x, _ratios(pooling_ratio), pseudo_random, seed)
    out, counts = x, 1
    # Columns first: of equal values the first one in a row takes the gradient, as in TensorFlow.
    for axis, line in ((2, borders[1]), (1, borders[0])):
        places, inside = _places(line, overlapping)
        out = _joined(kind, out, axis, places, inside)
        counts = counts * inside.sum(1).reshape(*[1] * axis, -1, *[1] * (x.shape.rank - 1 - axis))
    if kind == "avg":
        divide = F["divide"] if x.dtype.is_floating else F["truncatediv"]
        out = divide(out, convert_to_tensor(counts.astype(x.dtype.as_numpy_dtype)))
    return out, *[convert_to_tensor(line, dtypes.int64) for line in borders]


def fractional_max_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """(the largest element of each region, borders of rows, of columns) (``tf.nn.fractional_max_pool``).

    Regions make a picture smaller by `pooling_ratio`; the same ones each time under a `seed` other than 0.
    """
    return _pooled("max", value, pooling_ratio, pseudo_random, overlapping, seed)


def fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """(the mean of each region, borders of rows, of columns) (``tf.nn.fractional_avg_pool``)."""
    return _pooled("avg", value, pooling_ratio, pseudo_random, overlapping, seed)
