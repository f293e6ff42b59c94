"""``keras.utils.bounding_boxes``: boxes in pictures, [..., 4], in other formats, cut, moved and compared."""

import math

from leat._core.tensor import convert_to_tensor
from leat.keras import ops
from leat.keras.backend import epsilon, image_data_format
from leat.keras._base.layer import Layer

_FORMATS = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")


def _parts(boxes):
    return ops.split(boxes, 4, axis=-1)


def _joined(*parts):
    return ops.concatenate(list(parts), axis=-1)


def _corners(kind, a, b, c, d):
    """(left, top, right, bottom) of the four numbers of a format."""
    if kind.startswith("yx"):
        return b, a, d, c
    if kind == "xyxy":
        return a, b, c, d
    if kind == "xywh":
        return a, b, a + c, b + d
    x, y, width, height = (a, b, c, d) if kind == "center_xywh" else (b, a, d, c)
    return x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0


def _described(kind, left, top, right, bottom):
    """The four numbers of a format."""
    if kind.startswith("yx"):
        return top, left, bottom, right
    width, height = right - left, bottom - top
    if kind == "xyxy":
        return left, top, right, bottom
    if kind == "xywh":
        return left, top, width, height
    x, y = left + width / 2.0, top + height / 2.0
    return (x, y, width, height) if kind == "center_xywh" else (y, x, height, width)


def convert_format(boxes, source, target, height=None, width=None, dtype="float32"):
    """Boxes of one format in another; `height` and `width` of the pictures for formats that are relative to them. Of a
    dictionary its "boxes". ValueError for an unknown format."""
    if isinstance(boxes, dict):
        boxes["boxes"] = convert_format(boxes["boxes"], source, target, height, width, dtype)
        return boxes
    if ops.shape(boxes)[-1] != 4:
        raise ValueError("`boxes` must be a tensor with the last dimension of 4. Received: boxes.shape="
                         f"{ops.shape(boxes)}")
    source, target = source.lower(), target.lower()
    if source not in _FORMATS or target not in _FORMATS:
        raise ValueError(f"Invalid source or target format. Supported formats: {_FORMATS}")
    relative = [kind.startswith("rel_") for kind in (source, target)]
    if any(relative) and (width is None or height is None):
        raise ValueError("convert_format() must receive `height` and `width` transforming between relative and "
                         f"absolute formats. convert_format() received source=`{source}`, target=`{target}, but "
                         f"height={height} and width={width}.")
    boxes = ops.cast(boxes, dtype)
    if source == target:
        return boxes
    left, top, right, bottom = _corners(source.removeprefix("rel_"), *_parts(boxes))
    if relative[0] != relative[1]:
        height, width = ops.cast(height, dtype), ops.cast(width, dtype)
        wide, tall = (width, height) if relative[0] else (1 / width, 1 / height)
        left, top, right, bottom = left * wide, top * tall, right * wide, bottom * tall
    return _joined(*_described(target.removeprefix("rel_"), left, top, right, bottom))


def clip_to_image_size(bounding_boxes, height=None, width=None, bounding_box_format="xyxy"):
    """A dictionary whose "boxes" lie in the picture; the "labels" of those of which nothing is left are -1."""
    if bounding_box_format not in ("xyxy", "rel_xyxy"):
        raise NotImplementedError(f"clip_to_image_size: format {bounding_box_format!r}; expected xyxy or rel_xyxy")
    is_relative = bounding_box_format == "rel_xyxy"
    if not is_relative and (height is None or width is None):
        raise ValueError("`height` and `width` must be set if `format='xyxy'`.")
    boxes, labels = convert_to_tensor(bounding_boxes["boxes"]), bounding_boxes.get("labels")
    wide, tall = (1.0, 1.0) if is_relative else (ops.cast(size, boxes.dtype) for size in (width, height))
    left, top, right, bottom = (ops.clip(part, 0, most) for part, most in zip(_parts(boxes), (wide, tall) * 2))
    found = {**bounding_boxes, "boxes": _joined(left, top, right, bottom)}
    if labels is not None:
        areas = ops.squeeze((right - left) * (bottom - top), axis=-1)
        found["labels"] = ops.where(areas > 0, labels, -1)
    return found


