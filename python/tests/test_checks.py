"""Which exceptions operators raise, and when; expected classes and texts are TensorFlow's."""

import collections

import numpy as np
import pytest

import leat as tf

Dataset = tf.data.Dataset


@pytest.mark.parametrize("make, error, text", [
    (lambda: Dataset.from_tensor_slices(()), ValueError, "empty"),
    (lambda: Dataset.from_tensor_slices(1), ValueError, "rank"),
    (lambda: Dataset.from_tensor_slices(([1, 2], [1, 2, 3])), ValueError, "Dimensions"),
    (lambda: Dataset.range(3).unbatch(), ValueError, "scalar"),
    (lambda: Dataset.from_tensors(([1, 2], [1, 2, 3])).unbatch(), ValueError, "leading"),
    (lambda: Dataset.range(3).rebatch(2), ValueError, "`batch_sizes`"),
    (lambda: Dataset.range(3).padded_batch(2, padded_shapes=[1]), ValueError, r"\(\)"),
    (lambda: Dataset.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=[1]), ValueError, r"\(3,\)"),
    (lambda: Dataset.from_tensors([1]).padded_batch(2, padded_shapes=tf.constant([1.5])), TypeError, "float32"),
    (lambda: Dataset.from_tensors([1]).padded_batch(2, padded_shapes=tf.constant([[1]])), ValueError, r"\(1, 1\)"),
    (lambda: Dataset.from_tensors(tf.SparseTensor([[0]], [1], [2])).padded_batch(2), TypeError, "SparseTensorSpec"),
    (lambda: Dataset.from_generator(lambda: iter([1]), tf.int32).padded_batch(2), ValueError, "`padded_shapes`"),
    (lambda: Dataset.from_tensors(1.0).unique(), TypeError, "float32"),
    (lambda: Dataset.zip([Dataset.range(1), Dataset.range(2)]), TypeError, "`list`"),
    (lambda: Dataset.zip((Dataset.range(1), 3)), TypeError, "'int'"),
    (lambda: Dataset.range(3).concatenate(Dataset.from_tensors(1)), TypeError, "Incompatible"),
    (lambda: Dataset.sample_from_datasets([]), ValueError, "empty"),
    (lambda: Dataset.sample_from_datasets([Dataset.range(1)] * 2, weights=[1.0]), ValueError, r"len\(weights\)=1"),
    (lambda: Dataset.range(3).group_by_window(lambda x: x, lambda k, w: w), ValueError, "`window_size`"),
    (lambda: Dataset.range(3).bucket_by_sequence_length(lambda x: x, [1, 2], [1, 2]), ValueError, "bucket_batch_sizes"),
    (lambda: Dataset.range(3).take("a"), TypeError, "int64"),
    (lambda: Dataset.range(3).repeat(1.5), TypeError, "int64"),
    (lambda: Dataset.range(3).take_while(lambda x: x), ValueError, "`predicate`"),
    (lambda: Dataset.range(3).map(lambda x: object()), TypeError, "return"),
    (lambda: Dataset.range(3).scan(tf.constant(1), lambda s, x: (x, x)), TypeError, "initial"),
    (lambda: Dataset.range(3).scan(tf.constant(1), lambda s, x: s), TypeError, "pair"),
    (lambda: Dataset.from_generator(lambda: iter([1]), output_signature=tf.int32), TypeError, "`output_signature`"),
    (lambda: Dataset.sample_from_datasets([Dataset.range(1)] * 2, weights=[1, 1]), TypeError, "`weights`"),
    (lambda: Dataset.sample_from_datasets([Dataset.range(1), Dataset.from_tensors(1.0)]), TypeError, "compatible"),
    (lambda: Dataset.choose_from_datasets([Dataset.range(1), Dataset.from_tensors(1.0)], Dataset.range(2)), TypeError,
     "compatible"),
    (lambda: Dataset.range(3).group_by_window(lambda x: 1.0, lambda k, w: w, 2), TypeError, "int64"),
    (lambda: tf.data.experimental.from_list([]), ValueError, "empty"),
    (lambda: tf.data.experimental.from_list(5), ValueError, "list"),
    (lambda: tf.data.experimental.from_list([1, "a"]), ValueError, "string"),
    (lambda: Dataset.range(3).map_and_batch(lambda x: x, 2, num_parallel_batches=2, num_parallel_calls=2), ValueError,
     "`num_parallel_batches`"),
    (lambda: tf.data.TextLineDataset(1), TypeError, "`filenames`"),
    (lambda: Dataset.choose_from_datasets([], Dataset.from_tensors(1.0)), ValueError, "empty"),
    (lambda: Dataset.range(3).map(lambda x: [x]).sparse_batch(2, [-2]), ValueError, "-2"),
    (lambda: tf.data.experimental.CsvDataset("a", [0], buffer_size=0), tf.errors.InvalidArgumentError, "positive"),
    (lambda: Dataset.range(3).repeat().pad_to_cardinality(9), ValueError, "cardinality"),
    (lambda: Dataset.range(3).group_by_reducer(lambda x: "a", lambda k: 0, lambda s, x: s, lambda s: s), ValueError,
     "`key_func`"),
    (lambda: Dataset.from_generator(lambda: [1], [tf.int64], []), TypeError, "`type_value`"),
    (lambda: Dataset.range(3).save("a", checkpoint_args={"directory": "b", "other": 1}), TypeError, "other"),
    (lambda: list(Dataset.range(3).group_by_window(lambda x: x, lambda k, w: w, 0)), tf.errors.InvalidArgumentError,
     "zero"),
    (lambda: next(iter(Dataset.from_generator(lambda: iter([5]), (tf.int64, tf.int64)))),
     tf.errors.InvalidArgumentError, "structure"),
])
def test_refused_in_python(make, error, text):
    with pytest.raises(error, match=text):
        make()


