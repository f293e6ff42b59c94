"""What replicas do besides numbers of equal shape: strings, uneven gathers, generators, steps from outside.

Values are TensorFlow 2.21's under MirroredStrategy of two CPU devices.
"""

import numpy as np
import pytest

import leat as tf
from devices import BOTH_WAYS, TRACED, TWO, way  # noqa: F401

pytestmark = BOTH_WAYS


def per_replica(function):
    return TWO.experimental_distribute_values_from_function(lambda c: function(c.replica_id_in_sync_group))


def context():
    return tf.distribute.get_replica_context()


def lists(value):
    return [np.asarray(one).tolist() for one in value.values]


# ---- strings ----

WORDS = per_replica(lambda r: tf.constant(["a", f"b{r}"]))


def test_strings_are_handed_on_beside_a_training_step():
    with TWO.scope():
        weight = tf.Variable(1.0)

    def step(x, names):
        weight.assign_add(context().all_reduce("SUM", tf.reduce_sum(x)))
        return x * 2, names, {"n": names}
    numbers = per_replica(lambda r: tf.constant([1.0 + r]))
    for _ in range(2):
        doubled, names, nested = TWO.run(step, args=(numbers, WORDS))
    assert weight.numpy() == 7 and lists(doubled) == [[2.0], [4.0]]
    assert lists(names) == lists(nested["n"]) == [[b"a", b"b0"], [b"a", b"b1"]]


def test_strings_are_computed_on_the_host():
    assert lists(TWO.run(tf.strings.length, args=(WORDS,))) == [[1, 2], [1, 2]]
    assert lists(TWO.run(lambda x: tf.strings.join([x, x]), args=(WORDS,))) == [[b"aa", b"b0b0"], [b"aa", b"b1b1"]]
    assert lists(TWO.run(lambda: tf.strings.as_string(tf.constant(3)))) == [b"3", b"3"]
    assert lists(TWO.run(lambda: tf.constant("z"))) == [b"z", b"z"]


@TRACED
def test_what_cannot_be_done_with_strings_is_refused():
    with TWO.scope():
        weight = tf.Variable(1.0)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="strings"):
        TWO.run(lambda x: weight.assign_add(tf.cast(tf.strings.length(x)[0], tf.float32)), args=(WORDS,))
    assert weight.numpy() == 1


def test_words_of_a_distributed_dataset():
    dataset = tf.data.Dataset.from_tensor_slices((np.arange(4, dtype=np.float32), ["k", "l", "m", "n"])).batch(4)
    for batch in TWO.experimental_distribute_dataset(dataset):
        doubled, names = TWO.run(lambda x, n: (x * 2, n), args=batch)
        assert lists(doubled) == [[0, 2], [4, 6]] and lists(names) == [[b"k", b"l"], [b"m", b"n"]]


# ---- gathering ----

@pytest.mark.parametrize("axis", [0, -2])
def test_gather_of_uneven_rows(axis):
    rows = per_replica(lambda r: tf.reshape(tf.range(2.0 * (r + 1)), [-1, 2]))
    expected = [[0, 1], [0, 1], [2, 3]]
    assert TWO.gather(rows, axis=axis).numpy().tolist() == expected
    for _ in range(2):
        assert lists(TWO.run(lambda x: context().all_gather(x, axis=axis), args=(rows,))) == [expected] * 2


def test_gather_along_the_second_dimension():
    columns = per_replica(lambda r: tf.fill([2, r + 1], r))
    expected = [[0, 1, 1], [0, 1, 1]]
    assert TWO.gather(columns, axis=1).numpy().tolist() == expected
    assert lists(TWO.run(lambda x: context().all_gather(x, axis=1), args=(columns,))) == [expected] * 2


def test_gather_of_rows_on_one_replica_alone():
    rows = per_replica(lambda r: tf.constant([[True, False]] * r, tf.bool, shape=[r, 2]))
    assert lists(TWO.run(lambda x: context().all_gather(x, axis=0), args=(rows,))) == [[[True, False]]] * 2


def test_gather_of_what_was_gathered_and_of_several():
    rows = per_replica(lambda r: tf.range(r + 1))

    def twice(x):
        all_rows = context().all_gather({"x": x, "y": x * 10}, axis=0)
        own = all_rows["x"][:x.shape[0]]
        return context().all_gather(own, axis=0), all_rows["y"]
    first, second = TWO.run(twice, args=(rows,))
    assert lists(first) == [[0, 0, 0]] * 2 and lists(second) == [[0, 0, 10]] * 2


def test_gradient_through_an_uneven_gather():
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(context().all_gather(x, axis=0) * tf.constant([1.0, 2.0, 3.0]))
        return tape.gradient(y, x)
    rows = per_replica(lambda r: tf.ones([r + 1]))
    assert lists(TWO.run(step, args=(rows,))) == [[2.0], [4.0, 6.0]]


