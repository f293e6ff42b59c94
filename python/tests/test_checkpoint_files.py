"""Checkpoints as files: TensorFlow's are read and its bytes written, damage is named, no kill loses what was saved.

tests/checkpoints holds what TensorFlow 2.21 wrote (tools/record/checkpoints.py); values are those it was given.
"""

import copy
import fcntl
import os
import pathlib
import random
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

import leat as tf
from leat._checkpoint import files

RECORDED = pathlib.Path(__file__).resolve().parents[2] / "tests/checkpoints"
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


class Net(tf.Module):
    def __init__(self, start):
        super().__init__()
        self.b = tf.Variable(start * 1.5)
        self.same = self.b
        self.c = [tf.Variable([start * 2, start * 3])]
        self.d = {"x/y": tf.Variable(start * 4, dtype=tf.int64)}
        self.t = (tf.Variable(bool(start)),)


def keras_model():
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization(),
                                 tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
    return model, tf.keras.optimizers.Adam(0.1)


# ---- TensorFlow's files ----

def test_a_module_of_tensorflow_is_restored():
    net = Net(0)
    tf.train.Checkpoint(net=net).restore(str(RECORDED / "module-1")).assert_consumed()
    assert (net.b.numpy(), net.c[0].numpy().tolist(), net.d["x/y"].numpy(), net.t[0].numpy()) == (1.5, [2, 3], 4, True)


def test_the_bytes_are_tensorflows(tmp_path):
    tf.train.Checkpoint(net=Net(1)).save(tmp_path / "module")
    assert (tmp_path / "module-1.index").read_bytes() == (RECORDED / "module-1.index").read_bytes()
    name = "module-1.data-00000-of-00001"
    assert (tmp_path / name).read_bytes() == (RECORDED / name).read_bytes()


def test_a_reader_shows_what_there_is():
    reader = tf.train.load_checkpoint(str(RECORDED / "mixed"))
    shapes, kinds = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert shapes == {"_CHECKPOINTABLE_OBJECT_GRAPH": [], f"brain{VALUE}": [2], f"empty{VALUE}": [0, 3],
                      f"half{VALUE}": [2], f"small{VALUE}": [1], f"text{VALUE}": [2, 2], f"truth{VALUE}": [2],
                      f"whole{VALUE}": []}
    assert kinds[f"half{VALUE}"] is tf.float16 and kinds[f"truth{VALUE}"] is tf.bool
    assert reader.get_tensor(f"text{VALUE}").tolist() == [[b"", b"leat"], [b"a\0b", "\u00e9".encode()]]
    assert reader.get_tensor(f"brain{VALUE}").astype(np.float32).tolist() == [1.5, -2.0]
    assert reader.get_tensor(f"half{VALUE}").tolist() == [1.5, -2.0]
    assert reader.get_tensor(f"whole{VALUE}") == 1 + 2j and reader.get_tensor(f"small{VALUE}").tolist() == [3 - 4j]
    assert reader.get_tensor(f"empty{VALUE}").shape == (0, 3)
    assert reader.get_tensor(f"truth{VALUE}").tolist() == [True, False]
    assert reader.has_tensor(f"half{VALUE}") and not reader.has_tensor("half")
    with pytest.raises(tf.errors.NotFoundError, match="half"):
        reader.get_tensor("half")
    assert tf.train.list_variables(str(RECORDED / "module-1"))[1] == (f"net/b{VALUE}", [])
    assert tf.train.load_variable(str(RECORDED / "module-1"), f"net/b{VALUE}") == 1.5
    with pytest.raises(ValueError, match="checkpoint"):
        tf.train.load_checkpoint(os.path.dirname(__file__))


@pytest.mark.parametrize("is_built", [False, True])
def test_a_model_and_its_optimizer_of_tensorflow(is_built):
    model, optimizer = keras_model()
    if is_built:
        optimizer.build(model.trainable_variables)
    status = tf.train.Checkpoint(model=model, optimizer=optimizer).read(str(RECORDED / "keras"))
    status.assert_existing_objects_matched()
    optimizer.build(model.trainable_variables)
    status.assert_consumed()
    assert [round(float(np.ravel(w.numpy())[0]), 4) for w in model.weights] == [-1, 0, 1, 2, 4, 5, 5, 6]
    assert (int(optimizer.iterations.numpy()), float(optimizer.learning_rate.numpy())) == (2, 0.5)
    slots = [np.unique(v.numpy().round(6)).tolist() for v in optimizer.variables[2:]]
    np.testing.assert_allclose(slots, [[0.19], [0.001999]] * 6, atol=1e-6)


