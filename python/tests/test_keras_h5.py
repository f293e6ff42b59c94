"""leat.keras: whole models in HDF5 files, as Keras 3.15 and Keras 2 write them, and weights out of such."""

import json
import pathlib
import resource
import struct
import warnings

import numpy as np
import pytest

from leat import keras
from leat.keras import layers

h5py = pytest.importorskip("h5py")
import keras_old_files as old  # noqa: E402

DATA = pathlib.Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "keras_h5.json").read_text())
FIRST = np.linspace(0, 1, 12, dtype="float32").reshape(4, 3)
SECOND = np.linspace(1, -1, 12, dtype="float32").reshape(4, 3)
Y = {"a": np.ones((4, 1), "float32"), "b": np.zeros((4, 2), "float32")}
pytestmark = pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def small(**kwargs):
    return keras.Sequential([keras.Input((3,)), layers.Dense(2, name="first"), layers.Dense(1, name="last", **kwargs)])


def kept(path, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return keras.models.load_model(path, **kwargs)


def test_a_file_of_keras_becomes_its_model(tmp_path):
    expected, model = RECORDED["keras"], keras.models.load_model(DATA / "keras_models.h5")
    for turn in range(2):  # and one that leat wrote of it
        for found, value in zip(model.get_weights(), expected["weights"], strict=True):
            np.testing.assert_allclose(found, value, atol=1e-6)
        for found, value in zip(model.optimizer.variables, expected["optimizer"], strict=True):
            np.testing.assert_allclose(found.numpy(), value, rtol=1e-6, atol=1e-12)
        for name, value in model.predict([FIRST, SECOND], verbose=0).items():
            np.testing.assert_allclose(value, expected["outputs"][name], atol=1e-5)
        evaluated = model.evaluate([FIRST, SECOND], Y, verbose=0, return_dict=True)
        assert evaluated["loss"] == pytest.approx(expected["evaluated"]["loss"], rel=1e-5)
        model.save(tmp_path / "again.h5")
        model = keras.models.load_model(tmp_path / "again.h5")
    assert isinstance(model.loss["b"], keras.losses.Huber)


@pytest.mark.parametrize("name", old.CONFIGS)
def test_files_of_keras_2(tmp_path, name):
    old.write(tmp_path / "m.h5", name)
    model, expected = kept(tmp_path / "m.h5"), RECORDED[name]
    np.testing.assert_allclose(model.predict(old.INPUTS[name], verbose=0), expected["outputs"], atol=1e-5)
    assert model.loss.__name__ == expected["loss"]
    assert float(model.optimizer.learning_rate) == pytest.approx(expected["learning_rate"])
    with h5py.File(tmp_path / "w.h5", "w") as file, h5py.File(tmp_path / "m.h5") as whole:  # weights alone
        for key, value in whole["model_weights"].attrs.items():
            file.attrs[key] = value
        for key in whole["model_weights"]:
            whole.copy(whole["model_weights"][key], file, key)
    weights = [value.copy() for value in model.get_weights()]
    model.set_weights([np.zeros_like(value) for value in weights])
    model.load_weights(tmp_path / "w.h5")
    for found, value in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(found, value)


def test_calls_of_models_in_configurations_of_keras_2():
    inner = {"class_name": "Sequential", "name": "inner", "inbound_nodes": [[["x", 0, 0, {}]]], "config": {
        "name": "inner", "layers": [old.start("inner_input", [3]), old.dense("d", 2)]}}
    config = {"name": "outer", "layers": [old.start("x", [3], is_node=True), inner,
                                          old.layer("Add", "add", [[["inner", 1, 0, {}], ["inner", 1, 0, {}]]])],
              "input_layers": [["x", 0, 0]], "output_layers": [["add", 0, 0], ["inner", 1, 0]]}
    model = keras.Model.from_config(config)
    twice, once = model(FIRST)
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-6)


