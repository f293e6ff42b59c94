"""Files that are begun under a relative name come to where it led then, whoever changes the folder meanwhile."""

import os

import pytest

import leat as tf


@pytest.fixture(name="folder")
def in_a_folder(tmp_path):
    before = os.getcwd()
    os.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    yield tmp_path
    os.chdir(before)


def move():
    os.chdir("other")


def test_records(folder):
    writer = tf.io.TFRecordWriter("records")
    writer.write(b"one")
    move()
    writer.close()
    assert [record.numpy() for record in tf.data.TFRecordDataset(str(folder / "records"))] == [b"one"]
    assert os.listdir(".") == []


@pytest.mark.parametrize("kind", ["cache", "snapshot"])
def test_what_is_kept_while_it_is_read(folder, kind):
    def dataset(name):
        return getattr(tf.data.Dataset.range(50), kind)(name)
    iterator = iter(dataset("kept"))
    taken = [int(next(iterator))]
    move()
    taken += [int(x) for x in iterator]
    assert taken == list(range(50)) and os.listdir(".") == []
    assert [int(x) for x in dataset(str(folder / "kept"))] == list(range(50))
    assert not [name for name in os.listdir(folder) if "lock" in name]


def test_events(folder):
    writer = tf.summary.create_file_writer("events")
    with writer.as_default():
        tf.summary.scalar("a", 1.0, step=1)
    move()
    with writer.as_default():
        tf.summary.scalar("a", 2.0, step=2)
    writer.close()
    assert os.listdir(".") == [] and len(os.listdir(folder / "events")) == 1
