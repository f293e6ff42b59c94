"""Files of models and weights as a stranger may have made them: they read nothing but themselves, and take no memory
that is not theirs.

What was reported of others, and is tested here: Keras CVE-2026-1669 (HDF5: external storage, links), CVE-2026-0897
(shapes), CVE-2025-1550, -8747, -9906 (configurations that name code), CVE-2024-3660 and CVE-2025-9905 (Lambda),
CVE-2025-49655 and CVE-2026-1462 (layers that load files), CVE-2025-12058 (vocabularies), CVE-2025-12060 and -12638
(archives of get_file); zipfile CVE-2019-9674 (bombs) and CVE-2024-0450 (members over each other); numpy CVE-2019-6446
(objects in .npy).
"""

import io
import json
import os
import resource
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib

import numpy as np
import pytest

import leat as tf
from leat import keras
from leat.keras import layers
from leat.keras.saving import files

h5py = pytest.importorskip("h5py")
SECRET = np.arange(100, 112, dtype=np.float32).reshape(4, 3)
PLACE = "layers/dense/vars"


@pytest.fixture(autouse=True)
def defaults():
    keras.backend.clear_session()
    yield
    tf.config.set_load_limits()


def small():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
    model.set_weights([np.full((4, 3), 7.0), np.full(3, 8.0)])
    return model


def weights(folder, change):
    """A file of weights whose group of the layer was changed."""
    path = folder / "w.weights.h5"
    small().save_weights(path)
    with h5py.File(path, "r+") as file:
        change(file[PLACE])
    return path


def refused(path, match, model=None):
    """The file is refused, by its name, and the model stays as it was."""
    model = model or small()
    before = model.get_weights()
    with pytest.raises(ValueError, match=match) as caught:
        model.load_weights(path)
    assert str(path) in str(caught.value)
    for found, expected in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(found, expected)


# ---- HDF5 ----

def _in_place(change):
    """What puts something else under the name of the kernel."""
    def put(group):
        del group["0"]
        change(group)
    return put


def _named_type(group):
    group["type"] = np.dtype("<f4")
    group.create_dataset("0", data=SECRET, dtype=group["type"])


def _virtual(folder):
    layout = h5py.VirtualLayout((4, 3), "f4")
    layout[...] = h5py.VirtualSource(str(folder / "secret.h5"), "x", (4, 3))
    return lambda group: group.create_virtual_dataset("0", layout)


def _reference(group):
    group.create_dataset("0", data=np.full((4, 3), group.ref, dtype=h5py.ref_dtype))


def _large_chunk(group):
    group.create_dataset("0", (4, 3), "f4", chunks=(20000, 10000), maxshape=(None, None), compression="gzip")


HDF5 = {
    "external storage": (lambda folder: _in_place(lambda group: group.create_dataset(
        "0", (4, 3), "f4", external=[(str(folder / "secret.bin"), 0, 48)])), "external"),
    "external link": (lambda folder: _in_place(lambda group: group.__setitem__(
        "0", h5py.ExternalLink(str(folder / "secret.h5"), "x"))), "ExternalLink"),
    "soft link": (lambda folder: _in_place(lambda group: group.__setitem__("0", h5py.SoftLink("/elsewhere"))),
                  "SoftLink"),
    "virtual": (lambda folder: _in_place(_virtual(folder)), "virtual"),
    "named type": (lambda folder: _in_place(_named_type), "type"),
    "reference": (lambda folder: _in_place(_reference), "reference"),
    "text": (lambda folder: _in_place(lambda group: group.create_dataset(
        "0", data=np.full((4, 3), "a", object), dtype=h5py.string_dtype())), "string"),
    "compound": (lambda folder: _in_place(lambda group: group.create_dataset(
        "0", (4, 3), np.dtype([("a", "f4"), ("b", "f4")]))), "compound"),
    "sequences": (lambda folder: _in_place(lambda group: group.create_dataset(
        "0", (4, 3), h5py.vlen_dtype(np.float32))), "vlen"),
    "filter": (lambda folder: _in_place(lambda group: group.create_dataset(
        "0", data=SECRET, fletcher32=True)), "fletcher32"),
    "lzf": (lambda folder: _in_place(lambda group: group.create_dataset("0", data=SECRET, compression="lzf")), "lzf"),
    "shape": (lambda folder: _in_place(lambda group: group.create_dataset(
        "0", (30000, 30000), "f4", compression="gzip", fillvalue=1)), "30000"),
    "chunk": (lambda folder: _in_place(_large_chunk), "chunks"),
    "group": (lambda folder: _in_place(lambda group: group.create_group("0")), "array"),
    "no shape": (lambda folder: _in_place(lambda group: group.create_dataset("0", data=h5py.Empty("f4"))), "shape"),
}


