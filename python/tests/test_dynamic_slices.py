"""Slices along dimensions whose lengths only the run knows. Expected values are numpy's, which are TensorFlow's."""

import numpy as np
import pytest

import leat as tf

pytestmark = pytest.mark.usefixtures("traced")

values = np.arange(7 * 9 * 3, dtype=np.float32).reshape(7, 9, 3)
BOUNDS = (None, -20, -3, 0, 2, 8)


def mapped(function):
    """What the function makes of the values, of which it knows the number of dimensions alone."""
    ds = tf.data.Dataset.from_generator(lambda: iter([values]), output_signature=tf.TensorSpec([None] * 3, tf.float32))
    return next(iter(ds.map(function))).numpy()


@pytest.mark.parametrize("step", [None, 1, 2, -1])
@pytest.mark.parametrize("start", BOUNDS)
def test_known_bounds(start, step):
    for stop in BOUNDS:
        key = (slice(start, stop, step), slice(stop, start))
        np.testing.assert_array_equal(mapped(lambda t, key=key: t[key]), values[key])


@pytest.mark.parametrize("start", BOUNDS[1:])
def test_computed_bounds(start):
    def part(t):
        nothing = tf.cast(tf.reduce_sum(t) * 0, tf.int32)
        return t[start + nothing:, :nothing - 2, ::2]
    np.testing.assert_array_equal(mapped(part), values[start:, :-2, ::2])


def test_gradient():
    @tf.function(input_signature=[tf.TensorSpec([None, None, None], tf.float32), tf.TensorSpec([], tf.int32)])
    def gradient(x, start):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.square(x[start:, 1:-1]))
        return tape.gradient(y, x)
    wanted = np.zeros_like(values)
    wanted[2:, 1:-1] = 2 * values[2:, 1:-1]
    np.testing.assert_array_equal(gradient(tf.constant(values), tf.constant(2)).numpy(), wanted)


def test_no_step():
    with pytest.raises(ValueError, match="strides"):
        mapped(lambda t: t[::0])
