"""leat.keras: files of models, Keras' own among them, and ModelCheckpoint."""

import json
import os
import pathlib

import numpy as np
import pytest

import keras_programs
import leat as tf
from leat import keras
from leat.keras import layers

pytest.importorskip("h5py")
DATA = pathlib.Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "keras_models.json").read_text())["models"][0]


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def array(value):
    return np.array(value["data"], np.float32).reshape(value["shape"])


def test_a_file_of_keras_becomes_its_model():
    model = keras.models.load_model(DATA / "keras_models.keras")
    for found, expected in zip(model.get_weights(), RECORDED["after"], strict=True):
        np.testing.assert_allclose(found, array(expected), atol=1e-6)
    assert type(model.optimizer).__name__ == "Adam" and int(model.optimizer.iterations) == 1
    assert float(model.optimizer.learning_rate) == pytest.approx(0.01)
    x = array(RECORDED["inputs"][0])
    model.fit(x, np.array([0, 2]), verbose=0)
    assert int(model.optimizer.iterations) == 2 and model.metrics_names == ["loss", "accuracy"]


def test_models_come_back_as_they_were(tmp_path):
    model = keras_programs.classifier(keras)
    x = keras_programs.rows(30, 4)
    y = np.argmax(x[:, :3], axis=1)
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=2, verbose=0, shuffle=False)
    model.save(tmp_path / "a.keras")
    again = keras.models.load_model(tmp_path / "a.keras")
    for one in (model, again):
        one.fit(x, y, epochs=2, verbose=0, shuffle=False)
    for found, expected in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_weights_go_from_model_to_model(tmp_path):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.rest = [layers.Dense(3), layers.Dense(2)]
            self.norm = layers.BatchNormalization()

        def call(self, x):
            return self.norm(self.rest[1](self.rest[0](x)))
    x = keras_programs.rows(6, 4)
    first, second = Own(), Own()
    first(x)
    second(x)
    first.save_weights(tmp_path / "w.weights.h5")
    second.load_weights(tmp_path / "w.weights.h5")
    np.testing.assert_array_equal(first(x), second(x))


def test_what_does_not_fit_is_named_and_changes_nothing(tmp_path):
    model = keras_programs.regression(keras)
    path = tmp_path / "w.weights.h5"
    model.save_weights(path)
    other = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.Dense(2)])
    before = other.get_weights()
    with pytest.raises(ValueError, match=r"has shape \(4, 2\); the file has \(4, 1\)"):
        other.load_weights(path)
    for found, expected in zip(other.get_weights(), before):
        np.testing.assert_array_equal(found, expected)
    other.load_weights(path, skip_mismatch=True)
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(ValueError, match="not a file of weights that can be read"):
        model.load_weights(path)
    with pytest.raises(ValueError, match="not supported"):
        model.load_weights(tmp_path / "x.bin")
    with pytest.raises(ValueError, match="must end in `.weights.h5`"):
        model.save_weights(tmp_path / "x.h5")
    with pytest.raises(ValueError, match="has not yet been built"):
        keras.Sequential([layers.Dense(1)]).save_weights(tmp_path / "y.weights.h5")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    model = keras_programs.regression(keras)
    path = tmp_path / "w.weights.h5"
    model.save_weights(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError("No space left on device")))
    with pytest.raises(OSError, match="No space"):
        model.save_weights(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["w.weights.h5"]


def test_model_checkpoint_keeps_the_best(tmp_path, capsys):
    model = keras_programs.regression(keras)
    x = keras_programs.rows(16, 3)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    names = ["{epoch:02d}.weights.h5", "best.keras"]
    history = model.fit(x, x[:, :1], epochs=3, verbose=0, shuffle=False, validation_data=(x, x[:, :1]), callbacks=[
        keras.callbacks.ModelCheckpoint(tmp_path / names[0], save_weights_only=True),
        keras.callbacks.ModelCheckpoint(tmp_path / names[1], save_best_only=True, verbose=1)])
    assert sorted(os.listdir(tmp_path)) == ["01.weights.h5", "02.weights.h5", "03.weights.h5", "best.keras"]
    assert "Epoch 1: val_loss improved from None to " in capsys.readouterr().out
    best = keras.models.load_model(tmp_path / "best.keras")
    assert best.evaluate(x, x[:, :1], verbose=0) == pytest.approx(min(history.history["val_loss"]), rel=1e-5)


def test_epochs_go_on_on_replicas(tmp_path):
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        model = keras_programs.regression(keras)
        model.compile("adam", "mse")
    x = keras_programs.rows(16, 3)
    model.fit(x, x[:, :1], epochs=1, verbose=0)
    model.save(tmp_path / "m.keras")
    assert int(keras.models.load_model(tmp_path / "m.keras").optimizer.iterations) == 1
