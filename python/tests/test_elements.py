"""Elements that are more than tensors, and what is said where elements do not fit; values are TensorFlow 2.21's."""

import dataclasses

import numpy as np
import pytest

import leat as tf

Dataset = tf.data.Dataset
Optional = tf.experimental.Optional


def rows(dataset):
    return [np.asarray(row).tolist() for row in dataset.as_numpy_iterator()]


def test_tensor_arrays_are_elements():
    def pair(x):
        return tf.TensorArray(tf.int32, size=2, element_shape=[]).unstack([x, x + 1])
    dataset = Dataset.from_tensor_slices([1, 2, 3]).map(pair)
    assert repr(dataset.element_spec) == "TensorArraySpec(TensorShape([]), tf.int32, None, True)"
    assert [array.stack().numpy().tolist() for array in dataset] == [[1, 2], [2, 3], [3, 4]]
    assert rows(dataset.filter(lambda array: array.read(0) > 1).map(lambda array: array.stack())) == [[2, 3], [3, 4]]
    with pytest.raises(TypeError, match="batched"):
        iter(dataset.batch(2))


def test_a_tensor_array_is_the_state_of_a_scan():
    def step(array, x):
        array = array.write(array.size(), x)
        return array, array.stack()
    empty = tf.TensorArray(tf.int64, size=0, dynamic_size=True, element_shape=[])
    assert rows(Dataset.range(3).scan(empty, step)) == [[0], [0, 1], [0, 1, 2]]


def test_optional_values_are_elements():
    dataset = Dataset.range(3).map(lambda x: tf.cond(x > 0, lambda: Optional.from_value(x),
                                                     lambda: Optional.empty(tf.TensorSpec([], tf.int64))))
    assert [bool(one.has_value()) for one in dataset] == [False, True, True]
    nested = Dataset.range(2).map(lambda x: (x, Optional.from_value({"a": x, "b": [x, x]})))
    assert [one.get_value()["b"].numpy().tolist() for _, one in nested.cache()] == [[0, 0], [1, 1]]
    assert rows(nested.map(lambda x, one: one.get_value()["a"] + x)) == [0, 2]
    doubled = tf.function(lambda one: (one.get_value() * 2, one.has_value()))
    assert [value.numpy().tolist() for value in doubled(Optional.from_value(tf.constant(3)))] == [6, True]


@dataclasses.dataclass
class Masked:
    mask: bool
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(mask=metadata[0], value=components[0])


def test_data_classes_say_what_they_are_made_of():
    dataset = Dataset.from_tensor_slices(Masked(True, tf.constant([1, 2]))).batch(2)
    assert [(one.mask, one.value.numpy().tolist()) for one in dataset] == [(True, [1, 2])]
    zipped = Dataset.zip(Masked(False, Dataset.range(2)))
    assert rows(zipped.map(lambda one: one.value if one.mask else -one.value)) == [0, -1]
    assert tf.nest.map_structure(lambda x: x + 1, Masked(True, 3)) == Masked(True, 4)


@pytest.mark.parametrize("dataset", [Dataset.range(3000), Dataset.range(3000).map(lambda x: (x, -x))])
def test_numpy_iterators_are_saved(tmp_path, dataset):
    iterator = dataset.as_numpy_iterator()
    for _ in range(1500):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))
    state, expected = iterator.save(), list(iterator)
    assert len(expected) == 1500
    iterator.restore(state)
    assert list(iterator) == expected
    other = dataset.as_numpy_iterator()
    tf.train.Checkpoint(iterator=other).restore(path)
    assert list(other) == expected


def test_specs_of_datasets():
    one, other = (tf.data.DatasetSpec(tf.TensorSpec(shape, tf.int32)) for shape in ([2], [None]))
    assert one.is_subtype_of(other) and not other.is_subtype_of(one)
    assert one.most_specific_common_supertype([other]) == other
    shaped, scalar = (tf.data.DatasetSpec(tf.TensorSpec([], tf.int32), shape) for shape in ([5], []))
    assert shaped.most_specific_common_supertype([scalar]) == tf.data.DatasetSpec(
        tf.TensorSpec([], tf.int32), tf.TensorShape(None))
    assert tf.data.DatasetSpec(tf.TensorSpec([], tf.int32), [5]) != tf.data.DatasetSpec(tf.TensorSpec([], tf.int32))