def test_what_is_written_has_tensorflows_names(tmp_path):
    model, optimizer = keras_model()
    optimizer.build(model.trainable_variables)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).write(tmp_path / "keras")
    recorded = {name for name, _ in tf.train.list_variables(str(RECORDED / "keras"))}
    # Seeds of dropout are leat's own, under names of their own.
    own = {name for name, _ in tf.train.list_variables(path) if "LEAT" in name}
    assert {name for name, _ in tf.train.list_variables(path)} - own == recorded
    assert len(own) == 2


# ---- by attribute path ----

def test_values_go_by_name_not_by_place(tmp_path):
    class A(tf.Module):
        def __init__(self, more):
            super().__init__()
            if more:
                self.a0 = tf.Variable(0.0)
            self.b = tf.Variable(0.0 if more else 5.0)
    path, other = tf.train.Checkpoint(m=A(False)).save(tmp_path / "c"), A(True)
    status = tf.train.Checkpoint(m=other).restore(path)
    assert (other.a0.numpy(), other.b.numpy()) == (0.0, 5.0)
    with pytest.raises(AssertionError, match="m/a0"):
        status.assert_existing_objects_matched()
    status.assert_nontrivial_match()


def test_layers_that_were_made_in_another_order(tmp_path):
    class Net(tf.keras.Model):
        def __init__(self, names):
            super().__init__()
            for name in names:
                setattr(self, name, tf.keras.layers.Dense({"x": 1, "y": 1}[name]))

        def call(self, value):
            return self.x(self.y(value))
    first, second = Net("xy"), Net("yx")
    first(tf.ones([1, 1]))
    first.x.kernel.assign([[3.0]])
    first.y.kernel.assign([[4.0]])
    path = tf.train.Checkpoint(net=first).save(tmp_path / "c")
    status = tf.train.Checkpoint(net=second).restore(path)
    second(tf.ones([1, 1]))
    assert (second.x.kernel.numpy(), second.y.kernel.numpy()) == (3.0, 4.0)
    status.assert_consumed()


def test_a_part_of_a_tree(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(2)])
    holder = tf.Module()
    holder.l1 = model.layers[0]
    holder.l1.bias.assign([1.0, 2.0])
    path, bias = tf.train.Checkpoint(net=holder).save(tmp_path / "c"), tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(net=tf.train.Checkpoint(l1=tf.train.Checkpoint(bias=bias))).restore(path).expect_partial()
    assert bias.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(AssertionError, match="root"):
        tf.train.Checkpoint(other=tf.Variable(0.0)).read(path).assert_nontrivial_match()


def test_lists_and_dictionaries_that_grow_later(tmp_path):
    saved = tf.train.Checkpoint()
    saved.listed = [tf.Variable(1.0), {"k": [tf.Variable(2.0)]}]
    path, restored = saved.save(tmp_path / "c"), tf.train.Checkpoint()
    status = restored.restore(path)
    restored.listed = []
    first, second = tf.Variable(0.0), tf.Variable(0.0)
    restored.listed.append(first)
    restored.listed.append({})
    restored.listed[1]["k"] = []
    with pytest.raises(AssertionError, match="listed.1"):
        status.assert_consumed()
    restored.listed[1]["k"].append(second)
    assert (first.numpy(), second.numpy()) == (1.0, 2.0)
    status.assert_consumed()


class Growing(tf.Module):
    """Its containers are there from the start, its variables are not."""

    def __init__(self):
        super().__init__()
        self.rows, self.named = [], {}

    def build(self, scale):
        self.rows.append(tf.Variable(scale * 1.0))
        self.rows += [tf.Variable(scale * 2.0)]
        self.rows.extend([tf.Variable(scale * 3.0)])
        self.named.update(a={})
        self.named["a"]["b"] = [tf.Variable(scale * 4.0)]
        self.named |= {"c": tf.Variable(scale * 5.0)}
        return [float(variable.numpy()) for variable in (*self.rows, *self.named["a"]["b"], self.named["c"])]


