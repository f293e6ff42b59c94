"""leat.keras: files of models, Keras' own among them, and ModelCheckpoint."""

import json
import os
import pathlib
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

import keras_programs
import leat as tf
from leat import keras
from leat._files.replacing import replace, replace_together
from leat.keras import layers
from leat.keras.saving import files as keras_files

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
    assert int(model.optimizer.iterations) == 2 and model.metrics_names == ["loss", "compile_metrics"]


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
    with pytest.raises(ValueError, match=r"\(4, 1\)"):
        other.load_weights(path)
    for found, expected in zip(other.get_weights(), before):
        np.testing.assert_array_equal(found, expected)
    other.load_weights(path, skip_mismatch=True)
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(ValueError, match="weights.h5"):
        model.load_weights(path)
    with pytest.raises(ValueError, match="x.bin"):
        model.load_weights(tmp_path / "x.bin")
    with pytest.raises(ValueError, match="x.h5"):
        model.save_weights(tmp_path / "x.h5")
    with pytest.raises(ValueError, match="built"):
        keras.Sequential([layers.Dense(1)]).save_weights(tmp_path / "y.weights.h5")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    model = keras_programs.regression(keras)
    path = tmp_path / "w.weights.h5"
    model.save_weights(path)
    before = path.read_bytes()
    monkeypatch.setattr(keras_files, "replace", lambda path, content: replace(f"{path}/w", content))
    with pytest.raises(NotADirectoryError, match="unchanged"):
        model.save_weights(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["w.weights.h5"]


def test_files_are_replaced(tmp_path):
    path = tmp_path / "a"
    replace(path, [b"ab", memoryview(b"cd"), np.arange(3, dtype=np.uint8), bytearray()])
    assert path.read_bytes() == b"abcd\0\1\2"
    (tmp_path / ".a.leat-2.tmp").write_bytes(b"of a process that was killed")
    replace(os.fsencode(path), b"x" * 100_000)
    assert path.stat().st_size == 100_000 and os.listdir(tmp_path) == ["a"]
    replace_together([(tmp_path / "b", b"data"), (tmp_path / "index", [b"b"])], outdated=[path, tmp_path / "none"])
    assert sorted(os.listdir(tmp_path)) == ["b", "index"]
    with pytest.raises(IsADirectoryError, match="unchanged"):
        replace_together([(tmp_path / "c", b"new"), (tmp_path, b"")])
    with pytest.raises(FileNotFoundError):
        replace(tmp_path / "none/a", b"")
    with pytest.raises(TypeError):
        replace(tmp_path / "a", "text")
    with pytest.raises((BufferError, ValueError)):
        replace(tmp_path / "a", np.zeros((4, 4))[:, ::2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        replace_together([(path, b""), (path, b"")])
    with pytest.raises(ValueError, match="null"):
        replace("a\0b", b"")
    assert sorted(os.listdir(tmp_path)) == ["b", "index"]


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


def test_the_configuration_of_keras_embedding_makes_one():
    """As Keras 3.15 writes it."""
    config = {"name": "e", "trainable": True, "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {
        "name": "float32"}, "registered_name": None}, "input_dim": 9, "output_dim": 4, "embeddings_initializer": {
        "module": "keras.initializers", "class_name": "RandomUniform", "config": {
            "seed": None, "minval": -0.05, "maxval": 0.05}, "registered_name": None}, "embeddings_regularizer": None,
        "activity_regularizer": None, "embeddings_constraint": None, "mask_zero": False}
    made = keras.saving.deserialize_keras_object({"module": "keras.layers", "class_name": "Embedding", "config": config,
                                                  "registered_name": None})
    assert made(np.array([[1, 8]])).shape == (1, 2, 4) and made.name == "e"


# ---- safetensors ----

def test_safetensors_go_from_model_to_model(tmp_path):
    first, second = keras_programs.classifier(keras), keras_programs.classifier(keras)
    path = tmp_path / "w.safetensors"
    first.save_weights(path)
    second.load_weights(path)
    for found, expected in zip(second.get_weights(), first.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(FileExistsError):
        first.save_weights(path, overwrite=False)


def test_the_bytes_of_a_safetensors_file(tmp_path):
    """Header and values worked out from the description of the format."""
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1, name="d")])
    model.set_weights([np.array([[1.0], [2.0]]), np.array([3.0])])
    model.save_weights(tmp_path / "w.safetensors")
    data = (tmp_path / "w.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    assert size % 8 == 0 and json.loads(data[8:8 + size]) == {
        "__metadata__": {"format": "leat"},
        "layers/dense/kernel": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
        "layers/dense/bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}
    assert data[8 + size:] == np.array([1, 2, 3], "<f4").tobytes()


def test_other_safetensors_files(tmp_path):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    before = model.get_weights()
    path = tmp_path / "w.safetensors"

    def refused(data, text):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=text):
            model.load_weights(path)
        for found, expected in zip(model.get_weights(), before, strict=True):
            np.testing.assert_array_equal(found, expected)

    def file(header, values=b""):
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + values
    bias = {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}
    kernel = {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}
    names = ("layers/dense/kernel", "layers/dense/bias")
    refused(b"", "says")
    refused(b"\xff" * 20, "18446744073709551615")
    refused(file([1]), "JSON")
    refused(b"\x02" + bytes(7) + b"{]", "JSON")
    refused(file({names[0]: kernel, names[1]: bias}, bytes(11)), names[1])
    refused(file({names[0]: dict(kernel, shape=[2, 2]), names[1]: bias}, bytes(12)), r"\[2, 2\]")
    refused(file({names[0]: dict(kernel, dtype="F8"), names[1]: bias}, bytes(12)), "'F8'")
    refused(file({names[0]: kernel, names[1]: {"dtype": "F32"}}, bytes(12)), names[1])
    refused(file({"a": kernel, "b": bias}, bytes(12)), "'layers/dense/kernel'")
    refused(file({names[0]: dict(bias, data_offsets=[4, 8]), names[1]: bias}, bytes(12)), r"\(1,\)")
    path.write_bytes(file({names[1]: dict(bias, dtype="F16", data_offsets=[0, 2])}, np.float16(1.5).tobytes()))
    model.load_weights(path, skip_mismatch=True)
    assert model.get_weights()[1].tolist() == [1.5]
    with pytest.raises(FileNotFoundError):
        model.load_weights(tmp_path / "none.safetensors")


