"""Layers that change pictures: what they take beside pictures.

Such a layer is called with pictures, or with a dictionary of "images" and what belongs to them: "labels", which MixUp
and CutMix mix too, and "segmentation_masks", which are moved as the pictures are. All come from the same draws: the
library's part takes the state of the layer's generator as a value, so it is called with the same one for each.
"""

from leat import ops
from leat.keras import calls, tables
from leat.keras.layer import _context
from leat.keras.table_layer import TableLayer
from leat.tensor import convert_to_tensor


class PictureLayer(TableLayer):
    """A layer of the library's table that changes pictures."""

    _mask_part = None

    def __call__(self, data, *args, **kwargs):
        if not isinstance(data, dict):
            return super().__call__(data, *args, **kwargs)
        if "images" not in data:
            raise ValueError(f"Layer '{self.name}' is given a dictionary of {sorted(data)}; expected one with 'images'")
        if "bounding_boxes" in data:
            raise NotImplementedError(f"Layer '{self.name}' is given 'bounding_boxes', which are not supported; change "
                                      "pictures alone, or take the boxes out of the dictionary")
        states = [self.seed_generator.state.read_value()] if self._entry["weights"] else []
        training = args[0] if args else kwargs.get("training")
        if training is None:
            training = True if _context.training is None else _context.training
        data = {key: convert_to_tensor(value) for key, value in data.items()}
        outputs = {**data, "images": super().__call__(data["images"], *args, **kwargs)}
        if "labels" in data and self._entry["labels"]:
            outputs["labels"] = _call(self._part, (data["images"], data["labels"]), states, training)
        known, masks = tables.rows(self._entry), data.get("segmentation_masks")
        if masks is not None and "masks" in known:
            moved = _call(self._for_masks(), (masks,), states, training)
            keeps = "interpolation" in known and "num_chains" not in known  # others give floats, as Keras' do
            outputs["segmentation_masks"] = ops.FUNCTIONS["cast"](moved, masks.dtype) if keeps else moved
        return outputs

    def _for_masks(self):
        """The part that moves pixels of masks as those of pictures are moved."""
        if self._mask_part is None:
            known = tables.rows(self._entry)
            arguments = {name: value for name, value in self._given.items() if name in known}
            self._mask_part = tables.part("layer", self._entry, {**arguments, "masks": True})
        return self._mask_part


def _call(part, inputs, states, training):
    return calls.call(part, inputs, states, bool(training))[0]
