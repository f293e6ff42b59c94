"""Layers that Keras keeps for old programs."""

import leat as tf
from leat.keras import random
from leat.keras._base.layer import Layer


class _Stretched(Layer):
    """Pictures in a drawn size along one direction; `_axis` is its place from behind."""

    _axis, _casts_inputs = None, True
    _training_default = True

    def __init__(self, factor, interpolation="bilinear", seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = random.SeedGenerator(seed)
        low, high = self._bounds = factor if isinstance(factor, (tuple, list)) else (-factor, factor)
        if high < low:
            raise ValueError("`factor` argument cannot have an upper bound lesser than the lower bound. Received: "
                             f"factor={factor}")
        if low < -1.0 or high < -1.0:
            raise ValueError(f"`factor` argument must have values larger than -1. Received: factor={factor}")
        self.factor, self.interpolation, self.seed = factor, interpolation, seed

    def call(self, inputs, training=True):
        """The pictures in another size, in training."""
        inputs = tf.cast(tf.convert_to_tensor(inputs), self.compute_dtype)
        if not training:
            return inputs
        sizes, place = [tf.shape(inputs)[-3], tf.shape(inputs)[-2]], self._axis + 3
        drawn = random.uniform([], 1.0 + self._bounds[0], 1.0 + self._bounds[1], seed=self.seed_generator)
        sizes[place] = tf.cast(drawn * tf.cast(sizes[place], "float32"), "int32")
        found = tf.cast(tf.image.resize(inputs, tf.stack(sizes), self.interpolation), self.compute_dtype)
        return tf.ensure_shape(found, self.compute_output_shape(inputs.shape))

    def compute_output_shape(self, input_shape):
        """The shape with the size that is drawn unknown."""
        shape = list(input_shape)
        shape[self._axis] = None
        return tuple(shape)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "factor": self.factor, "interpolation": self.interpolation, "seed": self.seed}


class RandomHeight(_Stretched):
    """Pictures in a drawn height, within a part `factor` of theirs (``keras.layers.RandomHeight``)."""

    _axis = -3


class RandomWidth(_Stretched):
    """Pictures in a drawn width, within a part `factor` of theirs (``keras.layers.RandomWidth``)."""

    _axis = -2


class ThresholdedReLU(Layer):
    """x above `theta`, else 0 (``keras.layers.ThresholdedReLU``)."""

    def __init__(self, theta=1.0, **kwargs):
        super().__init__(**kwargs)
        if theta is None:
            raise ValueError("Theta of a Thresholded ReLU layer cannot be None, expecting a float. Received: None")
        if theta < 0:
            raise ValueError(f"The theta value of a Thresholded ReLU layer should be >=0. Received: {theta}")
        self.supports_masking, self.theta = True, theta

    def call(self, inputs):
        """The values that are above it."""
        return inputs * tf.cast(inputs > tf.cast(self.theta, inputs.dtype), inputs.dtype)

    def compute_output_shape(self, input_shape):
        """The input's."""
        return input_shape

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "theta": float(self.theta)}
