"""What becomes of boxes in pictures that layers move: "bounding_boxes" beside "images".

Each kind of layer that moves pixels has a function here: boxes [batch, n, 4] as corners in pixels, of pictures of a
size, become those of the changed pictures, from the draws that moved the pictures.
"""

from leat._core.tensor import convert_to_tensor
from leat.keras import ops
from leat.keras._base.named import op as _op
from leat.keras.layers import bounding_boxes as formats, transformations


def dense(bounding_boxes):
    """{"boxes": float32 [..., n, 4], "labels"} of tensors, arrays or ragged ones, which are filled with boxes of 0 and
    labels of -1. ValueError for what has other names."""
    if not isinstance(bounding_boxes, dict) or not {"boxes", "labels"} <= set(bounding_boxes):
        raise ValueError("Expected `bounding_boxes` argument to be a dict with keys 'boxes' and 'labels'. Received: "
                         f"bounding_boxes={bounding_boxes}")
    boxes, labels = bounding_boxes["boxes"], bounding_boxes["labels"]
    if hasattr(boxes, "flat_values") != hasattr(labels, "flat_values"):
        raise ValueError("If `bounding_boxes['boxes']` is a Ragged tensor, `bounding_boxes['labels']` must also be "
                         f"one. Received: bounding_boxes['labels']={labels}")
    if hasattr(boxes, "flat_values"):
        boxes = boxes.to_tensor(default_value=0, shape=[*[None] * (len(boxes.shape) - 1), 4])
        labels = labels.to_tensor(default_value=-1)
    boxes, labels = ops.cast(convert_to_tensor(boxes), "float32"), convert_to_tensor(labels)
    return {**bounding_boxes, "boxes": boxes, "labels": labels}


def checked(bounding_boxes):
    """The same, with ranks that fit each other."""
    found = dense(bounding_boxes)
    boxes, labels = found["boxes"], found["labels"]
    ranks = len(boxes.shape), len(labels.shape)
    if ranks[0] not in (2, 3) or ranks[1] not in (ranks[0] - 1, ranks[0]):
        raise ValueError("Expected `bounding_boxes['boxes']` to have the shape (num_boxes, 4) or (batch_size, "
                         "num_boxes, 4), and 'labels' a rank less or the same. Received the shapes "
                         f"{tuple(boxes.shape)} and {tuple(labels.shape)}")
    return found


class _Pictures:
    """The pictures that boxes lie in: their size, and what was drawn for them."""

    def __init__(self, layer, found):
        self.layer, self.found = layer, found
        if layer._entry["name"] == "Resizing":
            self.height, self.width = found
        elif isinstance(found, dict) and "image_height" in found:
            self.height, self.width = found["image_height"], found["image_width"]
        else:
            shape, first = _shape_in(layer, found), layer.data_format == "channels_first"
            self.height, self.width = shape[-2 if first else -3], shape[-1 if first else -2]


def _shape_in(layer, found):
    """The shape of the pictures that a transformation is for."""
    if not isinstance(found, tuple):
        return found["input_shape"]
    if getattr(found, "shape", None) is None:
        raise ValueError(f"Layer '{layer.name}' moves boxes by what its get_random_transformation gave, which knows "
                         f"the size of the pictures; found {found}")
    return found.shape


def _parts(boxes):
    return ops.split(boxes, 4, axis=-1)


def _joined(*parts):
    return ops.concatenate(list(parts), axis=-1)


def _clipped(found, height, width):
    return formats.clip_to_image_size(found, height, width)


# ---- the kinds ----

def _each(numbers):
    """A number for each picture, or one for all, as [n, 1, 1]."""
    return ops.reshape(ops.convert_to_tensor(numbers), (-1, 1, 1))


def _flipped(found, pictures):
    turned = _each(pictures.found["flips"])
    boxes, mode = found["boxes"], pictures.layer.mode
    wide, tall = ops.cast(pictures.width, "float32"), ops.cast(pictures.height, "float32")
    if "horizontal" in mode:
        x1, y1, x2, y2 = _parts(boxes)
        boxes = ops.where(turned, _joined(wide - x2, y1, wide - x1, y2), boxes)
    if "vertical" in mode:
        x1, y1, x2, y2 = _parts(boxes)
        boxes = ops.where(turned, _joined(x1, tall - y2, x2, tall - y1), boxes)
    return _clipped({**found, "boxes": boxes}, pictures.height, pictures.width), pictures.height, pictures.width


def _cut(found, top, left, height, width, layer):
    """Boxes in a part of the pictures, which gets the size that a layer makes."""
    x1, y1, x2, y2 = _parts(found["boxes"])
    (x1, x2), (y1, y2) = ([ops.clip(one - start, 0, size) for one in pair] for pair, start, size in (
        ((x1, x2), left, width), ((y1, y2), top, height)))
    by_x, by_y = layer.width / width, layer.height / height
    found = {**found, "boxes": _joined(x1 * by_x, y1 * by_y, x2 * by_x, y2 * by_y)}
    return _clipped(found, layer.height, layer.width), layer.height, layer.width