def test_arguments_that_keras_2_notes_without_use():
    """Keras 3 refuses these; they say nothing."""
    kernel = {f"kernel_{what}": None for what in ("initializer", "regularizer", "constraint")}
    for config in (old.layer("DepthwiseConv2D", "d", kernel_size=[3, 3], groups=1),
                   old.layer("SeparableConv2D", "s", filters=2, kernel_size=[3, 3], groups=1, **kernel),
                   old.layer("Conv2DTranspose", "t", filters=2, kernel_size=[3, 3], groups=1),
                   old.layer("LSTM", "l", units=2, time_major=False, implementation=2)):
        model = keras.Sequential.from_config({"name": "m", "layers": [config]})
        [made] = model.layers
        assert (type(made).__name__, made.name) == (config["class_name"], config["config"]["name"])


def test_operations_between_layers(tmp_path):
    """Keras writes them as it does layers, and then takes a product for the layer Multiply."""
    start = keras.Input((3,))
    embedded = layers.Embedding(4, 2, mask_zero=True)(start)
    model = keras.Model(start, layers.LSTM(2)(keras.ops.square(embedded) * 2 + 1))
    model.save(tmp_path / "m.h5")
    x = np.array([[1, 2, 0], [3, 0, 0]])
    np.testing.assert_allclose(kept(tmp_path / "m.h5")(x), model(x), rtol=1e-5)


def test_what_the_file_says(tmp_path):
    model = small(trainable=False)
    model.compile(keras.optimizers.SGD(0.5, momentum=0.9), "mse", metrics=["mae"])
    model.fit(FIRST, Y["a"], verbose=0)
    model.save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5") as file:
        config = json.loads(file.attrs["model_config"])
        assert config["class_name"] == "Sequential" and [set(one) for one in config["config"]["layers"]] == [
            {"class_name", "config"}] * 3
        training = json.loads(file.attrs["training_config"])
        assert training["loss"] == "mean_squared_error" and training["metrics"] == ["mae"]
        assert training["optimizer_config"]["class_name"] == "SGD"
        group = file["model_weights"]
        assert [name.decode() for name in group.attrs["layer_names"]] == ["first", "last"]
        assert [name.decode() for name in group["last"].attrs["weight_names"]] == [
            "sequential/last/kernel", "sequential/last/bias"]
        assert group["last/sequential/last/kernel"].shape == (2, 1) and "top_level_model_weights" in group
        assert len(file["optimizer_weights"].attrs["weight_names"]) == 4
    again = keras.models.load_model(tmp_path / "m.h5")
    assert int(again.optimizer.iterations) == 1 and not again.layers[1].trainable
    model.save(tmp_path / "m.hdf5", include_optimizer=False)
    with pytest.warns(UserWarning, match="configuration"):
        assert not keras.models.load_model(tmp_path / "m.hdf5").compiled
    assert not keras.models.load_model(tmp_path / "m.h5", compile=False).compiled