@pytest.mark.parametrize("name", HDF5)
def test_hdf5_that_is_more_than_arrays_is_refused(tmp_path, name):
    """CVE-2026-1669, CVE-2026-0897 and their relatives."""
    (tmp_path / "secret.bin").write_bytes(SECRET.tobytes())
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = SECRET
    make, match = HDF5[name]
    refused(weights(tmp_path, make(tmp_path)), match)


@pytest.mark.parametrize("link", ["ExternalLink", "SoftLink"])
@pytest.mark.parametrize("place", ["layers", "layers/dense", PLACE])
def test_no_link_on_the_way_to_an_array_is_followed(tmp_path, link, place):
    path, other = tmp_path / "w.weights.h5", tmp_path / "other.weights.h5"
    small().save_weights(path)
    small().save_weights(other)
    with h5py.File(path, "r+") as file:
        file.move(place, "moved")
        file[place] = h5py.SoftLink("/moved") if link == "SoftLink" else h5py.ExternalLink(str(other), place)
    refused(path, link)


def test_a_chunk_unpacks_to_its_own_size_and_no_more(tmp_path):
    packed = zlib.compress(bytes(300 << 20), 9)

    def change(group):
        made = group.create_dataset("0", (4, 3), "f4", chunks=(4, 3), compression="gzip")
        made.id.write_direct_chunk((0, 0), packed)
    path = weights(tmp_path, _in_place(change))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(path, "unpacks")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


@pytest.mark.parametrize("library", ["earliest", "latest"])
@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True},
                                     {"chunks": (3, 2)}, {"chunks": (3, 2), "compression": "gzip", "shuffle": True}])
def test_plain_and_packed_arrays_are_read(tmp_path, library, options):
    path = tmp_path / "w.weights.h5"
    for dtype in ("<f4", ">f4", "<f8", "<f2", "<i4", ">i8", "u1", "?"):
        values = SECRET.astype(dtype)
        with h5py.File(path, "w", libver=library) as file:
            file.create_dataset(f"{PLACE}/0", data=values, **options)
            file.create_dataset(f"{PLACE}/1", data=np.zeros(3, "f4"))
        model = small()
        model.load_weights(path)
        np.testing.assert_array_equal(model.get_weights()[0], values.astype(np.float32))


NOTES = {"an array": lambda h5: h5.create("leat epoch", np.zeros(100)),
         "a text": lambda h5: h5.create("leat epoch", "1"),
         "a fraction": lambda h5: h5.create("leat epoch", 1.5),
         "an empty one": lambda h5: h5.create("leat epoch", h5py.Empty("i8")),
         "texts of any length": lambda h5: h5.create("leat epoch", ["1"], dtype=h5py.string_dtype()),
         "a reference": lambda h5: h5.create("leat epoch", None, (), h5py.ref_dtype),
         "a pair": lambda h5: h5.create("leat epoch", np.zeros((), "i4,i4"))}


@pytest.mark.parametrize("name", NOTES)
def test_notes_are_whole_numbers(tmp_path, name):
    """What training is resumed by: one number, looked at before it is read."""
    path = str(tmp_path / "w.weights.h5")
    files.replace(path, files.weights_bytes(small(), notes={"epoch": 3}))
    assert files.weights_notes(path) == {"epoch": 3}
    with h5py.File(path, "r+") as file:
        file.attrs["leat other"], file.attrs["other"] = np.int8(-4), "of others"
    assert files.weights_notes(path) == {"epoch": 3, "other": -4}
    with h5py.File(path, "r+") as file:
        NOTES[name](file.attrs)
    with pytest.raises(ValueError, match="epoch"):
        files.weights_notes(path)


def test_few_notes(tmp_path):
    path = str(tmp_path / "w.weights.h5")
    files.replace(path, files.weights_bytes(small(), notes={str(number): number for number in range(30)}))
    tf.config.set_load_limits(members=20)
    with pytest.raises(ValueError, match="set_load_limits"):
        files.weights_notes(path)
    (tmp_path / "w.weights.h5").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="w.weights.h5"):
        files.weights_notes(path)


