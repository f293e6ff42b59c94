"""Layers that put several inputs together: what their shapes must be, and what masks do to what they give."""

import functools

from leat._core.tensor import convert_to_tensor
from leat.keras import backend, ops as whole
from leat.keras._base import masking, tables
from leat.keras._base.calls import mask_of
from leat.keras._base.named import op as _op
from leat.keras.layers.table import TableLayer


def _checked_masks(inputs, masks):
    """The masks of several inputs; None where there are none. ValueError for what is no list of as many."""
    if masks is None:
        return None
    for name, value in (("mask", masks), ("inputs", inputs)):
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"`{name}` should be a list. Received: {name}={value}")
    if len(masks) != len(inputs):
        raise ValueError("The lists `inputs` and `mask` should have the same length. Received: inputs of length "
                         f"{len(inputs)}, and mask of length {len(masks)}")
    return None if all(mask is None for mask in masks) else masks


def _either_of(one, other):
    return _op("math.logical_or", one, other)


def _spread(mask, tensor):
    """A mask over the dimensions that it does not have; None stays."""
    for _ in range(0 if mask is None else tensor.shape.rank - mask.shape.rank):
        mask = _op("expand_dims", mask, -1)
    return mask


def _product(inputs, masks):
    """0 where the masks of all inputs leave a place out."""
    kept = [one if mask is None else _op("where", mask, one, _op("ones_like", one)) for one, mask in zip(inputs, masks)]
    out = functools.reduce(lambda one, other: one * other, kept)
    if any(mask is None for mask in masks):
        return out
    return _op("where", functools.reduce(_either_of, masks), out, _op("zeros_like", out))


def _extreme(name, inputs, masks):
    out, kept = inputs[0], masks[0]
    for one, mask in zip(inputs[1:], masks[1:]):
        one = one if mask is None else _op("where", mask, one, out)
        out = out if kept is None else _op("where", kept, out, one)
        out = _op("math." + name, out, one)
        kept = None if kept is None or mask is None else _either_of(kept, mask)
    return out


def _met(inputs):
    """Inputs in the dtype at which they meet, with their masks."""
    dtype = backend.result_type(*[one.dtype for one in inputs])
    out = []
    for one in inputs:
        mask = mask_of(one)
        if one.dtype.name != dtype:
            one = _op("cast", one, dtype)
            if mask is not None:
                masking.set_mask(one, mask)
        out.append(one)
    return out


def _is_ragged(inputs):
    return any(hasattr(one, "with_flat_values") for one in inputs)


def _over(name):
    return lambda inputs: functools.reduce(functools.partial(_op, name), inputs)


# What merges inputs of which one is ragged at least, by the layer.
_OF_RAGGED = {"Add": _over("add"), "Subtract": _over("subtract"), "Multiply": _over("multiply"),
              "Maximum": _over("maximum"), "Minimum": _over("minimum"),
              "Average": lambda inputs: _op("divide", _OF_RAGGED["Add"](inputs), len(inputs))}


class Merging(TableLayer):
    """A layer of several inputs, which may be of several dtypes."""

    def _of_ragged(self, inputs, training):
        """The rows of ragged tensors merged, which must be of equal lengths but where they are put side by side."""
        name = self._entry["name"]
        inputs = [one if hasattr(one, "with_flat_values") else convert_to_tensor(one) for one in inputs]
        dtype = backend.result_type(*[one.dtype for one in inputs])
        inputs = [_op("cast", one, dtype) for one in inputs]
        if name == "Concatenate":
            return _op("concat", inputs, self.axis)
        if name not in _OF_RAGGED:
            raise NotImplementedError(f"layer '{self.name}' ({name}) does not take ragged tensors; give it "
                                      "`to_tensor()` of them")
        return _OF_RAGGED[name](inputs)

    def call(self, inputs, training=None):
        """What the library computes of the inputs in one dtype."""
        if _is_ragged(inputs):
            return self._of_ragged(inputs, training)
        return super().call(_met([convert_to_tensor(one) for one in inputs]), training)


class Elementwise(Merging):
    """A layer that joins inputs element by element."""

    def _check_shapes(self, shapes):
        """ValueError where the shapes of an elementwise merge do not broadcast."""
        batches = {shape[0] for shape in shapes if shape} - {None}
        if len(batches) > 1:
            raise ValueError(f"Cannot merge tensors with different batch sizes. Received tensors with shapes {shapes}")
        joined = list(shapes[0][1:])
        for shape in shapes[1:]:
            first, second = joined, list(shape[1:])
            first, second = (second, first) if len(first) < len(second) else (first, second)
            joined = first[:len(first) - len(second)]
            for one, other in zip(first[len(joined):], second):
                if None not in (one, other) and 1 not in (one, other) and one != other:
                    raise ValueError(f"Inputs have incompatible shapes. Received shapes {tuple(first)} and "
                                     f"{tuple(second)}")
                joined.append(other if one == 1 else one if other == 1 else one if other is None else other)

    def compute_mask(self, inputs, previous_mask=None):
        """The places that count in one input or another; None where one has no mask."""
        masks = _checked_masks(inputs, previous_mask)
        if masks is None or any(mask is None for mask in masks):
            return None
        out = masks[0]
        for mask in masks[1:]:
            out = whole.logical_or(out, mask)
        return out