def test_containers_of_a_module_that_grow_later(tmp_path):
    first, second = Growing(), Growing()
    saved = first.build(1)
    status = tf.train.Checkpoint(net=second).restore(tf.train.Checkpoint(net=first).save(tmp_path / "c"))
    second.build(0)
    status.assert_consumed()
    assert saved == [1, 2, 3, 4, 5]
    assert [float(variable.numpy()) for variable in second.variables] == [
        float(variable.numpy()) for variable in first.variables]
    assert type(copy.copy(second.rows)) is list and second.rows == list(second.rows)


def test_layers_of_a_list_that_are_made_later(tmp_path):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.stack = []

        def build(self, shape):
            self.stack.append(tf.keras.layers.Dense(1))

        def call(self, value):
            return self.stack[0](value)
    first, second = Net(), Net()
    first(tf.ones([1, 1]))
    first.stack[0].kernel.assign([[5.0]])
    tf.train.Checkpoint(net=second).restore(tf.train.Checkpoint(net=first).save(tmp_path / "c"))
    second(tf.ones([1, 1]))
    assert second.stack[0].kernel.numpy() == 5.0


def test_shared_objects_are_saved_once(tmp_path):
    shared = tf.Variable(7.0)
    path = tf.train.Checkpoint(a=[shared], b=shared, c={"d": shared}).write(tmp_path / "c")
    assert [name for name, _ in tf.train.list_variables(path)] == ["_CHECKPOINTABLE_OBJECT_GRAPH", f"b{VALUE}"]
    alone = tf.Variable(0.0)
    tf.train.Checkpoint(c={"d": alone}).read(path)
    assert alone.numpy() == 7.0


def test_another_dtype_is_refused(tmp_path):
    path, other = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c"), tf.Variable(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        tf.train.Checkpoint(v=other).read(path)
    assert other.numpy() == 3


# ---- names of files ----

def test_over_an_old_checkpoint_goes_a_file_of_another_name(tmp_path):
    variable = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    seen = []
    for value in (1.0, 2.0, 3.0):
        variable.assign(value)
        path = checkpoint.write(tmp_path / "c")
        seen.append([name for name in sorted(os.listdir(tmp_path)) if "data" in name])
        assert tf.train.load_variable(path, f"v{VALUE}") == value
    first, second = "c.data-00000-of-00001", "c.data-00001-of-00002"
    assert seen == [[first], [second], [first]]


def test_leftovers_of_killed_saves_go(tmp_path):
    (tmp_path / "c-7.data-00000-of-00001").write_bytes(b"cut")
    (tmp_path / "other-7.data-00000-of-00001").write_bytes(b"not ours")
    (tmp_path / ".c-8.index.leat-0.tmp").write_bytes(b"cut")
    (tmp_path / ".c-9.data-00000-of-00001.leat-0.tmp").write_bytes(b"of a writer that lives")
    lives = open(tmp_path / ".c-9.data-00000-of-00001.leat-0.tmp", "rb")
    fcntl.flock(lives, fcntl.LOCK_EX)
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = checkpoint.save(tmp_path / "c")
    shutil.copy(f"{path}.data-00000-of-00001", f"{path}.data-00001-of-00002")
    checkpoint.save(tmp_path / "c")
    lives.close()
    assert sorted(os.listdir(tmp_path)) == [
        ".c-9.data-00000-of-00001.leat-0.tmp", "c-1.data-00000-of-00001", "c-1.index", "c-2.data-00000-of-00001",
        "c-2.index", "checkpoint", "other-7.data-00000-of-00001"]


def test_a_manager_that_begins_removes_leftovers(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=3).save()
    there = sorted(os.listdir(tmp_path))
    for name in (".ckpt-2.index.leat-0.tmp", "ckpt-2.data-00000-of-00001", "ckpt-1.data-00001-of-00002"):
        (tmp_path / name).write_bytes(b"of a killed save")
        os.utime(tmp_path / name, (1, 1))
    (tmp_path / "ckpt-3.data-00000-of-00001").write_bytes(b"TensorFlow is about to write its index")
    lives = tmp_path / "ckpt-4.data-00000-of-00001"
    lives.write_bytes(b"of a writer that lives")
    os.utime(lives, (1, 1))
    with open(lives, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=3)
    assert sorted(os.listdir(tmp_path)) == sorted([*there, "ckpt-3.data-00000-of-00001", lives.name])


WRITER = """
import sys, leat as tf
variables = [tf.Variable(tf.fill([2000], float(sys.argv[2]))) for _ in range(3)]
checkpoint = tf.train.Checkpoint(v=variables)
for _ in range(int(sys.argv[3])):
    checkpoint.write(sys.argv[1])
"""


