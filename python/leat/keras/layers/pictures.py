"""Layers that change pictures: what they take beside pictures.

Such a layer is called with pictures, or with a dictionary of "images" and what belongs to them: "labels", which MixUp
and CutMix mix too, and "segmentation_masks", which are moved as the pictures are. All come from the same draws: the
library's part takes the state of the layer's generator as a value, so it is called with the same one for each.
"""

from leat._core.tensor import convert_to_tensor
from leat.keras import config
from leat.keras._base import calls, tables
from leat.keras._base.layer import _context, _map
from leat.keras.layers import moved_boxes
from leat.keras._base.named import op as _op
from leat.keras.layers.table import TableLayer


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

    _mask_part = None
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
        super()._setup(given, others)
        self.data_format, self.bounding_box_format, self.input_spec = data_format, boxes, None

    def _checked(self, name, value, row):
        kind = self._entry["name"]
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
        kind, boxes = self._entry["name"], None
        if "bounding_boxes" in data:
            boxes, data = moved_boxes.dense(data["bounding_boxes"]), {**data, "bounding_boxes": None}
            if "masks" in known and kind not in (*moved_boxes.KINDS, *moved_boxes.UNMOVED):
                raise NotImplementedError(f"Layer '{self.name}' moves pixels, and is given 'bounding_boxes', which it "
                                          "cannot move; move them in a function of your own, or leave out this layer")
        data = _map(lambda leaf: None if leaf is None else convert_to_tensor(leaf), data)
        states = [self.seed_generator.state.read_value()] if self._entry["weights"] else []
        training = args[0] if args else kwargs.get("training")
        if training is None:
            training = True if _context.training is None else _context.training
        outputs = {**data, "images": super().__call__(data["images"], *args, **kwargs)}
        if boxes is not None:
            is_moved = kind in moved_boxes.KINDS
            outputs["bounding_boxes"] = boxes if not is_moved else moved_boxes.moved(
                self, data["images"], boxes, states[0] if states else None, bool(training))
        if "labels" in data and self._entry["labels"]:
            inputs = [self._moved(data["images"], True), data["labels"]]
            outputs["labels"] = calls.call(self._part, inputs, states, bool(training))[0]
        masks = data.get("segmentation_masks")
        if masks is not None and "masks" in known:
            found = calls.call(self._for_masks(), [self._moved(masks, True)], states, bool(training))[0]
            keeps = "interpolation" in known and "num_chains" not in known  # others give floats, as Keras' do
            outputs["segmentation_masks"] = self._moved(_op("cast", found, masks.dtype) if keeps else found, False)
        return outputs

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
