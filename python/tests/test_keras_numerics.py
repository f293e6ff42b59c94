"""The first tensor that is not finite, named with its batch."""

import re

import numpy as np
import pytest

import leat as tf
from leat import keras


@pytest.fixture(autouse=True)
def checked():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def model(*layers, optimizer=None):
    made = keras.Sequential([keras.Input((3,)), *layers])
    made.compile(optimizer or keras.optimizers.SGD(0.1), "mse")
    return made


def data(rows=8):
    x = np.ones((rows, 3), np.float32)
    return x, np.ones((rows, 1), np.float32)


def fails(made, x, y, word, method="fit", batch=0):
    before = made.get_weights()
    with pytest.raises(tf.errors.InvalidArgumentError, match=word) as found:
        if method == "fit":
            made.fit(x, y, batch_size=2, shuffle=False, verbose=0)
        else:
            made.evaluate(x, y, batch_size=2, verbose=0)
    assert re.search(rf"\b{batch}\b", str(found.value))
    return before


def test_inputs_are_named_with_their_batch():
    x, y = data()
    x[5, 1] = np.nan
    fails(model(keras.layers.Dense(1)), x, y, "input", batch=2)
    x, y = data()
    y[0] = np.inf
    fails(model(keras.layers.Dense(1)), x, y, "label")


def test_the_first_layer_is_named():
    log = keras.layers.Lambda(lambda x: tf.math.log(x - 1.0), name="logarithm")
    made = model(keras.layers.Dense(2, name="first", kernel_initializer="zeros", bias_initializer="ones"), log,
                 keras.layers.Dense(1, name="last"))
    x, y = data()
    fails(made, x, y, "'logarithm'")
    fails(made, x, y, "'logarithm'", method="evaluate")


def test_a_gradient_is_named_and_weights_stay():
    root = keras.layers.Lambda(lambda x: tf.math.sqrt(x))
    made = model(keras.layers.Dense(2, name="first", kernel_initializer="zeros"), root, keras.layers.Dense(1))
    x, y = data()
    before = fails(made, x, y, "first/kernel")
    for found, expected in zip(made.get_weights(), before):
        np.testing.assert_array_equal(found, expected)


def test_a_loss_that_overflows_is_named():
    x, y = data()
    fails(model(keras.layers.Dense(1)), x, y * 1e30, "loss")


def test_nothing_is_checked_by_default():
    made = model(keras.layers.Dense(1))
    x, y = data()
    tf.debugging.disable_check_numerics()
    history = made.fit(x * np.nan, y, verbose=0).history
    assert np.isnan(history["loss"][0])
    tf.debugging.enable_check_numerics()
    fails(made, x * np.nan, y, "input")


def test_outside_of_fit_layers_are_checked_at_once():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'dense"):
        keras.layers.Dense(1)(np.full((1, 2), np.inf, np.float32))
