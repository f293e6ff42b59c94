"""What becomes of boxes in pictures that layers move: "bounding_boxes" beside "images".

Each kind of layer that moves pixels has a function here: boxes [batch, n, 4] as corners in pixels, of pictures of a
size, become those of the changed pictures, from the draws that moved the pictures.
"""

from leat._core.tensor import convert_to_tensor
from leat.keras import ops
from leat.keras._base.named import op as _op
from leat.keras.layers import bounding_boxes as formats

_MOST = 2 ** 31 - 2  # seeds are taken modulo this


def dense(bounding_boxes):
    """{"boxes": float32 [..., n, 4], "labels"} of tensors, arrays or ragged ones, which are filled with boxes of 0 and
    labels of -1. ValueError for what has other names or ranks."""
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
    ranks = len(boxes.shape), len(labels.shape)
    if ranks[0] not in (2, 3) or ranks[1] not in (ranks[0] - 1, ranks[0]):
        raise ValueError("Expected `bounding_boxes['boxes']` to have the shape (num_boxes, 4) or (batch_size, "
                         "num_boxes, 4), and 'labels' a rank less or the same. Received the shapes "
                         f"{tuple(boxes.shape)} and {tuple(labels.shape)}")
    return {**bounding_boxes, "boxes": boxes, "labels": labels}


class _Pictures:
    """The pictures that boxes lie in: their number and size, and what was drawn for them."""

    def __init__(self, layer, images, state):
        shape, rank = ops.shape(images), len(images.shape)
        first = layer.data_format == "channels_first"
        self.layer, self._state, self.count = layer, state, shape[0] if rank == 4 else 1
        self.height, self.width = shape[-2 if first else -3], shape[-1 if first else -2]

    def drawn(self, number, shape, low=0.0, high=1.0):
        """The numbers of a draw, the first of a call is 0."""
        seed = self._state + convert_to_tensor([0, number], "int64")
        seed = _op("cast", _op("math.floormod", seed, convert_to_tensor(_MOST, "int64")), "int32")
        return _op("random.stateless_uniform", shape, seed, float(low), float(high))


def _pair(factor):
    return (-abs(factor), abs(factor)) if isinstance(factor, (int, float)) else tuple(sorted(factor))


def _parts(boxes):
    return ops.split(boxes, 4, axis=-1)


def _joined(*parts):
    return ops.concatenate(list(parts), axis=-1)


def _clipped(found, height, width):
    return formats.clip_to_image_size(found, height, width)


# ---- the kinds ----

def _flipped(found, pictures):
    turned = ops.reshape(pictures.drawn(0, (pictures.count, 1, 1, 1)) <= 0.5, (-1, 1, 1))
    boxes, mode = found["boxes"], pictures.layer.mode
    wide, tall = ops.cast(pictures.width, "float32"), ops.cast(pictures.height, "float32")
    if "horizontal" in mode:
        x1, y1, x2, y2 = _parts(boxes)
        boxes = ops.where(turned, _joined(wide - x2, y1, wide - x1, y2), boxes)
    if "vertical" in mode:
        x1, y1, x2, y2 = _parts(boxes)
        boxes = ops.where(turned, _joined(x1, tall - y2, x2, tall - y1), boxes)
    return _clipped({**found, "boxes": boxes}, pictures.height, pictures.width), pictures.height, pictures.width


def _middle(pictures):
    """(top, left, height, width) of the part in the middle with the proportions of what a layer makes."""
    layer = pictures.layer
    height = max(min(pictures.height, int(float(pictures.width * layer.height) / layer.width)), 1)
    width = max(min(pictures.width, int(float(pictures.height * layer.width) / layer.height)), 1)
    return int(float(pictures.height - height) / 2), int(float(pictures.width - width) / 2), height, width


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
        top, left, _, _ = _middle(pictures)
        return _cut(found, top, left, min(layer.height, pictures.height - top), min(layer.width, pictures.width - left),
                    layer)
    top, left = (ops.cast(ops.cast(pictures.drawn(number, (), 0.0, float(size - part + 1)), "int32"), "float32")
                 for number, (size, part) in enumerate(((pictures.height, layer.height),
                                                        (pictures.width, layer.width))))
    return _cut(found, top, left, layer.height, layer.width, layer)


def _cropped_in_the_middle(found, pictures):
    layer = pictures.layer
    if pictures.height < layer.height or pictures.width < layer.width:
        return _cut(found, *_middle(pictures), layer)
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
    heights, widths = _pair(pictures.layer.height_factor), _pair(pictures.layer.width_factor)
    down = pictures.drawn(0, (pictures.count, 1), *heights) * ops.cast(pictures.height, "float32")
    right = pictures.drawn(1, (pictures.count, 1), *widths) * ops.cast(pictures.width, "float32")
    moves = ops.expand_dims(_joined(right, down, right, down), 1)
    return _clipped({**found, "boxes": found["boxes"] + moves}, pictures.height, pictures.width), (
        pictures.height), pictures.width


def _rotated(found, pictures):
    low, high = pictures.layer.factor
    none, one = ops.zeros((pictures.count,)), ops.ones((pictures.count,))
    turned = formats.affine_transform(found["boxes"], pictures.drawn(0, (pictures.count,), low * 360.0, high * 360.0),
                                      none, none, one, none, none, pictures.height, pictures.width)
    return _clipped({**found, "boxes": turned}, pictures.height, pictures.width), pictures.height, pictures.width


