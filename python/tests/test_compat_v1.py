"""tf.compat.v1 as far as programs of TensorFlow 2 use it."""

import logging

import pytest

import leat as tf
from leat.compat import v1


def test_names_of_both_versions_are_the_same_things():
    for name in sorted(v1._SAME):
        assert getattr(v1, name) is getattr(tf, name)
    assert tf.compat.v1 is v1


def test_what_has_nothing_to_do():
    for name in ("enable_v2_behavior", "enable_eager_execution", "global_variables_initializer"):
        assert getattr(v1, name)() is None
    assert v1.executing_eagerly() and v1.executing_eagerly_outside_functions()


def test_variables_casts_and_seeds():
    v = tf.Variable(1.)
    v1.assign(v, 3.)
    v1.assign_add(v, 2.)
    assert float(v1.assign_sub(v, 1.)) == 4.
    assert v1.to_float([1]).dtype is tf.float32 and v1.to_int32([1.]).dtype is tf.int32
    assert v1.to_int64([1.]).dtype is tf.int64
    v1.set_random_seed(5)
    first = float(tf.random.uniform([]))
    v1.random.set_random_seed(5)
    assert first == float(tf.random.uniform([]))


def test_the_logger():
    before = v1.logging.get_verbosity()
    try:
        v1.logging.set_verbosity(v1.logging.ERROR)
        assert v1.logging.get_verbosity() == 40 == logging.getLogger("leat").level
        v1.logging.set_verbosity("INFO")
        assert v1.logging.get_verbosity() == 20
    finally:
        logging.getLogger("leat").setLevel(before)


def test_graphs_are_refused():
    with pytest.raises(RuntimeError, match="eager"):
        v1.placeholder(tf.float32)
    with pytest.raises(tf.errors.UnimplementedError):
        v1.disable_eager_execution()
    with pytest.raises(AttributeError, match="UNIMPLEMENTED"):
        v1.reduce_sum
    assert not hasattr(v1, "Session")
