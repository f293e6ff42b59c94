"""What makes first values: ``tf.zeros_initializer`` and its like, called with a shape and a dtype."""

from leat import dtypes, random
from leat._core.tensor import constant
from leat._graph.creation import ones, zeros

__all__ = ["constant_initializer", "ones_initializer", "random_normal_initializer", "random_uniform_initializer",
           "zeros_initializer"]


class _Initializer:
    """Its arguments are attributes, and its configuration."""

    _names = ()

    def get_config(self):
        """The arguments as a dictionary."""
        return {name: getattr(self, name) for name in self._names}

    @classmethod
    def from_config(cls, config):
        """An initializer of the arguments of ``get_config``; a "dtype" among them is passed over."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


def _only(dtype, what, allowed):
    dtype = dtypes.as_dtype(dtype)
    if not allowed(dtype):
        raise ValueError(f"Expected {what} dtype, got {dtype}.")
    return dtype


class zeros_initializer(_Initializer):
    """Zeros (``tf.zeros_initializer``)."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        return zeros(shape, _only(dtype, "numeric or boolean", lambda d: d.is_numeric or d is dtypes.bool))


class ones_initializer(_Initializer):
    """Ones (``tf.ones_initializer``)."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        return ones(shape, _only(dtype, "numeric or boolean", lambda d: d.is_numeric or d is dtypes.bool))


class constant_initializer(_Initializer):
    """A number, or a list of as many values as the shape has (``tf.constant_initializer``)."""

    _names = ("value",)

    def __init__(self, value=0, support_partition=False):
        self.value = value

    def __call__(self, shape, dtype=None, **kwargs):
        return constant(self.value, None if dtype is None else dtypes.as_dtype(dtype), shape)


class random_normal_initializer(_Initializer):
    """Numbers of a normal distribution (``tf.random_normal_initializer``)."""

    _names = ("mean", "stddev", "seed")

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        dtype = _only(dtype, "floating point", lambda d: d.is_floating)
        return random.normal(shape, self.mean, self.stddev, dtype, self.seed)


class random_uniform_initializer(_Initializer):
    """Numbers of a uniform distribution (``tf.random_uniform_initializer``)."""

    _names = ("minval", "maxval", "seed")

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        dtype = _only(dtype, "floating point or integer", lambda d: d.is_floating or d.is_integer)
        return random.uniform(shape, self.minval, self.maxval, dtype, self.seed)
