"""Layers that change pictures: what they take beside pictures.

Such a layer is called with pictures, or with a dictionary of "images" and what belongs to them: "labels", which MixUp
and CutMix mix too, and "segmentation_masks", which are moved as the pictures are. All come from the same draws: the
library's part takes the state of the layer's generator as a value, so it is called with the same one for each.
"""

from leat._core.tensor import convert_to_tensor
from leat.keras import config, ops
from leat.keras._base import calls, tables
from leat.keras._base.layer import _context, _map
from leat.keras.layers import moved_boxes, transformations
from leat.keras._base.named import op as _op
from leat.keras.layers.table import TableLayer
from leat.keras.random import make_default_seed


_BOXES = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")


# Of a factor f: -f to f, otherwise 0 to f.
_AROUND_ZERO = ("RandomBrightness", "RandomColorDegeneration", "RandomRotation", "RandomSaturation", "RandomShear")
_OWN_FACTORS = ("RandomPosterization", "RandomTranslation", "RandomZoom", "RandomGrayscale", "RandomColorJitter")
_PAIRS = {("RandomElasticTransform", "scale"), ("RandomGaussianBlur", "sigma")}
_SORTED_RANGES = ("AutoContrast", "Equalization", "RandomBrightness", "RandomColorDegeneration", "RandomSaturation",
                  "RandomSharpness", "Solarization")


def _bounds(factor, is_around_zero):
    """A factor as its lower and upper bound."""
    if isinstance(factor, (int, float)):
        return (-abs(factor) if is_around_zero else 0, abs(factor))
    return tuple(sorted(factor)) if isinstance(factor, (list, tuple)) else factor


