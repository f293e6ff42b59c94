"""Files of models, both ways with the real Keras: `.weights.h5`, `.keras`; and what comes of equal weights."""

import os
import pathlib
import subprocess

import keras as real
import numpy as np
import pytest

from leat import keras

ROOT = pathlib.Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(11)
X = RNG.random((6, 12, 12, 3)).astype(np.float32)
WORDS = RNG.integers(0, 9, (6, 5))


def convolutional(k):
    return k.Sequential([
        k.Input((12, 12, 3)), k.layers.Conv2D(4, 3, activation="relu", padding="same"), k.layers.BatchNormalization(),
        k.layers.MaxPooling2D(), k.layers.DepthwiseConv2D(3), k.layers.Conv2DTranspose(2, 2, strides=2),
        k.layers.SeparableConv2D(3, 2), k.layers.GlobalAveragePooling2D(), k.layers.Dropout(0.2),
        k.layers.Dense(3, activation="softmax")])


def functional(k):
    start = k.Input((12, 12, 3))
    left = k.layers.Conv2D(4, 1)(start)
    right = k.layers.Conv2D(4, 3, padding="same", kernel_regularizer="l2")(start)
    joined = k.layers.Activation("relu")(k.layers.Add()([left, right]))
    rest = k.layers.Flatten()(k.layers.LayerNormalization()(joined))
    return k.Model(start, [k.layers.Dense(2, name="a")(rest), k.layers.Dense(1, name="b")(rest)])


def nested(k):
    inner = k.Sequential([k.Input((12, 12, 3)), k.layers.Conv2D(2, 3), k.layers.Flatten()], name="inner")
    return k.Sequential([k.Input((12, 12, 3)), k.layers.Rescaling(0.5), inner, k.layers.Dense(2)])


def embedded(k):
    return k.Sequential([k.Input((5,)), k.layers.Embedding(9, 4), k.layers.Flatten(), k.layers.Dense(2)])


PROGRAMS = {"convolutional": convolutional, "functional": functional, "nested": nested, "embedded": embedded}
LOSSES = {"convolutional": "sparse_categorical_crossentropy", "functional": "mse", "nested": "mse", "embedded": "mse"}


def data(name):
    x = WORDS if name == "embedded" else X
    y = {"convolutional": RNG.integers(0, 3, 6), "functional": [RNG.random((6, 2)), RNG.random((6, 1))]}.get(
        name, RNG.random((6, 2)))
    return x, y


def same(found, expected, atol=1e-5):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), atol=atol)


def outputs(model, x):
    found = model.predict(x, verbose=0)
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("ways", [(keras, real), (real, keras)], ids=["to_keras", "from_keras"])
@pytest.mark.parametrize("kind", [".weights.h5", ".keras", ".h5"])
def test_models_go_both_ways(tmp_path, name, ways, kind):
    writer, reader = ways
    x, y = data(name)
    path = str(tmp_path / f"m{kind}")
    model = PROGRAMS[name](writer)
    model.compile("adam", LOSSES[name])
    model.fit(x, y, verbose=0, epochs=2, shuffle=False)
    if kind in (".keras", ".h5"):
        model.save(path)
        other = reader.models.load_model(path)
    else:
        model.save_weights(path)
        other = PROGRAMS[name](reader)
        other.compile("adam", LOSSES[name])
        other.optimizer.build(other.trainable_variables)
        other.load_weights(path)
    same(other.get_weights(), model.get_weights(), 0)
    same(outputs(other, x), outputs(model, x))
    assert int(np.asarray(other.optimizer.iterations)) == 2
    kept = 2 if (kind, reader) == (".h5", real) else None  # Keras reads the first ones out of this format
    same([np.asarray(v) for v in other.optimizer.variables[:kept]],
         [np.asarray(v) for v in model.optimizer.variables[:kept]], 1e-7)


@pytest.mark.parametrize("ways", [(keras, real), (real, keras)], ids=["to_keras", "from_keras"])
def test_shards_go_both_ways(tmp_path, ways):
    writer, reader = ways
    x, y = data("functional")
    models = [functional(k) for k in ways]
    for model in models:
        model.compile("adam", "mse")
        model.fit(x, y, verbose=0)
    models[0].save_weights(str(tmp_path / "m.weights.json"), max_shard_size=5000 / 1024 ** 3)
    assert len(list(tmp_path.iterdir())) > 2
    models[1].load_weights(str(tmp_path / "m.weights.json"))
    same([np.asarray(v) for v in models[1].variables], [np.asarray(v) for v in models[0].variables], 0)
    models[0].save_weights(str(tmp_path / "m.weights.h5"))
    editor = reader.saving.KerasFileEditor(str(tmp_path / "m.weights.h5"))
    assert editor.compare(models[1])["status"] == "success"


