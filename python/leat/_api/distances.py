"""``tf.edit_distance`` and ``tf.extract_volume_patches``."""

import itertools

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph.ops import FUNCTIONS as F
from leat._graph.ops import call
from leat._nn import windows
from leat.errors import InvalidArgumentError

__all__ = ["edit_distance", "extract_volume_patches"]


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Levenshtein's distance of the rows of two sparse tensors, float32, over the length of truth where `normalize`
    (``tf.edit_distance``)."""
    for one in (hypothesis, truth):
        if not hasattr(one, "indices"):
            raise TypeError("Hypothesis must be a SparseTensor." if one is hypothesis else "Truth must be a "
                            "SparseTensor.")

    if hypothesis.shape.rank is not None and hypothesis.shape.rank < 2:
        raise InvalidArgumentError(None, None, f"hypothesis must have rank at least 2, found {hypothesis.shape}")

    given = [part for one in (hypothesis, truth) for part in (one.indices, one.values, convert_to_tensor(
        one.dense_shape, dtypes.int64))]
    return call("edit_distance", {"normalize": bool(normalize)}, given)[0]


def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """Windows of volumes [N, D, H, W, C] as channels (``tf.extract_volume_patches``)."""
    x = convert_to_tensor(input)
    if x.shape.rank != 5:
        raise InvalidArgumentError(None, None, f"input must be 5-dimensional, found {x.shape}")
    for name, given in (("ksizes", ksizes), ("strides", strides)):
        if len(given) != 5:
            raise InvalidArgumentError(None, None, f"Attr {name} must be a list of 5 numbers: {given}")
    sizes, steps = windows.numbers(list(ksizes), 3, "ksizes"), windows.numbers(list(strides), 3, "strides")
    counts = []
    for axis, (size, step) in enumerate(zip(sizes, steps), 1):
        count, before, after = windows.along(windows.dims(x)[axis], size, step, 1, windows.pads(padding, 3))
        x = windows.pad(x, axis, before, after)
        counts.append(count)
    parts = []
    for places in itertools.product(*[range(size) for size in sizes]):
        cut = [slice(place, place + (count - 1) * step + 1, step) for place, count, step in zip(places, counts, steps)]
        parts.append(x[(slice(None), *cut)])
    return F["concat"](parts, 4)
