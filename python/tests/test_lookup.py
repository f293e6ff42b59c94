"""Lookup tables, as TensorFlow 2.21 answers for them."""

import numpy as np
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


# ---- tables that change ----

def words(*values):
    return tf.constant(list(values))


def test_a_table_that_changes():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(words("a", "b"), [1, 2])
    table.insert(words("a"), [7])
    table.remove(words("b", "nothing"))
    assert table.lookup(tf.constant([["a", "b"]])).numpy().tolist() == [[7, -1]]
    assert table[tf.constant("a")].numpy() == 7 and table.size().numpy() == 1
    keys, values = table.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"a"], [7])
    for wrong in (lambda: table.lookup(tf.constant([1])), lambda: table.insert(words("a"), tf.constant([1.0]))):
        with pytest.raises(ValueError, match="dtype"):
            wrong()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(1,\)"):
        table.insert(words("a", "c"), tf.constant([1], tf.int64))


def test_a_table_of_vectors():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    keys = tf.constant([1, 2], tf.int64)
    rows = np.array([[1, 2], [3, 4]], np.float32)
    table.insert(keys, rows)
    rows[:] = 9
    other = tf.constant([2, 5], tf.int64)
    assert table.lookup(other).numpy().tolist() == [[3, 4], [0, 0]]
    assert table.lookup(other, tf.constant([[5.0, 5.0], [6.0, 6.0]])).numpy().tolist() == [[3, 4], [6, 6]]
    assert table.export()[1].shape == [2, 2]


def test_a_table_that_changes_is_looked_into_by_python(caplog):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(words("a"), [1])
    dataset = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(lambda x: table.lookup(x))
    assert list(dataset.as_numpy_iterator()) == [1, -1]
    table.insert(words("b"), [2])
    assert list(dataset.as_numpy_iterator()) == [1, 2]
    assert "StaticHashTable" in caplog.text


def test_a_dense_table():
    make = tf.lookup.experimental.DenseHashTable
    table = make(tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1)
    table.insert(tf.constant([5], tf.int64), [6])
    assert table.lookup(tf.constant([5, 7], tf.int64)).numpy().tolist() == [6, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
        table.lookup(tf.constant([0], tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="equal"):
        make(tf.int64, tf.int64, -1, 0, 0)


def test_tables_of_datasets():
    experimental, words = tf.data.experimental, tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    table = experimental.index_table_from_dataset(words, num_oov_buckets=2)
    assert table.lookup(tf.constant(["b", "z", "a"])).numpy().tolist() == [1, 4, 0] and int(table.size()) == 5
    table = experimental.index_table_from_dataset(words, vocab_size=2, default_value=-5)
    assert table.lookup(tf.constant(["b", "z", "c"])).numpy().tolist() == [1, -5, -5]
    pairs = tf.data.Dataset.from_tensor_slices((np.array([5, 6]), np.array([10, 20])))
    for buckets, other in ((0, -1), (3, 3)):
        table = experimental.table_from_dataset(pairs, num_oov_buckets=buckets, key_dtype=tf.int64)
        assert table.lookup(tf.constant([5, 7], tf.int64)).numpy().tolist() == [10, other]
    initializer = experimental.DatasetInitializer(words.enumerate().map(lambda number, word: (word, number)))
    mapped = tf.data.Dataset.from_tensors(["c", "?"]).map(tf.lookup.StaticHashTable(initializer, -1).lookup)
    assert next(iter(mapped)).numpy().tolist() == [2, -1]
    assert int(tf.lookup.StaticHashTable(experimental.DatasetInitializer(pairs.take(0)), -1).size()) == 0
    for error, failing in ((ValueError, lambda: experimental.index_table_from_dataset(words, -1)),
                           (ValueError, lambda: experimental.index_table_from_dataset(words, vocab_size=0)),
                           (TypeError, lambda: experimental.index_table_from_dataset(words, key_dtype=tf.float32)),
                           (ValueError, lambda: experimental.index_table_from_dataset(words.batch(2)))):
        with pytest.raises(error):
            failing()


def test_datasets_become_record_files(tmp_path):
    path = str(tmp_path / "records")
    writer = tf.data.experimental.TFRecordWriter(path, "GZIP")
    writer.write(tf.data.Dataset.from_tensor_slices(["a", "b"]))
    assert list(tf.data.TFRecordDataset(path, "GZIP").as_numpy_iterator()) == [b"a", b"b"]
    for wrong in ([b"a"], tf.data.Dataset.range(2), tf.data.Dataset.from_tensors(["a"])):
        with pytest.raises(TypeError, match="`dataset"):
            writer.write(wrong)
