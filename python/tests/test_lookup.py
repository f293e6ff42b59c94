"""Lookup tables, as TensorFlow 2.21 answers for them."""

import pytest

import leat as tf

WORDS = ["emerson", "lake", "palmer"]


def table(default=-1):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(WORDS, [0, 1, 2]), default)


def test_find():
    t = table()
    assert t.lookup(tf.constant(["lake", "king"])).numpy().tolist() == [1, -1]
    assert t["palmer"].numpy() == 2 and int(t.size()) == 3
    assert t.key_dtype is tf.string and t.value_dtype is tf.int32
    with pytest.raises(TypeError):
        t.lookup(tf.constant([1]))


def test_in_map(caplog):
    t = table()
    dataset = tf.data.Dataset.from_tensor_slices(WORDS + ["x"]).map(lambda w: t.lookup(w) * 10).batch(2)
    assert [b.tolist() for b in dataset.as_numpy_iterator()] == [[0, 10], [20, -10]]
    assert not caplog.records  # no callback was announced


def test_vocabulary():
    """The numbers of the example in TensorFlow's documentation."""
    values = tf.constant([0, 1, 2], tf.int64)
    t = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(WORDS, values), 5)
    assert t.lookup(tf.constant([*WORDS, "king", "crimson"])).numpy().tolist() == [0, 1, 2, 6, 7]
    assert int(t.size()) == 8
    with pytest.raises(ValueError):
        tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(WORDS, [0, 1, 2]), 5)


def test_ragged_and_sparse():
    found = table().lookup(tf.ragged.constant([["lake"], [], ["x", "emerson"]]))
    assert found.to_list() == [[1], [], [-1, 0]]
    sparse = table().lookup(tf.sparse.from_dense([["", "lake"], ["palmer", ""]]))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 1], [2, 0]]


def test_text_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("x 10\ny 20\nz 30\n")
    index = tf.lookup.TextFileIndex
    columns = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1, delimiter=" ")
    t = tf.lookup.StaticHashTable(columns, -1)
    assert t[tf.constant(["y", "q"])].numpy().tolist() == [20, -1]
    numbered = tf.lookup.TextFileInitializer(str(path), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    assert tf.lookup.StaticHashTable(numbered, -1)["z 30"].numpy() == 2
    columns = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 2, delimiter=" ")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.lookup.StaticHashTable(columns, -1)


def test_two_values_of_one_key():
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0)