class PictureLayer(TableLayer):
    """A layer of the library's table that changes pictures."""

    _mask_part = _steps = None
    data_format, bounding_box_format = "channels_last", None

    def _setup(self, given, others):
        others, given = dict(others), dict(given)
        data_format = given.get("data_format") or others.pop("data_format", None) or config.image_data_format()
        boxes = others.pop("bounding_box_format", None)
        if data_format not in ("channels_first", "channels_last"):
            raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. Received: "
                             f"data_format={data_format}")
        if boxes is not None and boxes not in _BOXES:
            raise ValueError(f"The `bounding_box_format` argument must be one of {_BOXES}. Received: "
                             f"bounding_box_format={boxes}")
        if "data_format" in given:
            given["data_format"] = "channels_last"  # what the library has; channels are moved there and back
        drawn = make_default_seed() if self._entry["name"] == "RandomCrop" and given.get("seed") is None else None
        super()._setup(given, others)
        if drawn is not None:  # which Keras' configuration has, and its generator draws another
            self.seed = drawn
        self.data_format, self.bounding_box_format, self.input_spec = data_format, boxes, None

    def _checked(self, name, value, row):
        kind = self._entry["name"]
        if name == "value_range" and not isinstance(value, (list, tuple)):
            raise ValueError("The `value_range` argument should be a list of two numbers. Received: "
                             f"value_range={value}")
        if name.endswith("factor") and not isinstance(value, (int, float, list, tuple, type(None))):
            raise ValueError(f"The `{name}` argument should be a number (or a list of two numbers). Received: "
                             f"{name}={value}")
        if name == "value_range":
            return sorted(value) if kind in _SORTED_RANGES and isinstance(value, (list, tuple)) else value
        return super()._checked(name, value, row)

    def _understood(self, given, known):
        attributes, arguments = super()._understood(given, known)
        kind = self._entry["name"]
        for name, value in attributes.items():
            if (kind, name) == ("RandomGaussianBlur", "kernel_size") and isinstance(value, int):
                attributes[name] = value, value
            elif kind not in _OWN_FACTORS and (name.endswith("factor") or (kind, name) in _PAIRS):
                attributes[name] = pair = _bounds(value, kind in _AROUND_ZERO)
                if kind == "RandomShear" and isinstance(pair, tuple) and pair[0] == -pair[1]:  # Keras' configuration
                    arguments[name] = value if isinstance(value, (int, float)) else pair[1]
        return attributes, arguments

    def __call__(self, data, *args, **kwargs):
        if not isinstance(data, dict):
            return super().__call__(data, *args, **kwargs)
        if "images" not in data:
            raise ValueError(f"Layer '{self.name}' is given a dictionary of {sorted(data)}; expected one with 'images'")
        known = tables.rows(self._entry)
        if "bounding_boxes" in data and self.bounding_box_format is None:
            raise ValueError("You passed an input with a 'bounding_boxes' key, but you didn't specify a bounding box "
                             f"format. Pass a `bounding_box_format` argument to your {type(self).__name__} layer, e.g. "
                             "`bounding_box_format='xyxy'`.")
        boxes = None
        if "bounding_boxes" in data:
            boxes, data = moved_boxes.checked(data["bounding_boxes"]), {**data, "bounding_boxes": None}
            moved_boxes.check(self)
        data = _map(lambda leaf: None if leaf is None else convert_to_tensor(leaf), data)
        states = [self.seed_generator.state.read_value()] if self._entry["weights"] else []
        training = args[0] if args else kwargs.get("training")
        if training is None:
            training = True if _context.training is None else _context.training
        outputs = {**data, "images": super().__call__(data["images"], *args, **kwargs)}
        if boxes is not None:
            outputs["bounding_boxes"] = self._moved_boxes(boxes, data["images"], states, bool(training))
        if "labels" in data and self._entry["labels"]:
            inputs = [self._moved(data["images"], True), data["labels"]]
            outputs["labels"] = calls.call(self._part, inputs, states, bool(training))[0]
        masks = data.get("segmentation_masks")
        if masks is not None and "masks" in known:
            found = calls.call(self._for_masks(), [self._moved(masks, True)], states, bool(training))[0]
            outputs["segmentation_masks"] = self._moved(self._as_classes(found, masks.dtype), False)
        return outputs

    def _as_classes(self, masks, dtype):
        """Masks that were moved in the dtype that they had, where they are not blended."""
        known = tables.rows(self._entry)
        keeps = "interpolation" in known and "num_chains" not in known  # others give floats, as Keras' do
        return ops.cast(masks, dtype) if keeps else masks

    def _moved_boxes(self, boxes, images, states, training):
        """Boxes of the pictures that a call from a state of the generator changes."""
        if self._entry["name"] == "AugMix":
            return boxes
        seed = transformations.Replay(states[0]) if states else None
        found = transformations.drawn(self, images, seed, training)
        if len(boxes["boxes"].shape) == 3:
            return moved_boxes.moved(self, boxes, found, training)
        return self.transform_single_bounding_box(boxes, found, training)

    # ---- a transformation by itself ----

    def get_random_transformation(self, data, training=True, seed=None):
        """What a call draws for pictures, or for the "images" of a dictionary, under Keras' keys; None: nothing.

        `seed`: a number or generator in place of the layer's own.
        """
        images = data["images"] if isinstance(data, dict) else data
        if seed is None and self._entry["weights"]:
            seed = self.seed_generator
        return transformations.drawn(self, convert_to_tensor(images), seed, training)

    def transform_images(self, images, transformation=None, training=True):
        """A batch of pictures by a transformation (``get_random_transformation``)."""
        images = ops.cast(images, self.compute_dtype)
        if not training and self._entry["name"] not in transformations.ALWAYS:
            return images
        return transformations.changed(self, images, transformation)

    def transform_labels(self, labels, transformation=None, training=True):
        """The labels of a batch: mixed where pictures are."""
        if transformation is None or not training or not self._entry["labels"]:
            return labels
        return transformations.mixed_labels(convert_to_tensor(labels), transformation)

    def transform_bounding_boxes(self, bounding_boxes, transformation=None, training=True):
        """The boxes of a batch, {"boxes", "labels"}, by a transformation."""
        return moved_boxes.moved(self, moved_boxes.dense(bounding_boxes), transformation, training)

    def transform_segmentation_masks(self, segmentation_masks, transformation=None, training=True):
        """Masks of classes: moved as the pictures are, and not coloured."""
        masks, kind = convert_to_tensor(segmentation_masks), self._entry["name"]
        if kind not in transformations.MOVING or not (training or kind in transformations.ALWAYS):
            return masks
        changed = transformations.changed(self, ops.cast(masks, self.compute_dtype), transformation, "nearest", True)
        return self._as_classes(changed, masks.dtype)

    def transform_single_image(self, image, transformation=None, training=True):
        """One picture."""
        return self.transform_images(convert_to_tensor(image)[None], transformation, training)[0]

    def transform_single_label(self, label, transformation=None, training=True):
        """The label of one picture."""
        return self.transform_labels(convert_to_tensor(label)[None], transformation, training)[0]

    def transform_single_bounding_box(self, bounding_box, transformation=None, training=True):
        """The boxes of one picture, [n, 4]."""
        batch = {name: convert_to_tensor(bounding_box[name])[None] for name in ("boxes", "labels")}
        found = self.transform_bounding_boxes({**bounding_box, **batch}, transformation, training)
        return {**found, "boxes": found["boxes"][0], "labels": found["labels"][0]}

    def transform_single_segmentation_mask(self, segmentation_mask, transformation=None, training=True):
        """The mask of one picture."""
        return self.transform_segmentation_masks(convert_to_tensor(segmentation_mask)[None], transformation,
                                                 training)[0]

    # ---- calls ----

    def build(self, input_shape=None):
        """Takes the state of the layer's generator, if it draws. ValueError for what is no picture nor a batch."""
        if input_shape is not None and len(input_shape) not in (3, 4):
            raise ValueError("Expected the input image to be rank 3 or 4. Received: "
                             f"inputs.shape={tuple(input_shape)}")
        super().build(input_shape)

    def call(self, inputs, training=None):
        """The changed pictures."""
        if inputs.shape.rank not in (None, 3, 4):
            raise ValueError(f"Expected the input image to be rank 3 or 4. Received: inputs.shape={inputs.shape}")
        return self._moved(super().call(self._moved(inputs, True), training), False)

    def _moved(self, tensor, to_last):
        """A tensor with its channels where the library has them, or back where the layer has them."""
        rank = tensor.shape.rank
        if self.data_format == "channels_last" or rank is None:
            return tensor
        order = [*range(rank - 3), rank - 2, rank - 1, rank - 3] if to_last else [
            *range(rank - 3), rank - 1, rank - 3, rank - 2]
        return _op("transpose", tensor, order)

    def _for_masks(self):
        """The part that moves pixels of masks as those of pictures are moved."""
        if self._mask_part is None:
            known = tables.rows(self._entry)
            arguments = {name: value for name, value in self._given.items() if name in known}
            self._mask_part = tables.part("layer", self._entry, {**arguments, "masks": True})
        return self._mask_part

    def get_config(self):
        """The arguments that make another one like it."""
        config, own = super().get_config(), {"data_format": self.data_format}
        if self.bounding_box_format is not None:
            own["bounding_box_format"] = self.bounding_box_format
        return {**{name: config[name] for name in ("name", "trainable", "dtype")}, **own, **config, **own}