def test_of_two_writers_of_one_name_one_wins_and_readers_find_one(tmp_path):
    prefix = str(tmp_path / "c")
    tf.train.Checkpoint(v=[tf.Variable(tf.zeros([2000])) for _ in range(3)]).write(prefix)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, prefix, str(number), "150"]) for number in (1, 2)]
    variables = [tf.Variable(tf.zeros([2000])) for _ in range(3)]
    reading = tf.train.Checkpoint(v=variables)
    while any(writer.poll() is None for writer in writers):
        reading.read(prefix).assert_consumed()
        assert len(np.unique([variable.numpy() for variable in variables])) == 1
    assert [writer.wait() for writer in writers] == [0, 0]
    reading.read(prefix).assert_consumed()
    tf.train.Checkpoint(v=variables).write(prefix)
    assert len(os.listdir(tmp_path)) == 2


def test_a_name_swept_before_it_is_locked_is_reserved_anew(tmp_path, monkeypatch):
    prefix, made, opened = str(tmp_path / "c"), [], os.open

    def open_and_sweep(path, flags, *rest):
        place = opened(path, flags, *rest)
        if flags & os.O_EXCL and not made:
            os.remove(path)
        made.append(path)
        return place

    monkeypatch.setattr(os, "open", open_and_sweep)
    count, place = files._reserve(prefix)
    assert len(made) == 2
    assert os.path.samestat(os.fstat(place), os.stat(files.data_file(prefix, count - 1, count)))
    os.close(place)


def test_a_manager_deletes_nothing_outside_of_its_folder(tmp_path):
    folder = tmp_path / "folder"
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    outside = checkpoint.write(tmp_path / "outside")
    folder.mkdir()
    (folder / "checkpoint").write_text('model_checkpoint_path: "../outside"\n'
                                       'all_model_checkpoint_paths: "../outside"\n')
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
    manager.save()
    manager.save()
    assert os.path.exists(outside + ".index") and os.path.exists(outside + ".data-00000-of-00001")


@pytest.mark.parametrize("what", ["gone", "cut data", "no data", "damaged index"])
def test_the_newest_whole_one_stands_in(tmp_path, what):
    variable = tf.Variable(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=variable), tmp_path, max_to_keep=3)
    for value in (1.0, 2.0):
        variable.assign(value)
        manager.save()
    index, data = tmp_path / "ckpt-2.index", tmp_path / "ckpt-2.data-00000-of-00001"
    if what == "gone":
        index.unlink()
    elif what == "cut data":
        data.write_bytes(data.read_bytes()[:-1])
    elif what == "no data":
        data.unlink()
    else:
        index.write_bytes(index.read_bytes()[:-60])
    with pytest.warns(UserWarning, match="ckpt-1"):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-1")
    with pytest.warns(UserWarning, match="ckpt-1"):
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=variable), tmp_path, max_to_keep=3)
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-1")
    assert variable.numpy() == 1.0


@pytest.mark.parametrize("text", [b"", b"\n", b"model_checkpoint_path", b'{"a": 1}', b"\xff\xfe",
                                  b"model_checkpoint_path: 3", b'model_checkpoint_path: "a\\', b"x: 1e999999999999"])
def test_a_damaged_file_checkpoint_is_named(tmp_path, text):
    tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "c")
    (tmp_path / "checkpoint").write_bytes(text)
    with pytest.raises(tf.errors.DataLossError, match="checkpoint"):
        tf.train.get_checkpoint_state(tmp_path)
    with pytest.warns(UserWarning, match="c-1"):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "c-1")


def test_the_file_checkpoint_has_tensorflows_form(tmp_path):
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "a\\303\\251\\"-2"\n'
                                         'all_model_checkpoint_paths: "a-1"\n'
                                         'all_model_checkpoint_paths: "/b/a-2"\nall_model_checkpoint_timestamps: 1.5\n'
                                         'all_model_checkpoint_timestamps: 1.7e9\nlast_preserved_timestamp: 1.25\n')
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.model_checkpoint_path == str(tmp_path / 'a\u00e9"-2')
    assert state.all_model_checkpoint_paths == [str(tmp_path / "a-1"), "/b/a-2"]
    assert (state.all_model_checkpoint_timestamps, state.last_preserved_timestamp) == ([1.5, 1.7e9], 1.25)


