"""Layers that normalize, and do more than the library's: masks, and numbers that are found in data."""

import warnings

import numpy as np

from leat._core.tensor import convert_to_tensor
from leat.keras import backend, ops as whole
from leat.keras._base import registry, tables
from leat.keras._base.named import op as _op
from leat.keras._base.variables import Variable
from leat.keras.layers.table import TableLayer


class LayerNormalization(TableLayer):
    """Each row without its own mean and variance (``keras.layers.LayerNormalization``).

    `rms_scaling`: instead divided by its deviation, times gamma alone; deprecated in favour of RMSNormalization.
    `axis` is a list once the layer is built.
    """

    _entry = tables.entry_of("layer", "LayerNormalization")

    def _setup(self, given, others):
        others = dict(others)
        rms_scaling, asked = others.pop("rms_scaling", False), {name: given[name] for name in ("center", "scale")}
        if not isinstance(given["axis"], (int, list, tuple)):
            raise TypeError("Expected an int or a list/tuple of ints for the argument 'axis', but received: "
                            f"{given['axis']!r}")
        if rms_scaling:
            warnings.warn("rms_scaling=True is deprecated: it divides by the deviation and not by the root of the mean "
                          "square. Use keras.layers.RMSNormalization", stacklevel=4)
            given = {**given, "center": False, "scale": True}
        super()._setup(given, others)
        self.rms_scaling, self._given = rms_scaling, {**self._given, **asked}
        self.center, self.scale = asked["center"], asked["scale"]
        if isinstance(self.axis, tuple):
            self._list_axes()

    def build(self, input_shape=None):
        """Makes the weights."""
        super().build(input_shape)
        self._list_axes()

    def _list_axes(self):
        axes = self.axis if isinstance(self.axis, (list, tuple)) else [self.axis]
        object.__setattr__(self, "axis", list(axes))

    def call(self, inputs, training=None):
        """The normalized values."""
        if not self.rms_scaling:
            return super().call(inputs, training)
        outputs = whole.layer_normalization(inputs, self.gamma, None, self.axis, self.epsilon, rms_scaling=True)
        return _op("cast", outputs, self.compute_dtype)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "rms_scaling": self.rms_scaling}


class Rescaling(TableLayer):
    """The input as floats of the layer times a scale, plus an offset (``keras.layers.Rescaling``).

    Numbers or vectors of one for each channel, wherever `keras.config.image_data_format` says channels are.
    """

    _entry = tables.entry_of("layer", "Rescaling")

    def call(self, inputs, training=None):
        """The rescaled values."""
        if hasattr(inputs, "flat_values"):
            return super().call(inputs, training)
        inputs = _op("cast", inputs, self.compute_dtype)
        if backend.image_data_format() != "channels_first" or not np.ndim(self.scale) or inputs.shape.rank < 3:
            return super().call(inputs, training)
        scale, offset = (_op("cast", one, inputs.dtype) for one in (self.scale, self.offset))
        return inputs * scale[:, None, None] + (offset[:, None, None] if offset.shape.rank else offset)

    def get_config(self):
        """The arguments that make another one like it."""
        config = super().get_config()
        return {**config, **{name: registry.serialize_keras_object(config[name]) for name in ("scale", "offset")}}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**{**config, **{name: registry.deserialize_keras_object(config[name])
                                   for name in ("scale", "offset") if name in config}})