def test_cycles_and_crowds_of_hdf5_cost_nothing(tmp_path):
    def cycle(group):
        group["again"] = group.file["/"]
    refused(weights(tmp_path, cycle), "variables")
    path = weights(tmp_path, lambda group: [group.create_group(str(number)) for number in range(2, 40)])
    tf.config.set_load_limits(members=20)
    refused(path, "members=20")


class Selfish(layers.Layer):
    """A layer that reads its own values."""

    def build(self, shape):
        self.kernel = self.add_weight(shape=(2,), initializer="zeros")

    def call(self, x):
        return x

    def load_own_variables(self, store):
        self.kernel.assign(store["0"])
        if store["0"][0] < 0:
            raise ValueError("less than nothing")


def test_a_layer_that_reads_by_itself_is_given_what_is_bounded(tmp_path):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2), Selfish()])
    path = tmp_path / "w.weights.h5"
    model.layers[1].kernel.assign([1.0, 2.0])
    model.save_weights(path)
    model.layers[1].kernel.assign([0.0, 0.0])
    model.load_weights(path)
    assert model.layers[1].kernel.numpy().tolist() == [1, 2]
    with h5py.File(path, "r+") as file:
        file["layers/selfish/vars/0"][...] = [-1, -1]
        file["layers/dense/vars/1"][...] = [5, 5]
    with pytest.raises(ValueError, match="less"):
        model.load_weights(path)
    assert model.layers[1].kernel.numpy().tolist() == [1, 2]
    assert model.layers[0].get_weights()[1].tolist() == [0, 0]
    with h5py.File(path, "r+") as file:
        file["layers/selfish/vars"].create_dataset("1", (30000, 30000), "f4", compression="gzip")
    refused(path, "unpacked_bytes", model)


# ---- archives ----

def archive(path, change=None, members=(), packed=zipfile.ZIP_STORED):
    """A `.keras` file whose configuration was changed, or that has further members."""
    memory = io.BytesIO()
    small().save(memory)
    with zipfile.ZipFile(memory) as source, zipfile.ZipFile(path, "w", packed) as made:
        for name in source.namelist():
            content = source.read(name)
            if name == "config.json" and change is not None:
                config = json.loads(content)
                content = json.dumps(change(config) or config)
            made.writestr(name, content)
        for name, content in members:
            made.writestr(name, content)
    return path


def not_loaded(path, match, error=ValueError, **kwargs):
    with pytest.raises(error, match=match):
        keras.models.load_model(path, **kwargs)