@keras.saving.register_keras_serializable("tests")
class Scaled(layers.Layer):
    def __init__(self, by=1.0, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def build(self, shape):
        self.scale = self.add_weight(shape=shape[-1:], initializer="ones", name="scale")

    def call(self, x):
        return x * self.scale * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


def distance(y_true, y_pred):
    return keras.ops.mean(keras.ops.abs(y_true - y_pred), -1)


def test_classes_and_functions_of_a_program(tmp_path):
    model = keras.Sequential([keras.Input((3,)), Scaled(2.0, name="scaled"), layers.Dense(1, activation=distance_of)])
    model.compile("adam", distance, metrics=[distance, ["mse"]])
    model.save(tmp_path / "m.h5")
    known = {"distance": distance, "distance_of": distance_of}
    again = keras.models.load_model(tmp_path / "m.h5", custom_objects=known)
    assert again.loss is distance and again.layers[1].activation is distance_of and again.layers[0].by == 2.0
    np.testing.assert_allclose(again(FIRST), model(FIRST), rtol=1e-6)
    with pytest.raises((ValueError, TypeError), match="distance"):
        keras.models.load_model(tmp_path / "m.h5")


def distance_of(x):
    return keras.ops.abs(x)


class Deep(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(2, name="dense")
        self.shift = self.add_weight(shape=(2,), initializer="ones", name="shift")

    def call(self, x):
        return self.dense(x) + self.shift


def test_the_weights_of_subclassed_models(tmp_path):
    """Keras makes them of their configuration, without weights, and then says so."""
    model, other = Deep(name="a"), Deep(name="b")
    model(FIRST), other(FIRST)
    model.shift.assign([3., 4.])
    model.save(tmp_path / "m.h5")
    with pytest.raises(ValueError, match="layers"):
        keras.models.load_model(tmp_path / "m.h5", custom_objects={"Deep": Deep})
    other.load_weights(tmp_path / "m.h5")
    np.testing.assert_allclose(other(FIRST), model(FIRST), rtol=1e-6)


def test_weights_by_name(tmp_path):
    model = small()
    model.save(tmp_path / "m.h5")
    other = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="other"), layers.Dense(1, name="last")])
    before = other.layers[0].get_weights()[0]
    other.load_weights(tmp_path / "m.h5", by_name=True)
    np.testing.assert_array_equal(other.layers[1].kernel, model.layers[1].kernel)
    np.testing.assert_array_equal(other.layers[0].kernel, before)
    wide = keras.Sequential([keras.Input((4,)), layers.Dense(2, name="first"), layers.Dense(1, name="last",
                                                                                            use_bias=False)])
    before = wide.get_weights()
    with pytest.raises(ValueError, match="first"):
        wide.load_weights(tmp_path / "m.h5", by_name=True)
    with pytest.raises(ValueError, match="first"):
        wide.load_weights(tmp_path / "m.h5")
    with pytest.raises(ValueError, match="last"), pytest.warns(UserWarning, match="first"):
        wide.load_weights(tmp_path / "m.h5", skip_mismatch=True)
    for found, value in zip(wide.get_weights(), before, strict=True):
        np.testing.assert_array_equal(found, value)
    with pytest.warns(UserWarning, match="mismatch"):
        wide.load_weights(tmp_path / "m.h5", by_name=True, skip_mismatch=True)
    np.testing.assert_array_equal(wide.layers[0].bias, model.layers[0].bias)
    model.save_weights(tmp_path / "m.weights.h5")
    with pytest.raises(ValueError, match="by_name"):
        model.load_weights(tmp_path / "m.weights.h5", by_name=True)
    with pytest.raises(ValueError, match="objects_to_skip"):
        keras.saving.load_weights(model, tmp_path / "m.h5", objects_to_skip=[model.layers[0]])


def test_many_layers_with_long_names(tmp_path):
    """More names than an attribute of HDF5 takes stand in several."""
    parts = [layers.Dense(1, name=f"{'n' * 900}{number}") for number in range(90)]
    model = keras.Sequential([keras.Input((1,)), *parts])
    model.save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5") as file:
        assert set(file["model_weights"].attrs) > {"layer_names0", "layer_names1"}
    other = kept(tmp_path / "m.h5")
    np.testing.assert_allclose(other(FIRST[:, :1]), model(FIRST[:, :1]), rtol=1e-6)


def test_what_cannot_be_saved_or_loaded_is_refused(tmp_path):
    model = small()
    with pytest.warns(UserWarning, match="legacy"):
        model.save(tmp_path / "m.h5")
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "m.h5", overwrite=False)
    with pytest.raises(FileNotFoundError):
        keras.models.load_model(tmp_path / "none.h5")
    with pytest.raises(FileNotFoundError):
        model.load_weights(tmp_path / "none.hdf5")
    model.save_weights(tmp_path / "w.weights.h5")
    with pytest.raises(ValueError, match="config"):
        keras.models.load_model(tmp_path / "w.weights.h5")
    (tmp_path / "x.h5").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="x.h5"):
        keras.models.load_model(tmp_path / "x.h5")


