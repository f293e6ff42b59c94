"""Layers without lines in the tables beside Keras' own: keras_newest.py records what Keras gives."""

import json
import pathlib

import keras_newest
import pytest
from test_keras_recurrent import close

import leat as tf
from leat import keras

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_newest.json").read_text())


@pytest.mark.parametrize("name", RECORDED["layers"])
def test_layers(name):
    make, x, call = keras_newest.differentiable(keras)[name]
    close(keras_newest.seen(tf, make(), x, **dict(call)), RECORDED["layers"][name])


def test_configurations():
    assert json.loads(json.dumps(keras_newest.configurations(keras))) == RECORDED["configurations"]


def test_shapes():
    assert keras_newest.shapes(keras) == RECORDED["shapes"]


def test_trained():
    close(keras_newest.trained(keras), RECORDED["trained"])


def test_channels_first():
    """TensorFlow has no such convolution without a GPU; the same numbers with the channels moved."""
    x = keras_newest.wave(2, 3, 5, 4, 2)
    keras.utils.set_random_seed(1)
    last = keras.layers.ConvLSTM2D(2, (3, 2), return_sequences=True)
    first = keras.layers.ConvLSTM2D(2, (3, 2), return_sequences=True, data_format="channels_first")
    wanted = last(x)
    first.build((2, 3, 2, 5, 4))
    first.set_weights(last.get_weights())
    close(tf.transpose(first(x.transpose(0, 1, 4, 2, 3)), [0, 1, 3, 4, 2]).numpy().tolist(), wanted.numpy().tolist())
