"""Names that are no UTF-8: every function that takes a path takes them, as text of os.fsdecode, as bytes and as Path,
and finds under them what it wrote. What has to be UTF-8 refuses them with their escapes."""

import os
import pathlib
import sys

import numpy as np
import pytest

import leat as tf
from leat import keras

ODD = b"\xff\xfe caf\xe9"
FORMS = {"text": os.fsdecode, "bytes": bytes, "path": lambda raw: pathlib.Path(os.fsdecode(raw))}


class Place:
    """Paths below a folder of an odd name, in one form."""

    def __init__(self, folder, form):
        self.raw, self.form = os.path.join(os.fsencode(folder), ODD), FORMS[form]
        os.mkdir(self.raw)

    def __call__(self, name=""):
        return self.form(self.bytes(name))

    def bytes(self, name):
        return os.path.join(self.raw, ODD + name.encode()) if name else self.raw

    def write(self, name, content):
        with open(self.bytes(name), "wb") as file:
            file.write(content)
        return self(name)

    def records(self, name="r"):
        with tf.io.TFRecordWriter(self(name)) as writer:
            for i in range(3):
                writer.write(b"%d" % i)
        return self(name)


@pytest.fixture(params=FORMS)
def place(request, tmp_path):
    return Place(tmp_path, request.param)


def _values(dataset):
    return [x.numpy() if hasattr(x, "numpy") else x for x in dataset]


def _text_path(path):
    """Operations take text and bytes, no path objects; as in TensorFlow."""
    return os.fsdecode(path) if isinstance(path, pathlib.Path) else path


def test_records(place):
    path = place.records()
    assert os.listdir(place.raw) == [ODD + b"r"]
    assert _values(tf.data.TFRecordDataset(path)) == [b"0", b"1", b"2"]
    assert _values(tf.data.TFRecordDataset([path])) == [b"0", b"1", b"2"]
    names = tf.data.Dataset.from_tensor_slices([_text_path(path)])
    assert _values(names) == [place.bytes("r")]
    assert _values(names.interleave(tf.data.TFRecordDataset)) == [b"0", b"1", b"2"]


def test_a_plan_of_such_names_as_json(place):
    dataset = tf.data.TFRecordDataset(place.records())
    text = dataset.to_json()
    assert text.isascii() and place.bytes("r").hex() in text
    assert _values(tf.data.Dataset.from_json(text)) == [b"0", b"1", b"2"]


def test_other_readers(place):
    assert _values(tf.data.TextLineDataset(place.write("t", b"a\nb\n"))) == [b"a", b"b"]
    assert _values(tf.data.FixedLengthRecordDataset(place.write("f", b"abcd"), 2)) == [b"ab", b"cd"]
    rows = tf.data.experimental.CsvDataset(place.write("c", b"1,2\n"), [tf.int32, tf.int32])
    assert [[int(x) for x in row] for row in rows] == [[1, 2]]
    made = tf.data.experimental.make_csv_dataset(place.write("m", b"a,b\n1,2\n"), 1, num_epochs=1)
    assert [int(row["b"][0]) for row in made] == [2]


def test_the_error_of_a_file_that_is_gone(place):
    with pytest.raises(tf.errors.NotFoundError, match=r"\\xe9gone") as caught:
        list(tf.data.TFRecordDataset(place("gone")))
    assert os.fsencode(caught.value.file) == place.bytes("gone")


def test_operations(place):
    path = _text_path(place("f"))
    tf.io.write_file(path, b"hi")
    assert tf.io.read_file(path).numpy() == b"hi"
    assert tf.function(lambda: tf.io.read_file(path))().numpy() == b"hi"
    assert _values(tf.data.Dataset.from_tensors(path).map(tf.io.read_file)) == [b"hi"]
    pattern = path[:-1] + (b"*" if isinstance(path, bytes) else "*")
    assert tf.io.matching_files(pattern).numpy().tolist() == [place.bytes("f")]
    assert _values(tf.data.Dataset.list_files(pattern)) == [place.bytes("f")]


def test_gfile(place):
    g = tf.io.gfile
    g.makedirs(place("sub"))
    with g.GFile(place("f"), "w") as file:
        file.write("x")
    assert g.exists(place("f")) and g.isdir(place("sub")) and g.stat(place("f")).length == 1
    assert sorted(os.fsencode(name) for name in g.listdir(place())) == [ODD + b"f", ODD + b"sub"]
    assert [os.fsencode(found) for found in g.glob(place("?"))] == [place.bytes("f")]
    g.copy(place("f"), place("g"))
    g.rename(place("g"), place("h"))
    g.remove(place("f"))
    g.rmtree(place("sub"))
    assert os.listdir(place.raw) == [ODD + b"h"]


