"""Paths of fsspec's file systems (docs/REMOTE.md), beside fsspec itself."""
import zipfile

import fsspec
import numpy as np
import pyarrow.parquet as parquet
import pytest

import leat as tf


@pytest.fixture(name="memory")
def emptied():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    return system


def test_memory(memory):
    records = [np.random.default_rng(i).bytes(i * 100) for i in range(200)]
    with tf.io.TFRecordWriter("memory://train/a.tfrecord") as writer:
        for record in records:
            writer.write(record)
    with memory.open("/train/b.tfrecord", "wb") as file:
        file.write(memory.cat("/train/a.tfrecord"))
    files = tf.data.Dataset.list_files("memory://train/*.tfrecord", shuffle=False)
    assert [x.numpy().decode() for x in files] == ["memory://train/a.tfrecord", "memory://train/b.tfrecord"]
    assert list(tf.data.TFRecordDataset(files, num_parallel_reads=2).as_numpy_iterator()).count(records[7]) == 2
    gfile = tf.io.gfile
    assert gfile.listdir("memory://train") == ["a.tfrecord", "b.tfrecord"]
    assert gfile.stat("memory://train/a.tfrecord").length == memory.info("/train/a.tfrecord")["size"]
    gfile.rename("memory://train/a.tfrecord", "memory://c")
    gfile.rmtree("memory://train")
    assert not gfile.exists("memory://train") and memory.find("/") == ["/c"]
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.io.read_file("memory://none")
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1)), "memory://run", 2)
    assert manager.save() == tf.train.latest_checkpoint("memory://run") == "memory://run/ckpt-1"


def test_files_of_formats(memory):
    rows = tf.data.Dataset.range(250).map(lambda i: {"i": i})
    assert tf.data.to_parquet(rows, "memory://a.parquet") == 250
    assert tf.data.to_parquet(rows, "memory://parts", row_group_size=50, rows_per_file=100) == 250
    with memory.open("/a.parquet") as file:
        assert parquet.read_table(file).num_rows == 250
    assert memory.find("/parts") == [f"/parts/part-0000{i}.parquet" for i in range(3)]
    with pytest.raises(tf.errors.UnimplementedError, match="machine"):
        tf.data.from_parquet("memory://a.parquet")


def test_chains(memory, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/a.txt", "one\ntwo\n")
    path = f"zip://in/a.txt::file://{tmp_path}/a.zip"
    assert list(tf.data.TextLineDataset(path).as_numpy_iterator()) == [b"one", b"two"]
    memory.pipe_file("/d", b"text")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert tf.io.read_file("simplecache::memory://d").numpy() == b"text"


def test_registered(tmp_path):
    tf.io.register_filesystem("folder", fsspec.filesystem("dir", path=str(tmp_path), target_protocol="file"))
    tf.io.gfile.makedirs("folder://deep/er")
    tf.io.write_file("folder://deep/er/a", bytes(100_000_000))
    assert (tmp_path / "deep/er/a").stat().st_size == 100_000_000
    assert tf.io.gfile.glob("folder://deep/*/a") == ["folder://deep/er/a"]
    with tf.io.gfile.GFile("folder://deep/er/a", "rb") as file:
        assert len(file.read()) == 100_000_000
    tf.io.gfile.rmtree("folder://deep")
    assert not (tmp_path / "deep").exists()
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.io.gfile.listdir("folder://none")


def test_unknown():
    with pytest.raises(tf.errors.UnimplementedError, match="no-such"):
        tf.io.read_file("no-such://a")
    with pytest.raises(tf.errors.UnimplementedError, match="paramiko"):
        tf.io.read_file("sftp://host/a")
