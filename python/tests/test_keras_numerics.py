"""The first tensor that is not finite, named with its batch."""

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


def fails(made, x, y, text, method="fit"):
    before = made.get_weights()
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        if method == "fit":
            made.fit(x, y, batch_size=2, shuffle=False, verbose=0)
        else:
            made.evaluate(x, y, batch_size=2, verbose=0)
    return before


def test_inputs_are_named_with_their_batch():
    x, y = data()
    x[5, 1] = np.nan
    fails(model(keras.layers.Dense(1)), x, y, "batch 2, after 2 steps of training: .*input 0 of the batch has values")
    x, y = data()
    y[0] = np.inf
    fails(model(keras.layers.Dense(1)), x, y, "batch 0, after 0 steps of training: .*label 0 of the batch")


def test_the_first_layer_is_named():
    log = keras.layers.Lambda(lambda x: tf.math.log(x - 1.0), name="logarithm")
    made = model(keras.layers.Dense(2, name="first", kernel_initializer="zeros", bias_initializer="ones"), log,
                 keras.layers.Dense(1, name="last"))
    x, y = data()
    fails(made, x, y, r"the output of layer 'logarithm' \(Lambda\) has values that are infinite or not a number")
    fails(made, x, y, "batch 0, after 0 steps of training: .*'logarithm'", method="evaluate")


def test_a_gradient_is_named_and_weights_stay():
    root = keras.layers.Lambda(lambda x: tf.math.sqrt(x))
    made = model(keras.layers.Dense(2, name="first", kernel_initializer="zeros"), root, keras.layers.Dense(1))
    x, y = data()
    before = fails(made, x, y, "the gradient of '.*first/kernel' has values")
    for found, expected in zip(made.get_weights(), before):
        np.testing.assert_array_equal(found, expected)


def test_a_loss_that_overflows_is_named():
    x, y = data()
    fails(model(keras.layers.Dense(1)), x, y * 1e30, "the loss has values")


def test_nothing_is_checked_by_default():
    made = model(keras.layers.Dense(1))
    x, y = data()
    tf.debugging.disable_check_numerics()
    history = made.fit(x * np.nan, y, verbose=0).history
    assert np.isnan(history["loss"][0])
    tf.debugging.enable_check_numerics()
    fails(made, x * np.nan, y, "input 0 of the batch")


def test_outside_of_fit_layers_are_checked_at_once():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'dense.*'"):
        keras.layers.Dense(1)(np.full((1, 2), np.inf, np.float32))