def _fixed(function):
    """What a function that makes a dataset is refused with while it is traced."""
    return Dataset.range(2).flat_map(lambda _: function())


@pytest.mark.parametrize("make, error, reason, text", [
    (lambda: Dataset.from_tensor_slices(1), ValueError, "SHAPE", "rank"),
    (lambda: Dataset.from_tensor_slices(([1, 2], [1, 2, 3])), ValueError, "SHAPE", "Dimensions"),
    (lambda: Dataset.from_tensor_slices(()), ValueError, "SHAPE", "empty"),
    (lambda: Dataset.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=[1]), ValueError, "SHAPE", r"\(1,\)"),
    (lambda: Dataset.range(3).unbatch(), ValueError, "SHAPE", "scalar"),
    (lambda: Dataset.from_tensors(1.0).unique(), TypeError, "DTYPE", "float32"),
    (lambda: Dataset.range(3).concatenate(Dataset.from_tensors(1)), TypeError, "STRUCTURE", "Incompatible"),
    (lambda: Dataset.range(3).scan(tf.constant(1), lambda s, x: s), TypeError, "STRUCTURE", "pair"),
    (lambda: tf.data.experimental.from_list([]), ValueError, "VALUE", "empty"),
    (lambda: Dataset.range(3).batch(0), ValueError, "VALUE", "batch_size"),
    (lambda: Dataset.range(3).take(True), TypeError, "DTYPE", "count"),
])
@pytest.mark.parametrize("where", [lambda make: make(), _fixed], ids=["eager", "traced"])
def test_the_class_follows_the_reason(where, make, error, reason, text):
    with pytest.raises(error, match=text) as found:
        where(make)
    assert isinstance(found.value, tf.errors.InvalidArgumentError) and found.value.reason == reason
    assert not isinstance(found.value, TypeError if error is ValueError else ValueError)


def test_containers_are_part_of_a_structure():
    one, other = collections.namedtuple("One", "a b"), collections.namedtuple("Other", "a b")
    for value in ((1, 2), other(1, 2)):
        for join in (lambda a, b: a.concatenate(b), lambda a, b: Dataset.sample_from_datasets([a, b])):
            with pytest.raises(TypeError, match="compatible"):
                join(Dataset.from_tensors(one(1, 2)), Dataset.from_tensors(value))


def test_padded_shapes_take_none_numbers_and_tensors():
    rows = Dataset.from_tensor_slices([1, 3]).map(lambda x: (tf.fill([x], x), x))
    expected = [[1, 0, 0, 0], [3, 3, 3, 0]]
    for shape in ([4], tf.TensorShape([4]), tf.constant([4], tf.int64), np.array([4])):
        assert next(iter(rows.padded_batch(2, padded_shapes=(shape, []))))[0].numpy().tolist() == expected
    batch = next(iter(rows.padded_batch(2, padded_shapes=([None], []))))
    assert batch[0].numpy().tolist() == [[1, 0, 0], [3, 3, 3]]


