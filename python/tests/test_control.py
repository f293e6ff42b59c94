"""Branches, loops and captured values inside of functions that are traced."""

import numpy as np
import pytest

import leat as tf

Dataset = tf.data.Dataset


pytestmark = pytest.mark.usefixtures("traced")


def values(dataset):
    return list(dataset.as_numpy_iterator())


def test_branches_use_what_is_around_them():
    made = Dataset.range(6).map(lambda x: tf.cond(x > 3, lambda: x * 2, lambda: tf.cond(x > 1, lambda: -x, lambda: x)))
    assert values(made) == [0, 1, -2, -3, 8, 10]


def test_branches_must_agree():
    with pytest.raises(TypeError, match="structure"):
        Dataset.range(3).map(lambda x: tf.cond(x > 1, lambda: x, lambda: (x, x)))
    with pytest.raises(TypeError, match="float32"):
        Dataset.range(3).map(lambda x: tf.cond(x > 1, lambda: x, lambda: 1.5))


def test_loops_use_what_is_around_them():
    def total(n):
        start = (tf.constant(0, tf.int64), tf.constant(0, tf.int64))
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), start)[1]
    assert values(Dataset.range(6).map(total)) == [0, 0, 1, 3, 6, 10]


def test_loops_keep_their_shapes_unless_invariants_allow_more():
    def grow(n, **more):
        return tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, tf.concat([v, [i]], 0)),
                             (tf.constant(0, tf.int64), tf.constant([7], tf.int64)), **more)[1]
    with pytest.raises(ValueError, match="shape"):
        Dataset.range(3).map(grow)
    made = Dataset.range(3).map(lambda n: grow(n, shape_invariants=(tf.TensorShape([]), tf.TensorShape([None]))))
    assert [row.tolist() for row in made.as_numpy_iterator()] == [[7], [7, 0], [7, 0, 1]]


def test_inner_functions_use_what_is_around_them():
    made = Dataset.range(4).flat_map(
        lambda x: Dataset.range(3).filter(lambda y: y < x).map(lambda y: tf.cond(y > 0, lambda: x, lambda: y)))
    assert values(made) == [0, 0, 2, 0, 3, 3]


def test_datasets_made_outside_keep_their_seeds():
    shuffled = Dataset.range(100).shuffle(100)
    rows = values(Dataset.range(2).flat_map(lambda x: shuffled))
    assert rows[:100] != rows[100:]
    assert sorted(rows[:100]) == sorted(rows[100:])


def test_assertions_hold_for_results():
    def checked(x):
        tf.debugging.Assert(x < 3, ["too large"])
        return x
    with pytest.raises(tf.errors.InvalidArgumentError, match="large") as caught:
        values(Dataset.range(6).map(checked))
    assert caught.value.element == 3


def test_case_takes_the_first_that_holds():
    made = Dataset.range(4).map(lambda x: tf.case([(x < 1, lambda: x + 10), (x < 3, lambda: x + 20)], lambda: -x))
    assert values(made) == [10, 21, 22, -3]
    made = Dataset.range(4).map(lambda x: tf.switch_case(x, [lambda: x, lambda: x * 5], lambda: -x))
    assert values(made) == [0, 5, -2, -3]


def test_an_array_of_unknown_elements_is_carried_by_a_loop():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def rows_of(x):
        array = tf.TensorArray(tf.float32, 3, element_shape=[None, 2])
        for i in tf.range(3):
            array = array.write(i, x + tf.cast(i, tf.float32))
        return array.stack()
    np.testing.assert_array_equal(rows_of(tf.zeros([1, 2])), [[[0, 0]], [[1, 1]], [[2, 2]]])
