"""``keras.layers``: the layers of the library's table, and those that are written in Python."""

import numpy as np

from leat.keras import tables
from leat.keras.layer import InputSpec, KerasTensor, Layer, Node, TableLayer  # noqa: F401

for _entry in tables.entries("layer"):
    globals()[_entry["name"]] = tables.make_class("layer", _entry, TableLayer, __name__, TableLayer._setup, "kwargs")


class InputLayer(Layer):
    """Says what a model takes (``keras.layers.InputLayer``): `shape` of one example, `batch_size`, `dtype`."""

    def __init__(self, shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None,
                 input_tensor=None, optional=False, name=None, **kwargs):
        shape = kwargs.pop("input_shape", shape)
        super().__init__(name=name, dtype=dtype, **kwargs)
        if sparse or ragged or input_tensor is not None:
            raise NotImplementedError("InputLayer: sparse, ragged and input_tensor are not supported; leave them out")
        if shape is not None and batch_shape is not None:
            raise ValueError("You cannot pass both `shape` and `batch_shape` at the same time.")
        if shape is None and batch_shape is None:
            raise ValueError("You must pass a `shape` argument.")
        if batch_shape is None:
            batch_shape = (batch_size, *((shape,) if isinstance(shape, int) else shape))
        self.batch_shape = tuple(batch_shape)
        self._input_dtype = dtype or "float32"
        self.optional = optional
        self.built = True
        Node(self, (), {}, KerasTensor(self.batch_shape, self._input_dtype, name=self.name))

    dtype = property(lambda self: self._input_dtype)

    def call(self, *args):
        """Its input."""
        return args[0] if args else self.output

    def get_config(self):
        """The arguments that make another one like it."""
        return {"batch_shape": self.batch_shape, "dtype": self.dtype, "sparse": False, "ragged": False,
                "name": self.name, "optional": self.optional}


def Input(shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, name=None, tensor=None,
          optional=False):
    """What a model takes, as the start of its layers (``keras.Input``): a KerasTensor of (batch, *shape)."""
    return InputLayer(shape=shape, batch_size=batch_size, dtype=dtype, sparse=sparse, ragged=ragged,
                      batch_shape=batch_shape, input_tensor=tensor, optional=optional, name=name).output


class Activation(Layer):
    """Applies an activation (``keras.layers.Activation``), by name or as a function."""

    def __init__(self, activation, **kwargs):
        from leat.keras import activations
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.built = True

    def call(self, inputs):
        """The activation of the input."""
        return self.activation(inputs)

    def get_config(self):
        """The arguments that make another one like it."""
        from leat.keras import activations
        return {**super().get_config(), "activation": activations.serialize(self.activation)}


class Lambda(Layer):
    """Applies a function of tensors (``keras.layers.Lambda``)."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.function, self.arguments = function, arguments or {}
        self.built = True

    def call(self, inputs):
        """The function of the input."""
        return self.function(inputs, **self.arguments)


class Normalization(globals()["Normalization"]):  # the table's class, and what looks at data
    """The input less a mean, divided by the root of a variance (``keras.layers.Normalization``).

    Both are given, or found by `adapt`. `axis`: dimensions of which each place has numbers of its own. `invert`: the
    other way.
    """

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        if axis is None or axis == ():
            raise NotImplementedError("Normalization: one mean for all axes, axis=None, is unsupported; name the axes")
        super().__init__(axis=axis, mean=mean, variance=variance, invert=invert, **kwargs)

    def build(self, input_shape=None):
        """Makes the weights that `adapt` fills, where mean and variance were not given."""
        super().build(input_shape)
        if self._given.get("mean") is None:
            self.count = self.add_weight(shape=(), name="count", dtype="int32", initializer="zeros", trainable=False)

    def adapt(self, data):
        """Finds mean and variance of an array, a tensor, or the batches of a dataset or iterable."""
        if self._given.get("mean") is not None:
            raise ValueError("Normalization was given mean and variance; there is nothing to adapt")
        total, squares, count, kept = 0.0, 0.0, 0, None
        for batch in [data] if hasattr(data, "shape") else data:
            batch = np.asarray(batch[0] if isinstance(batch, (list, tuple)) else batch, np.float64)
            if not self.built:
                self._build_from_config((None, *batch.shape[1:]))
            axis = self.axis if isinstance(self.axis, (list, tuple)) else (self.axis,)
            kept = {place % batch.ndim for place in axis}
            others = tuple(place for place in range(batch.ndim) if place not in kept)
            total, squares = total + batch.sum(others), squares + np.square(batch).sum(others)
            count += int(np.prod([batch.shape[place] for place in others]))
        if not count:
            raise ValueError("adapt() received an empty iterable (no batches). Expected at least one batch.")
        mean = total / count
        self.mean.assign(mean.astype(np.float32))
        self.variance.assign(np.maximum(squares / count - mean * mean, 0).astype(np.float32))

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "mean": self._given.get("mean"), "variance": self._given.get("variance")}


class Identity(Layer):
    """Gives its input back (``keras.layers.Identity``)."""

    def call(self, inputs):
        """The input."""
        return inputs


def _merging(name):
    def merge(inputs, **kwargs):
        return globals()[name](**kwargs)(inputs)
    merge.__name__ = merge.__qualname__ = name.lower()
    merge.__doc__ = f"The layer {name} called with `inputs` (``keras.layers.{name.lower()}``)."
    return merge


def _concatenate(inputs, axis=-1, **kwargs):
    """The layer Concatenate called with `inputs` (``keras.layers.concatenate``)."""
    return Concatenate(axis=axis, **kwargs)(inputs)  # noqa: F821 (of the table)


def _dot(inputs, axes=-1, **kwargs):
    """The layer Dot called with `inputs` (``keras.layers.dot``)."""
    return Dot(axes=axes, **kwargs)(inputs)  # noqa: F821 (of the table)


for _name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"):
    globals()[_name.lower()] = _merging(_name)
concatenate, dot = _concatenate, _dot


def serialize(layer):
    """A layer's configuration (``keras.layers.serialize``)."""
    from leat.keras import saving
    return saving.serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer of a configuration (``keras.layers.deserialize``). TypeError for an unknown class."""
    from leat.keras import saving
    return saving.deserialize_keras_object(config, custom_objects)


def _aliases():
    """Keras' other names: MaxPool2D, Convolution2D and their like."""
    for begin, other in (("MaxPooling", "MaxPool"), ("AveragePooling", "AvgPool"), ("Conv", "Convolution"),
                         ("GlobalAveragePooling", "GlobalAvgPool"), ("GlobalMaxPooling", "GlobalMaxPool"),
                         ("SeparableConv", "SeparableConvolution")):
        for end in ("1D", "2D", "3D", "1DTranspose", "2DTranspose", "3DTranspose"):
            if begin + end in globals():
                globals()[other + end] = globals()[begin + end]


_aliases()

__all__ = [name for name in globals() if name[0].isupper()] + [
    "add", "average", "concatenate", "deserialize", "dot", "maximum", "minimum", "multiply", "serialize", "subtract"]