FEATURE_SPACES = """
import sys
import numpy as np
import keras as real
from leat import keras
for writer, reader in ((keras, real), (real, keras)):
    real.backend.clear_session()
    keras.backend.clear_session()
    make = writer.utils.FeatureSpace
    columns = {"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"], "c": [1, 2, 3], "d": [0.1, 0.5, 0.9]}
    space = make({"a": "float_normalized", "b": "string_categorical", "c": make.integer_hashed(4),
                  "d": make.float_discretized(3)}, crosses=[("b", "c")])
    space.adapt(columns)
    space.save(sys.argv[1])
    again = reader.models.load_model(sys.argv[1])
    np.testing.assert_allclose(np.asarray(again(columns)), np.asarray(space(columns)), rtol=1e-6)
"""


def test_feature_spaces_go_both_ways(tmp_path):
    """Keras' own take TensorFlow, so this runs where `make differ` has it."""
    python = os.environ.get("LEAT_DIFFER_PYTHON") or ROOT / ".venv-differ/bin/python"
    done = subprocess.run([python, "-B", "-c", FEATURE_SPACES, tmp_path / "s.keras"], capture_output=True, text=True,
                          env={**os.environ, "KERAS_BACKEND": "tensorflow"})
    assert done.returncode == 0, done.stderr


def test_training_goes_on_on_the_other_side(tmp_path):
    x, y = data("nested")
    model = nested(real)
    model.compile(real.optimizers.AdamW(0.01, weight_decay=0.1, clipnorm=1.0), "mse", metrics=["mae"])
    model.fit(x, y, verbose=0, epochs=2, shuffle=False)
    model.save(tmp_path / "m.keras")
    other = keras.models.load_model(tmp_path / "m.keras")
    one = model.fit(x, y, verbose=0, epochs=3, shuffle=False).history
    two = other.fit(x, y, verbose=0, epochs=3, shuffle=False).history
    assert set(one) == set(two)
    for name, values in one.items():
        np.testing.assert_allclose(two[name], values, rtol=1e-4)
    same(other.get_weights(), model.get_weights(), 1e-4)


def test_files_of_other_models_are_refused_by_both(tmp_path):
    path = str(tmp_path / "w.weights.h5")
    nested(keras).save_weights(path)
    with pytest.raises(ValueError):
        convolutional(real).load_weights(path)
    nested(real).save_weights(path)
    with pytest.raises(ValueError):
        convolutional(keras).load_weights(path)


def test_digits_side_by_side(tmp_path):
    """From the same weights file, five epochs of digits: accuracies within one percent."""
    folder = ROOT / "tests/golden/data/nn"
    real.utils.set_random_seed(1)
    x, y = np.load(folder / "digits_x.npy").astype(np.float32) / 16, np.load(folder / "digits_y.npy").astype(np.int64)
    x = x.reshape(-1, 8, 8, 1)

    def made(k):
        model = k.Sequential([k.Input((8, 8, 1)), k.layers.Conv2D(16, 3, activation="relu"), k.layers.MaxPooling2D(),
                              k.layers.Flatten(), k.layers.Dense(32, activation="relu"), k.layers.Dense(10)])
        model.compile(k.optimizers.Adam(0.003), k.losses.SparseCategoricalCrossentropy(from_logits=True),
                      metrics=["accuracy"])
        return model
    models = [made(real), made(keras)]
    models[0].save_weights(str(tmp_path / "w.weights.h5"))
    models[1].load_weights(tmp_path / "w.weights.h5")
    found = [model.fit(x[:1500], y[:1500], batch_size=32, epochs=5, verbose=0, validation_data=(x[1500:], y[1500:]),
                       shuffle=False).history for model in models]
    for name in ("accuracy", "val_accuracy"):
        assert found[0][name][-1] > 0.85
        assert abs(found[0][name][-1] - found[1][name][-1]) < 0.01
    np.testing.assert_allclose(found[1]["loss"], found[0]["loss"], rtol=0.02)
