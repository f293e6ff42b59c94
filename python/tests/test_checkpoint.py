"""Checkpoints of iterators: files, names, what comes back."""

import os
import subprocess
import sys

import pytest

import leat as tf

Dataset = tf.data.Dataset


def squares():
    return Dataset.range(20).shuffle(5, seed=3).map(lambda x: x * x).batch(3)


@pytest.mark.parametrize("taken", [0, 1, 4, 7])
def test_an_iterator_goes_on_where_it_was(tmp_path, taken):
    whole = [batch.numpy().tolist() for batch in squares()]
    iterator = iter(squares())
    for _ in range(taken):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(tmp_path / "state")
    assert path == str(tmp_path / "state-1")
    again = iter(squares())
    tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
    assert [batch.numpy().tolist() for batch in again] == whole[taken:]


def test_the_latest_is_known(tmp_path):
    checkpoint = tf.train.Checkpoint(iterator=iter(squares()))
    assert tf.train.latest_checkpoint(tmp_path) is None
    names = [checkpoint.save(tmp_path / "c") for _ in range(2)]
    assert tf.train.latest_checkpoint(tmp_path) == names[1]
    assert int(checkpoint.save_counter) == 2
    other = tf.train.Checkpoint(iterator=iter(squares()))
    other.restore(names[0])
    assert other.save(tmp_path / "c") == names[1]


def test_parts_may_be_missing(tmp_path):
    path = tf.train.Checkpoint(a=iter(squares()), b=iter(squares())).write(tmp_path / "two")
    status = tf.train.Checkpoint(a=iter(squares()), c=iter(squares())).read(path)
    status.expect_partial()
    with pytest.raises(AssertionError, match="b"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="c"):
        status.assert_existing_objects_matched()
    with pytest.raises(ValueError, match="trackable"):
        tf.train.Checkpoint(a=1)


def test_files_that_are_not_there_or_damaged(tmp_path):
    checkpoint = tf.train.Checkpoint(iterator=iter(squares()))
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        checkpoint.restore(str(tmp_path / "none"))
    path = checkpoint.write(tmp_path / "cut")
    with open(path + ".data-00000-of-00001", "r+b") as file:
        file.truncate(3)
    with pytest.raises(tf.errors.DataLossError, match=r"\b3\b"):
        checkpoint.restore(path)
    with open(path + ".index", "wb") as file:
        file.write(b"\x00\x01")
    with pytest.raises(tf.errors.DataLossError, match="index"):
        checkpoint.restore(path)


def test_a_manager_keeps_the_last(tmp_path):
    iterator = iter(Dataset.range(10))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(iterator=iterator), tmp_path, max_to_keep=2)
    assert manager.restore_or_initialize() is None
    for _ in range(3):
        next(iterator)
        manager.save()
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-2", "ckpt-3"]
    assert not (tmp_path / "ckpt-1.index").exists()
    again = iter(Dataset.range(10))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(iterator=again), tmp_path, max_to_keep=2)
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-3")
    assert next(again).numpy() == 3


def test_a_damaged_value_is_found(tmp_path):
    first, second = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(a=first, b=second)
    path = checkpoint.write(tmp_path / "c")
    data = tmp_path / "c.data-00000-of-00001"
    whole = data.read_bytes()
    for place in range(len(whole)):
        data.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        with pytest.raises(tf.errors.DataLossError, match="data-00000-of-00001") as caught:
            checkpoint.restore(path)
        assert (caught.value.file or "").endswith("c.data-00000-of-00001")
        assert caught.value.byte <= place
    for text in ('{"format": "leat checkpoint 1", "entries": [{}]}', '{"format": "leat checkpoint 1"}'):
        (tmp_path / "c.index").write_text(text)
        with pytest.raises(tf.errors.DataLossError, match="entries"):
            checkpoint.restore(path)


def test_what_does_not_fit_changes_nothing(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0]), b=tf.Variable([3.0])).write(tmp_path / "c")
    first, second = tf.Variable([7.0, 8.0]), tf.Variable([9.0, 9.0])
    with pytest.raises(ValueError, match=r"\(1,\)"):
        tf.train.Checkpoint(a=first, b=second).restore(path)
    assert first.numpy().tolist() == [7.0, 8.0]
    with pytest.raises(ValueError, match="state"):
        tf.train.Checkpoint(a=first, b=iter(squares())).restore(path)


def test_a_full_disk_leaves_the_checkpoint_before(tmp_path):
    """A process whose files may have 4 KiB."""
    program = """
import resource, signal, sys
import leat as tf
checkpoint = tf.train.Checkpoint(a=tf.Variable(tf.zeros([10000])))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    checkpoint.write(sys.argv[1])
except OSError as error:
    print(error.errno == 27, "written" in str(error))
"""
    path = tf.train.Checkpoint(a=tf.Variable([1.0])).write(tmp_path / "c")
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True, text=True)
    assert done.stdout == "True True\n"
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_what_becomes_an_attribute_later_is_restored_then(tmp_path):
    path = tf.train.Checkpoint(weights=tf.Variable([3.0, 4.0]), steps=[tf.Variable(5), tf.Variable(6)]).save(
        tmp_path / "c")
    checkpoint = tf.train.Checkpoint()
    checkpoint.restore(path)
    checkpoint.weights = tf.Variable([0.0, 0.0])
    checkpoint.steps = [tf.Variable(1), tf.Variable(2)]
    assert checkpoint.weights.numpy().tolist() == [3.0, 4.0]
    assert [int(step) for step in checkpoint.steps] == [5, 6]
    checkpoint.weights = tf.Variable([1.0, 1.0])  # another one: nothing is left for it
    assert checkpoint.weights.numpy().tolist() == [1.0, 1.0]
    other = tf.train.Checkpoint()
    other.restore(path)
    with pytest.raises(ValueError, match=r"\(1,\)"):
        other.weights = tf.Variable([0.0])


def test_training_goes_on_with_a_model_that_is_built_later(tmp_path):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.last = tf.keras.layers.Dense(2)

        def call(self, x):
            return self.last(x)
    x = tf.constant([[1.0], [2.0]])

    def step(net, optimizer):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(x) - 5.0 * x))
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return float(loss)
    net, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    for _ in range(3):
        step(net, optimizer)
    path = tf.train.Checkpoint(net=net, optimizer=optimizer).save(tmp_path / "c")
    expected = [step(net, optimizer) for _ in range(3)]
    other, again = Net(), tf.keras.optimizers.Adam(0.1)
    status = tf.train.Checkpoint(net=other, optimizer=again).restore(path)
    assert [step(other, again) for _ in range(3)] == expected
    status.assert_existing_objects_matched()


def test_callbacks_are_called_when_one_was_written(tmp_path):
    called = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[called.append, lambda: called.append("done")])
    checkpoint = tf.train.Checkpoint(step=tf.Variable(1))
    path = checkpoint.save(str(tmp_path / "ckpt"), options)
    assert called == [path, "done"]
    checkpoint.write(str(tmp_path / "other"), options)
    assert called[2:] == [str(tmp_path / "other"), "done"]
