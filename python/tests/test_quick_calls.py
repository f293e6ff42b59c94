"""Operations and traced functions that are called again: what the first call left behind never decides the second."""

import threading

import numpy as np
import pytest

import leat as tf


def signs(tensor):
    return np.signbit(tensor.numpy()).tolist()


def test_numbers_beside_tensors_keep_dtype_and_sign():
    x, n = tf.constant([1.5, -0.0]), tf.constant([3, 4])
    for _ in range(3):
        assert (x + 1).numpy().tolist() == [2.5, 1.0] and (x + 1.0).dtype == tf.float32
        assert (2 - x).numpy().tolist() == [0.5, 2.0]
        assert signs(x + 0.0) == [False, False] and signs(x + -0.0) == [False, True]
        assert signs(x * -0.0) == [True, False] and signs(x * 0.0) == [False, True]
        assert (n * 2).numpy().tolist() == [6, 8] and (n * 2).dtype == tf.int32
        assert (n / 2).numpy().tolist() == [1.5, 2.0] and (n / 2).dtype == tf.float64
        assert (7 // n).numpy().tolist() == [2, 1]
        assert (n > 3).numpy().tolist() == [False, True]
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            n + 0.5
        assert (tf.constant([1], tf.uint8) + 300).numpy().tolist() == [45]


def test_attributes_that_are_equal_in_python_are_not_one():
    x = tf.constant([[-1.0, 2.0], [3.0, 4.0]])
    for _ in range(3):
        assert tf.reduce_sum(x, axis=0).shape == [2] and tf.reduce_sum(x, axis=0, keepdims=True).shape == [1, 2]
        assert tf.reduce_sum(x, axis=(0, 1)).numpy() == 8.0 and tf.reduce_sum(x).numpy() == 8.0
        assert tf.reduce_sum(x, axis=[1]).numpy().tolist() == [1.0, 7.0]
        assert signs(tf.nn.leaky_relu(x, 0.0)) == [[True, False], [False, False]]
        assert signs(tf.nn.leaky_relu(x, -0.0)) == [[False, False], [False, False]]
        assert tf.cast(x, tf.int32).dtype == tf.int32 and tf.cast(x, tf.float64).dtype == tf.float64
    axes = [0]
    assert tf.reduce_sum(x, axis=axes).numpy().tolist() == [2.0, 6.0]
    axes[0] = 1
    assert tf.reduce_sum(x, axis=axes).numpy().tolist() == [1.0, 7.0]


def test_lists_of_arguments_are_known_by_their_numbers():
    x = tf.reshape(tf.range(6.), [2, 3])
    for turn in range(6):  # a call is kept when it comes for the second time
        size = [3, 2] if turn % 2 else [6, 1]
        assert tf.reshape(x, size).shape == size and tf.reshape(x, tuple(size)).shape == size
        assert tf.reshape(x, tf.TensorShape(size)).shape == size and tf.reshape(x, [True, 6]).shape == [1, 6]
        pads = [[turn % 2, 0], [0, 1]]
        assert tf.pad(x, pads).shape == [2 + turn % 2, 4]
        assert tf.pad(x, pads, constant_values=-0.0).numpy()[-1, -1] == 0.0
        assert signs(tf.pad(x, [[0, 0], [0, 1]], constant_values=-0.0 if turn % 2 else 0.0))[0][-1] == bool(turn % 2)
        assert tf.transpose(x, [1, 0] if turn % 2 else [0, 1]).shape == ([3, 2] if turn % 2 else [2, 3])
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
            tf.reshape(x, [6.0, 1])
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            tf.reshape(x, [4, 2])


def test_operations_called_by_name_are_kept_as_well():
    x = tf.reshape(tf.range(16.), [1, 4, 4, 1])
    v = tf.Variable(x)
    for turn in range(4):
        size = 2 if turn % 2 else 4
        assert tf.nn.max_pool2d(x, size, size, "VALID").numpy().reshape(-1)[-1] == 15.0
        assert tf.nn.max_pool2d(x, [size, 1], 1, "VALID").shape == [1, 5 - size, 4, 1]
        with tf.GradientTape() as tape:
            out = tf.nn.max_pool2d(v, size, size, "VALID")
        assert tape.gradient(out, v).numpy().sum() == (16 // size**2)
        assert tf.function(lambda: tf.nn.avg_pool2d(x, size, size, "VALID"))().numpy().mean() == 7.5
        s = tf.sparse.from_dense([[0, 1], [2, 0]])
        assert tf.sparse.reorder(s).indices.numpy().tolist() == [[0, 1], [1, 0]]


def test_each_failure_is_told_alike():
    a, b = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    texts = set()
    for _ in range(3):
        assert (a + a).numpy().tolist() == [2.0, 4.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="add") as found:
            a + b
        texts.add(str(found.value))
        with pytest.raises(tf.errors.InvalidArgumentError):
            a + tf.constant([1, 2])
    assert len(texts) == 1


def test_tapes_and_functions_see_operations_that_were_quick():
    x = tf.constant(3.0)
    assert (x * x + 2.0).numpy() == 11.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x + 2.0
    assert tape.gradient(y, x).numpy() == 6.0
    assert tf.function(lambda t: t * t + 2.0)(x).numpy() == 11.0


def test_a_function_is_asked_anew_where_a_call_differs():
    traced = []

    @tf.function
    def double(x, times=2):
        traced.append(x.dtype.name)
        return x * times
    one, two = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    for _ in range(3):
        assert double(one).numpy().tolist() == [2.0, 4.0]
        assert double(two).numpy().tolist() == [2, 4]
        assert double(one, 3).numpy().tolist() == [3.0, 6.0]
        assert double(tf.constant([[5.0]])).numpy().tolist() == [[10.0]]
        assert double(np.float32(4)).numpy() == 8.0
    assert traced == ["float32", "int32", "float32", "float32", "float32"]
    with tf.GradientTape() as tape:
        tape.watch(one)
        y = tf.reduce_sum(double(one))
    assert tape.gradient(y, one).numpy().tolist() == [2.0, 2.0]
    assert tf.function(lambda x: double(x) + 1.0)(one).numpy().tolist() == [3.0, 5.0]


def test_effects_of_a_function_happen_in_each_call():
    count, calls = tf.Variable(0), []

    @tf.function
    def step(x):
        calls.append(1)
        count.assign_add(1)
        return x + 1.0
    one = tf.constant(1.0)
    assert [step(one).numpy() for _ in range(4)] == [2.0] * 4 and count.numpy() == 4
    traced = len(calls)
    tf.config.run_functions_eagerly(True)
    try:
        step(one)
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(calls) == traced + 1 and count.numpy() == 5
    assert step(one).numpy() == 2.0 and count.numpy() == 6 and len(calls) == traced + 1


def test_structures_and_none_come_out_of_each_call():
    x = tf.constant([1.0])
    none, pair, nested = (tf.function(f) for f in (lambda x: None, lambda x: (x, x + 1.0),
                                                   lambda x: {"a": [x, None], "b": x * 2.0}))
    for _ in range(3):
        assert none(x) is None
        assert [part.numpy().tolist() for part in pair(x)] == [[1.0], [2.0]]
        made = nested(x)
        assert made["a"][0].numpy().tolist() == [1.0] and made["a"][1] is None and made["b"].numpy() == [2.0]


def test_structures_go_in_by_their_own_trace():
    traced, x, y = [], tf.constant([1.0]), tf.constant([2.0])

    @tf.function
    def first(value, is_doubled=False):
        traced.append(type(value).__name__)
        if isinstance(value, dict):
            return value["a"] - value["b"]
        left, right = value
        return (left * 2.0 if is_doubled else left) + (0.0 if right is None else right)
    for _ in range(3):
        assert first((x, y)).numpy() == [3.0] and first([x, y]).numpy() == [3.0] and first((x, None)).numpy() == [1.0]
        assert first({"b": y, "a": x}).numpy() == [-1.0] and first({"a": y, "b": x}).numpy() == [1.0]
        assert first((x, y), True).numpy() == [4.0] and first((x, y), False).numpy() == [3.0]
        assert first((np.float32(5), x)).numpy() == [6.0]
    assert len(traced) == 6, traced
    with pytest.raises(ValueError, match="unpack"):
        first((x, y, x))


def test_default_arguments_that_change_are_read_again():
    def scaled(x, factors=[2.0]):  # noqa: B006 - that it is one list is the point
        return x * factors[0]
    function, x = tf.function(scaled), tf.constant(3.0)
    assert function(x).numpy() == 6.0
    scaled.__defaults__[0][0] = 5.0
    assert function(x).numpy() == 15.0


def test_threads_share_what_is_remembered():
    x, wrong = tf.constant(np.arange(8, dtype=np.float32)), []
    double = tf.function(lambda t: t + t)

    def work():
        for _ in range(200):
            if not (x * 2.0 == double(x)).numpy().all() or tf.reduce_sum(x, axis=0).numpy() != 28.0:
                wrong.append(1)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