def _only_corners(name, bounding_box_format):
    if bounding_box_format != "xyxy":
        raise NotImplementedError(f"{name}: format {bounding_box_format!r}; convert the boxes to xyxy (convert_format)")


def crop(boxes, top, left, height, width, bounding_box_format="xyxy"):
    """Boxes as they lie in a part of the picture."""
    _only_corners("crop", bounding_box_format)
    x1, y1, x2, y2 = _parts(boxes)
    return _joined(ops.clip(x1 - left, 0, width), ops.clip(y1 - top, 0, height), ops.clip(x2 - left, 0, width),
                   ops.clip(y2 - top, 0, height))


def pad(boxes, top, left, height=None, width=None, bounding_box_format="xyxy"):
    """Boxes as they lie in a picture with a border at its top and left."""
    _only_corners("pad", bounding_box_format)
    x1, y1, x2, y2 = _parts(boxes)
    return _joined(x1 + left, y1 + top, x2 + left, y2 + top)


def affine_transform(boxes, angle, translate_x, translate_y, scale, shear_x, shear_y, height, width, center_x=None,
                     center_y=None, bounding_box_format="xyxy"):
    """The boxes [batch, n, 4] around what the corners of others become when pictures are turned by `angle` degrees,
    moved by parts of their size, scaled and sheared; a number of each for each picture."""
    _only_corners("affine_transform", bounding_box_format)
    angle, translate_x, translate_y, scale, shear_x, shear_y = (
        ops.convert_to_tensor(one) for one in (angle, translate_x, translate_y, scale, shear_x, shear_y))
    center_x = (0.5 if center_x is None else center_x) * (width - 1)
    center_y = (0.5 if center_y is None else center_y) * (height - 1)
    turn, by_x, by_y = (-one * (math.pi / 180) for one in (angle, shear_x, shear_y))
    from_x, from_y = center_x - translate_x * (width - 1), center_y - translate_y * (height - 1)
    a = ops.cos(turn - by_y) / ops.cos(by_y)
    b = a * ops.tan(by_x) + ops.sin(turn)
    c = -ops.sin(turn - by_y) / ops.cos(by_y)
    d = ops.cos(turn) - c * ops.tan(by_x)
    a0, a1, b0, b1 = d * scale, -b * scale, -c * scale, a * scale
    a0, a1, a2, b0, b1, b2 = (ops.reshape(one, (-1, 1, 1)) for one in (
        a0, a1, center_x - a0 * from_x - a1 * from_y, b0, b1, center_y - b0 * from_x - b1 * from_y))
    x1, y1, x2, y2 = _parts(ops.cast(boxes, angle.dtype))
    x, y = _joined(x1, x2, x2, x1), _joined(y1, y1, y2, y2)
    x, y = x * a0 + y * a1 + a2, x * b0 + y * b1 + b2
    return ops.stack([ops.min(x, -1), ops.min(y, -1), ops.max(x, -1), ops.max(y, -1)], axis=-1)


# ---- boxes and anchors ----

def _checked(variance, encoding, name):
    """The variance as a tensor of four; None. ValueError, for another format as well."""
    variance = None if variance is None else ops.convert_to_tensor(variance, "float32")
    if variance is not None and variance.shape[-1] != 4:
        raise ValueError(f"`variance` must be length 4, got {variance}")
    if encoding not in ("center_xywh", "center_yxhw"):
        raise ValueError(f"`{name}` should be one of 'center_xywh' or 'center_yxhw', got {encoding}")
    return variance