def test_operations_on_sparse_tensors():
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [-1.0, 2.0], [2, 3])
    assert tf.shape(sparse).numpy().tolist() == [2, 3] and int(tf.size(sparse)) == 6
    assert tf.sparse.to_dense(sparse * [[1.0, 2.0, 3.0]]).numpy().tolist() == [[-1, 0, 0], [0, 0, 6]]
    assert tf.abs(sparse / 2.0).values.numpy().tolist() == [0.5, 1.0]
    with pytest.raises(ValueError):
        tf.exp(sparse)


@pytest.mark.parametrize("make, kind, word", [
    (lambda: Dataset.range(2).padded_batch(1, padded_shapes=np.array([[1]])), ValueError, "vector"),
    (lambda: Dataset.from_tensors([0]).padded_batch(1, padded_shapes=tf.constant([1.0])), TypeError, "vector"),
    (lambda: Dataset.from_tensors([1]).padded_batch(1, [2], padding_values=0.5 * tf.ones([])), TypeError, "match"),
    (lambda: Dataset.range(4).window(2).padded_batch(2), TypeError, "datasets"),
    (lambda: Dataset.range(4).window(2).as_numpy_iterator(), TypeError, "supported"),
    (lambda: Dataset.choose_from_datasets([Dataset.range(1)], [1]), TypeError, "choice_dataset"),
    (lambda: Dataset.range(2).group_by_window(lambda x: tf.cast(x, tf.int32), lambda k, d: d, 2), ValueError, "int64"),
    (lambda: Dataset.range(2).group_by_window(lambda x: x, lambda k, d: k, 2), TypeError, "reduce_func"),
    (lambda: Dataset.zip(), TypeError, "least"),
    (lambda: tf.train.CheckpointOptions(experimental_write_callbacks=[lambda a, b: None]), AssertionError, "callback"),
])
def test_what_is_refused(make, kind, word):
    with pytest.raises(kind, match=word):
        make()


def test_options_of_checkpoints(tmp_path):
    called = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[called.append, lambda: called.append("there")])
    path = tf.train.Checkpoint(v=tf.Variable(1)).save(str(tmp_path / "c"), options)
    assert called == [path, "there"]


def test_python_calls_functions_in_debug_mode():
    from leat._graph import trace
    called = []
    tf.data.experimental.enable_debug_mode()
    try:
        assert rows(Dataset.range(3).map(lambda x: called.append(tf.executing_eagerly()) or x)) == [0, 1, 2]
    finally:
        trace.debugging[0] = False
    assert called[-3:] == [True] * 3


def test_shapes_of_sparse_elements_are_known():
    sparse, shapes = tf.SparseTensor([[0, 0]], [1], [32, 3]), []
    dataset = Dataset.from_tensors(sparse).repeat(4).batch(2).map(lambda x: shapes.append(x.shape) or x, 2)
    assert shapes[0].as_list() == [None, 32, 3] and dataset.element_spec.shape.as_list() == [None, 32, 3]


def test_sparse_features_of_several_dimensions():
    def numbers(values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    example = tf.train.Example(features=tf.train.Features(feature={
        "row": numbers([2, 1]), "column": numbers([4, 3]),
        "value": tf.train.Feature(float_list=tf.train.FloatList(value=[6.0, 5.0]))})).SerializeToString()
    feature = tf.io.SparseFeature(["row", "column"], "value", tf.float32, [10, 12])
    found = tf.io.parse_example([example], {"s": feature})["s"]
    assert found.indices.numpy().tolist() == [[0, 1, 3], [0, 2, 4]] and found.values.numpy().tolist() == [5.0, 6.0]
    assert found.dense_shape.numpy().tolist() == [1, 10, 12]
    alone = tf.io.parse_single_example(example, {"s": feature})["s"]
    assert alone.indices.numpy().tolist() == [[1, 3], [2, 4]] and alone.dense_shape.numpy().tolist() == [10, 12]
