"""tf.sparse.cross, tf.ragged.cross and tf.fingerprint: what is expected is TensorFlow 2.21's."""

import numpy as np
import pytest

import leat as tf

SPARSE = tf.sparse.from_dense([["a", ""], ["b", "c"]])
ONE = tf.sparse.from_dense([["d"], ["e"]])
RAGGED, OTHER, LAST = (tf.ragged.constant(rows) for rows in ([["a"], ["b", "c"]], [["d"], ["e"]], [["f"], ["g"]]))
DENSE = tf.constant([["f"], ["g"]])


def parts(value):
    return [value.indices.numpy().tolist(), value.values.numpy().tolist(), value.dense_shape.numpy().tolist()]


def test_sparse():
    assert parts(tf.sparse.cross([SPARSE, ONE, DENSE])) == [
        [[0, 0], [1, 0], [1, 1]], [b"a_X_d_X_f", b"b_X_e_X_g", b"c_X_e_X_g"], [2, 2]]
    # Sparse inputs stand before dense ones, and the last one changes fastest.
    found = tf.sparse.cross([tf.constant([["f", "F"], ["g", "G"]]), SPARSE], separator="_Y_")
    assert found.values.numpy().tolist() == [b"a_Y_f", b"a_Y_F", b"b_Y_g", b"b_Y_G", b"c_Y_g", b"c_Y_G"]
    found = tf.sparse.cross([tf.constant([[1, 2], [3, 4]]), SPARSE])
    assert found.values.numpy().tolist() == [b"a_X_1", b"a_X_2", b"b_X_3", b"b_X_4", b"c_X_3", b"c_X_4"]
    assert tf.sparse.cross([tf.constant([[1.5], [2.5]]), SPARSE]).values.numpy().tolist() == [
        b"a_X_1", b"b_X_2", b"c_X_2"]
    assert parts(tf.sparse.cross([SPARSE, tf.sparse.from_dense([[""], ["x"]])])) == [
        [[1, 0], [1, 1]], [b"b_X_x", b"c_X_x"], [2, 2]]
    assert parts(tf.sparse.cross([])) == [[], [], [0, 0]]


def test_sparse_hashed():
    inputs = [SPARSE, ONE, DENSE]
    assert tf.sparse.cross_hashed(inputs).values.numpy().tolist() == [
        5684865645872741371, 1392610987527938559, 6629649657679214674]
    assert tf.sparse.cross_hashed(inputs, num_buckets=100).values.numpy().tolist() == [78, 66, 74]
    numbers = tf.constant([[1], [-2]])
    assert tf.sparse.cross_hashed([SPARSE, numbers], 100, hash_key=7).values.numpy().tolist() == [77, 86, 41]
    assert tf.sparse.cross_hashed([tf.constant([[1, 5], [-2, 3]]), numbers]).values.numpy().tolist() == [
        8793344378721953834, 6945244610988568008, 4664853107758805297, 6847211640976025206]


@pytest.mark.parametrize("inputs, error, word", [
    (SPARSE, TypeError, "list"), ([1, 2], TypeError, "SparseTensor"),
    ([SPARSE, tf.constant([["a"]])], tf.errors.InvalidArgumentError, "batch"),
    ([SPARSE, tf.constant(["a", "b"])], tf.errors.InvalidArgumentError, "matrix")])
def test_sparse_refuses(inputs, error, word):
    with pytest.raises(error, match=word):
        tf.sparse.cross(inputs)


def test_ragged():
    assert tf.ragged.cross([RAGGED, OTHER, LAST]).to_list() == [[b"a_X_d_X_f"], [b"b_X_e_X_g", b"c_X_e_X_g"]]
    # The order is that of the inputs, whatever they are.
    assert tf.ragged.cross([tf.constant([["f", "F"], ["g", "G"]]), RAGGED, SPARSE]).to_list() == [
        [b"f_X_a_X_a", b"F_X_a_X_a"],
        [b"g_X_b_X_b", b"g_X_b_X_c", b"g_X_c_X_b", b"g_X_c_X_c", b"G_X_b_X_b", b"G_X_b_X_c", b"G_X_c_X_b",
         b"G_X_c_X_c"]]
    assert tf.ragged.cross([DENSE, tf.constant([["c"], ["d"]])]).to_list() == [[b"f_X_c"], [b"g_X_d"]]
    assert tf.ragged.cross_hashed([RAGGED, OTHER, LAST], num_buckets=100).to_list() == [[78], [66, 74]]
    assert tf.ragged.cross_hashed([RAGGED, [[1], [2]]], hash_key=2 ** 64 - 1).to_list() == [
        [7209933908339442788], [8318309095226071146, 5851845273490859214]]
    narrow = [one.with_row_splits_dtype(tf.int32) for one in (RAGGED, OTHER)]
    assert tf.ragged.cross(narrow).row_splits.dtype is tf.int32


@pytest.mark.parametrize("inputs, error, word", [
    (RAGGED, TypeError, "list"), ([RAGGED, [[1.5], [2.5]]], ValueError, "dtype"),
    ([tf.ragged.constant([[["a"]]])], ValueError, "rank=2"),
    ([RAGGED, ["a", "b"]], tf.errors.InvalidArgumentError, "rank=2"),
    ([RAGGED, tf.ragged.constant([["a"]])], tf.errors.InvalidArgumentError, "batch")])
def test_ragged_refuses(inputs, error, word):
    with pytest.raises(error, match=word):
        tf.ragged.cross(inputs)


def test_traced():
    crossed = tf.function(lambda a, b: tf.ragged.cross_hashed([a, b]))
    assert crossed(RAGGED, OTHER).to_list() == [[1584069791037555375], [4171697120956746554, 1746051686049959641]]
    assert tf.function(lambda a: tf.sparse.cross([a, a]).values)(SPARSE).numpy().tolist() == [
        b"a_X_a", b"b_X_b", b"b_X_c", b"c_X_b", b"c_X_c"]
    rows = tf.data.Dataset.from_tensors(tf.constant([["x", "y"]])).map(lambda x: tf.sparse.cross([x, x]).values)
    assert next(iter(rows)).numpy().tolist() == [b"x_X_x", b"x_X_y", b"y_X_x", b"y_X_y"]


def test_fingerprint():
    assert tf.fingerprint([["a", "b"], ["c", "d"]]).numpy().tolist() == [
        [122, 64, 59, 169, 136, 60, 55, 83], [52, 252, 224, 38, 64, 226, 155, 60]]
    found = tf.function(tf.fingerprint)(tf.constant(np.arange(6, dtype=np.int32).reshape(2, 3)))
    assert found.numpy().tolist() == [[226, 97, 231, 35, 137, 217, 164, 52], [135, 205, 247, 214, 112, 21, 177, 81]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension"):
        tf.fingerprint("a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="x"):
        tf.fingerprint(["a"], method="x")