def encode_box_to_deltas(anchors, boxes, anchor_format, box_format, encoding_format="center_yxhw", variance=None,
                         image_shape=None):
    """How boxes differ from anchors: centres in sizes of the anchors, and logarithms of the sizes' quotients."""
    variance, size = _checked(variance, encoding_format, "encoding_format"), (image_shape or (None, None))[:2]
    anchors = convert_format(anchors, anchor_format, encoding_format, *size)
    boxes = convert_format(boxes, box_format, encoding_format, *size)
    sizes, wanted = (ops.maximum(one[..., 2:], epsilon()) for one in (anchors, boxes))
    found = _joined((boxes[..., :2] - anchors[..., :2]) / sizes, ops.log(wanted / sizes))
    return found if variance is None else found / variance


def decode_deltas_to_boxes(anchors, boxes_delta, anchor_format, box_format, encoded_format="center_yxhw",
                           variance=None, image_shape=None):
    """The boxes that differ from anchors so; of dictionaries, those of each level."""
    if isinstance(anchors, dict):
        return {level: decode_deltas_to_boxes(anchor, boxes_delta[level], anchor_format, box_format, encoded_format,
                                              variance, image_shape) for level, anchor in anchors.items()}
    variance, size = _checked(variance, encoded_format, "encoded_format"), (image_shape or (None, None))[:2]
    anchors = convert_format(anchors, anchor_format, encoded_format, *size)
    deltas = ops.convert_to_tensor(boxes_delta) if variance is None else boxes_delta * variance
    boxes = _joined(deltas[..., :2] * anchors[..., 2:] + anchors[..., :2], ops.exp(deltas[..., 2:]) * anchors[..., 2:])
    return convert_format(boxes, encoded_format, box_format, *size)


def compute_iou(boxes1, boxes2, bounding_box_format, use_masking=False, mask_val=-1, image_shape=None):
    """What part of both each two boxes share, [..., M, N]. `use_masking`: `mask_val` for boxes below 0."""
    ranks = [len(ops.shape(boxes)) for boxes in (boxes1, boxes2)]
    if not set(ranks) <= {2, 3}:
        raise ValueError("compute_iou() expects boxes1 and boxes2 to be batched, or to be unbatched. Received "
                         f"len(boxes1.shape)={ranks[0]}, len(boxes2.shape)={ranks[1]}.")
    if "rel" in bounding_box_format and image_shape is None:
        raise ValueError("When using relative bounding box formats (e.g. `rel_yxyx`) the `image_shape` argument must "
                         f"be provided. Received `image_shape`: {image_shape}")
    size = (image_shape or (None, None))[:2]
    first, second = (convert_format(boxes, bounding_box_format, "xyxy", *size) for boxes in (boxes1, boxes2))
    rows = [one[..., :, None] for one in (first[..., place] for place in range(4))]
    columns = [one[..., None, :] for one in (second[..., place] for place in range(4))]
    shared = ops.maximum(ops.minimum(rows[2], columns[2]) - ops.maximum(rows[0], columns[0]), 0) * ops.maximum(
        ops.minimum(rows[3], columns[3]) - ops.maximum(rows[1], columns[1]), 0)
    areas = [(sides[2] - sides[0]) * (sides[3] - sides[1]) for sides in (rows, columns)]
    found = shared / (areas[0] + areas[1] - shared + epsilon())
    if not use_masking:
        return found
    masked = ops.logical_or(ops.max(first, -1)[..., :, None] < 0, ops.max(second, -1)[..., None, :] < 0)
    return ops.where(masked, ops.cast(mask_val, found.dtype), found)


