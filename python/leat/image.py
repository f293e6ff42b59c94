"""``tf.image``: pictures. The functions are the operations of the library's table, and some that are made of them."""

import numpy as np

from leat import dtypes
from leat._api.folds import map_fn
from leat._core.specs import TensorSpec
from leat._core.tensor import convert_to_tensor
from leat._graph import ops, trace
from leat._graph.ops import FUNCTIONS as F
from leat.errors import InvalidArgumentError

__all__ = ["ResizeMethod", "extract_glimpse", "non_max_suppression_padded", "random_crop"]


class ResizeMethod:
    """Names of the methods of ``resize`` (``tf.image.ResizeMethod``)."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# ---- boxes ----

def _ordered(scores, score_threshold):
    """Scores of boxes that come in the order of theirs: the first is the best, those below the threshold are none."""
    places = F["cast"](F["range"](F["size"](scores)), dtypes.float32)
    return F["where"](F["greater"](scores, score_threshold), F["negative"](places), float("-inf"))


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None, sorted_input=False,
                               canonicalized_coordinates=False, tile_size=512):
    """(the numbers of the boxes with the best scores, without those that overlap a better one too much, and zeros
    behind them; how many there are) (``tf.image.non_max_suppression_padded``).

    `boxes` [..., n, 4], `scores` [..., n]. `sorted_input`: boxes come in the order of their scores.
    """
    boxes, scores = convert_to_tensor(boxes, dtypes.float32), convert_to_tensor(scores, dtypes.float32)
    rank = boxes.shape.rank
    if rank is None:
        raise ValueError("non_max_suppression_padded needs boxes of known rank; set it with ensure_shape")
    if rank > 2 and not pad_to_max_output_size:
        raise ValueError(f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be True for batched input")
    most = convert_to_tensor(max_output_size, dtypes.int32)
    size = max_output_size if isinstance(max_output_size, int) else None

    def choose(one):
        ranks = _ordered(one[1], score_threshold) if sorted_input else one[1]
        found = F["image.non_max_suppression"](one[0], ranks, max_output_size, iou_threshold,
                                               float("-inf") if sorted_input else score_threshold)
        count = F["size"](found)
        if pad_to_max_output_size:
            found = F["concat"]([found, F["zeros"](F["expand_dims"](most - count, 0), dtypes.int32)], 0)
            found = found if size is None else F["ensure_shape"](found, [size])
        return found, count
    if rank <= 2:
        return choose((boxes, scores))
    batch = F["shape"](scores)[:-1]
    flat = F["reshape"](boxes, F["concat"]([[-1], F["shape"](boxes)[-2:]], 0))
    found, counts = map_fn(choose, (flat, F["reshape"](scores, F["stack"]([-1, F["shape"](scores)[-1]]))),
                           fn_output_signature=(TensorSpec([size], dtypes.int32), TensorSpec([], dtypes.int32)))
    found = F["reshape"](found, F["concat"]([batch, [most]], 0))
    return found, F["reshape"](counts, batch)


# ---- parts of pictures ----

def random_crop(value, size, seed=None, name=None):
    """A part of `size` at a random place of a tensor (``tf.image.random_crop``)."""
    records = trace._state.tapes or trace.is_called()
    if not records:  # a pipeline: what is decoded there is decoded in part
        return F["image.random_crop"](value, size, seed)
    x = convert_to_tensor(value)
    dims = list(size) if isinstance(size, (list, tuple)) else [None]
    if not x.dtype.is_floating or not all(isinstance(one, int) for one in dims) or len(dims) != x.shape.rank or any(
            have is None or not 0 <= want <= have for have, want in zip(x.shape, dims)):
        return F["image.random_crop"](x, size, seed)
    drawn = F["random.uniform"]([len(dims)], 0, np.iinfo(np.int32).max, dtypes.int32, seed)
    begin = F["math.floormod"](drawn, [have - want + 1 for have, want in zip(x.shape, dims)])
    return F["slice"](x, begin, dims)


def _begins(offsets, dims, size, centered, normalized):
    """Where the parts begin along rows and columns, int32 [batch, 2]."""
    sizes = F["cast"](dims, dtypes.float32)
    begin = offsets * sizes if normalized else offsets
    if centered:
        begin = begin / 2.0 + sizes / 2.0 - F["cast"](size, dtypes.float32) / 2.0 if normalized else begin + sizes / 2.0
    return F["cast"](begin, dtypes.int32)  # towards zero


def _noise(kind, shape, x):
    """What stands outside of the pictures."""
    if kind == "zero":
        return F["zeros"](shape, x.dtype)
    if kind == "uniform":
        low, high = F["reduce_min"](x, [1, 2, 3], True), F["reduce_max"](x, [1, 2, 3], True)
        return low + F["random.uniform"](shape) * (high - low)
    mean = F["reduce_mean"](x, [1, 2, 3], True)
    return mean + F["random.normal"](shape) * F["sqrt"](F["reduce_mean"](F["square"](x - mean), [1, 2, 3], True))


def extract_glimpse(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    """Parts of `size` of float32 pictures [batch, height, width, channels] at `offsets` [batch, 2], rows and columns
    (``tf.image.extract_glimpse``).

    `normalized`: in parts of the pictures' size; `centered`: from the middle, where -1 and 1 are the borders. `noise`
    is what lies outside: "uniform" or "gaussian" numbers like those of the pictures, or "zero".
    """
    if noise not in ("uniform", "gaussian", "zero"):
        raise InvalidArgumentError(None, None, f"The noise could only be uniform, gaussian, or zero, got {noise}")
    x, size = convert_to_tensor(input, dtypes.float32), convert_to_tensor(size, dtypes.int32)
    offsets = convert_to_tensor(offsets, dtypes.float32)
    if x.shape.rank not in (4, None) or offsets.shape.rank not in (2, None):
        raise ValueError(f"Shape must be rank 4 for the pictures and rank 2 for the offsets; found {x.shape} and "
                         f"{offsets.shape}")
    dims, around = F["shape"](x)[1:3], x
    begins = _begins(offsets, dims, size, centered, normalized)
    rows, columns = (F["expand_dims"](begins[:, place], 1) + F["range"](size[place]) for place in range(2))
    for axis, places in ((1, rows), (2, columns)):
        x = F["gather"](x, F["clip_by_value"](places, 0, dims[axis - 1] - 1), axis=axis, batch_dims=1)
    inside_rows, inside_columns = (F["logical_and"](F["greater_equal"](places, 0), F["less"](places, size))
                                   for places, size in ((rows, dims[0]), (columns, dims[1])))
    inside = F["logical_and"](inside_rows[:, :, None, None], inside_columns[:, None, :, None])
    return F["stop_gradient"](F["where"](inside, x, _noise(noise, F["shape"](x), around)))


ops.join(__name__)