# ---- damage ----

def kept(model, state):
    for found, expected in zip(model.variables, state, strict=True):
        np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5", "m.safetensors"])
def test_a_damaged_file_is_said_to_be_one(tmp_path, name):
    model = keras_programs.regression(keras)
    model.compile("adam", "mse")
    path = tmp_path / name
    model.save(path) if name.endswith(".keras") else model.save_weights(path)
    whole = path.read_bytes()
    state = [variable.numpy() for variable in model.variables]
    rng = np.random.default_rng(1)
    cuts = [whole[:size] for size in rng.integers(0, len(whole) - 1, 40)]
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 8):
            damaged[place] ^= 1 << int(rng.integers(8))
        cuts.append(bytes(damaged))
    refused = 0
    for data in cuts:
        path.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.load_weights(path)
        except ValueError as error:
            refused += 1
            assert str(path) in str(error)
            kept(model, state)
        else:  # what was damaged is no weight, or is one: HDF5 has no checksums
            for variable, value in zip(model.variables, state, strict=True):
                variable.assign(value)
    assert refused >= 40


def test_a_damaged_model_file(tmp_path):
    model = keras_programs.regression(keras)
    path = tmp_path / "m.keras"
    model.save(path)
    whole = path.read_bytes()
    for data, text in ((whole[:-30], "`.keras`"), (b"", "m.keras"),
                       (whole.replace(b"config.json", b"konfig.json"), "config.json")):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=text):
            keras.models.load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{]")
        archive.writestr("model.weights.h5", b"")
    with pytest.raises(ValueError, match="JSON"):
        keras.models.load_model(path)
    (tmp_path / "m.h6").write_bytes(b"x")
    with pytest.raises(ValueError, match="`load_weights`"):
        keras.models.load_model(tmp_path / "m.h6")
    with pytest.raises(ValueError, match="none.keras"):
        keras.models.load_model(tmp_path / "none.keras")


@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5", "m.safetensors"])
def test_a_file_system_that_takes_no_more(tmp_path, name):
    """A process whose files may have 4 KiB: what was there before stays, and nothing else."""
    program = """
import resource, signal, sys
from leat import keras
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(int(sys.argv[2]))])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if int(sys.argv[2]) > 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    (model.save if sys.argv[1].endswith(".keras") else model.save_weights)(sys.argv[1])
except OSError as error:
    print(error.errno == 27, error)
"""
    path = tmp_path / name

    def run(size):
        return subprocess.run([sys.executable, "-c", program, str(path), str(size)], check=True, capture_output=True,
                              text=True).stdout
    assert run(1) == ""
    before = path.read_bytes()
    assert run(1000) == (f"True [Errno 27] File too large: {path} could not be written; what was there before is "
                         "unchanged\n")
    assert path.read_bytes() == before and os.listdir(tmp_path) == [name]


def test_an_optimizer_of_another_kind_is_left_as_it_is(tmp_path):
    model = keras_programs.regression(keras)
    model.compile("adam", "mse")
    x = keras_programs.rows(8, 3)
    model.fit(x, x[:, :1], verbose=0)
    model.save_weights(tmp_path / "w.weights.h5")
    model.compile("sgd", "mse")
    model.fit(x, x[:, :1], verbose=0)
    with pytest.warns(UserWarning, match="sgd"):
        model.load_weights(tmp_path / "w.weights.h5")