def compute_ciou(boxes1, boxes2, bounding_box_format, image_shape=None):
    """How well boxes fit others, box by box: the part that they share, less for other centres and proportions.
    ValueError for relative formats."""
    if "rel" in bounding_box_format:
        raise ValueError("When using relative bounding box formats (e.g. `rel_yxyx`) the `image_shape` argument must "
                         f"be provided. Received `image_shape`: {image_shape}")
    size = (image_shape or (None, None))[:2]
    sides = [[convert_format(boxes, bounding_box_format, "xyxy", *size)[..., place] for place in range(4)]
             for boxes in (boxes1, boxes2)]
    (l1, t1, r1, b1), (l2, t2, r2, b2) = sides
    sizes = [(right - left, bottom - top + epsilon()) for left, top, right, bottom in sides]
    shared = ops.maximum(ops.minimum(r1, r2) - ops.maximum(l1, l2), 0) * ops.maximum(
        ops.minimum(b1, b2) - ops.maximum(t1, t2), 0)
    together = sizes[0][0] * sizes[0][1] + sizes[1][0] * sizes[1][1] - shared + epsilon()
    part = shared / (together + epsilon())
    across = (ops.maximum(r1, r2) - ops.minimum(l1, l2)) ** 2 + (ops.maximum(b1, b2) - ops.minimum(t1, t2)) ** 2
    apart = ((l1 + r1) / 2 - (l2 + r2) / 2) ** 2 + ((t1 + b1) / 2 - (t2 + b2) / 2) ** 2
    first, second = (ops.arctan(wide / tall) for wide, tall in sizes)
    shape = 4 / math.pi ** 2 * (second - first) ** 2
    return part - (apart / (across + epsilon()) + shape * shape / (shape - part + (1 + epsilon())))


class MaxNumBoundingBoxes(Layer):
    """Dictionaries of "bounding_boxes" with so many of them for each picture, `fill_value` in place of what is missing
    (``keras.layers.MaxNumBoundingBoxes``); pictures and labels stay."""

    _casts_inputs = False

    def __init__(self, max_number, fill_value=-1, bounding_box_format=None, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.max_number, self.fill_value = int(max_number), int(fill_value)
        self.bounding_box_format, self.built = bounding_box_format, True
        self.data_format = data_format or image_data_format()

    def transform_bounding_boxes(self, bounding_boxes, transformation=None, training=True):
        """The boxes and their labels, of one picture or a batch, cut, or filled."""
        given = {name: ops.convert_to_tensor(bounding_boxes[name]) for name in ("boxes", "labels")}
        is_alone = len(given["boxes"].shape) == 2

        def sized(x):
            x = (x[None] if is_alone else x)[:, :self.max_number]
            missing = self.max_number - ops.shape(x)[1]
            filler = ops.full((ops.shape(x)[0], missing, *x.shape[2:]), self.fill_value, dtype=x.dtype)
            found = ops.reshape(ops.concatenate([x, filler], axis=1), (-1, self.max_number, *x.shape[2:]))
            return found[0] if is_alone else found
        return {**bounding_boxes, **{name: sized(value) for name, value in given.items()}}

    def transform_images(self, images, transformation=None, training=True):
        """The pictures, which stay."""
        return ops.cast(images, self.compute_dtype)

    def transform_labels(self, labels, transformation=None, training=True):
        """The labels, which stay."""
        return labels

    def transform_segmentation_masks(self, segmentation_masks, transformation=None, training=True):
        """The masks, which stay."""
        return segmentation_masks

    def call(self, data, training=True):
        """The dictionary with its boxes cut, or filled."""
        if not isinstance(data, dict):
            return self.transform_images(data)
        if "images" in data:
            data = {**data, "images": self.transform_images(data["images"])}
        if "bounding_boxes" not in data:
            return data
        if self.bounding_box_format is None:
            raise ValueError("You passed an input with a 'bounding_boxes' key, but you didn't specify a bounding box "
                             "format. Pass a `bounding_box_format` argument to your MaxNumBoundingBoxes layer, e.g. "
                             "`bounding_box_format='xyxy'`.")
        return {**data, "bounding_boxes": self.transform_bounding_boxes(data["bounding_boxes"], training=training)}

    def get_config(self):
        """The arguments that make another one like it."""
        config = {**super().get_config(), "data_format": self.data_format}
        if self.bounding_box_format is not None:
            config["bounding_box_format"] = self.bounding_box_format
        return {**config, "max_number": self.max_number, **(
            {"fill_value": self.fill_value} if self.fill_value != -1 else {})}
