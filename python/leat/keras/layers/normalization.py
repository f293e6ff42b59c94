"""Layers that normalize, and do more than the library's: masks, and numbers that are found in data."""

import numpy as np

from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat.keras._base import tables
from leat.keras._base.variables import Variable
from leat.keras.layers.table import TableLayer


def _op(path, *args, **kwargs):
    return ops.FUNCTIONS[path](*args, **kwargs)


class BatchNormalization(TableLayer):
    """Values without their mean and variance, times gamma, plus beta (``keras.layers.BatchNormalization``)."""

    _entry = tables.entry_of("layer", "BatchNormalization")

    def call(self, inputs, training=None, mask=None):
        """The input with the batch's mean and variance taken out, in inference those of training."""
        if mask is None or not training or not self.trainable:
            return super().call(inputs, training)
        if self.synchronized:
            raise NotImplementedError(f"BatchNormalization '{self.name}' is given a mask and is synchronized, which do "
                                      "not go together; leave synchronized at False, or use LayerNormalization")
        return self._masked_call(inputs, mask)

    def _masked_call(self, inputs, mask):
        """The same with the mean and variance of what the mask lets count."""
        rank = inputs.shape.rank
        others = [axis for axis in range(rank) if axis != self.axis % rank]
        counted = _op("zeros_like", inputs) + _op("cast", _op("expand_dims", mask, -1), inputs.dtype)
        total = _op("reduce_sum", counted, others) + 1e-7
        mean = _op("reduce_sum", _op("math.multiply_no_nan", inputs, counted), others) / total
        shape = [inputs.shape[axis] if axis == self.axis % rank else 1 for axis in range(rank)]

        def spread(vector):
            return _op("reshape", vector, shape)
        apart = inputs - spread(mean)
        variance = _op("reduce_sum", _op("math.multiply_no_nan", _op("square", apart), counted), others) / total
        for moving, found in ((self.moving_mean, mean), (self.moving_variance, variance)):
            moving.assign(moving * self.momentum + _op("stop_gradient", found) * (1 - self.momentum))
        outputs = apart * spread(_op("math.rsqrt", variance + self.epsilon))
        if self.scale:
            outputs = outputs * spread(self.gamma)
        return outputs + spread(self.beta) if self.center else outputs


