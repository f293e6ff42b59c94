"""Sparse elements in saved datasets and snapshots, in TensorFlow's form."""

import os

import numpy as np
import pytest

import leat as tf

RECORDED = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "checkpoints", "sparse_dataset")
NUMBERS = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]


def dense(dataset):
    return [tf.sparse.to_dense(x).numpy().tolist() for x in dataset]


def mixed(dataset):
    return [(tf.sparse.to_dense(a).numpy().tolist(), int(b), c.numpy().tolist()) for a, b, c in dataset]


def sparse(value):
    return tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense(value))


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_saved(tmp_path, compression):
    path = str(tmp_path / "d")
    sparse(NUMBERS).save(path, compression=compression)
    loaded = tf.data.Dataset.load(path, compression=compression)
    assert loaded.element_spec == tf.SparseTensorSpec([3], tf.int32) and dense(loaded) == NUMBERS
    assert dense(loaded.batch(2)) == [NUMBERS[:2], NUMBERS[2:]]


def test_batches_strings_and_floats(tmp_path):
    path = str(tmp_path / "d")
    sparse(NUMBERS).batch(2).save(path)
    assert dense(tf.data.Dataset.load(path)) == [NUMBERS[:2], NUMBERS[2:]]
    sparse([["a", ""], ["", "b"]]).save(str(tmp_path / "s"))
    assert dense(tf.data.Dataset.load(str(tmp_path / "s"))) == [[b"a", b""], [b"", b"b"]]
    sparse(np.eye(3, dtype="float64")[None]).save(str(tmp_path / "f"))
    assert dense(tf.data.Dataset.load(str(tmp_path / "f"))) == [np.eye(3).tolist()]


def test_snapshots(tmp_path):
    dataset = sparse(NUMBERS).snapshot(str(tmp_path))
    assert [dense(dataset) for _ in range(2)] == [NUMBERS] * 2


def test_beside_others(tmp_path):
    ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [], [2, 3]]))
    dataset, path = tf.data.Dataset.zip((sparse(NUMBERS), tf.data.Dataset.range(3), ragged)), str(tmp_path / "m")
    wanted = [([1, 0, 2], 0, [1]), ([0, 0, 0], 1, []), ([0, 3, 0], 2, [2, 3])]
    dataset.save(path)
    assert mixed(tf.data.Dataset.load(path)) == wanted
    assert mixed(tf.data.Dataset.load(RECORDED)) == wanted  # of TensorFlow's


def test_damage(tmp_path):
    path = str(tmp_path / "d")
    sparse(NUMBERS).save(path)
    other = tf.TensorSpec([3], tf.int32)
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
        list(tf.data.Dataset.load(path, element_spec=other))
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
        list(tf.data.Dataset.load(path, element_spec=tf.SparseTensorSpec([3, 1], tf.int32)))
    tf.data.Dataset.range(3).save(str(tmp_path / "r"))
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError), match="sparse"):
        list(tf.data.Dataset.load(str(tmp_path / "r"), element_spec=tf.SparseTensorSpec([3], tf.int32)))
