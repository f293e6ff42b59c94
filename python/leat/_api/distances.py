"""``tf.edit_distance`` and ``tf.extract_volume_patches``."""

from leat import dtypes
from leat._core.tensor import convert_to_tensor
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
    pads = windows.pads(padding, 3)
    if not isinstance(pads, str):
        x, pads = windows.pad_all(x, pads), "VALID"
    batch, depth, height, width, channels = windows.dims(x)
    x = _patches(windows.reshape(x, batch * depth, height, width, channels), sizes[1:], steps[1:], pads)
    _, rows, columns, line = windows.dims(x)
    x = _patches(windows.reshape(x, batch, depth, rows * columns, line), [sizes[0], 1], [steps[0], 1], pads)
    _, layers, _, line = windows.dims(x)
    return windows.reshape(x, batch, layers, rows, columns, line)


def _patches(x, size, step, padding):
    return call("extract_patches", {"sizes": [1, *size, 1], "strides": [1, *step, 1], "rates": [1] * 4,
                                    "padding": padding}, [x])[0]