class Normalization(TableLayer):
    """The input less a mean, divided by the root of a variance (``keras.layers.Normalization``).

    Both are given, or found by `adapt`. `axis`: dimensions of which each place has numbers of its own. `invert`: the
    other way.
    """

    _entry = tables.entry_of("layer", "Normalization")

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if (mean is None) != (variance is None):
            raise ValueError("When setting values directly, both `mean` and `variance` must be set. Received: "
                             f"mean={mean} and variance={variance}")
        if np.shape(mean) != np.shape(variance):
            raise ValueError("When setting values directly, `mean` and `variance` must have the same shape. Received: "
                             f"mean shape {np.shape(mean)} and variance shape {np.shape(variance)}")
        if len(np.shape(mean)) > len(axis):
            raise ValueError(f"The rank of `mean` must be less than or equal to the number of axes ({len(axis)}). "
                             f"Received: mean shape {np.shape(mean)} for axis {axis}")
        self.input_mean, self.input_variance, self._kept = mean, variance, None
        super().__init__(axis=axis, mean=mean, variance=variance, invert=invert, **kwargs)
        self._choose_part(mean, variance)

    def _choose_part(self, mean, variance):
        self._part = self._part_alone = tables.part("layer", self._entry, {
            "axis": self.axis or None, "whole": not self.axis, "mean": mean, "variance": variance,
            "invert": self.invert})

    def _seen(self, given, weight):
        """What was given, or found, in the shape in which it meets inputs; None before the layer is built."""
        if self._kept is None:
            return None
        if given is None:
            return _op("reshape", weight.read_value(), self._kept)
        sizes = [size for axis, size in enumerate(self._kept) if axis in self._places(len(self._kept))]
        return convert_to_tensor(np.broadcast_to(np.asarray(given, np.float32), sizes).reshape(self._kept))

    # Both are arguments, weights and what the layer computes with: the names belong to the last.
    mean = property(lambda self: self._seen(self.input_mean, self.adapt_mean),
                    lambda self, made: _set_found(self, "adapt_mean", made))
    variance = property(lambda self: self._seen(self.input_variance, self.adapt_variance),
                        lambda self, made: _set_found(self, "adapt_variance", made))
    adapt_mean = adapt_variance = None

    def _places(self, rank):
        """The dimensions that are kept, of `rank`. ValueError where there are not so many."""
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ValueError("All `axis` values must be in the range [-ndim, ndim). Received inputs with "
                             f"ndim={rank}, while axis={self.axis}")
        return {axis % rank for axis in self.axis}

    def build(self, input_shape=None):
        """Makes the weights that `adapt` fills, where mean and variance were not given."""
        if input_shape is None:
            return
        places = self._places(len(input_shape))
        for axis in places:
            if input_shape[axis] is None:
                raise ValueError("All `axis` values to be kept must have a known shape. Received axis="
                                 f"{self.axis}, inputs.shape={tuple(input_shape)}, with unknown axis at index {axis}")
        self._kept = [size if axis in places else 1 for axis, size in enumerate(input_shape)]
        if self.input_mean is not None:
            self._choose_part(self.mean, self.variance)
        super().build(input_shape)
        if self.input_mean is None:
            self.count = self.add_weight(shape=(), name="count", dtype="int64", initializer="zeros", trainable=False)

    def adapt(self, data):
        """Finds mean and variance of an array, a tensor, or the batches of a dataset or iterable."""
        if self.input_mean is not None:
            raise ValueError("Normalization was given mean and variance; there is nothing to adapt")
        total, squares, count = 0.0, 0.0, 0
        for batch in self._batches(data):
            batch = np.asarray(batch, np.float64)
            if not self.built:
                self.build((None, *batch.shape[1:]))
            places = self._places(batch.ndim)
            if [size if axis in places else 1 for axis, size in enumerate(batch.shape)] != self._kept:
                raise ValueError(f"The layer keeps dimensions of the sizes {self._kept} (1: any), but adapt() is being "
                                 f"called with data with an incompatible shape, data.shape={batch.shape}")
            others = tuple(axis for axis in range(batch.ndim) if axis not in places)
            total, squares = total + batch.sum(others), squares + np.square(batch).sum(others)
            count += int(np.prod([batch.shape[axis] for axis in others]))
        if not count:
            raise ValueError("adapt() received an empty iterable (no batches). Expected at least one batch.")
        mean = total / count
        self.adapt_mean.assign(mean.astype(np.float32))
        self.adapt_variance.assign(np.maximum(squares / count - mean * mean, 0).astype(np.float32))

    def _batches(self, data):
        """The inputs of the batches. TypeError where they are no arrays."""
        if hasattr(data, "shape"):
            data = [data]
        elif hasattr(data, "element_spec"):
            spec = data.element_spec[0] if isinstance(data.element_spec, tuple) else data.element_spec
            data = data.batch(128) if spec.shape.rank == 1 else data
        elif not hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):
            raise TypeError(f"Unsupported data type: {type(data)}. `adapt` takes an array, a tensor, a dataset, or "
                            "batches of an iterable")
        for batch in data:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            if not hasattr(batch, "shape"):
                raise TypeError("adapt() expects arrays or tensors with a `.shape` attribute; an iterable yielded "
                                f"{type(batch).__name__}")
            yield batch

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "mean": _listed(self.input_mean), "variance": _listed(self.input_variance)}


def _set_found(layer, name, made):
    """Sets a weight that was found; the values that were given are kept elsewhere."""
    if isinstance(made, Variable):
        object.__setattr__(layer, name, made)


def _listed(values):
    return None if values is None else np.asarray(values).tolist()
