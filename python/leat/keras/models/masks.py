"""The masks of a functional model's tensors, as they were when the model was put together.

MultiHeadAttention takes the masks of its inputs away while it computes, and not while a model is built. A layer that
was given a mask as its argument then gets that one whatever is computed in between; others see what tensors have.
"""

from leat.keras._base import layer as _layer, masking
from leat.keras._base.calls import mask_of
from leat.keras._base.symbolic import KerasTensor


class BuiltMasks:
    """What is known of one call of a model."""

    def __init__(self, values):
        self._values, self._of = values, {}

    def _mask(self, leaf):
        return self._of.get(id(leaf), mask_of(self._values[id(leaf)])) if isinstance(leaf, KerasTensor) else None

    def _is_lost(self, leaf):
        return self._of.get(id(leaf)) is not None and mask_of(self._values[id(leaf)]) is not self._of[id(leaf)]

    def given(self, node, kwargs):
        """The keyword arguments of a call, with the mask of then where its input has another one.

        Keras notes masks of the calls with one tensor and nothing else, in the dtype that the layer computes in.
        """
        if len(node.args) != 1 or node.kwargs or not isinstance(node.args[0], KerasTensor):
            return kwargs
        [leaf] = node.args
        is_kept = self._is_lost(leaf) and leaf.dtype == node.layer.compute_dtype and node.layer._signature().takes_mask
        return {**kwargs, "mask": self._of[id(leaf)]} if is_kept else kwargs

    def note(self, node, results):
        """Keeps the masks of what a call gave, or would have given had its inputs those of then."""
        outputs = [leaf for leaf in node.outputs if leaf._keras_mask is not None]
        if not outputs:
            return
        made = {}
        if node.layer.supports_masking and any(self._is_lost(leaf) for leaf in node.inputs):
            first = node.args[0] if node.args else next(iter(node.kwargs.values()))
            masks = node.layer.compute_mask(_layer._map(self._value, first), _layer._map(self._mask, first))
            made = dict(zip(map(id, node.outputs), _layer._leaves(masks) if masks is not None else ()))
        for leaf, result in zip(node.outputs, results):
            self._of[id(leaf)] = made.get(id(leaf), mask_of(result))

    def _value(self, leaf):
        return self._values[id(leaf)] if isinstance(leaf, KerasTensor) else leaf


def set_given(values, masks):
    """Gives the inputs of a model the masks that its call was given."""
    for value, mask in zip(values, _layer._leaves(masks) if masks is not None else ()):
        if mask is not None and value is not None:
            masking.set_mask(value, mask)
