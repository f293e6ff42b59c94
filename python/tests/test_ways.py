"""Ways of Python: arrays that may be written, pickles, attrs classes, dir() and signatures; expected values are
TensorFlow 2.21's."""

import inspect
import pickle

import numpy as np
import pytest

import leat as tf


def test_arrays_may_be_written():
    tensor = tf.constant([1.0, 2.0])
    values = tensor.numpy()
    values -= 1
    assert values.tolist() == [0, 1] and tensor.numpy().tolist() == [1, 2]
    variable = tf.Variable([1.0, 2.0])
    values = variable.numpy()
    values[0] = 7
    assert variable.numpy().tolist() == [1, 2]
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.compile("sgd", "mse")
    for rows in (4, 70):
        predicted = model.predict(np.ones([rows, 2], np.float32), verbose=0)
        predicted[predicted > 0] = 1
        assert predicted.max() <= 1


def test_elements_of_as_numpy_iterator_are_read_only():  # as TensorFlow's
    assert not next(tf.data.Dataset.range(3).batch(2).as_numpy_iterator()).flags.writeable


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "complex64"])
def test_variables_are_pickled(dtype):
    variable = tf.Variable(tf.cast([[1, 0]], dtype), trainable=False, name="weights")
    again = pickle.loads(pickle.dumps(variable))
    assert (again.name, again.trainable, again.dtype.name, again.shape) == ("weights:0", False, dtype, [1, 2])
    assert tf.reduce_all(again == variable.value())
    again.assign(tf.cast([[0, 0]], dtype))
    assert tf.reduce_any(again != variable.value())


def test_attrs_classes_are_elements():
    attr = pytest.importorskip("attr")
    Pair = attr.make_class("Pair", ["z", "a"])
    Nested = attr.make_class("Nested", ["_hidden", "pair"])
    dataset = tf.data.Dataset.from_tensor_slices(Pair(z=[1, 2, 3], a=[4.0, 5.0, 6.0]))
    assert dataset.element_spec == Pair(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32))
    batches = list(dataset.map(lambda pair: Pair(z=pair.a, a=pair.z)).batch(2))
    assert [(type(batch), batch.z.numpy().tolist(), batch.a.numpy().tolist()) for batch in batches] == [
        (Pair, [4, 5], [1, 2]), (Pair, [6], [3])]
    assert tf.nest.flatten(Pair(1, 2)) == [1, 2] and tf.nest.map_structure(lambda x: x + 1, Pair(1, 2)) == Pair(2, 3)
    (element,) = tf.data.Dataset.from_tensors(Nested(hidden=1, pair=Pair(2, 3)))
    assert int(element._hidden) == 1 and int(element.pair.z) == 2 and int(element.pair.a) == 3


def test_dir_shows_no_internals():
    import leat.torch
    assert {"os", "np", "functools", "Tensor"}.isdisjoint(dir(leat.torch))
    assert {"as_iterable_dataset", "from_torch", "to_torch"} <= set(dir(leat.torch))
    assert [name for name in dir(tf.nest) if not name.startswith("_")] == [
        "assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
    for module in (tf.math, tf.linalg, tf.strings, tf.random, tf.signal, tf.utils, tf.keras):
        assert not [name for name in dir(module) if inspect.ismodule(getattr(module, name))
                    and not getattr(module, name).__name__.startswith("leat")], module
        assert not [name for name in dir(module) if name.startswith("_") and not name.startswith("__")], module


def test_a_dataset_has_tensorflows_signature():
    assert str(inspect.signature(tf.data.Dataset)) == "(variant_tensor)"
    with pytest.raises(TypeError, match="abstract"):
        tf.data.Dataset(3)