def test_checkpoints(place):
    v = tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(v=v)
    assert os.fsencode(checkpoint.write(place("w"))) == place.bytes("w")
    assert ("v/.ATTRIBUTES/VARIABLE_VALUE", []) in tf.train.list_variables(place("w"))
    checkpoint.save(place("c"))
    v.assign(0.0)
    checkpoint.restore(tf.train.latest_checkpoint(place()))
    assert v.numpy() == 3.0
    v.assign(0.0)
    checkpoint.read(place("w"))
    assert v.numpy() == 3.0
    state = tf.train.get_checkpoint_state(place())
    assert os.fsencode(state.model_checkpoint_path) == place.bytes("c-1")
    with open(os.path.join(place.raw, b"checkpoint"), "rb") as file:
        assert file.readline() == b'model_checkpoint_path: "\\377\\376 caf\\351c-1"\n'
    assert sorted(os.listdir(place.raw)) == sorted([b"checkpoint"] + [
        ODD + name + end for name in (b"w", b"c-1") for end in (b".index", b".data-00000-of-00001")])


def test_managers(place):
    v, name = tf.Variable(3.0), os.fsdecode(ODD)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), place(), max_to_keep=2, checkpoint_name=name)
    for _ in range(3):
        manager.save()
    v.assign(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), place(), max_to_keep=2, checkpoint_name=name)
    assert os.fsencode(manager.restore_or_initialize()) == place.bytes("-3") and v.numpy() == 3.0
    assert [os.fsencode(path) for path in manager.checkpoints] == [place.bytes("-2"), place.bytes("-3")]


def test_iterators_in_checkpoints(place):
    dataset = tf.data.TFRecordDataset(place.records())
    it, other = iter(dataset), iter(dataset)
    next(it)
    path = tf.train.Checkpoint(it=it).write(place("it"))
    tf.train.Checkpoint(it=other).read(path)
    assert _values(other) == [b"1", b"2"]


def test_saved_datasets(place):
    dataset = tf.data.Dataset.range(5)
    dataset.save(place("saved"))
    assert _values(tf.data.Dataset.load(place("saved"))) == list(range(5))
    for folder in ("snapshot", "cache"):
        make = getattr(dataset, folder)
        assert _values(make(place(folder))) == _values(make(place(folder))) == list(range(5))
    assert {ODD + b"saved", ODD + b"snapshot", ODD + b"cache.index"} <= set(os.listdir(place.raw))


def test_summaries(place):
    with tf.summary.create_file_writer(place(), filename_suffix=os.fsdecode(ODD)).as_default():
        tf.summary.scalar("a", 1.0, step=1)
    found, = os.listdir(place.raw)
    assert found.endswith(ODD)
    file = place.form(os.path.join(place.raw, found))
    assert len(list(tf.data.TFRecordDataset(file))) >= 1


def _model():
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def _fit(*callbacks, epochs=2):
    model = _model()
    model.fit(np.zeros((4, 2), "float32"), np.zeros((4, 1), "float32"), epochs=epochs, verbose=0, callbacks=callbacks)
    return model


def test_models(place):
    model = _model()
    model.save(place("m.keras"))
    assert keras.models.load_model(place("m.keras")).count_params() == 3
    for name in ("m.weights.h5", "m.safetensors"):
        model.save_weights(place(name))
        other = _model()
        other.load_weights(place(name))
        assert all((a == b).all() for a, b in zip(model.get_weights(), other.get_weights()))


def test_callbacks(place, monkeypatch):
    monkeypatch.setattr(sys.stdout, "write", lambda text: len(text.encode()))  # as a terminal of UTF-8 does
    with_place = _text_path(place("e"))
    with_place += b"{epoch}.keras" if isinstance(with_place, bytes) else "{epoch}.keras"
    _fit(keras.callbacks.CSVLogger(place("log")), keras.callbacks.ModelCheckpoint(with_place, verbose=1),
         keras.callbacks.ModelCheckpoint(place("m.weights.h5"), save_weights_only=True),
         keras.callbacks.BackupAndRestore(place("b"), delete_checkpoint=False),
         keras.callbacks.TensorBoard(place("tb")))
    assert set(os.listdir(place.raw)) == {
        ODD + name for name in (b"log", b"e1.keras", b"e2.keras", b"m.weights.h5", b"b", b"tb")}
    backup = keras.callbacks.BackupAndRestore(place("b"))
    assert int(_fit(backup, epochs=3).optimizer.iterations) == 3  # two of them out of the backup


def test_vocabularies_and_tables(place):
    path = place.write("v", b"a\nb\n")
    assert keras.layers.StringLookup(vocabulary=path).get_vocabulary() == ["[UNK]", "a", "b"]
    rows = tf.lookup.TextFileInitializer(_text_path(path), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                         tf.lookup.TextFileIndex.LINE_NUMBER)
    assert int(tf.lookup.StaticHashTable(rows, -1).lookup(tf.constant("b"))) == 1


