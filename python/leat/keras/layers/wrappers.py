"""Layers around other layers: Wrapper, SpectralNormalization and Pipeline."""

from leat.keras import initializers
from leat.keras._base import masking, registry
from leat.keras._base.input_spec import InputSpec
from leat.keras._base.layer import Layer, _context, _map
from leat.keras._base.named import op as _op
from leat.keras._base.state import _scope_of


class Wrapper(Layer):
    """The base of layers around another one, `layer` (``keras.layers.Wrapper``)."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Layer {layer} supplied to Wrapper isn't a supported layer type. Please ensure wrapped "
                             "layer is a valid Keras layer.")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        """Builds the layer inside, if it is not yet."""
        if not self.layer.built:
            with _scope_of(self):
                self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "layer": registry.serialize_keras_object(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        others = dict(config)
        return cls(registry.deserialize_keras_object(others.pop("layer"), custom_objects), **others)


class SpectralNormalization(Wrapper):
    """Divides a layer's kernel or embeddings by its largest singular value (``keras.layers.SpectralNormalization``).

    It does so at each call in training, as far as `power_iterations` find that value; kernels of zeros stay.
    """

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError("`power_iterations` should be greater than zero. Received: "
                             f"`power_iterations={power_iterations}`")
        self.power_iterations = power_iterations

    def build(self, input_shape=None):
        """Builds the layer inside, and makes the vector that the iterations go on from."""
        super().build(input_shape)
        kernel = getattr(self.layer, "kernel", getattr(self.layer, "embeddings", None))
        if kernel is None:
            raise ValueError(f"{type(self.layer).__name__} object has no attribute 'kernel' nor 'embeddings'")
        self.input_spec = InputSpec(min_ndim=1, axes={-1: input_shape[-1]})
        self.kernel = kernel
        self.vector_u = self.add_weight(shape=(1, kernel.shape[-1]), dtype=kernel.dtype, trainable=False,
                                        name="vector_u", initializer=initializers.TruncatedNormal(stddev=0.02))

    def call(self, inputs, training=False):
        """What the layer makes of the input, with the divided weights."""
        if training:
            self._divide()
        return _op("cast", self.layer(inputs), inputs.dtype)

    def _divide(self):
        kernel, start = self.kernel.read_value(), self.vector_u.read_value()
        matrix, u = _op("reshape", kernel, [-1, kernel.shape[-1]]), start
        for _ in range(self.power_iterations):
            v = _unit(_op("matmul", u, matrix, transpose_b=True))
            u = _unit(_op("matmul", v, matrix))
        value = _op("matmul", _op("matmul", v, matrix), u, transpose_b=True)
        is_zero = _op("reduce_all", _op("equal", kernel, _op("zeros_like", kernel)))
        scaled = _op("reshape", kernel / value, kernel.shape)
        self.vector_u.assign(_op("where", is_zero, start, u))
        self.kernel.assign(_op("where", is_zero, kernel, scaled))

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "power_iterations": self.power_iterations}


def _unit(vector):
    """A vector of length 1 in the same direction."""
    return vector * _op("minimum", _op("math.rsqrt", _op("reduce_sum", vector * vector)), 1e12)


class Pipeline(Layer):
    """Layers one after the other, as one layer that also stands in datasets (``keras.layers.Pipeline``)."""

    _casts_inputs = False  # each layer does

    def __init__(self, layers, name=None):
        super().__init__(name=name)
        self._pipeline_layers = layers

    layers = property(lambda self: self._pipeline_layers)

    def __call__(self, inputs, training=None, **kwargs):
        if not isinstance(inputs, dict):
            return super().__call__(inputs, training=training, **kwargs)
        around = _context.training
        if training is not None:
            _context.training = training
        try:
            return self.call(inputs)  # of pictures and what belongs to them: each layer sees to it
        finally:
            _context.training = around

    def call(self, inputs, training=True, mask=None):
        """What the last layer gives; all are told what this one was told of training, the first of its mask."""
        for layer in self._pipeline_layers:
            inputs = layer(inputs, **({"mask": mask} if layer._signature().takes_mask else {}))
            mask = masking.masks_of(inputs, _map)
        return inputs

    def get_config(self):
        """The arguments that make another one like it."""
        return {"layers": [registry.serialize_keras_object(layer) for layer in self._pipeline_layers],
                "name": self.name}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        if not isinstance(config.get("layers"), (list, tuple)):
            raise ValueError("`Pipeline` config must contain a `layers` key mapping to a list of serialized layers. "
                             f"Received config with layers={config.get('layers')}.")
        return cls(**{**config, "layers": [registry.deserialize_keras_object(layer) for layer in config["layers"]]})
