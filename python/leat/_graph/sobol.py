"""``tf.math.sobol_sample``: points that fill a cube evenly, by Joe and Kuo's direction numbers."""

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.creation import get_static_value
from leat.errors import InvalidArgumentError, UnimplementedError

# Of each dimension the coefficients of its polynomial and its first direction numbers; all others follow from these.
_DIMENSIONS = """
0:1 0:1 1:1,3 1:1,3,1 2:1,1,1 1:1,1,3,3 4:1,3,5,13 2:1,1,5,5,17 4:1,1,5,5,5 7:1,1,7,11,19 11:1,1,5,1,1 13:1,1,1,3,11
14:1,3,5,5,31 1:1,3,3,9,7,49 13:1,1,1,15,21,21 16:1,3,1,13,27,49 19:1,1,1,15,7,5 22:1,3,1,15,13,25 25:1,1,5,5,19,61
1:1,3,7,11,23,15,103 4:1,3,7,13,13,15,69 7:1,1,3,13,7,35,63 8:1,3,5,9,1,25,53 14:1,3,1,13,9,35,107 19:1,3,1,5,27,61,31
21:1,1,5,11,19,41,61 28:1,3,5,3,3,13,69 31:1,1,7,13,1,19,1 32:1,3,7,5,13,19,59 37:1,1,3,9,25,29,41 41:1,3,5,13,23,1,55
42:1,3,7,3,13,59,17 50:1,3,1,3,5,53,69 55:1,1,5,5,23,33,13 56:1,1,7,7,1,61,123 59:1,1,7,9,13,61,49 62:1,3,3,5,3,55,33
14:1,3,1,15,31,13,49,245 21:1,3,5,15,31,59,63,97 22:1,3,1,11,11,11,77,249""".split()


def _directions(dimension, count):
    """The first direction numbers of a dimension."""
    if dimension == 0:
        return [1] * count
    coefficients, _, first = _DIMENSIONS[dimension].partition(":")
    found, taps = [int(one) for one in first.split(",")], int(coefficients)
    degree = len(found)
    while len(found) < count:
        value = found[-degree] ^ found[-degree] << degree
        for back in range(1, degree):
            if taps >> degree - 1 - back & 1:
                value ^= found[-back] << back
        found.append(value)
    return found[:count]


def _whole(value, name):
    found = get_static_value(convert_to_tensor(value, dtypes.int32))
    if found is None:
        raise UnimplementedError(None, None, f"sobol_sample: {name} is computed in the function; give a number")
    return int(found)


def sobol_sample(dim, num_results, skip=0, dtype=dtypes.float32, name=None):
    """`num_results` points of the Sobol sequence in a cube of `dim` directions, after the first `skip`
    (``tf.math.sobol_sample``); up to 40 directions."""
    dim, count, skip = _whole(dim, "dim"), _whole(num_results, "num_results"), _whole(skip, "skip")
    for value, least, text in ((dim, 1, "dim must be at least one"), (skip, 0, "skip must be non-negative"),
                               (count, 1, "num_results must be at least one")):
        if value < least:
            raise InvalidArgumentError(None, None, f"{text}, found {value}")
    if dim > len(_DIMENSIONS):
        raise UnimplementedError(None, None, f"sobol_sample has directions for dim up to {len(_DIMENSIONS)}, found "
                                 f"{dim}; scipy.stats.qmc.Sobol has more")
    if count >= (1 << 31) - 1 - skip:
        raise InvalidArgumentError(None, None, f"num_results+skip must be less than {(1 << 31) - 1}")
    digits = int(np.log2(skip + count + 1) + 1)
    places = np.arange(skip + 1, skip + count + 1, dtype=np.int64)
    gray, points = places ^ places >> 1, np.zeros((count, dim), np.int64)
    for place in range(dim):
        for bit, number in enumerate(_directions(place, digits)):
            points[:, place] ^= (gray >> bit & 1) * (number << digits - bit - 1)
    kind = dtypes.as_dtype(dtype).as_numpy_dtype
    return convert_to_tensor(points.astype(kind) * kind(1 / (1 << digits)), dtype)