class OverMasks(Elementwise):
    """One of which each place is joined of the inputs whose masks do not leave it out."""

    def call(self, inputs, training=None):
        """What the library computes; what one's mask leaves out is taken from the others."""
        if _is_ragged(inputs):
            return self._of_ragged(inputs, training)
        inputs = _met([convert_to_tensor(one) for one in inputs])
        masks = [_spread(mask_of(one), one) for one in inputs]
        return super().call(inputs, training) if all(mask is None for mask in masks) else self._over(inputs, masks)


class Add(Elementwise):
    """The sum of the inputs (``keras.layers.Add``)."""

    _entry = tables.entry_of("layer", "Add")


class Subtract(Elementwise):
    """The first of two inputs less the second (``keras.layers.Subtract``)."""

    _entry = tables.entry_of("layer", "Subtract")


class Average(Elementwise):
    """The mean of the inputs (``keras.layers.Average``)."""

    _entry = tables.entry_of("layer", "Average")

    def call(self, inputs, training=None):
        """The mean; of integers as Python divides them."""
        if _is_ragged(inputs):
            return self._of_ragged(inputs, training)
        inputs = _met([convert_to_tensor(one) for one in inputs])
        if not inputs[0].dtype.is_floating:
            wide = "float64" if inputs[0].dtype.size > 2 else "float32"
            inputs = [_op("cast", one, wide) for one in inputs]
        return super().call(inputs, training)


class Multiply(OverMasks):
    """The product of the inputs (``keras.layers.Multiply``)."""

    _entry = tables.entry_of("layer", "Multiply")

    def _over(self, inputs, masks):
        return _product(inputs, masks)


class Maximum(OverMasks):
    """The largest of the inputs at each place (``keras.layers.Maximum``)."""

    _entry = tables.entry_of("layer", "Maximum")

    def _over(self, inputs, masks):
        return _extreme("maximum", inputs, masks)


class Minimum(OverMasks):
    """The smallest of the inputs at each place (``keras.layers.Minimum``)."""

    _entry = tables.entry_of("layer", "Minimum")

    def _over(self, inputs, masks):
        return _extreme("minimum", inputs, masks)


class Concatenate(Merging):
    """The inputs side by side along `axis` (``keras.layers.Concatenate``)."""

    _entry = tables.entry_of("layer", "Concatenate")

    def _check_shapes(self, shapes):
        """ValueError where shapes differ along another dimension than the one that inputs are put together along."""
        def rest(shape):
            place = self.axis % len(shape)
            return [*shape[:place], *shape[place + 1:]]
        kept = [rest(shape) for shape in shapes]
        if len({len(shape) for shape in kept}) > 1 or any(
                len({size for size in sizes if size is not None}) > 1 for sizes in zip(*kept)):
            raise ValueError("A `Concatenate` layer requires inputs with matching shapes except for the concatenation "
                             f"axis. Received: input_shape={shapes}")

    def compute_mask(self, inputs, previous_mask=None):
        """The masks of the inputs side by side; an input without one counts as a whole."""
        masks = _checked_masks(inputs, previous_mask)
        if masks is None:
            return None
        parts = []
        for tensor, mask in zip(inputs, masks):
            part = whole.ones_like(tensor, dtype="bool")
            if mask is not None:
                mask = mask if len(mask.shape) == len(tensor.shape) else whole.expand_dims(mask, -1)
                part = whole.logical_and(part, mask)
            parts.append(part)
        return whole.any(whole.concatenate(parts, axis=self.axis), axis=-1)


class Dot(Merging):
    """The products of two inputs, summed along `axes` (``keras.layers.Dot``).

    `axes`: one dimension, or one for each input; the batch's is none. `normalize`: of vectors of length 1.
    """

    _entry = tables.entry_of("layer", "Dot")

    def call(self, inputs, training=None):
        """The products; of integers integers, which float64 computes."""
        if _is_ragged(inputs):
            return self._of_ragged(inputs, training)
        inputs = _met([convert_to_tensor(one) for one in inputs])
        if inputs[0].dtype.is_floating:
            return super().call(inputs, training)
        made = super().call([_op("cast", one, "float64") for one in inputs], training)
        return _op("cast", made, inputs[0].dtype)

    def compute_mask(self, inputs, previous_mask=None):
        """None: what is left out is in the sums."""
        return None


# ---- layers that are called as they are made ----

def add(inputs, **kwargs):
    """The layer Add called with `inputs` (``keras.layers.add``)."""
    return Add(**kwargs)(inputs)


def average(inputs, **kwargs):
    """The layer Average called with `inputs` (``keras.layers.average``)."""
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """The layer Maximum called with `inputs` (``keras.layers.maximum``)."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """The layer Minimum called with `inputs` (``keras.layers.minimum``)."""
    return Minimum(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """The layer Multiply called with `inputs` (``keras.layers.multiply``)."""
    return Multiply(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """The layer Subtract called with `inputs` (``keras.layers.subtract``)."""
    return Subtract(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """The layer Concatenate called with `inputs` (``keras.layers.concatenate``)."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes=-1, **kwargs):
    """The layer Dot called with `inputs` (``keras.layers.dot``)."""
    return Dot(axes=axes, **kwargs)(inputs)
