"""Ragged tensors: rows that broadcast, row lengths that are known, depths of lists. Values are TensorFlow 2.21's."""

import numpy as np
import pytest

import leat as tf

A = tf.ragged.constant([[1.0, 2.0], [3.0]])
B = tf.ragged.constant([[[1.0, 2.0], [3.0]], [[4.0]]])
C = tf.ragged.constant([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], ragged_rank=1)
EVEN = tf.ragged.constant([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("ragged, dense, expected, shape", [
    (A, [[10.0], [20.0]], [[10, 20], [60]], (2, None)), (A, [10.0], [[10, 20], [30]], (2, None)),
    (A, [[[10.0]], [[20.0]]], [[[10, 20], [30]], [[20, 40], [60]]], (2, 2, None)),
    (A, [[[1.0], [2.0]], [[3.0], [4.0]]], [[[1, 2], [6]], [[3, 6], [12]]], (2, 2, None)),
    (A, [[[[5.0]]], [[[6.0]]]], [[[[5, 10], [15]]], [[[6, 12], [18]]]], (2, 1, 2, None)),
    (B, [[[10.0]], [[20.0]]], [[[10, 20], [30]], [[80]]], (2, None, None)),
    (C, [10.0, 20.0], [[[10, 40]], [[30, 80], [50, 120]]], (2, None, 2)),
    (C, [[[10.0]], [[20.0]]], [[[10, 20]], [[60, 80], [100, 120]]], (2, None, 2)),
    (EVEN, [[1.0, 2.0], [3.0, 4.0]], [[1, 4], [9, 16]], (2, None)),
    (A, EVEN, None, None), (A, [1.0, 2.0, 3.0], None, None), (A, [[1.0], [2.0], [3.0]], None, None),
    (A, [[1.0, 2.0], [3.0, 4.0]], None, None), (B, [[10.0], [20.0], [30.0]], None, None)])
def test_rows_broadcast(ragged, dense, expected, shape):
    if expected is None:
        for product in (lambda: ragged * dense, lambda: dense * ragged):
            with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
                product()
        return
    for product in (ragged * dense, tf.constant(dense) * ragged, tf.function(lambda x, y: x * y)(ragged, dense)):
        assert product.to_list() == expected and product.shape.as_list() == list(shape)


def test_rows_of_one_row_and_of_none():
    one, none = tf.ragged.constant([[5.0, 6.0]]), tf.ragged.constant([[], [1.0, 2.0]])
    assert (one + [[1.0], [2.0]]).to_list() == [[6, 7], [7, 8]]
    assert (none * [[10.0], [20.0]]).to_list() == [[], [20, 40]]
    assert tf.maximum(A, [[2.0], [1.0]]).to_list() == [[2, 2], [3]] and (A < [[2.0], [1.0]]).to_list() == [[
        True, False], [False]]
    assert (A == A).to_list() == [[True, True], [True]] and (A != [[1.0], [3.0]]).to_list() == [[False, True], [False]]
    assert (A == None) is False and (A != None) is True  # noqa: E711
    with pytest.raises(ValueError, match="row_splits"):
        tf.ragged.constant([[1]], row_splits_dtype=tf.int32) + tf.ragged.constant([[1]])


def test_gradients_and_unknown_sizes():
    y, v = tf.constant([[10.0], [20.0]]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch([y, v])
        total = tf.reduce_sum((tf.RaggedTensor.from_row_splits(v, [0, 2, 3]) * y).flat_values)
    found = tape.gradient(total, [y, v])
    assert found[0].numpy().tolist() == [[3.0], [3.0]] and np.asarray(found[1]).tolist() == [10.0, 10.0, 20.0]

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32), tf.TensorSpec([None, None])])
    def product(x, y):
        return x * y
    assert product(A, y).to_list() == [[10, 20], [60]] and product(A, [[3.0]]).to_list() == [[3, 6], [9]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
        product(A, [[1.0, 2.0]])
    dataset = tf.data.Dataset.from_tensors(A).map(lambda x: x * [[10.0], [20.0]])
    assert next(iter(dataset)).to_list() == [[10, 20], [60]]


def test_row_lengths_that_are_known():
    rows = tf.ragged.constant([[1, 2], [3], [4], [5, 6]])
    value = tf.RaggedTensor.from_uniform_row_length(rows, 2)
    assert value.uniform_row_length.numpy() == 2 and rows.uniform_row_length is None
    for found, shape in ((value, [2, 2, None]), (value * 2, [2, 2, None]), (value[:1], [1, 2, None]),
                         (value[0], [2, None]), (value.with_row_splits_dtype(tf.int32), [2, 2, None]),
                         (tf.expand_dims(value, 0), [1, 2, 2, None]), (tf.expand_dims(value, 1), [2, 1, 2, None]),
                         (tf.function(lambda x: x + 1)(value), [2, 2, None]),
                         (tf.concat([value] * 2, 0), [4, None, None]),
                         (next(iter(tf.data.Dataset.from_tensors(value))), [2, 2, None]),
                         (tf.RaggedTensor.from_tensor(tf.zeros([2, 3, 4]), ragged_rank=2), [2, 3, 4]),
                         (tf.RaggedTensor.from_uniform_row_length(tf.zeros([0, 2]), 0, nrows=3), [3, 0, 2])):
        assert found.shape.as_list() == shape
    assert str(tf.type_spec_from_value(value)) == "RaggedTensorSpec(TensorShape([2, 2, None]), tf.int32, 2, tf.int64)"


@pytest.mark.parametrize("pylist, options, word", [
    (["A", ["B", "C"]], {}, "depth"), ([[1], 2], {}, "depth"), ([[[1]], [2]], {}, "depth"), ([1, []], {}, "depth"),
    ([[[]], [1]], {}, "empty"), (1, {"ragged_rank": 1}, "ragged_rank"), ([1, 2], {"ragged_rank": 1}, "ragged_rank"),
    ([[1], [2]], {"ragged_rank": 2}, "ragged_rank"), ([[1]], {"ragged_rank": -1}, "nonnegative")])
def test_lists_of_mixed_depth_are_refused(pylist, options, word):
    with pytest.raises(ValueError, match=word):
        tf.ragged.constant(pylist, **options)


def test_lists_of_other_depths():
    assert tf.ragged.constant([[[], []], [[]]], ragged_rank=1).shape.as_list() == [2, None, 0]
    assert tf.ragged.constant([[], [1]]).to_list() == [[], [1]]
    assert tf.ragged.constant([1, 2]).numpy().tolist() == [1, 2]
    assert tf.ragged.constant([[[1], [2]], []]).to_list() == [[[1], [2]], []]