def test_one_of_every_n_hours_stays(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tmp_path, max_to_keep=1,
                                         keep_checkpoint_every_n_hours=2)
    for hours in (0, 1, 2.5, 3, 4, 5, 6):  # 1 goes: within 2 hours of the start; 3 and 6 stay for ever
        now[0] = 1000.0 + hours * 3600
        manager.save()
    names = sorted(name for name in os.listdir(tmp_path) if name.endswith(".index"))
    assert names == ["ckpt-3.index", "ckpt-6.index", "ckpt-7.index"]
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-7"]


# ---- hostile files ----

def mutated(data, source):
    out = bytearray(data)
    for _ in range(source.choice((1, 1, 1, 3))):
        at = source.randrange(len(out))
        kind = source.randrange(4)
        if kind == 0:
            out[at] ^= 1 << source.randrange(8)
        elif kind == 1:
            out[at] = source.randrange(256)
        elif kind == 2:
            del out[at:at + source.randrange(1, 9)]
        else:
            out[at:at] = out[at:at + source.randrange(1, 9)]
        if not out:
            break
    return bytes(out)


def test_mutated_files_are_refused_and_change_nothing(tmp_path):
    first, second = tf.Variable([1.0, 2.0]), tf.Variable([3, 4, 5])
    checkpoint = tf.train.Checkpoint(a=first, b=[second], it=iter(tf.data.Dataset.range(3)))
    path = checkpoint.write(tmp_path / "c")
    names = [tmp_path / "c.index", tmp_path / "c.data-00000-of-00001"]
    whole = {name: name.read_bytes() for name in names}
    source, refused = random.Random(5), 0
    count = 5 * int(os.environ.get("LEAT_DAMAGE", "20"))
    for number in range(count):
        name = names[number % 2]
        content = mutated(whole[name], source)
        name.write_bytes(content)
        first.assign([7.0, 8.0])
        second.assign([7, 8, 9])
        try:
            checkpoint.read(path)
            # Some bytes mean nothing: those that fill up the end of the index, and those behind the last value.
            assert (first.numpy().tolist(), second.numpy().tolist()) == ([1.0, 2.0], [3, 4, 5])
        except (tf.errors.DataLossError, tf.errors.NotFoundError, tf.errors.UnimplementedError, ValueError) as error:
            assert str(tmp_path) in str(error) or "c.index" in str(error) or VALUE in str(error)
            assert (first.numpy().tolist(), second.numpy().tolist()) == ([7.0, 8.0], [7, 8, 9])
            refused += 1
        name.write_bytes(whole[name])
    assert refused > count * 0.7


def test_an_old_index_without_shapes_is_refused_whole(tmp_path):
    """The format of before, whose second entry lacks its shape: nothing is set."""
    (tmp_path / "c.index").write_text(
        '{"format": "leat checkpoint 1", "entries": ['
        '{"kind": "variable", "dtype": "int64", "shape": [], "name": "a", "size": 8},'
        '{"kind": "variable", "dtype": "int64", "name": "b", "size": 8}]}')
    (tmp_path / "c.data-00000-of-00001").write_bytes(bytes(16))
    first, second = tf.Variable(3, dtype=tf.int64), tf.Variable(4, dtype=tf.int64)
    with pytest.raises(tf.errors.DataLossError, match="b"):
        tf.train.Checkpoint(a=first, b=second).read(str(tmp_path / "c"))
    assert (first.numpy(), second.numpy()) == (3, 4)


def test_without_a_checkpoint_nothing_is_restored():
    status = tf.train.Checkpoint(v=tf.Variable(1.0)).restore(None)
    assert status.expect_partial() is status
    for check in (status.assert_consumed, status.assert_existing_objects_matched, status.assert_nontrivial_match):
        with pytest.raises(AssertionError, match="save_path=None"):
            check()


def test_checkpoints_as_they_come(tmp_path):
    checkpoint, seen = tf.train.Checkpoint(v=tf.Variable(1.0)), []
    checkpoint.save(tmp_path / "c")
    for path in tf.train.checkpoints_iterator(tmp_path, timeout=0):
        seen.append(os.path.basename(path))
        if len(seen) < 3:
            checkpoint.save(tmp_path / "c")
    assert seen == ["c-1", "c-2", "c-3"]
    asked = []
    assert list(tf.train.checkpoints_iterator(tmp_path / "none", timeout=0,
                                              timeout_fn=lambda: asked.append(1) or len(asked) > 1)) == []
    assert len(asked) == 2


def test_nothing_is_warned_where_all_is_well(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tmp_path, 2).save()
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-1")