def test_sparse_values_are_leaves():
    value = tf.sparse.SparseTensorValue(np.array([[0], [2]]), np.array([5, 6]), np.array([4]))
    dataset = Dataset.from_tensors((value, 1))
    assert dataset.element_spec == (tf.SparseTensorSpec([4], tf.int64), tf.TensorSpec([], tf.int32))
    back = next(dataset.as_numpy_iterator())[0]
    assert back.tolist() == [5, 0, 6, 0]


def test_a_state_may_have_none():
    total = Dataset.range(5).reduce((np.int64(0), None), lambda state, x: (state[0] + x, None))
    assert total[0].numpy() == 10 and total[1] is None


def test_what_a_generator_yields_is_checked():
    dataset = Dataset.from_generator(lambda: iter([[1, 2], "three"]), tf.int64)
    iterator = iter(dataset)
    assert iterator.get_next().numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_signature"):
        iterator.get_next()


def test_generators_may_depend_on_elements():
    def numbers(n):
        return Dataset.from_generator(lambda m: iter([m] * m), tf.int64, [], args=(n,))
    assert list(Dataset.range(4).flat_map(numbers).as_numpy_iterator()) == [1, 2, 2, 3, 3, 3]


def test_lists_from_a_function_are_tuples():
    dataset = Dataset.range(3).map(lambda x: [x, "text", 10])
    assert list(dataset.as_numpy_iterator()) == [(0, b"text", 10), (1, b"text", 10), (2, b"text", 10)]


def test_repr_names_what_the_arguments_made():
    spec = " element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"
    numbers = Dataset.range(3)
    assert repr(numbers.map(lambda x: x)) == "<_MapDataset" + spec
    assert repr(numbers.map(lambda x: x, num_parallel_calls=2)) == "<_ParallelMapDataset" + spec
    assert repr(Dataset.from_tensors(np.int64(1))) == "<_TensorDataset" + spec
    assert repr(Dataset.from_tensor_slices(np.array([1]))) == "<_TensorSliceDataset" + spec
    assert repr(Dataset.sample_from_datasets([numbers, numbers])) == "<_DirectedInterleaveDataset" + spec


def test_a_reducer_groups():
    reducer = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda state, x: state + x, lambda state: state)
    grouped = Dataset.range(10).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer))
    assert list(grouped.as_numpy_iterator()) == [20, 25]


def test_specs_of_datasets_and_iterators():
    numbers = Dataset.range(3)
    scalar = tf.TensorSpec([], tf.int64)
    assert tf.data.DatasetSpec.from_value(numbers) == tf.data.DatasetSpec(scalar)
    assert tf.data.IteratorSpec(scalar).is_compatible_with(iter(numbers))
    assert not tf.data.IteratorSpec(scalar).is_compatible_with(iter(numbers.batch(2)))


def test_an_iterator_is_not_read_while_tracing():
    numbers = iter(Dataset.range(100))
    taken = list(Dataset.range(3).map(lambda x: numbers.get_next()).as_numpy_iterator())
    assert len(set(taken)) == 3


def test_csv_defaults_are_values_or_dtypes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("1,,x\n3,4.5,y\n")
    rows = tf.data.experimental.CsvDataset(str(path), [tf.int32, [2.5], tf.string])
    assert list(rows.as_numpy_iterator()) == [(1, 2.5, b"x"), (3, 4.5, b"y")]
    rows = iter(tf.data.experimental.CsvDataset(str(path), [tf.int32, tf.float32, tf.string]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(rows)


def test_generators_that_are_not_pure_interleave():
    def numbers(n):
        return Dataset.from_generator(lambda: iter(range(9)), tf.int64, []).repeat(2)
    dataset = Dataset.range(20).interleave(numbers, cycle_length=10, block_length=9)
    assert len(list(dataset)) == 20 * 18


def test_pad_to_cardinality():
    pad = tf.data.experimental.pad_to_cardinality(3)
    for dataset in (tf.data.Dataset.range(2), tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3, 4]}),
                    tf.data.Dataset.from_tensors({"a": 1}).repeat()):
        with pytest.raises(ValueError):
            dataset.apply(pad)


def test_empty_strings():
    assert tf.constant([], tf.string).dtype is tf.string
    with pytest.raises(TypeError):
        tf.constant([1], tf.string)
