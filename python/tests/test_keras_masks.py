"""Masks as Keras 3 hands them on: keras_masks.py recorded what layers, losses and metrics make of them."""

import json
import pathlib

import keras_masks
import numpy as np
import pytest

import leat as tf

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_masks.json").read_text())
FOUND = {}


@pytest.mark.parametrize("name", list(RECORDED))
def test_masks_are_those_of_keras(name):
    if not FOUND:
        FOUND.update(keras_masks.models(tf.keras))
        FOUND.update(keras_masks.masks(tf, tf.keras))
    if name in ("pooled", "evaluate", "weighted", "fit", "softmax", "mine", "penalty"):
        np.testing.assert_allclose(FOUND[name], RECORDED[name], rtol=1e-5)
    else:
        assert FOUND[name] == RECORDED[name]


def test_masks_and_configurations():
    layers = tf.keras.layers
    assert layers.Embedding(3, 2, mask_zero=True).get_config()["mask_zero"] is True
    assert layers.Masking(2.0).get_config()["mask_value"] == 2.0
    assert not layers.Embedding(3, 2).supports_masking and layers.Dense(1).supports_masking
    masked = layers.Masking()(tf.constant(keras_masks.X))
    with pytest.raises(NotImplementedError, match="is given a mask in training"):
        layers.BatchNormalization()(masked, training=True)
    assert keras_masks.mask_of(layers.BatchNormalization()(masked)) == keras_masks.mask_of(masked)


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="LSTM is UNIMPLEMENTED: recurrent layers"):
        tf.keras.layers.LSTM
    with pytest.raises(AttributeError, match="no attribute 'Dens'"):
        tf.keras.layers.Dens


def test_errors_name_the_layer_before():
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(3, name="first"), layers.Conv2D(2, 3, name="second")])
    with pytest.raises(ValueError, match="layer 'second'.*expected min_ndim=4, found ndim=2") as caught:
        model(np.ones((2, 5), np.float32))
    assert any("(Conv2D), given" in note and "by layer 'first'" in note for note in caught.value.__notes__)