def _cropped(found, pictures):
    layer = pictures.layer
    if pictures.height <= layer.height or pictures.width <= layer.width:
        top, left, _, _ = transformations.middle(pictures.height, pictures.width, layer)
        return _cut(found, top, left, min(layer.height, pictures.height - top), min(layer.width, pictures.width - left),
                    layer)
    top, left = (ops.cast(one, "float32") for one in pictures.found)
    return _cut(found, top, left, layer.height, layer.width, layer)


def _cropped_in_the_middle(found, pictures):
    layer = pictures.layer
    if pictures.height < layer.height or pictures.width < layer.width:
        return _cut(found, *transformations.middle(pictures.height, pictures.width, layer), layer)
    top, left = int((pictures.height - layer.height) / 2), int((pictures.width - layer.width) / 2)
    return _cut(found, top, left, layer.height, layer.width, layer)


def _resized(found, pictures):
    layer, boxes = pictures.layer, found["boxes"]
    tall, wide = ops.cast(pictures.height, "float32"), ops.cast(pictures.width, "float32")
    by_x, by_y, left, top = layer.width / wide, layer.height / tall, 0.0, 0.0
    if layer.pad_to_aspect_ratio or layer.crop_to_aspect_ratio:
        by_x = by_y = (ops.minimum if layer.pad_to_aspect_ratio else ops.maximum)(by_x, by_y)
        left, top = (layer.width - wide * by_x) // 2, (layer.height - tall * by_y) // 2
        if layer.crop_to_aspect_ratio:
            left, top = -((wide * by_x - layer.width) // 2), -((tall * by_y - layer.height) // 2)
    x1, y1, x2, y2 = _parts(boxes)
    moved = _clipped({**found, "boxes": _joined(x1 * by_x + left, y1 * by_y + top, x2 * by_x + left, y2 * by_y + top)},
                     layer.height, layer.width)
    return {**moved, "boxes": ops.where(pictures.fillers, ops.zeros_like(boxes), moved["boxes"])}, (
        layer.height), layer.width


def _translated(found, pictures):
    moves = ops.convert_to_tensor(pictures.found["translations"], "float32")
    moves = ops.expand_dims(ops.concatenate([moves, moves], axis=1), 1)
    return _clipped({**found, "boxes": found["boxes"] + moves}, pictures.height, pictures.width), (
        pictures.height), pictures.width


def _rotated(found, pictures):
    angle = ops.reshape(pictures.found["angle"], (-1,))
    none, one = ops.zeros_like(angle), ops.ones_like(angle)
    turned = formats.affine_transform(found["boxes"], angle, none, none, one, none, none, pictures.height,
                                      pictures.width)
    return _clipped({**found, "boxes": turned}, pictures.height, pictures.width), pictures.height, pictures.width


def _zoomed(found, pictures):
    x1, y1, x2, y2 = _parts(found["boxes"])
    sides = []
    for both, name, size in (((x1, x2), "width_zoom", pictures.width), ((y1, y2), "height_zoom", pictures.height)):
        size, zoom = ops.cast(size, "float32"), ops.cast(_each(pictures.found[name]), "float32")
        start = (size - 1.0) / 2.0 * (1.0 - zoom)
        end = zoom * size + start
        sides.append([ops.clip((ops.minimum(ops.maximum(one, start), end) - start) / (end - start), 0, 1) * size
                      for one in both])
    (x1, x2), (y1, y2) = sides
    return _clipped({**found, "boxes": _joined(x1, y1, x2, y2)}, pictures.height, pictures.width), (
        pictures.height), pictures.width


def _sheared(found, pictures):
    wide, tall = ops.cast(pictures.width, "float32"), ops.cast(pictures.height, "float32")
    factor = ops.convert_to_tensor(pictures.found["shear_factor"], "float32")
    by_x, by_y = factor[:, None, :1], factor[:, None, 1:]
    x1, y1, x2, y2 = _parts(found["boxes"])
    x1, y1, x2, y2 = x1 / wide, y1 / tall, x2 / wide, y2 / tall
    x1, x2 = (x1 - by_x * ops.where(by_x < 0, y1, y2), x2 - by_x * ops.where(by_x < 0, y2, y1))
    y1, y2 = (y1 - by_y * ops.where(by_y > 0, x2, x1), y2 - by_y * ops.where(by_y > 0, x1, x2))
    return _clipped({**found, "boxes": _joined(x1 * wide, y1 * tall, x2 * wide, y2 * tall)}, pictures.height,
                    pictures.width), pictures.height, pictures.width


def _projections(start, end):
    """The matrices [n, 3, 3] that take the corners `start` [1, 4, 2] of pictures to `end` [n, 4, 2]."""
    x, y = end[..., 0], end[..., 1]
    u, v = (start[..., place] + ops.zeros_like(x) for place in range(2))
    one, none = ops.ones_like(x), ops.zeros_like(x)
    rows = [ops.stack(row, axis=-1) for row in ((x, y, one, none, none, none, -u * x, -u * y),
                                                (none, none, none, x, y, one, -v * x, -v * y))]
    solved = _op("linalg.solve", ops.concatenate(rows, axis=1), ops.concatenate([u, v], axis=1)[..., None])
    back = ops.concatenate([solved[..., 0], ops.ones_like(x[:, :1])], axis=1)
    return _op("linalg.inv", ops.reshape(back, (-1, 3, 3)))


def _seen(found, pictures):
    start, end = (ops.convert_to_tensor(pictures.found[name], "float32") for name in ("start_points", "end_points"))
    matrix = _projections(start, end)
    x1, y1, x2, y2 = _parts(found["boxes"])
    x, y = _joined(x1, x2, x1, x2), _joined(y1, y2, y2, y1)
    x, y, depth = (matrix[:, None, row, 0, None] * x + matrix[:, None, row, 1, None] * y + matrix[:, None, row, 2, None]
                   for row in range(3))
    x, y = x / depth, y / depth
    seen = ops.stack([ops.min(x, -1), ops.min(y, -1), ops.max(x, -1), ops.max(y, -1)], axis=-1)
    boxes = ops.where(_each(pictures.found["apply_perspective"]), seen, found["boxes"])
    return _clipped({**found, "boxes": boxes}, pictures.height, pictures.width), pictures.height, pictures.width


def _mixed(found, order):
    order = ops.cast(order, "int32")
    return {**found, **{name: ops.concatenate([found[name], ops.take(found[name], order, axis=0)],
                                              axis=min(1, len(found[name].shape) - 1)) for name in ("boxes", "labels")}}


_KINDS = {"RandomFlip": _flipped, "RandomCrop": _cropped, "CenterCrop": _cropped_in_the_middle, "Resizing": _resized,
          "RandomTranslation": _translated, "RandomRotation": _rotated, "RandomZoom": _zoomed,
          "RandomShear": _sheared, "RandomPerspective": _seen}
_ALWAYS = ("CenterCrop", "Resizing")  # kinds that do the same without training
_WIDENED = ("RandomShear", "RandomZoom")  # kinds that give boxes without a batch one
_REFUSED = ("CutMix", "RandomElasticTransform")


def _by_policy(layer, found, transformation):
    def change(step, boxes, inner, is_chosen):
        after = moved(step, boxes, inner, True)
        return {**boxes, **{name: ops.where(is_chosen, after[name], boxes[name]) for name in ("boxes", "labels")}}
    return transformations.by_policy(layer, transformation, found, change)


def check(layer):
    """NotImplementedError for a layer that cannot move boxes."""
    if layer._entry["name"] in _REFUSED:
        raise NotImplementedError(f"Layer '{layer.name}' moves pixels, and is given 'bounding_boxes', which it cannot "
                                  "move; move them in a function of your own, or leave out this layer")


def moved(layer, found, transformation, training):
    """What becomes of boxes [batch, n, 4], in the layer's format, by a transformation; [n, 4] are one picture's."""
    kind = layer._entry["name"]
    check(layer)
    if transformation is None or not (training or kind in _ALWAYS):
        return found
    if kind == "MixUp":
        return _mixed(found, transformation["permutation_order"])
    if kind == "RandAugment":
        return _by_policy(layer, found, transformation)
    if kind not in _KINDS:
        return found
    if len(found["boxes"].shape) == 2:  # of one picture
        found = moved(layer, {**found, "boxes": found["boxes"][None], "labels": found["labels"][None]},
                      transformation, training)
        if kind in _WIDENED:
            return found
        return {**found, "boxes": found["boxes"][0], "labels": found["labels"][0]}
    pictures = _Pictures(layer, transformation)
    if "Crop" in kind and not all(isinstance(one, int) for one in (pictures.height, pictures.width)):
        raise ValueError(f"{kind} moves boxes of pictures whose height and width are known; found "
                         f"images.shape={_shape_in(layer, transformation)}")
    boxes = found["boxes"]
    pictures.fillers = ops.logical_or(ops.all(boxes == -1, -1, keepdims=True), ops.all(boxes == 0, -1, keepdims=True))
    found = formats.convert_format({**found}, layer.bounding_box_format, "xyxy", pictures.height, pictures.width)
    found, height, width = _KINDS[kind](found, pictures)
    return formats.convert_format({**found}, "xyxy", layer.bounding_box_format, height, width)
