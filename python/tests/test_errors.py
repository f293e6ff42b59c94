"""What exceptions know: their class by code and reason, and where it was as attributes."""

import re

import numpy as np
import pytest

import leat as tf


def _records(path, count):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i in range(count):
            writer.write(b"record %d" % i)
    return path


def _fails(dataset):
    """The first exception of a dataset's elements."""
    with pytest.raises(tf.errors.OpError) as found:
        for _ in dataset:
            pass
    return found.value


def test_a_damaged_record_knows_file_and_byte(tmp_path):
    path = _records(tmp_path / "a b: c.tfrecord", 5)
    data = bytearray(path.read_bytes())
    record = 8 + 4 + 8 + 4
    data[2 * record + 14] ^= 1
    path.write_bytes(data)
    error = _fails(tf.data.TFRecordDataset(str(path)))
    assert isinstance(error, tf.errors.DataLossError)
    assert (error.op, error.element, error.file, error.byte) == ("tf_record_dataset", 2, str(path), 2 * record)
    assert error.reason == "NONE"
    assert str(error).startswith("tf_record_dataset") and "damaged" in str(error)


def test_a_file_that_is_missing(tmp_path):
    path = str(tmp_path / "none")
    error = _fails(tf.data.TFRecordDataset(path))
    assert isinstance(error, tf.errors.NotFoundError)
    assert (error.file, error.byte, error.element) == (path, None, 0)
    with pytest.raises(tf.errors.NotFoundError) as found:
        tf.io.read_file(path)
    assert found.value.file == path


@pytest.mark.parametrize("behind", [
    lambda ds: ds, lambda ds: ds.prefetch(2), lambda ds: ds.batch(1), lambda ds: ds.shuffle(1).repeat(1),
    lambda ds: ds.interleave(tf.data.Dataset.from_tensors), lambda ds: ds.filter(lambda x: True).take(9)],
    ids=["alone", "prefetch", "batch", "shuffle", "interleave", "filter"])
@pytest.mark.parametrize("calls", [None, 2])
def test_the_operator_where_it_arose(tmp_path, behind, calls):
    path = _records(tmp_path / "r", 4)
    parse = lambda record: tf.strings.to_number(tf.strings.substr(record, 7, 1), tf.int32)
    divide = lambda record: 10 // (parse(record) - 2)
    dataset = behind(tf.data.TFRecordDataset(str(path)).map(divide, num_parallel_calls=calls, name="divide"))
    error = _fails(dataset)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert (error.op, error.element, error.file, error.byte) == ('map "divide"', 2, str(path), 2 * 24)


def test_nothing_is_known_of_plain_operations():
    with pytest.raises(tf.errors.InvalidArgumentError) as found:
        tf.reshape(tf.range(5), [2, 3])
    error = found.value
    assert (error.op, error.element, error.file, error.byte) == (None, None, None, None)
    assert error.reason == "SHAPE"


def test_arguments_of_operators():
    for make in (lambda ds: ds.batch(0), lambda ds: ds.shard(3, 4), lambda ds: ds.window(0)):
        with pytest.raises(tf.errors.InvalidArgumentError) as found:
            make(tf.data.Dataset.range(3))
        assert found.value.reason == "VALUE"


@pytest.mark.parametrize("call, kind, reason", [
    (lambda x: x + tf.constant("a"), TypeError, "DTYPE"),
    (lambda x: tf.matmul(x, tf.constant([[1.0]])), ValueError, "SHAPE")])
def test_the_class_follows_the_reason(call, kind, reason):
    with pytest.raises(kind) as found:
        tf.function(call)(tf.ones([3, 2]))
    assert getattr(found.value, "reason", reason) == reason


def test_a_users_exception_arrives_unchanged():
    class Mine(Exception):
        pass

    mine = Mine("why [python exception 1.1]")

    def fail(x):
        raise mine

    dataset = tf.data.Dataset.range(3).map(lambda x: tf.py_function(fail, [x], tf.int64))
    with pytest.raises(Mine) as found:
        list(dataset)
    assert found.value is mine
    assert any("map" in note and "element 0" in note for note in found.value.__notes__)


def test_the_end_is_told_from_out_of_range():
    iterator = iter(tf.data.Dataset.range(1))
    next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)

    def fail(x):
        raise tf.errors.OutOfRangeError(None, None, "End of sequence")

    iterator = iter(tf.data.Dataset.range(2).map(lambda x: tf.numpy_function(fail, [x], tf.int64)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="OUT_OF_RANGE"):  # as in TensorFlow
        next(iterator)


def test_an_element_that_a_dataset_within_a_function_refuses():
    def total(x):
        inner = tf.data.Dataset.range(x).map(lambda y: 6 // (y - 2), name="inner")
        return inner.reduce(np.int64(0), lambda a, b: a + b)

    error = _fails(tf.data.Dataset.range(2, 5).map(total, name="outer"))
    assert error.op == 'map "outer"' and error.element == 1
    assert error.message.count("map") == 2 and re.search(r"\b2\b", error.message)
