"""Masks: which rows or steps count. A mask travels with a tensor from layer to layer, to losses and metrics."""

import warnings

from leat._core.tensor import Tensor
from leat.keras._base.calls import mask_of


def set_mask(tensor, mask):
    """Gives a tensor the mask that layers, losses and metrics behind it read."""
    tensor._keras_mask = mask


def masks_of(value, mapped):
    """The masks of a tensor, or of a structure of them; `mapped` maps functions over structures."""
    return mapped(lambda leaf: mask_of(leaf) if isinstance(leaf, Tensor) else None, value)


def hand_on(layer, inputs, outputs, previous, leaves):
    """Gives a layer's outputs the masks that it computes; warns where it loses those of its inputs."""
    tensors = [leaf for leaf in leaves(outputs) if isinstance(leaf, Tensor)]
    if all(mask_of(tensor) is not None for tensor in tensors):
        return
    if not layer.supports_masking:
        if any(mask is not None for mask in leaves(previous)):
            warnings.warn(f"Layer '{layer.name}' (of type {type(layer).__name__}) was passed an input with a mask "
                          "attached to it. However, this layer does not support masking and will therefore destroy the "
                          "mask information. Downstream layers will not see the mask.", stacklevel=2)
        return
    masks = layer.compute_mask(inputs, previous)
    for tensor, mask in zip(tensors, leaves(masks) if masks is not None else ()):
        if mask_of(tensor) is None and mask is not None:
            set_mask(tensor, mask)
