"""Layers without lines in the tables beside Keras' own: keras_newest.py records what Keras gives."""

import json
import pathlib

import keras_newest
import numpy as np
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


@pytest.mark.parametrize("traced", [False, True])
def test_crossed(traced):
    found = keras_newest.crossed(tf, keras)
    assert found == RECORDED["crossed"]
    if traced:
        layer = keras.layers.HashedCrossing(5)
        for name, values in keras_newest.CROSSED.items():
            values = [tf.constant(np.array(one) if "'" not in repr(one) else one) for one in values]
            assert tf.function(lambda *given: layer(list(given)))(*values).numpy().tolist() == found[f"{name} 5 int"][2]


def test_crossing_in_models_and_datasets():
    first, second = keras.Input((1,), dtype="string"), keras.Input((1,), dtype="int64")
    model = keras.Model([first, second], keras.layers.HashedCrossing(6, "one_hot")([first, second]))
    assert model.output_shape == (None, 6)
    values = tf.constant([["a"], ["b"]]), tf.constant([[3], [4]], "int64")
    wanted = keras.layers.HashedCrossing(6)(list(values)).numpy().ravel().tolist()
    assert model(list(values)).numpy().argmax(1).tolist() == wanted
    dataset = tf.data.Dataset.from_tensor_slices(values).map(lambda *both: keras.layers.HashedCrossing(6)(list(both)))
    assert [int(one[0]) for one in dataset] == wanted
    for bad in (["a"], [tf.constant([1.0]), tf.constant([2.0])], [tf.constant([1]), tf.constant([[1]])], "a"):
        with pytest.raises(ValueError):
            keras.layers.HashedCrossing(6)(bad)


# ---- STFTSpectrogram, for which Keras needs scipy: numpy's transform of numpy's windows ----

@pytest.mark.parametrize("scaling, periodic", [("density", False), ("spectrum", True), (None, False)])
def test_spectrograms_are_transforms(scaling, periodic):
    sound = keras_newest.wave(2, 100, 2, step=0.37)
    window = np.hanning(17)[:16] if periodic else np.hanning(16)
    norm = {"density": np.sqrt((window ** 2).sum()), "spectrum": window.sum(), None: 1}[scaling]
    frames = np.stack([sound[:, at:at + 16] for at in range(0, 100 - 15, 8)], 1)
    wanted = np.fft.rfft(frames * window[:, None] / norm, 32, axis=2)  # [batch, steps, frequencies, channels]

    def made(mode, **kwargs):
        layer = keras.layers.STFTSpectrogram(mode, 16, fft_length=32, scaling=scaling, periodic=periodic,
                                             expand_dims=True, **kwargs)
        found = layer(sound)
        assert tuple(found.shape) == layer.compute_output_shape(sound.shape)
        return found
    np.testing.assert_allclose(made("real"), wanted.real, atol=1e-5)
    np.testing.assert_allclose(made("imag"), wanted.imag, atol=1e-5)
    np.testing.assert_allclose(made("magnitude"), np.sqrt(np.maximum(np.abs(wanted) ** 2, 1e-7)), rtol=1e-4, atol=1e-5)
    both = np.pad(np.abs(wanted[:, :, 1:-1]) ** 2, [[0, 0], [0, 0], [1, 1], [0, 0]])
    np.testing.assert_allclose(made("psd"), np.abs(wanted) ** 2 + both, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(made("log"), np.log(np.sqrt(np.maximum(np.abs(wanted) ** 2, 1e-7))), atol=2e-3)
    np.testing.assert_allclose(made("stft"), np.concatenate([wanted.real, wanted.imag], 2), atol=1e-5)
    flat = keras.layers.STFTSpectrogram("real", 16, fft_length=32, scaling=scaling, periodic=periodic)
    np.testing.assert_allclose(flat(sound), wanted.real.transpose(0, 1, 3, 2).reshape(2, 11, 34), atol=1e-5)
    first = keras.layers.STFTSpectrogram("real", 16, fft_length=32, scaling=scaling, periodic=periodic,
                                         data_format="channels_first")
    assert first(sound.transpose(0, 2, 1)).shape == first.compute_output_shape((2, 2, 100)) == (2, 34, 11)


def test_spectrograms_refuse_and_are_kept(tmp_path):
    for bad in ({"mode": "x"}, {"frame_step": 0}, {"fft_length": 100}, {"scaling": "x"}, {"padding": "x"},
                {"window": "none of them"}):
        with pytest.raises(ValueError):
            keras.layers.STFTSpectrogram(**bad)
    with pytest.raises(TypeError, match="int32"):
        keras.layers.STFTSpectrogram()(np.ones((1, 300, 1), "int32"))
    model = keras.Sequential([keras.Input((300, 1)), keras.layers.STFTSpectrogram(window="hamming", padding="same"),
                              keras.layers.Dense(1)])
    model.save(tmp_path / "model.keras")
    x = keras_newest.wave(2, 300, 1)
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(x), model(x))
    assert model.layers[0].get_config()["window"] == "hamming" and model.layers[0].count_params() == 2 * 256 * 129


def test_sounds():
    for name, found in keras_newest.sounds(keras).items():
        for one, other in zip(found, RECORDED["sounds"][name]):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


@pytest.fixture(scope="module")
def adapted():
    return keras_newest.adapted(tf, keras)


@pytest.mark.parametrize("name", RECORDED["adapted"])
def test_adapted(name, adapted):
    close(adapted[name], RECORDED["adapted"][name])


def test_adapted_models_learn_and_are_kept(tmp_path):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="a"), keras.layers.Dense(1, lora_rank=1)])
    model.compile("sgd", "mse")
    x = keras_newest.wave(8, 4)
    model.get_layer("a").enable_lora(2)
    model.compile("sgd", "mse")
    kernel = np.array(model.get_layer("a")._kernel)
    history = model.fit(x, x[:, :1], epochs=5, verbose=0).history["loss"]
    assert history[-1] < history[0] and (np.asarray(model.get_layer("a")._kernel) == kernel).all()
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again(x), model(x), rtol=1e-5, atol=1e-6)
    assert again.get_layer("a").lora_enabled and not np.any(again.get_layer("a").lora_kernel_b)
    for bad in (keras.layers.Dense(2), model.get_layer("a"), keras.layers.Dense(2, kernel_constraint="max_norm")):
        with pytest.raises(ValueError):
            bad.enable_lora(2)


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


def test_before_a_layer_is_built_and_unknown_sizes():
    with pytest.raises(AttributeError, match="kernel"):
        keras.layers.Dense(2).kernel
    assert keras.layers.RandomHeight(0.3)(keras.Input((8, 8, 3))).shape == (None, None, 8, 3)
    assert keras.layers.RandomWidth(0.3)(keras.Input((8, 8, 3))).shape == (None, 8, None, 3)
