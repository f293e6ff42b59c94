"""What gradients flow to besides arguments: tensors that a function uses from outside, variables in lists.

Values are TensorFlow's.
"""

import numpy as np
import pytest

import leat as tf
from devices import TWO


def condition(t):
    def f(x):
        if x > 1:
            return x * t
        return t
    return f


def loop(t):
    def f(x):
        for _ in tf.range(2):
            x = x * t[0]
        return x
    return f


def nested(t):
    inner = tf.function(lambda x: x * t)
    return lambda x: inner(x) * 2.0


@pytest.mark.parametrize("make, first, second", [
    (lambda t: lambda x: x * t * t, [8, 12], [20, 30]), (lambda t: lambda x: t * t, [4, 6], [4, 6]),
    (lambda t: lambda x: t, [1, 1], [1, 1]), (lambda t: lambda x: x * t[1], [0, 2], [0, 5]),
    (lambda t: lambda x: x * (t * 3.0), [6, 6], [15, 15]), (lambda t: lambda x: tf.stack([t[0], x]), [1, 0], [1, 0]),
    (lambda t: lambda x: x * {"w": t}["w"], [2, 2], [5, 5]), (condition, [2, 2], [5, 5]), (loop, [8, 0], [20, 0]),
    (nested, [4, 4], [10, 10])])
def test_functions_use_watched_tensors_from_outside(make, first, second):
    t = tf.constant([2.0, 3.0])
    function = tf.function(make(t))
    for x, expected in ((2.0, first), (2.0, first), (None, None), (5.0, second)):
        if x is None:
            function(tf.constant(3.0))
            continue
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = function(tf.constant(x))
        assert tape.gradient(y, t).numpy().tolist() == expected


def test_functions_use_what_a_tape_records():
    w = tf.Variable(3.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            u = w * 2.0
            y = tf.function(lambda: u * u)()
        assert tape.gradient(y, w).numpy() == 24


def test_functions_hold_no_tensors_of_their_own_for_tapes():
    function = tf.function(lambda x: x * tf.constant([1.0, 2.0]))
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert tape.gradient(y, x).numpy() == 3
    assert [made.outer for made in function._traces.values() if made.uses_recorded()] == []


@pytest.mark.parametrize("use, expected", [
    (tf.stack, [1, 1]), (tf.convert_to_tensor, [1, 1]), (tf.reduce_sum, [1, 1]), (tf.add_n, [1, 1]),
    (lambda pair: tf.reduce_mean([pair[0] * pair[0], pair[1]]), [2, .5]), (tf.linalg.norm, [.5547, .83205]),
    (lambda pair: pair * tf.constant([1.0, 2.0]), [1, 2]), (lambda pair: tf.matmul([pair], [[1.0], [2.0]]), [1, 2]),
    (tf.experimental.numpy.array, [1, 1]),
    (lambda pair: tf.cast(pair, tf.float64), [1, 1]), (lambda pair: tf.keras.ops.sum(pair), [1, 1]),
    (lambda pair: tf.function(lambda: tf.reduce_sum(pair))(), [1, 1])])
def test_variables_in_lists(use, expected):
    pair = [tf.Variable(2.0), tf.Variable(3.0)]
    with tf.GradientTape() as tape:
        y = use(pair)
    np.testing.assert_allclose(tape.gradient(y, pair), expected, atol=1e-5)


@tf.function
def of_constant(c):
    x = tf.constant([[3.0, 5.0]])
    return tf.gradients(tf.identity(x) * c, [x])


@tf.function
def of_gathered(c):
    x = tf.constant([[3.0], [5.0]])
    gathered = tf.distribute.get_replica_context().all_gather(tf.identity(x), axis=1)
    return tf.gradients(gathered * c, [x])


@tf.function
def of_branch(c):
    x = tf.constant([2.0, 3.0])
    y = x * x
    if c > 1:
        y = y * c
    return tf.gradients(y, [x])


@pytest.mark.parametrize("function, expected", [(of_constant, [[2, 2]]), (of_gathered, [[2], [2]]),
                                                (of_branch, [8, 12])])
def test_gradients_of_constants_within_a_function(function, expected):
    (found,) = function(tf.constant(2.0))
    assert found.numpy().tolist() == expected and function.experimental_get_tracing_count() == 1


def test_gradients_of_a_constant_that_nothing_depends_on():
    @tf.function
    def f(c):
        x, unused = tf.constant(3.0), tf.constant(1.0)
        return tf.gradients(x * c, [x, unused], unconnected_gradients="zero"), tf.gradients(x * c, [unused])
    (first, zero), (nothing,) = f(tf.constant(2.0))
    assert (float(first), float(zero), nothing) == (2, 0, None)


def test_replicas_gather_what_gradients_flow_back_through():
    strategy = TWO
    rows = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant([float(context.replica_id_in_sync_group + 1)]))
    found = strategy.run(of_gathered, (rows,))[0]
    assert [one.numpy().tolist() for one in strategy.experimental_local_results(found)] == [[[3], [3]]] * 2
