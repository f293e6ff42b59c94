"""tf.register_tensor_conversion_function: values of a program's own classes as tensors, as in TensorFlow."""

import pytest

import leat as tf
from leat._core import conversions


class Wrapped:
    """A value of a program's own."""

    def __init__(self, value):
        self.value = value


class Derived(Wrapped):
    """One of a class below."""


@pytest.fixture(autouse=True)
def registered():
    kept, calls = list(conversions.REGISTERED), []

    def convert(value, dtype=None, name=None, as_ref=False):
        calls.append(dtype)
        return tf.constant(value.value, dtype or tf.float32)
    tf.register_tensor_conversion_function(Wrapped, convert)
    yield calls
    conversions.REGISTERED[:] = kept


def test_values(registered):
    assert tf.convert_to_tensor(Wrapped([1, 2])).numpy().tolist() == [1.0, 2.0]
    assert tf.convert_to_tensor(Wrapped([1, 2]), tf.int64).dtype == tf.int64
    assert tf.convert_to_tensor(Wrapped(2), dtype_hint=tf.float64).dtype == tf.float64
    assert tf.add(Wrapped([1, 2]), 1.0).numpy().tolist() == [2, 3]
    assert (tf.constant([1, 2]) + Wrapped([1, 2])).dtype == tf.int32  # that of the other operand
    assert tf.convert_to_tensor(Derived(3)).numpy() == 3
    assert tf.function(lambda: tf.square(Wrapped(3)))().numpy() == 9
    assert tf.Variable(Wrapped(2.0)).numpy() == 2 and tf.reduce_sum(Wrapped([1, 2, 3])).numpy() == 6
    assert tf.matmul(Wrapped([[1.0]]), Wrapped([[2.0]])).numpy().tolist() == [[2]]
    assert registered[:3] == [None, tf.int64, tf.float64]


def test_several_functions():
    class Other:
        pass
    give = lambda number: lambda value, dtype=None, name=None, as_ref=False: number  # noqa: E731
    tf.register_tensor_conversion_function(Other, give(NotImplemented))
    with pytest.raises(ValueError, match="Attempt"):
        tf.convert_to_tensor(Other())
    tf.register_tensor_conversion_function(Other, give(tf.constant(7)), priority=200)
    assert tf.convert_to_tensor(Other()).numpy() == 7
    tf.register_tensor_conversion_function((Other, set), give(tf.constant(8)), priority=50)
    assert tf.convert_to_tensor(Other()).numpy() == 8
    with pytest.raises(RuntimeError, match="dtype"):
        tf.convert_to_tensor(Other(), tf.float32)
    tf.register_tensor_conversion_function(Other, give(5), priority=1)
    with pytest.raises(RuntimeError, match="non-Tensor"):
        tf.convert_to_tensor(Other())


@pytest.mark.parametrize("kind, function, word", [
    (3, max, "base_type"), (Wrapped, 3, "callable"), (int, max, "numeric"), ((Wrapped, 3), max, "base_type"),
    ((int, Wrapped), max, "numeric")])
def test_refused(kind, function, word):
    with pytest.raises(TypeError, match=word):
        tf.register_tensor_conversion_function(kind, function)