# ---- files of strangers ----

def changed(path, change):
    small().save(path)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def refused(path, match):
    with pytest.raises((ValueError, TypeError), match=match):
        kept(path)


def test_links_and_odd_attributes_are_refused(tmp_path):
    path = tmp_path / "m.h5"
    for change, match in (
            (lambda file: file.attrs.__setitem__("model_config", np.arange(3)), "text"),
            (lambda file: file.attrs.__setitem__("model_config", ["a", "b"]), "list"),
            (lambda file: file.attrs.__setitem__("model_config", "[1]"), "configuration"),
            (lambda file: file.attrs.__setitem__("model_config", "{"), "JSON"),
            (lambda file: file.attrs.__setitem__("model_config", '{"class_name": "Dense"}'), "config"),
            (lambda file: file["model_weights"].attrs.__setitem__("layer_names", [b"/first"]), "layers"),
            (lambda file: file["model_weights"].attrs.__setitem__("layer_names", [b"nothing", b"last"]), "count"),
            (lambda file: file["model_weights/first"].attrs.__setitem__("weight_names", [b"../last", b"x"]),
             "last"),
            (lambda file: (file.move("model_weights/first", "moved"), file.__setitem__(
                "model_weights/first", h5py.SoftLink("/moved"))), "SoftLink"),
            (lambda file: file.__delitem__("model_weights"), "layers")):
        refused(changed(path, change), match)


def test_no_code_of_a_file_runs(tmp_path):
    def with_code(file):
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"].append({"class_name": "Lambda", "config": {
            "name": "code", "function": ["4wAAAA==\n", None, None], "function_type": "lambda"}})
        file.attrs["model_config"] = json.dumps(config)
    refused(changed(tmp_path / "m.h5", with_code), "lambda")
    with pytest.raises(ValueError, match="lambda"):
        kept(tmp_path / "m.h5", safe_mode=False)


def test_many_names_that_are_one_large_text(tmp_path):
    """References to texts cost sixteen bytes each, whatever they refer to."""
    path, count, size = tmp_path / "m.h5", 3000, 8 << 20
    small().save(path)
    with h5py.File(path, "r+") as file:
        file["model_weights"].attrs["large"] = "x" * size
        del file["model_weights"].attrs["layer_names"]
        file["model_weights"].attrs["layer_names"] = np.array([f"{n:016d}" for n in range(count)], object)
    data = bytearray(path.read_bytes())

    def references(length):
        at, found = 0, []
        while (at := data.find(struct.pack("<I", length), at)) >= 0:
            address = int.from_bytes(data[at + 4:at + 12], "little")
            if data[address:address + 4] == b"GCOL":
                found.append(at)
            at += 4
        return found
    large, small_ones = references(size), references(16)
    assert len(large) == 1 and len(small_ones) >= count
    for at in small_ones:
        data[at:at + 16] = data[large[0]:large[0] + 16]
    path.write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(path, "json_bytes")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


@pytest.mark.parametrize("library", ["earliest", "latest"])
@pytest.mark.parametrize("texts", [["a", "b\u00e9", ""], [], "whole"])
def test_texts_of_any_length(tmp_path, library, texts):
    from leat.keras.saving import hdf5
    with h5py.File(tmp_path / "t.h5", "w", libver=library) as file:
        group = file.create_group("g")
        for number in range(6):
            group.attrs[f"n{number}"] = number
        group.attrs["texts"] = np.array(texts, object) if texts and not isinstance(texts, str) else texts or np.zeros(0)
        group.attrs["fixed"] = np.array([b"one", b"three"])
    with hdf5.File(tmp_path / "t.h5", "t.h5") as file:
        assert file.texts("g", "texts") == texts and file.texts("g", "fixed") == ["one", "three"]
        assert file.texts("g", "none") is None and file.texts("none", "texts") is None
        with pytest.raises(ValueError, match="text"):
            file.texts("g", "n1")
