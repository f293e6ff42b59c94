"""Python's values as tensors: dtypes recorded from TensorFlow (tools/record/python_values.py), and their users."""

import json
import pathlib

import numpy as np
import pytest
import python_values

import leat as tf

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/python_values.json").read_text())
Dataset = tf.data.Dataset


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_dtypes_are_as_recorded():
    found = python_values.outcomes(tf)
    assert found.keys() == RECORDED.keys()
    wrong = {name: (found[name], RECORDED[name]) for name in found if found[name] != RECORDED[name] and not (
        RECORDED[name] == "error" and any(word in name for word in python_values.TAKEN))}
    assert wrong == {}


def test_elements_have_these_dtypes():
    numbers = [np.int64(1), np.int64(2)]
    assert Dataset.from_tensor_slices(numbers).element_spec.dtype is tf.int32
    assert Dataset.from_tensor_slices(range(3)).element_spec.dtype is tf.int32
    assert Dataset.from_tensor_slices([np.float64(1), 2]).element_spec.dtype is tf.float64
    assert Dataset.from_tensor_slices([1j, 2]).element_spec.dtype is tf.complex128
    assert Dataset.range(1).map(lambda x: ([np.float64(1.5), 2], x)).element_spec[0].dtype is tf.float32
    assert tf.add(numbers, numbers).dtype is tf.int32


def test_stacks_of_keras_have_these_dtypes():
    assert tf.keras.ops.stack([1, 2**33]).numpy().tolist() == [1, 2**33]
    assert tf.keras.ops.stack([np.int8(1), np.int8(2)]).dtype is tf.int32
    assert tf.keras.ops.stack([1, np.int8(2)]).dtype is tf.int8


def test_lists_of_tensors_take_the_dtype_that_is_asked_for():
    parts = [tf.constant(1), 2.5]
    assert tf.convert_to_tensor([tf.constant(1), 2], tf.float64).numpy().tolist() == [1.0, 2.0]
    assert tf.convert_to_tensor([tf.constant(1.5), tf.constant(2, tf.int64)], tf.int32).numpy().tolist() == [1, 2]
    with pytest.raises((TypeError, ValueError)):
        tf.convert_to_tensor(parts)


@pytest.mark.parametrize("use", [tf.add_n, lambda t: tf.add_n(list(t)), lambda t: tf.add_n(tuple(t)),
                                 tf.experimental.numpy.dstack, tf.keras.ops.stack])
def test_rows_of_a_watched_tensor_are_recorded(use):
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = use(x)
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0]


def test_parts_of_a_watched_tensor_are_recorded():
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = x
        y = a * b
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 2.0]
