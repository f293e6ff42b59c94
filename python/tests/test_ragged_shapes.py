"""DynamicRaggedShape and RowPartition, and tf.shape of ragged tensors: what TensorFlow 2.21 answers."""

import pytest

import leat as tf

Shape, Rows = tf.experimental.DynamicRaggedShape, tf.experimental.RowPartition
R = tf.ragged.constant([[1, 2], [3]])
R3 = tf.ragged.constant([[[1, 2], [3]], []])
FLAT = tf.RaggedTensor.from_row_splits(tf.ones([3, 2]), [0, 2, 3])
EVEN = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3], [4], [5]]), 2)


@pytest.mark.parametrize("made, shown", [
    (lambda: tf.shape(R), "[2, (2, 1)] num_row_partitions=1"),
    (lambda: tf.shape(R3), "[2, (2, 0), (2, 1)] num_row_partitions=2"),
    (lambda: tf.shape(FLAT), "[2, (2, 1), 2] num_row_partitions=1"),
    (lambda: tf.shape(EVEN), "[2, 2, (1, 2, 1, 1)] num_row_partitions=2"),
    (lambda: Shape.from_tensor(tf.ones([2, 3])), "[2, 3] num_row_partitions=0"),
    (lambda: Shape.from_lengths([2, (2, 1), 3]), "[2, (2, 1), 3] num_row_partitions=1"),
    (lambda: Shape.from_lengths([2, (2, 1), 2], num_row_partitions=2), "[2, (2, 1), 2] num_row_partitions=2"),
    (lambda: Shape.from_row_partitions([Rows.from_row_lengths([2, 1])]), "[2, (2, 1)] num_row_partitions=1"),
    (lambda: tf.shape(R)[:1], "[2] num_row_partitions=0"),
    (lambda: tf.shape(R3)[:2], "[2, (2, 0)] num_row_partitions=1"),
    (lambda: tf.broadcast_dynamic_shape(tf.shape(R), tf.shape([[1], [2]])), "[2, (2, 1)] num_row_partitions=1")])
def test_shapes_are_made_and_shown(made, shown):
    assert repr(made()) == f"<DynamicRaggedShape lengths={shown}>"


def test_what_a_shape_knows():
    shape = tf.shape(R)
    assert (shape.rank, shape.num_row_partitions, shape.inner_rank, shape.dtype) == (2, 1, 1, tf.int32)
    assert shape.inner_shape.numpy().tolist() == [3] and int(shape[0]) == 2
    assert shape.is_uniform(0) and not shape.is_uniform(1) and shape.static_lengths(ragged_lengths=False) == [2, None]
    assert repr(shape.row_partitions) == "(tf.RowPartition(row_splits=[0 2 3]),)"
    assert tf.shape(R, tf.int64).dtype is tf.int64 and int(tf.shape(EVEN)[1]) == 2 and int(tf.shape(FLAT)[2]) == 2
    assert bool(shape == tf.shape(R)) and not bool(shape == tf.shape(R3))
    assert not bool(shape == Shape.from_lengths([2, (1, 2)]))
    for refused in (lambda: shape[1], lambda: shape[1:], lambda: Shape.from_lengths([2, (2, 1, 1)])):
        with pytest.raises(ValueError):
            refused()


def test_tensors_are_made_in_a_shape():
    shape = tf.shape(R)
    assert tf.reshape(tf.constant([1, 2, 3]), shape).to_list() == [[1, 2], [3]]
    assert tf.reshape(tf.range(6), Shape.from_lengths([2, (2, 1), 2])).to_list() == [[[0, 1], [2, 3]], [[4, 5]]]
    assert tf.reshape(R, Shape.from_lengths([2, (1, 2)])).to_list() == [[1], [2, 3]]
    assert tf.broadcast_to([[1], [2]], shape).to_list() == [[1, 1], [2]] and tf.broadcast_to(5, shape).to_list() == [
        [5, 5], [5]]
    assert tf.broadcast_to(R, Shape.from_lengths([2, (2, 1)])).to_list() == [[1, 2], [3]]
    assert tf.broadcast_to([[1], [2]], Shape.from_lengths([2, 3])).numpy().tolist() == [[1, 1, 1], [2, 2, 2]]
    assert tf.ones(shape, tf.int64).to_list() == [[1, 1], [1]] and tf.zeros(shape).to_list() == [[0., 0.], [0.]]
    assert tf.fill(tf.shape(FLAT), 7).to_list() == [[[7, 7], [7, 7]], [[7, 7]]]
    repeated = tf.function(lambda x: tf.broadcast_to(7, tf.shape(x)))
    assert repeated(R).to_list() == [[7, 7], [7]] and int(tf.function(lambda x: tf.shape(x)[0])(R)) == 2
    with pytest.raises(TypeError):
        tf.add(shape, 1)
    with pytest.raises(TypeError):
        tf.reshape(R, [3])


@pytest.mark.parametrize("rows, splits", [
    (lambda: Rows.from_row_splits([0, 2, 3]), [0, 2, 3]), (lambda: Rows.from_row_lengths([2, 1]), [0, 2, 3]),
    (lambda: Rows.from_value_rowids([0, 0, 2]), [0, 2, 2, 3]), (lambda: Rows.from_row_starts([0, 2], 3), [0, 2, 3]),
    (lambda: Rows.from_value_rowids([0, 0, 2], nrows=4), [0, 2, 2, 3, 3]),
    (lambda: Rows.from_row_limits([2, 3]), [0, 2, 3]),
    (lambda: Rows.from_uniform_row_length(2, nvals=6), [0, 2, 4, 6]),
    (lambda: Rows.from_uniform_row_length(2, nrows=2), [0, 2, 4])])
def test_rows_are_made_in_many_ways(rows, splits):
    assert rows().row_splits().numpy().tolist() == splits and rows().dtype is tf.int64


def test_what_rows_know():
    rows = Rows.from_row_splits([0, 2, 3])
    assert [one.numpy().tolist() for one in (
        rows.row_lengths(), rows.row_starts(), rows.row_limits(), rows.value_rowids(), rows.offsets_in_rows())] == [
            [2, 1], [0, 2], [2, 3], [0, 0, 1], [0, 1, 0]]
    assert int(rows.nrows()) == 2 == rows.static_nrows and int(rows.nvals()) == 3 and not rows.is_uniform()
    even = Rows.from_uniform_row_length(2, nrows=3)
    assert even.is_uniform() and even.static_uniform_row_length == 2
    assert repr(even) == "tf.RowPartition(nrows=3, uniform_row_length=2)"
    assert even.with_dtype(tf.int32).dtype is tf.int32
