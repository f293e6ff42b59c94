"""``tf.experimental.numpy.random``: numpy's random numbers, drawn as TensorFlow's."""

import leat as tf
from leat.experimental.numpy.functions import default_of
from leat.experimental.numpy.types import OF_FLOATS, asarray

__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]


def seed(s):
    """Sets the seed of all random numbers (``tf.random.set_seed``)."""
    tf.random.set_seed(int(s) % 2 ** 31)


def _dims(size):
    return [] if size is None else [size] if isinstance(size, int) else size


def randn(*args):
    """Numbers of a normal distribution, in the shape of the arguments."""
    return standard_normal(args or None)


def standard_normal(size=None):
    """Numbers of a normal distribution."""
    return tf.random.normal(_dims(size), dtype=OF_FLOATS)


def rand(*size):
    """Numbers from 0 to 1, in the shape of the arguments."""
    return uniform(0.0, 1.0, size)


def random(size=None):
    """Numbers from 0 to 1."""
    return uniform(0.0, 1.0, size)


def uniform(low=0.0, high=1.0, size=None):
    """Numbers from one bound to another."""
    low, high = (tf.cast(asarray(one), OF_FLOATS) for one in (low, high))
    size = tf.broadcast_static_shape(low.shape, high.shape) if size is None else _dims(size)
    return low + (high - low) * tf.random.uniform(size, dtype=OF_FLOATS)


def randint(low, high=None, size=None, dtype=int):
    """Integers below a bound."""
    low, high = (0, low) if high is None else (low, high)
    return tf.random.uniform(_dims(size), low, high, dtype=default_of(dtype))


def poisson(lam=1.0, size=None):
    """Numbers of a Poisson distribution, int64."""
    return tf.cast(tf.random.poisson(_dims(size), lam, dtype=OF_FLOATS), tf.int64)
