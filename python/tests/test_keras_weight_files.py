"""leat.keras: weights in several files, and files of weights that are looked at and changed, as Keras 3.15 does."""

import json

import numpy as np
import pytest

from leat import config, keras
from leat.keras import layers

h5py = pytest.importorskip("h5py")
GIB = 1024 ** 3


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def trained():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="d"), layers.BatchNormalization(),
                              layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    return model


def same(model, other):
    for one, two in zip(model.variables + model.optimizer.variables, other.variables + other.optimizer.variables,
                        strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


# ---- several files ----

def test_the_index_is_that_of_keras(tmp_path):
    """What Keras 3.15 wrote for this model and size."""
    model = trained()
    model.save_weights(tmp_path / "sh.weights.json", max_shard_size=100 / GIB)
    assert json.loads((tmp_path / "sh.weights.json").read_text()) == {
        "metadata": {"total_size": 208.0}, "weight_map": {
            "/layers/dense/vars": ["sh_00000.weights.h5"], "/layers/batch_normalization/vars": ["sh_00000.weights.h5"],
            "/layers/dense_1/vars": ["sh_00000.weights.h5"],
            "/optimizer/vars": ["sh_00000.weights.h5", "sh_00001.weights.h5", "sh_00002.weights.h5"]}}
    with h5py.File(tmp_path / "sh_00001.weights.h5") as file:
        assert sorted(file["optimizer/vars"], key=int) == [str(number) for number in range(2, 10)]
    with h5py.File(tmp_path / "sh_00000.weights.h5") as file:
        assert file["vars"].attrs["name"] == "sequential" and "layers" in file
        assert file["layers/dense/vars"].attrs["name"] == "d"
    other = trained()
    other.load_weights(tmp_path / "sh.weights.json")
    same(model, other)


def test_shards_over_shards(tmp_path):
    """No file of the index of before is touched before the new index is there; then they go."""
    model, path = trained(), tmp_path / "sh.weights.json"
    (tmp_path / "sh_00007.weights.h5").write_bytes(b"the user's")
    (tmp_path / "sh_00002-1.weights.h5").write_bytes(b"of a save that was killed")
    written = []
    for size in (100, 60, 100, 1000):
        model.save_weights(path, max_shard_size=size / GIB)
        index = json.loads(path.read_text())["weight_map"]
        written.append({name for names in index.values() for name in names})
        assert written[-1] | {"sh.weights.json", "sh_00007.weights.h5"} == {one.name for one in tmp_path.iterdir()}
        other = trained()
        other.load_weights(path)
        same(model, other)
        model.set_weights([one + 1 for one in model.get_weights()])
    assert all(one.isdisjoint(two) for one, two in zip(written, written[1:], strict=False))
    assert written[1] == {f"sh_{number:05}-1.weights.h5" for number in range(len(written[1]))}


def test_shards_that_do_not_fit(tmp_path):
    model = trained()
    with pytest.warns(UserWarning, match="json"):
        model.save_weights(tmp_path / "a.weights.h5", max_shard_size=1)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.weights.json", "a_00000.weights.h5"]
    for path, size in (("b.h5", 1), ("b.weights.json", None), ("b.weights.json", 1e-9)):
        with pytest.raises(ValueError):
            model.save_weights(tmp_path / path, max_shard_size=size)
    with pytest.raises(FileNotFoundError):
        model.load_weights(tmp_path / "none.weights.json")
    other = keras.Sequential([keras.Input((4,)), layers.Dense(2), layers.Dense(1)])
    before = other.get_weights()
    with pytest.raises(ValueError, match="dense"):
        other.load_weights(tmp_path / "a.weights.json")
    for one, two in zip(other.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, two)
    with pytest.raises(FileExistsError):
        model.save_weights(tmp_path / "a.weights.json", overwrite=False, max_shard_size=1)


@pytest.mark.parametrize("name", ["../a_00000.weights.h5", "/etc/hostname", "", "..", 3, None])
def test_an_index_names_files_of_its_folder(tmp_path, name):
    model = trained()
    (tmp_path / "in").mkdir()
    model.save_weights(tmp_path / "in/a.weights.json", max_shard_size=1)
    (tmp_path / "a_00000.weights.h5").write_bytes((tmp_path / "in/a_00000.weights.h5").read_bytes())
    index = json.loads((tmp_path / "in/a.weights.json").read_text())
    index["weight_map"]["/layers/dense/vars"] = name
    (tmp_path / "in/a.weights.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match="beside"):
        model.load_weights(tmp_path / "in/a.weights.json")


def test_odd_indices(tmp_path):
    model, path = trained(), tmp_path / "a.weights.json"
    model.save_weights(path, max_shard_size=1)
    for text in ("{", "[]", "{}", '{"weight_map": 3}', '{"weight_map": {"/layers/dense/vars": [1]}}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="index"):
            model.load_weights(path)
    path.write_text('{"weight_map": {"/layers/dense/vars": "gone.weights.h5"}}')
    with pytest.raises(FileNotFoundError, match="gone"):
        model.load_weights(path)


def test_the_bytes_of_all_shards_are_limited(tmp_path):
    model = trained()
    model.save_weights(tmp_path / "a.weights.json", max_shard_size=40 / GIB)
    config.set_load_limits(total_bytes=100)
    try:
        with pytest.raises(ValueError, match="total_bytes"):
            model.load_weights(tmp_path / "a.weights.json")
    finally:
        config.set_load_limits()


# ---- the editor ----

@pytest.mark.parametrize("ending", [".keras", ".weights.h5"])
def test_a_file_is_looked_at_and_changed(tmp_path, capsys, ending):
    model = trained()
    path = str(tmp_path / f"m{ending}")
    model.save(path) if ending == ".keras" else model.save_weights(path)
    editor = keras.saving.KerasFileEditor(path)
    assert list(editor.weights_dict) == ["layers", "optimizer"] and (editor.config is not None) == (ending == ".keras")
    assert editor.object_metadata["/layers/dense"] == {"name": "d"}
    editor.summary()
    said = capsys.readouterr().out
    assert f"Keras model file '{path}'" in said and ("Saved with Keras" in said) == (ending == ".keras")
    for line in ("  > layers", "  │   ├─ dense ('d')", "  │   │   ├─ 0: shape=(3, 2), dtype=float32",
                 "  └─ optimizer ('adam')", "      └─ 9: shape=(2,), dtype=float32"):
        assert line in said.splitlines()
    editor.rename_object("dense_1", "dense_9")
    editor.delete_weight("layers/dense", "1")
    editor.add_weights("layers/dense", {"1": np.ones(3)})
    editor.add_object("layers/new", {"0": keras.Variable(np.ones(2))})
    editor.delete_object("optimizer")
    editor.save(tmp_path / "b.weights.h5")
    with h5py.File(tmp_path / "b.weights.h5") as file:
        assert set(file["layers"]) == {"batch_normalization", "dense", "dense_9", "new"} and "optimizer" not in file
        np.testing.assert_array_equal(file["layers/dense/vars/1"], np.ones(3))
        np.testing.assert_array_equal(file["layers/dense_9/vars/0"], model.layers[2].kernel)
    again = keras.saving.KerasFileEditor(str(tmp_path / "b.weights.h5"))
    again.resave_weights(tmp_path / "c.weights.h5")
    assert keras.saving.KerasFileEditor(tmp_path / "c.weights.h5").weights_dict.keys() == again.weights_dict.keys()


def test_a_file_is_compared_to_a_model(tmp_path, capsys):
    model = trained()
    model.save_weights(tmp_path / "m.weights.h5")
    editor = keras.saving.KerasFileEditor(tmp_path / "m.weights.h5")
    assert editor.compare(model) == {"status": "success", "error_count": 0, "match_count": 22}
    other = keras.Sequential([keras.Input((4,)), layers.Dense(2, name="d"), layers.Dense(1)])
    capsys.readouterr()
    assert editor.compare(other) == {"status": "error", "error_count": 3, "match_count": 3}
    said = capsys.readouterr().out
    assert "...Weight shape mismatch for /layers/dense/0" in said
    assert "...Object /optimizer present in saved file, missing from reference model" in said


def test_objects_with_weights_and_objects_in_them(tmp_path):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner, self.shift = layers.Dense(2), self.add_weight(shape=(2,), name="shift")

        def call(self, x):
            return self.inner(x) + self.shift
    model = Own()
    model(np.ones((1, 3)))
    model.save_weights(tmp_path / "m.weights.h5")
    editor = keras.saving.KerasFileEditor(tmp_path / "m.weights.h5")
    assert set(editor.weights_dict) == {"0", "inner"}
    editor.save(tmp_path / "n.weights.h5")
    other = Own()
    other(np.ones((1, 3)))
    other.load_weights(tmp_path / "n.weights.h5")
    np.testing.assert_array_equal(other(np.ones((1, 3))), model(np.ones((1, 3))))


def test_the_editor_refuses(tmp_path):
    trained().save_weights(tmp_path / "m.weights.h5")
    editor = keras.saving.KerasFileEditor(tmp_path / "m.weights.h5")
    for call, match in (
            (lambda: editor.rename_object("x", "y"), "x"), (lambda: editor.rename_object("layers/q", "y"), "layers/q"),
            (lambda: editor.rename_object("layers", "a/b"), "a/b"), (lambda: editor.add_object("q/r", {}), "q"),
            (lambda: editor.add_object("q", 3), "dict"), (lambda: editor.delete_weight("layers/dense", "9"), "9"),
            (lambda: editor.delete_object("0"), "once"), (lambda: editor.add_weights("layers/dense/0", {}), "weight"),
            (lambda: editor.save(tmp_path / "x.h5"), "filepath"),
            (lambda: keras.saving.KerasFileEditor(tmp_path / "x.h5"), "filename")):
        with pytest.raises(ValueError, match=match):
            call()


def test_the_editor_reads_files_of_strangers(tmp_path):
    path = tmp_path / "m.weights.h5"

    def refused(change, match):
        trained().save_weights(path)
        with h5py.File(path, "r+") as file:
            change(file)
        with pytest.raises(ValueError, match=match):
            keras.saving.KerasFileEditor(path)
    refused(lambda file: file.__setitem__("layers/x", h5py.ExternalLink("other.h5", "x")), "ExternalLink")
    refused(lambda file: file["layers"].create_dataset("x", (30000, 30000), "f4", compression="gzip"), "unpacked_bytes")
    refused(lambda file: file.__setitem__("layers/dense/again", file["layers"]), "depth")
