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


@pytest.mark.parametrize("key", [
    0, -1, None, slice(None), slice(1, None), slice(None, None, -1), (0, -1, 2), (slice(None), 1), (None, 0), ...,
    (..., None), (0, ..., None), (..., 0), (..., -1, None), (..., slice(1, None)), (0, ..., 1), (..., 0, slice(None)),
    (None, slice(None), slice(1, None, 2))])
def test_tensors_of_unknown_rank(key):
    values = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    part = tf.function(lambda x: x[key], input_signature=[tf.TensorSpec(None, tf.float32)])
    assert part.get_concrete_function().output_shapes.rank is None
    x = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = part(x)
        y = tf.reduce_sum(found ** 2)
    assert np.array_equal(found.numpy(), values[key])
    expected = np.zeros_like(values)
    expected[key] += 2 * values[key]
    assert np.array_equal(tape.gradient(y, x).numpy(), expected)


def test_tensors_of_unknown_rank_are_checked():
    signature = [tf.TensorSpec(None, tf.float32), tf.TensorSpec([], tf.int32)]
    part = tf.function(lambda x, i: x[i], input_signature=signature)
    assert part([1.0, 2.0], -1).numpy() == 2
    for place in (2, -3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            part([1.0, 2.0], place)
    made = tf.data.Dataset.from_generator(lambda: iter([[1, 2], [3, 4]]), tf.int32).map(lambda x: x[1])
    assert list(made.as_numpy_iterator()) == [2, 4] and made.element_spec.shape.rank is None
    grown = tf.data.Dataset.range(2).reduce(tf.zeros([]), lambda state, _: state[None])
    assert grown.numpy().tolist() == [[0.0]]
