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
        tf.keras.backend.clear_session()  # layers have their first names
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
    with pytest.raises(NotImplementedError, match="synchronized"):
        layers.BatchNormalization(synchronized=True)(masked, training=True)
    assert keras_masks.mask_of(layers.BatchNormalization()(masked)) == keras_masks.mask_of(masked)


@pytest.mark.parametrize("axis, is_traced", [(-1, False), (-1, True), (1, False)])
def test_masked_values_do_not_count_in_batch_normalisation(axis, is_traced):
    random = np.random.default_rng(8)
    x = random.normal(3, 2, (6, 4, 4)).astype(np.float32)
    mask = random.uniform(size=(6, 4)) > 0.4
    x[~mask] = np.nan if axis == -1 else 9
    layer = tf.keras.layers.BatchNormalization(axis=axis, momentum=0.75, epsilon=0.1)
    layer.build(x.shape)
    layer.gamma.assign([1, 2, 3, 4])
    call = tf.function(lambda: layer(x, training=True, mask=mask)) if is_traced else (
        lambda: layer(x, training=True, mask=mask))
    found = call().numpy()
    if axis == -1:
        mean, variance = x[mask].mean(0), x[mask].var(0)
        expected = (x - mean) / np.sqrt(variance + 0.1) * [1, 2, 3, 4]
    else:
        parts = [x[:, row][mask[:, row]] for row in range(4)]
        mean, variance = [part.mean() for part in parts], [part.var() for part in parts]
        expected = (x - np.reshape(mean, (4, 1))) / np.sqrt(np.reshape(variance, (4, 1)) + 0.1) * [[1], [2], [3], [4]]
    np.testing.assert_allclose(found[mask], expected[mask], atol=1e-5)
    np.testing.assert_allclose(layer.moving_mean, np.multiply(mean, 0.25), rtol=1e-5)
    np.testing.assert_allclose(layer.moving_variance, 0.75 + np.multiply(variance, 0.25), rtol=1e-5)


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="JaxLayer"):
        tf.keras.layers.JaxLayer
    with pytest.raises(AttributeError, match="'Dens'"):
        tf.keras.layers.Dens


def test_errors_name_the_layer_before():
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(3, name="first"), layers.Conv2D(2, 3, name="second")])
    with pytest.raises(ValueError, match="'second'") as caught:
        model(np.ones((2, 5), np.float32))
    assert any("(Conv2D), given" in note and "by layer 'first'" in note for note in caught.value.__notes__)


def test_masks_while_a_model_is_built():
    """As Keras 3.15 has them: a KerasTensor for each mask, and a symbolic mask for a program's own layer."""
    layers, seen = tf.keras.layers, []

    class Own(layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, x, mask=None):
            seen.append(mask)
            return x * 2
    inputs = tf.keras.Input((None,))
    words = layers.Embedding(5, 2, mask_zero=True)(inputs)
    own = Own()(words)
    for made in (words, own, layers.LSTM(2, return_sequences=True)(own)):
        assert made._keras_mask.shape == (None, None) and made._keras_mask.dtype == "bool"
    assert seen[0].shape.as_list() == [None, None] and seen[0].dtype == "bool"
    assert layers.Dense(2)(tf.keras.Input((3,)))._keras_mask is None
    assert layers.Masking()(tf.keras.Input((3, 2)))._keras_mask.shape == (None, 3)
    assert tf.keras.Model(inputs, own)(np.array([[1, 0]]))._keras_mask.numpy().tolist() == [[True, False]]
