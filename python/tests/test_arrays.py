"""tf.TensorArray, and functions over rows whose number a traced function does not know."""

import numpy as np
import pytest

import leat as tf

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def squares(n):
    array = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        array = array.write(i, tf.cast(i * i, tf.float32))
    return array.stack()


def test_loop():
    assert tf.function(squares)(tf.constant(4)).numpy().tolist() == [0, 1, 4, 9]
    assert squares(3).numpy().tolist() == [0, 1, 4]
    dataset = tf.data.Dataset.range(3).map(lambda n: squares(tf.cast(n, tf.int32)))
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[], [0], [0, 1]]


def test_dynamic_size():
    @tf.function
    def fibonacci(n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
        array = array.write(0, 0)
        array = array.write(1, 1)
        for i in range(2, n):
            array = array.write(i, array.read(i - 1) + array.read(i - 2))
        return array.stack()
    assert fibonacci(tf.constant(9)).numpy().tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21]
    assert fibonacci(5).numpy().tolist() == [0, 1, 1, 2, 3]


def test_while_loop_and_gradient():
    def scaled(x):
        state = (0, tf.TensorArray(tf.float32, 3))
        step = lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32)))  # noqa: E731
        return tf.while_loop(lambda i, a: i < 3, step, state)[1].stack()
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(scaled(x))
    assert tape.gradient(total, x).numpy().tolist() == [3, 3]
    assert tf.function(scaled)(x).numpy().tolist() == scaled(x).numpy().tolist() == [[0, 0], [1, 2], [2, 4]]


def test_eager_errors():
    array = tf.TensorArray(tf.float32, size=2)
    array.write(0, [1.0])
    with pytest.raises(tf.errors.OutOfRangeError, match="resizeable"):
        array.write(2, [1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        array.write(1, tf.constant([1]))
    with pytest.raises(ValueError, match=r"\(1,\)"):
        array.write(1, [1.0, 2.0])
    with pytest.raises(tf.errors.OutOfRangeError, match="size"):
        array.read(5)
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        array.read(0)


def test_parts():
    array = tf.TensorArray(tf.int32, 3).unstack([1, 2, 3])
    assert array.gather([2, 0]).numpy().tolist() == [3, 1] and int(array.size()) == 3
    assert tf.TensorArray(tf.int32, 2).split([1, 2, 3], [1, 2]).concat().numpy().tolist() == [1, 2, 3]
    assert tf.TensorArray(tf.int32, 3).scatter([2, 0, 1], [[7], [8], [9]]).stack().numpy().tolist() == [[8], [9], [7]]


CASES = [
    lambda x: tf.map_fn(lambda row: row * 2, x),
    lambda x: tf.map_fn(tf.reduce_sum, x),
    lambda x: tf.map_fn(lambda row: (tf.reduce_sum(row), tf.cast(row, tf.int32)), x,
                        fn_output_signature=(tf.float32, tf.int32)),
    lambda x: tf.vectorized_map(lambda row: tf.cast(tf.reduce_sum(row), tf.int32), x),
    lambda x: tf.foldl(lambda a, row: a + row, x),
    lambda x: tf.foldr(lambda a, row: a * 2 + row, x, initializer=tf.zeros([2])),
    lambda x: tf.scan(lambda a, row: a + row, x),
    lambda x: tf.scan(lambda a, row: a + tf.reduce_sum(row), x, initializer=0.0),
    lambda x: tf.scan(lambda a, row: a + row, x, reverse=True),
    lambda x: tf.scan(lambda a, row: (a[0] + row, a[1] + 1), x, initializer=(tf.zeros([2]), 0)),
]
# What TensorFlow gives for ROWS.
EXPECTED = [[[0, 2], [4, 6], [8, 10]], [1, 5, 9], [[1, 5, 9], [[0, 1], [2, 3], [4, 5]]], [1, 5, 9], [6, 9], [20, 27],
            [[0, 1], [2, 4], [6, 9]], [1, 6, 15], [[6, 9], [6, 8], [4, 5]], [[[0, 1], [2, 4], [6, 9]], [1, 2, 3]]]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_rows(number):
    function = tf.function(CASES[number], input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    for found in (CASES[number](tf.constant(ROWS)), function(tf.constant(ROWS))):
        assert list(tf.nest.map_structure(lambda x: x.numpy().tolist(), found)) == EXPECTED[number]


def test_one_part_is_a_list_too():
    x = tf.constant([[1, 2, 3]])
    for parts in (tf.split(x, 1), tf.unstack(x), tf.dynamic_partition(x, [0], 1), tf.function(tf.unstack)(x)):
        assert isinstance(parts, list) and len(parts) == 1
    assert tf.unstack(x)[0].shape == (3,) and tf.split(x, 1)[0].shape == (1, 3)