def test_names_out_of_an_archive_write_nothing(tmp_path):
    """Zip slip; CVE-2025-12060 and CVE-2025-12638 were tar archives of get_file."""
    path = archive(tmp_path / "m.keras", members=[("../out.txt", "x"), ("/tmp/leat-out.txt", "x"),
                                                  ("assets/../../out.txt", "x")])
    keras.models.load_model(path)
    assert os.listdir(tmp_path) == ["m.keras"] and not os.path.exists(tmp_path.parent / "out.txt")
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(path, "../out.txt")
        tar.add(path, "in.txt")
    with pytest.warns(UserWarning, match="out.txt"):
        kept = keras.utils.get_file("a", (tmp_path / "a.tar").as_uri(), extract=True, cache_dir=tmp_path / "cache")
    assert os.listdir(kept) == ["in.txt"] and not list(tmp_path.rglob("out.txt"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_twice_members_over_each_other_and_other_packings(tmp_path):
    """CVE-2024-0450: members that share their bytes."""
    not_loaded(archive(tmp_path / "m.keras", members=[("config.json", "{}")]), "twice")
    path = archive(tmp_path / "n.keras", members=[("a", "0123456789" * 9), ("b", "0123456789" * 9)])
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")  # the entry of "b" in the directory
    first = data.find(b"0123456789") - 31
    struct.pack_into("<I", data, at + 42, first)
    path.write_bytes(data)
    not_loaded(path, "over")
    not_loaded(archive(tmp_path / "o.keras", packed=zipfile.ZIP_LZMA), "method")


def test_bombs_of_archives(tmp_path):
    """CVE-2019-9674: what unpacks to much more than it is, also where the directory says less."""
    zeros = bytes(70 << 20)
    not_loaded(archive(tmp_path / "m.keras", lambda config: {**config, "more": "a" * (5 << 20)},
                       packed=zipfile.ZIP_DEFLATED), "unpacked_bytes")
    path = tmp_path / "w.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("config.json", "{}")
        made.writestr("model.weights.h5", zeros)
    not_loaded(path, "bomb")
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 100)
    path.write_bytes(data)
    not_loaded(path, "model.weights.h5")
    tf.config.set_load_limits(members=3)
    not_loaded(archive(tmp_path / "c.keras", members=[("a", ""), ("b", "")]), "members=3")


# ---- configurations ----

def layer_of(module, name, config, registered=None):
    return {"module": module, "class_name": name, "config": config, "registered_name": registered}


def with_layer(one):
    def change(config):
        config["config"]["layers"].append(one)
    return change


GADGETS = {
    "CVE-2025-1550": layer_of("os", "system", {"command": "touch gone"}),
    "CVE-2025-1550 function": layer_of("keras.layers", "Lambda", {"name": "a", "function": layer_of(
        "os", "function", "system", "function")}),
    "CVE-2025-8747": layer_of("keras.layers", "Lambda", {"name": "a", "function": layer_of(
        "keras.utils", "function", "get_file", "function"), "arguments": {"origin": "file:///etc/hostname"}}),
    "CVE-2025-9906": layer_of("keras.layers", "Lambda", {"name": "a", "function": layer_of(
        "keras.config", "function", "enable_unsafe_deserialization", "function")}),
    "load_model": layer_of("keras.layers", "Lambda", {"name": "a", "function": layer_of(
        "keras.models", "function", "load_model", "function"), "arguments": {"safe_mode": False}}),
    "deserialize": layer_of("keras.layers", "Lambda", {"name": "a", "function": layer_of(
        "keras.losses", "function", "deserialize", "function")}),
    "private": layer_of("keras.layers", "_Lookup", {}),
    "module": layer_of("keras.layers", "registry", {}),
    "CVE-2024-3660": layer_of("keras.layers", "Lambda", {"name": "a", "function": {
        "class_name": "__lambda__", "config": {"code": "4wE=", "defaults": None, "closure": None}}}),
    "CVE-2025-49655": layer_of("keras.layers", "TorchModuleWrapper", {"module": "gASVAAAA"}),
    "CVE-2026-1462": layer_of("keras.layers", "TFSMLayer", {"filepath": "/tmp"}),
    "dtype of objects": layer_of("keras.layers", "Activation", {"activation": {
        "class_name": "__numpy__", "config": {"value": ["a"], "dtype": "S1000000000"}}}),
    "no name": layer_of("keras.layers", ["Dense"], {}),
    "memory": layer_of("keras.layers", "Dense", {"units": 400_000_000}),
    "no input": layer_of("keras.layers", "Dense", {"units": -3}),
}


# Who vouches for a file may fill the memory.
@pytest.mark.parametrize("name, safe_mode", [(name, safe_mode) for name in GADGETS for safe_mode in (True, False)
                                             if safe_mode or name != "memory"])
def test_no_code_of_a_configuration_runs(tmp_path, monkeypatch, name, safe_mode):
    monkeypatch.chdir(tmp_path)
    path = archive(tmp_path / "m.keras", with_layer(GADGETS[name]))
    with pytest.raises((ValueError, TypeError) if safe_mode else (ValueError, TypeError, OSError)):
        keras.models.load_model(path, safe_mode=safe_mode)
    assert os.listdir(tmp_path) == ["m.keras"]


def test_a_model_of_strangers_takes_no_memory_that_its_weights_do_not_fill(tmp_path):
    not_loaded(archive(tmp_path / "m.keras", with_layer(GADGETS["memory"])), "set_load_limits")
    tf.config.set_load_limits(array_bytes=1000)
    with pytest.raises(ValueError, match="array_bytes=1000"):
        keras.saving.deserialize_keras_object(layer_of("keras.layers", "Dense", {"units": 300}) | {
            "build_config": {"input_shape": [None, 5]}})


LOOKUPS = ("StringLookup", "IntegerLookup", "TextVectorization")


@pytest.mark.parametrize("name", LOOKUPS)
def test_a_vocabulary_is_no_file_of_the_reader(tmp_path, name):
    """CVE-2025-12058."""
    (tmp_path / "words.txt").write_text("7\n8\n")
    config = layer_of("keras.layers", name, {"name": "a", "vocabulary": str(tmp_path / "words.txt")})
    for call in (lambda: keras.saving.deserialize_keras_object(config), lambda: getattr(layers, name).from_config(
            config["config"]), lambda: keras.models.model_from_json(json.dumps(config)),
            lambda: keras.models.load_model(archive(tmp_path / "m.keras", with_layer(config)))):
        with pytest.raises(ValueError, match="safe_mode=False") as caught:
            call()
        assert "words.txt" in str(caught.value)
    made = keras.saving.deserialize_keras_object(config, safe_mode=False)
    assert [str(word) for word in made.get_vocabulary()][-2:] == ["7", "8"]
    assert getattr(layers, name)(vocabulary=str(tmp_path / "words.txt")).vocabulary_size() > 2
    kept = getattr(layers, name).from_config(made.get_config())  # which has the words
    assert kept.get_vocabulary() == made.get_vocabulary()


def test_safe_mode_is_lifted_for_the_process(tmp_path):
    (tmp_path / "words.txt").write_text("7\n8\n")
    program = """
import sys
from leat import keras
config = {"module": "keras.layers", "class_name": "StringLookup", "registered_name": None,
          "config": {"name": "a", "vocabulary": sys.argv[1]}}
keras.config.enable_unsafe_deserialization()
print(keras.saving.deserialize_keras_object(config).get_vocabulary())
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "words.txt")], capture_output=True, text=True,
                          check=True)
    assert done.stdout == "['[UNK]', np.str_('7'), np.str_('8')]\n"


@pytest.mark.parametrize("text, match", [
    ("[" * 100_000, "depth=256"), ('{"a": 1, "a": 2}', "twice"), ("7", "int"), ('{"a": ' + "9" * 5000 + "}", "JSON"),
    ('{"a": "' + "[" * 300 + '\\""}', "configuration")])
def test_json_of_strangers(tmp_path, text, match):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("config.json", text)
        made.writestr("model.weights.h5", "")
    not_loaded(path, match)


def test_models_in_models_without_end(tmp_path):
    path, count = tmp_path / "m.keras", 2000
    around = ('{"module": "keras", "class_name": "Sequential", "registered_name": null, '
              '"config": {"name": "a", "layers": [')
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("config.json", around * count + "]}}" * count)
        made.writestr("model.weights.h5", "")
    not_loaded(path, "depth=256")
    tf.config.set_load_limits(depth=100_000)
    not_loaded(path, "config.json")


# ---- safetensors and numpy ----

def test_safetensors_of_strangers(tmp_path):
    path = tmp_path / "w.safetensors"

    def file(text, values=bytes(60)):
        text = text if isinstance(text, bytes) else json.dumps(text).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + values)
        return path
    kernel = {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}
    bias = {"dtype": "F32", "shape": [3], "data_offsets": [48, 60]}
    names = ("layers/dense/kernel", "layers/dense/bias")
    whole = {names[0]: kernel, names[1]: bias}
    small().load_weights(file(whole))
    refused(file({**whole, "a": dict(bias, data_offsets=[36, 48])}), "inside")
    refused(file({**whole, "a": kernel}), "inside")
    refused(file(json.dumps(whole).replace("[3]", "[1e400]").encode()), names[1])
    refused(file({**whole, names[1]: dict(bias, shape=[3.0])}), names[1])
    refused(file({**whole, names[1]: dict(bias, shape=[True, 3])}), names[1])
    refused(file({**whole, names[1]: dict(bias, shape=[1 << 62, 1 << 62])}), names[1])
    refused(file({**whole, names[1]: dict(bias, shape=[-3])}), names[1])
    refused(file({**whole, names[1]: dict(bias, shape=[3] + [1] * 70)}), names[1])
    refused(file({**whole, names[1]: dict(bias, data_offsets=[48, 1 << 70])}), names[1])
    refused(file(b'{"a": 1, "a": 1}'), "twice")
    refused(file(b"[" * 1000), "depth")
    path.write_bytes((1 << 63).to_bytes(8, "little") + b"{}")
    refused(path, "header")
    tf.config.set_load_limits(array_bytes=20)
    refused(file(whole), "array_bytes=20")


def test_no_tensor_is_called_as_the_notes_are():
    from leat.keras.saving import safetensors
    with pytest.raises(ValueError, match="__metadata__"):
        safetensors.encode({"__metadata__": np.zeros(2)})


def test_npy_files_with_objects_are_refused(tmp_path):
    """CVE-2019-6446: an array of objects is a pickle."""
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(tf.errors.UnimplementedError, match="objects"):
        list(tf.data.experimental.numpy_dataset([str(tmp_path / "a.npy")]))


# ---- limits ----

def test_limits_are_said_and_checked():
    names = tf.config.get_load_limits()._asdict()
    assert names == {"array_bytes": 2 ** 34, "total_bytes": 2 ** 36, "unpacked_bytes": 2 ** 26, "members": 100_000,
                     "depth": 256, "json_bytes": 2 ** 27}
    tf.config.set_load_limits(total_bytes=12)
    assert tf.config.get_load_limits().total_bytes == 12 and tf.config.get_load_limits().depth == 256
    for wrong in (0, -1, 1.5, True, "9"):
        with pytest.raises(ValueError, match="depth"):
            tf.config.set_load_limits(depth=wrong)
    assert tf.config.get_load_limits().total_bytes == 12


def test_the_bytes_of_all_arrays_are_limited(tmp_path):
    path = weights(tmp_path, lambda group: None)
    tf.config.set_load_limits(total_bytes=50)
    refused(path, "total_bytes=50")
    tf.config.set_load_limits(array_bytes=47)
    refused(path, "array_bytes=47")


# ---- nothing of one's own is lost ----

def test_nested_models_keep_all_weights(tmp_path):
    def part():
        i = keras.Input((4,))
        return keras.Model(i, layers.Dense(2)(i))
    for _ in range(40):
        inputs = [keras.Input((4,)) for _ in range(3)]
        model = keras.Model(inputs, [part()(one) for one in inputs])
        model.save(tmp_path / "m.keras")
        again = keras.models.load_model(tmp_path / "m.keras")
        for found, expected in zip(again.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_array_equal(found, expected)


class Boxed(keras.Model):
    def __init__(self):
        super().__init__()
        self.d = layers.Dense(2)
        self.box = {"a": [self.d]}
        self.box["c"] = self.box

    def call(self, x):
        return self.d(x)


def test_containers_that_hold_themselves(tmp_path):
    first, second = Boxed(), Boxed()
    for model in (first, second):
        model(np.ones((1, 3)))
    assert len(first.weights) == 2
    first.save_weights(tmp_path / "w.weights.h5")
    second.load_weights(tmp_path / "w.weights.h5")
    np.testing.assert_array_equal(first.get_weights()[0], second.get_weights()[0])


def test_weights_under_the_name_of_a_property(tmp_path):
    class Saved(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2)

        def call(self, x):
            return self.dense(x)

    class Loading(layers.Layer):
        def __init__(self):
            super().__init__()
            self._hidden = layers.Dense(2)

        dense = property(lambda self: self._hidden)

        @property
        def broken(self):
            raise RuntimeError("not as yet")

        def call(self, x):
            return self.dense(x)
    first, second = (keras.Sequential([keras.Input((3,)), part]) for part in (Saved(), Loading()))
    first.save_weights(tmp_path / "w.weights.h5")
    with h5py.File(tmp_path / "w.weights.h5", "r+") as file:
        file.move("layers/saved", "layers/loading")
    second.load_weights(tmp_path / "w.weights.h5")
    np.testing.assert_array_equal(first.get_weights()[0], second.get_weights()[0])


def test_private_layers_of_layers_are_saved(tmp_path):
    class Private(layers.Layer):
        def __init__(self):
            super().__init__()
            self._dense = layers.Dense(2)

        def call(self, x):
            return self._dense(x)
    first, second = (keras.Sequential([keras.Input((3,)), Private()]) for _ in range(2))
    first.save_weights(tmp_path / "w.weights.h5")
    with h5py.File(tmp_path / "w.weights.h5") as file:
        assert file["layers/private/_dense/vars/0"].shape == (3, 2)  # where Keras 3 has it
    second.load_weights(tmp_path / "w.weights.h5")
    np.testing.assert_array_equal(first.get_weights()[0], second.get_weights()[0])


def test_activity_regularization_comes_out_of_its_configuration(tmp_path):
    layer = layers.ActivityRegularization(l1=0.25, l2=0.5)
    made = layers.ActivityRegularization.from_config(layer.get_config())
    assert (made.l1, made.l2) == (0.25, 0.5)
    model = keras.Sequential([keras.Input((2,)), made])
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    again(np.array([[1.0, 2.0]]))
    assert float(again.losses[0]) == pytest.approx(0.25 * 3 + 0.5 * 5)