def test_gather_of_one_value_for_all():
    assert TWO.gather(tf.constant(1.0), axis=0).numpy() == 1


def test_gather_of_bytes_and_of_nothing():
    rows = per_replica(lambda r: tf.fill([2 * r, 1], tf.constant(200, tf.uint8)))
    assert TWO.gather(rows, axis=0).numpy().tolist() == [[200], [200]]
    assert lists(TWO.run(lambda x: context().all_gather(x, axis=0), args=(rows,))) == [[[200], [200]]] * 2
    none = per_replica(lambda r: tf.zeros([0, 3]))
    assert lists(TWO.run(lambda x: context().all_gather(x, axis=1), args=(none,))) == [[]] * 2


def test_second_gradient_through_a_gather():
    def step(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(context().all_gather(x, axis=0) ** 2)
            first = tf.reduce_sum(inner.gradient(y, x) ** 2)
        return outer.gradient(first, x)
    rows = per_replica(lambda r: tf.ones([r + 1]))
    assert lists(TWO.run(step, args=(rows,))) == [[32.0], [32.0, 32.0]]


def test_strings_are_not_gathered_but_those_of_one_replica():
    # TensorFlow 2.21 says the same of strings, and of no other dtype here.
    for gather in (lambda: TWO.gather(WORDS, axis=0),
                   lambda: TWO.run(lambda: context().all_gather(tf.constant(["a"]), axis=0))):
        with pytest.raises(TypeError, match="'input'"):
            gather()
    one = tf.distribute.MirroredStrategy(["CPU:0"])
    assert one.gather(tf.constant(["a"]), axis=0).numpy().tolist() == [b"a"]
    assert one.run(lambda: context().all_gather(tf.constant("a"), axis=0)).numpy() == b"a"


# ---- random numbers ----

def test_replicas_draw_from_streams_of_their_own():
    with TWO.scope():
        generator = tf.random.Generator.from_seed(1234)
    for first, second in (([1.3191789, -0.45578188], [-0.5978611, 1.2633786]),
                          ([-0.10344794, 0.19688974], [-0.24966268, -0.27285543])):
        found = TWO.run(lambda: generator.normal([2]))
        np.testing.assert_allclose([one.numpy() for one in found.values], [first, second], rtol=1e-5)
    alone = tf.random.Generator.from_seed(1234)
    alone.skip(4)
    np.testing.assert_array_equal(generator.normal([2]), alone.normal([2]))


def test_a_global_seed_makes_steps_begin_anew():
    found = []
    for _ in range(2):
        tf.random.set_seed(5)
        found.append([lists(TWO.run(lambda: tf.random.uniform([2], seed=3))) for _ in range(2)])
    tf.random.set_seed(None)
    assert found[0] == found[1] and found[0][0] != found[0][1]
    np.testing.assert_allclose(found[0][0][0], [0.2886784, 0.6889242], rtol=1e-6)


# ---- steps from outside of replicas ----

@pytest.mark.parametrize("is_in_scope", [False, True])
@pytest.mark.parametrize("optimizer, expected", [("SGD", [0.9, 1.9]), ("Adam", [0.9, 1.9])])
def test_gradients_are_applied_outside_of_replicas(is_in_scope, optimizer, expected):
    with TWO.scope():
        variable = tf.Variable([1.0, 2.0])
        made = getattr(tf.keras.optimizers, optimizer)(0.1)
    if is_in_scope:
        with TWO.scope():
            made.apply_gradients([(tf.constant([1.0, 1.0]), variable)])
    else:
        made.apply_gradients([(tf.constant([1.0, 1.0]), variable)])
    for copy in variable.values:
        np.testing.assert_allclose(copy.numpy(), expected, rtol=1e-5)
    assert made.iterations.numpy() == 1
    gradient = TWO.run(lambda: made.apply_gradients([(tf.constant([1.0, 1.0]), variable)]))
    assert made.iterations.numpy() == 2 and gradient is not None


# ---- several axes ----

@pytest.mark.parametrize("op, axis, expected", [
    ("SUM", (0, 1), [90, 108]), ("MEAN", (1, 0), [7.5, 9]), ("SUM", (0, -1), [42, 66, 90]), ("MEAN", (0, 1, 2), 8.25),
    ("MEAN", (2, 1), [3.75, 12.75])])
def test_values_are_reduced_along_several_axes(op, axis, expected):
    values = per_replica(lambda r: tf.reshape(tf.range(12.0), [2, 3, 2]) * (1.0 + r))
    assert TWO.reduce(op, values, axis=axis).numpy().tolist() == expected


def test_several_axes_are_checked():
    with pytest.raises(ValueError, match="dimension"):
        TWO.reduce("SUM", per_replica(lambda r: tf.ones([2])), axis=(0, 5))
