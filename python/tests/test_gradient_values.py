"""Gradients of operations are TensorFlow's, eagerly, in functions and through persistent and nested tapes."""

import json
import pathlib

import gradient_values
import numpy as np
import pytest

import leat as tf

EXPECTED = json.loads((pathlib.Path(__file__).with_name("data") / "gradient_values.json").read_text())
CASES = {name: (function, inputs) for name, function, inputs in gradient_values.cases(tf)}


def check(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6 * max(1, np.max(np.abs(other), initial=0)))


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded(name):
    function, inputs = CASES[name]
    check(gradient_values.gradients(tf, function, inputs), EXPECTED[name])


@pytest.mark.parametrize("name", EXPECTED)
def test_in_functions(name):
    function, inputs = CASES[name]
    if None in EXPECTED[name]:
        pytest.skip("a result of a function is no None")

    @tf.function
    def traced(*values):
        with tf.GradientTape() as tape:
            for value in values:
                tape.watch(value)
            result = tf.reshape(tf.cast(function(*values), tf.float32), [-1])
            total = tf.reduce_sum(result * tf.range(1., tf.cast(tf.size(result), tf.float32) + 1))
        return tape.gradient(total, list(values))
    found = traced(*[tf.constant(value, tf.float32) for value in inputs])
    check([gradient.numpy().reshape(-1).tolist() for gradient in found], EXPECTED[name])


SMOOTH = "cos cosh erf exp sigmoid sin softplus square tanh atan log_softmax softmax".split()


@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives(name):
    function, inputs = CASES[name]
    x = tf.constant(inputs[0], tf.float64)

    def slope(values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            y = tf.reduce_sum(function(values) ** 2)
        return tape.gradient(y, values)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        weights = tf.constant([[1., 2., 3.], [4., 5., 6.]], tf.float64)
        total = tf.reduce_sum(slope(x) * weights)
    found = outer.gradient(total, x).numpy()
    step = 1e-5
    for i in range(2):
        for k in range(3):
            moved = np.zeros([2, 3])
            moved[i, k] = step
            above, below = (float(tf.reduce_sum(slope(tf.constant(x.numpy() + sign * moved)) * weights))
                            for sign in (1, -1))
            np.testing.assert_allclose(found[i, k], (above - below) / (2 * step), rtol=1e-5, atol=1e-6)