def test_folders_of_classes(place):
    for name in (b"one", ODD):
        os.makedirs(os.path.join(place.raw, name))
        with open(os.path.join(place.raw, name, ODD + b".txt"), "wb") as file:
            file.write(name)
    dataset = keras.utils.text_dataset_from_directory(place(), shuffle=False, verbose=False)
    assert [os.fsencode(name) for name in dataset.class_names] == [b"one", ODD]
    assert [texts.numpy().tolist() for texts, _ in dataset] == [[b"one", ODD]]


BARE = "x\ud800y"  # a surrogate that stands for no byte
REFUSED = {
    "checkpoint": lambda path: tf.train.Checkpoint(v=tf.Variable(1.0)).write(path),
    "manager": lambda path: tf.train.CheckpointManager(tf.train.Checkpoint(), path, 1),
    "writer": tf.io.TFRecordWriter,
    "reader": tf.data.TFRecordDataset,
    "save": tf.data.Dataset.range(1).save,
    "events": tf.summary.create_file_writer,
    "read_file": tf.io.read_file,
    "gfile": tf.io.gfile.exists,
    "weights": lambda path: _model().save_weights(path + ".weights.h5"),
    "log": keras.callbacks.CSVLogger,
    "constant": tf.constant,
}


@pytest.mark.parametrize("name", REFUSED)
def test_text_of_no_bytes_is_refused_with_its_escapes(name):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x\\ud800y") as caught:
        REFUSED[name](BARE)
    assert str(caught.value).isascii()


@pytest.mark.parametrize("make", [lambda name: tf.data.Dataset.range(1).map(lambda x: x, name=name),
                                  lambda name: tf.Variable(1.0, name=name),
                                  lambda name: tf.data.experimental.service.DispatchServer(
                                      tf.data.experimental.service.DispatcherConfig(work_dir=name))])
def test_names_in_programs_are_utf8(make):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\\udcff"):
        make("\udcff")


def test_the_scheme_of_local_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = f"file://{tmp_path}/"
    v = tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(v=v)
    checkpoint.save(url + "new/c")
    manager = tf.train.CheckpointManager(checkpoint, url + "managed", 1)
    manager.save()
    assert tf.train.latest_checkpoint(url + "new") == str(tmp_path / "new/c-1")
    assert manager.latest_checkpoint == str(tmp_path / "managed/ckpt-2")
    _model().save(url + "m.keras")
    assert keras.models.load_model(url + "m.keras").count_params() == 3
    _fit(keras.callbacks.CSVLogger(url + "log"), keras.callbacks.BackupAndRestore(url + "b", delete_checkpoint=False))
    assert sorted(os.listdir()) == ["b", "log", "m.keras", "managed", "new"]


OTHER_SCHEMES = {
    "exists": tf.io.gfile.exists, "glob": tf.io.gfile.glob, "makedirs": tf.io.gfile.makedirs, "stat": tf.io.gfile.stat,
    "latest": tf.train.latest_checkpoint, "save": lambda path: tf.train.Checkpoint().save(path),
    "manager": lambda path: tf.train.CheckpointManager(tf.train.Checkpoint(), path, 1),
    "log": keras.callbacks.CSVLogger, "backup": keras.callbacks.BackupAndRestore,
    "events": tf.summary.create_file_writer,
    "model": lambda path: _model().save(path + ".keras"), "read": tf.io.read_file,
}


@pytest.mark.parametrize("name", OTHER_SCHEMES)
def test_other_schemes_are_no_folders(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tf.errors.UnimplementedError, match="hdfs://"):
        OTHER_SCHEMES[name]("hdfs://host/x")
    assert os.listdir() == []


def test_gfile_refuses_as_tensorflow_does(tmp_path):
    g = tf.io.gfile
    for function in (g.stat, g.mkdir, g.makedirs, g.remove, g.GFile):
        with pytest.raises(tf.errors.InvalidArgumentError, match="nnnn"):
            function(str(tmp_path / ("n" * 256)))
    g.mkdir(tmp_path)  # is there
    (tmp_path / "f").write_text("")
    with pytest.raises(tf.errors.AlreadyExistsError):
        g.mkdir(tmp_path / "f")


def test_an_empty_path_is_not_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = set(os.listdir("/"))
    assert _values(tf.data.Dataset.range(3).snapshot("")) == [0, 1, 2]
    assert _values(tf.data.Dataset.range(3).snapshot("")) == [0, 1, 2]
    assert len(os.listdir()) == 1 and set(os.listdir("/")) == root


def test_a_backup_removes_what_is_its_own(tmp_path):
    for shared in (False, True):
        folder = tmp_path / str(shared)
        folder.mkdir()
        if shared:
            (folder / "thesis.tex").write_text("x")
        _fit(keras.callbacks.BackupAndRestore(folder, double_checkpoint=True))
        assert (os.listdir(folder) == ["thesis.tex"]) if shared else not folder.exists()