class BatchNormalization(TableLayer):
    """Values without their mean and variance, times gamma, plus beta (``keras.layers.BatchNormalization``).

    `renorm`: in training corrected by how far the batch is from moving averages, which `renorm_momentum` keeps;
    `renorm_clipping`: {"rmin", "rmax", "dmax"} of the correction.
    """

    _entry = tables.entry_of("layer", "BatchNormalization")

    def _setup(self, given, others):
        renorm = {name: given.pop(name) for name in ("renorm", "renorm_clipping", "renorm_momentum") if name in given}
        super()._setup(given, others)
        self._given.update(renorm)
        for name, value in renorm.items():
            object.__setattr__(self, name, value)
        if self.renorm:
            object.__setattr__(self, "renorm_clipping", _checked_clipping(self.renorm_clipping or {}))

    def build(self, input_shape=None):
        """Makes the weights."""
        super().build(input_shape)
        if not self.renorm:
            return

        def deviation(shape, dtype=None):
            return _op("sqrt", _another(self.moving_variance_initializer)(shape, dtype=dtype))
        for name, initializer in (("moving_stddev", deviation),
                                  ("renorm_mean", _another(self.moving_mean_initializer)),
                                  ("renorm_stddev", deviation)):
            setattr(self, name, self.add_weight(shape=self.moving_mean.shape, name=name, initializer=initializer,
                                                trainable=False, autocast=False))

    def call(self, inputs, training=None, mask=None):
        """The input with the batch's mean and variance taken out, in inference those of training."""
        if not training or not self.trainable or mask is None and not self.renorm:
            return super().call(inputs, training)
        if self.synchronized:
            raise NotImplementedError(f"BatchNormalization '{self.name}' is synchronized, which does not go together "
                                      f"with {'a mask' if mask is not None else 'renorm'}; leave synchronized at "
                                      "False, or use LayerNormalization")
        inputs = convert_to_tensor(inputs)
        wide = inputs if inputs.dtype.name == "float64" else _op("cast", inputs, "float32")
        return _op("cast", self._composed_call(wide, mask), self.compute_dtype)

    def _composed_call(self, inputs, mask):
        """The same put together of operations."""
        rank = inputs.shape.rank
        others = [axis for axis in range(rank) if axis != self.axis % rank]
        shape = [inputs.shape[axis] if axis == self.axis % rank else 1 for axis in range(rank)]

        def spread(vector):
            return _op("reshape", vector, shape)
        mean, variance = self._moments(inputs, mask, others, spread)
        scale = _op("cast", self.gamma, inputs.dtype) if self.scale else None
        offset = _op("cast", self.beta, inputs.dtype) if self.center else None
        if self.renorm:
            factor, shift = self._corrections(mean, variance)
            added = shift if scale is None else shift * scale
            scale = factor if scale is None else factor * scale
            offset = added if offset is None else added + offset
        else:
            self._move(self.momentum, moving_mean=mean, moving_variance=variance)
        outputs = (inputs - spread(mean)) * spread(_op("math.rsqrt", variance + self.epsilon))
        if scale is not None:
            outputs = outputs * spread(scale)
        return outputs if offset is None else outputs + spread(offset)

    @staticmethod
    def _moments(inputs, mask, others, spread):
        """Mean and variance of the batch, of what the mask lets count."""
        if mask is None:
            return whole.moments(inputs, others)
        counted = _op("zeros_like", inputs) + _op("cast", _op("expand_dims", mask, -1), inputs.dtype)
        total = _op("reduce_sum", counted, others) + 1e-7
        mean = _op("reduce_sum", _op("math.multiply_no_nan", inputs, counted), others) / total
        apart = inputs - spread(mean)
        return mean, _op("reduce_sum", _op("math.multiply_no_nan", _op("square", apart), counted), others) / total

    def _move(self, momentum, **found):
        """Moves averages, by their names, towards what was found."""
        for name, value in found.items():
            moving = getattr(self, name)
            moved = _op("cast", moving, value.dtype) * momentum + _op("stop_gradient", value) * (1 - momentum)
            moving.assign(_op("cast", moved, moving.dtype))

    def _corrections(self, mean, variance):
        """By what values that were normalized are multiplied, and what is added. Moves the averages."""
        deviation, clipping = _op("sqrt", variance + self.epsilon), self.renorm_clipping
        usual = _op("maximum", _op("cast", self.renorm_stddev, mean.dtype), self.epsilon ** 0.5)
        factor = _op("stop_gradient", deviation / usual)
        shift = _op("stop_gradient", (mean - _op("cast", self.renorm_mean, mean.dtype)) / usual)
        if clipping.get("rmin") is not None:
            factor = _op("maximum", factor, clipping["rmin"])
        if clipping.get("rmax") is not None:
            factor = _op("minimum", factor, clipping["rmax"])
        if clipping.get("dmax") is not None:
            shift = _op("clip_by_value", shift, -clipping["dmax"], clipping["dmax"])
        self._move(self.renorm_momentum, renorm_mean=mean, renorm_stddev=deviation)
        self._move(self.momentum, moving_mean=mean, moving_stddev=deviation)
        moved = _op("square", _op("cast", self.moving_stddev, mean.dtype)) - self.epsilon
        self.moving_variance.assign(_op("cast", _op("nn.relu", moved), self.moving_variance.dtype))
        return factor, shift


def _another(initializer):
    """An initializer of the same arguments, which draws anew."""
    return type(initializer).from_config(initializer.get_config()) if hasattr(initializer, "from_config") else (
        initializer)


def _checked_clipping(clipping):
    names = ("rmax", "rmin", "dmax")
    if set(clipping) - set(names):
        raise ValueError(f"Received invalid keys for `renorm_clipping` argument: {clipping}. Supported values: "
                         f"{list(names)}.")
    largest, least, shift = (clipping.get(name) for name in names)
    if largest is not None and least is not None and largest < least:
        raise ValueError("rmax should be greater than rmin in the `renorm_clipping` argument. Received: "
                         f"rmax={largest}, rmin={least}.")
    if shift is not None and shift < 0:
        raise ValueError(f"dmax should be non-negative in the `renorm_clipping` argument. Received: dmax={shift}.")
    return clipping


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