def _zoomed(found, pictures):
    layer = pictures.layer
    low, high = _pair(layer.height_factor)
    tall = pictures.drawn(0, (pictures.count, 1), 1.0 + low, 1.0 + high)
    low, high = _pair(layer.height_factor if layer.width_factor is None else layer.width_factor)
    wide = tall if layer.width_factor is None else pictures.drawn(1, (pictures.count, 1), 1.0 + low, 1.0 + high)
    x1, y1, x2, y2 = _parts(found["boxes"])
    sides = []
    for pair, zoom, size in (((x1, x2), wide, pictures.width), ((y1, y2), tall, pictures.height)):
        size, zoom = ops.cast(size, "float32"), ops.expand_dims(zoom, 1)
        start = (size - 1.0) / 2.0 * (1.0 - zoom)
        end = zoom * size + start
        sides.append([ops.clip((ops.minimum(ops.maximum(one, start), end) - start) / (end - start), 0, 1) * size
                      for one in pair])
    (x1, x2), (y1, y2) = sides
    return _clipped({**found, "boxes": _joined(x1, y1, x2, y2)}, pictures.height, pictures.width), (
        pictures.height), pictures.width


def _sheared(found, pictures):
    layer, wide, tall = pictures.layer, ops.cast(pictures.width, "float32"), ops.cast(pictures.height, "float32")
    turned = ops.where(pictures.drawn(0, (pictures.count, 1, 1)) > 0.5, -1.0, 1.0)
    by_y = pictures.drawn(1, (pictures.count, 1, 1), *layer.y_factor) * turned
    by_x = pictures.drawn(2, (pictures.count, 1, 1), *layer.x_factor) * turned
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
    layer, none = pictures.layer, ops.zeros((), "float32")
    low, high = (0.0, layer.factor) if isinstance(layer.factor, (int, float)) else layer.factor
    chance = pictures.drawn(0, (pictures.count,), low, high)
    applied = pictures.drawn(1, (pictures.count,)) < chance
    moves = pictures.drawn(2, (pictures.count, 4, 2), -0.5 * layer.scale, 0.5 * layer.scale)
    right, bottom = (ops.cast(size, "float32") - 1.0 for size in (pictures.width, pictures.height))
    corners = ops.reshape(ops.stack([none, none, right, none, none, bottom, right, bottom]), (1, 4, 2))
    matrix = _projections(corners, corners + corners * moves)
    x1, y1, x2, y2 = _parts(found["boxes"])
    x, y = _joined(x1, x2, x1, x2), _joined(y1, y2, y2, y1)
    x, y, depth = (matrix[:, None, row, 0, None] * x + matrix[:, None, row, 1, None] * y + matrix[:, None, row, 2, None]
                   for row in range(3))
    x, y = x / depth, y / depth
    seen = ops.stack([ops.min(x, -1), ops.min(y, -1), ops.max(x, -1), ops.max(y, -1)], axis=-1)
    boxes = ops.where(applied[:, None, None], seen, found["boxes"])
    return _clipped({**found, "boxes": boxes}, pictures.height, pictures.width), pictures.height, pictures.width


def _mixed(found, pictures):
    order = ops.argsort(pictures.drawn(0, (pictures.count,)))
    return {**found, **{name: ops.concatenate([found[name], ops.take(found[name], order, axis=0)], axis=1)
                        for name in ("boxes", "labels")}}, pictures.height, pictures.width


KINDS = {"RandomFlip": _flipped, "RandomCrop": _cropped, "CenterCrop": _cropped_in_the_middle, "Resizing": _resized,
         "RandomTranslation": _translated, "RandomRotation": _rotated, "RandomZoom": _zoomed,
         "RandomShear": _sheared, "RandomPerspective": _seen, "MixUp": _mixed}
ALWAYS = ("CenterCrop", "Resizing")  # kinds that do the same without training
UNMOVED = ("AugMix",)


def moved(layer, images, found, state, training):
    """What becomes of boxes, in the layer's format, when it changes pictures from a state of its generator."""
    move = KINDS[layer._entry["name"]]
    if not training and layer._entry["name"] not in ALWAYS:
        return found
    pictures, is_alone = _Pictures(layer, images, state), len(found["boxes"].shape) == 2
    if "Crop" in layer._entry["name"] and not all(isinstance(one, int) for one in (pictures.height, pictures.width)):
        raise ValueError(f"{layer._entry['name']} moves boxes of pictures whose height and width are known; found "
                         f"images.shape={tuple(images.shape)}")
    if is_alone:
        found = {**found, "boxes": found["boxes"][None], "labels": found["labels"][None]}
    boxes = found["boxes"]
    pictures.fillers = ops.logical_or(ops.all(boxes == -1, -1, keepdims=True), ops.all(boxes == 0, -1, keepdims=True))
    found = formats.convert_format({**found}, layer.bounding_box_format, "xyxy", pictures.height, pictures.width)
    found, height, width = move(found, pictures)
    found = formats.convert_format({**found}, "xyxy", layer.bounding_box_format, height, width)
    return {**found, "boxes": found["boxes"][0], "labels": found["labels"][0]} if is_alone else found
