"""Corners that a reading of the C sources showed: what was lost, read beyond its end, or crashed."""

import glob
import sqlite3
import struct

import numpy as np
import pytest

import leat as tf


def test_elements_without_components_are_cached(tmp_path):
    dataset = tf.data.Dataset.range(5).map(lambda x: ()).cache(str(tmp_path / "cache"))
    assert [len(list(dataset)) for _ in range(2)] == [5, 5]


def record_starts(data):
    starts, at = [], 0
    while at < len(data):
        starts.append(at)
        at += struct.unpack("<Q", data[at:at + 8])[0] + 16
    return starts


def test_elements_before_a_damaged_record_are_given(tmp_path):
    tf.data.Dataset.range(2000).map(lambda x: (x, x * 2)).save(str(tmp_path))
    (path,) = glob.glob(str(tmp_path / "**" / "*.snapshot"), recursive=True)
    with open(path, "r+b") as file:
        data = file.read()
        starts = record_starts(data)
        assert len(starts) == 4000
        file.seek(starts[2 * 1500 + 1] + 12)  # the second value of element 1500
        file.write(b"\xff")
    found = []
    with pytest.raises(tf.errors.DataLossError):
        for x, y in tf.data.Dataset.load(str(tmp_path), reader_func=lambda shards: shards.flat_map(lambda x: x)):
            found.append((int(x), int(y)))
    assert found == [(i, 2 * i) for i in range(1500)]


def test_a_query_with_fewer_rows_than_before_is_data_loss(tmp_path):
    path = str(tmp_path / "rows.db")
    with sqlite3.connect(path) as base:
        base.execute("create table t (x integer)")
        base.executemany("insert into t values (?)", [(i,) for i in range(5)])
    dataset = tf.data.experimental.SqlDataset("sqlite", path, "select x from t", (tf.int64,))
    iterator = iter(dataset)
    assert [int(next(iterator)[0]) for _ in range(4)] == [0, 1, 2, 3]
    state = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "state"))
    del iterator
    with sqlite3.connect(path) as base:
        base.execute("delete from t where x < 2")
    again = iter(dataset)
    with pytest.raises(tf.errors.DataLossError):
        tf.train.Checkpoint(iterator=again).read(state)
        next(again)


def test_a_quality_between_two_integers_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.random_jpeg_quality(np.zeros([8, 8, 3], np.uint8), 0.2, 0.9)


def test_files_of_unknown_rank_are_refused():
    def empty(_):
        text = tf.io.serialize_tensor(tf.strings.as_string(tf.range(0)))
        return tf.io.parse_tensor(text, tf.string)

    for read in (tf.io.read_file, tf.io.extract_jpeg_shape, tf.io.decode_png):
        with pytest.raises(tf.errors.InvalidArgumentError):
            list(tf.data.Dataset.range(1).map(lambda x, read=read: read(empty(x))))


@pytest.mark.parametrize("dtype", [tf.int16, tf.uint8, tf.int32, tf.int64, tf.uint64])
def test_computed_places_of_any_integer_dtype(dtype):
    def part(begin):
        return tf.slice(tf.reshape(tf.range(12), [3, 4]), begin, [2, 2])

    (found,) = tf.data.Dataset.from_tensors(tf.constant([1, 0], dtype)).map(part)
    assert found.numpy().tolist() == [[4, 5], [8, 9]]


def test_classes_of_many_rows():
    logits = tf.random.stateless_normal([64, 1, 50], [1, 2])
    one = [tf.random.stateless_categorical(row, 7, [3, 4]).numpy().tolist() for row in logits]
    dataset = tf.data.Dataset.from_tensor_slices(logits)
    drawn = dataset.map(lambda row: tf.random.stateless_categorical(row, 7, [3, 4]))
    assert [row.numpy().tolist() for row in drawn] == one


def test_identity_is_of_matrices():
    assert tf.keras.initializers.Identity()((2, 3)).numpy().tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ValueError):
        tf.keras.initializers.Identity()((2, 2, 2))


@pytest.mark.parametrize("axis", [5, 2, -3])
def test_the_axis_of_classes_must_be_there(axis):
    loss = tf.keras.losses.CategoricalCrossentropy(axis=axis)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        loss([[0.0, 1.0]], [[0.5, 0.5]])
