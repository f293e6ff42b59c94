"""Datasets through Python against plain Python."""

import collections
import re
import threading

import numpy as np
import pytest

import leat as tf

Pair = collections.namedtuple("Pair", "first second")


def test_map_and_batch_count_as_python_does():
    dataset = tf.data.Dataset.range(10).map(lambda x: x * x + 1).batch(4)
    assert [batch.numpy().tolist() for batch in dataset] == [[1, 2, 5, 10], [17, 26, 37, 50], [65, 82]]
    assert len(dataset) == 3


def test_structures_come_back_as_they_went_in():
    rows = {"z": [1, 2, 3], "a": Pair(np.ones((3, 2), np.float32), ["x", "y", "z"])}
    element = next(iter(tf.data.Dataset.from_tensor_slices(rows).batch(2)))
    assert list(element) == ["z", "a"]
    assert isinstance(element["a"], Pair)
    assert element["a"].second.numpy().tolist() == [b"x", b"y"]


def test_functions_return_datasets():
    made = tf.data.Dataset.range(4).flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(x))
    assert list(made.as_numpy_iterator()) == [1, 2, 2, 3, 3, 3]


def test_generators_end_early():
    closed = []

    def numbers():
        try:
            yield from range(100)
        finally:
            closed.append(True)
    signature = tf.TensorSpec([], tf.int64)
    made = tf.data.Dataset.from_generator(numbers, output_signature=signature).take(3)
    assert list(made.as_numpy_iterator()) == [0, 1, 2]
    assert closed == [True]


def test_exceptions_arrive_unchanged():
    def refuse(x):
        if int(x) == 2:
            raise KeyError("two")
        return x
    with pytest.raises(KeyError, match="two") as caught:
        list(tf.data.Dataset.range(5).map(refuse))
    assert re.search(r"\b2\b", caught.value.__notes__[0])
    assert caught.traceback[-1].name == "refuse"


def test_load_waits_for_what_is_saved_later(tmp_path):
    path, found = str(tmp_path / "later"), []
    with pytest.raises(tf.errors.NotFoundError):
        tf.data.Dataset.load(path)
    waiting = threading.Thread(target=lambda: found.extend(tf.data.Dataset.load(path, wait=True).as_numpy_iterator()))
    waiting.start()
    tf.data.Dataset.range(3).save(path)
    waiting.join()
    assert found == [0, 1, 2]


def test_state_is_saved_and_restored():
    dataset = tf.data.Dataset.range(100).shuffle(10, seed=3).batch(7)
    iterator = iter(dataset)
    first = [next(iterator).numpy().tolist() for _ in range(5)]
    state = iterator.save()
    rest = [batch.numpy().tolist() for batch in iterator]
    again = iter(dataset)
    again.restore(state)
    assert [batch.numpy().tolist() for batch in again] == rest
    assert sorted(sum(first + rest, [])) == list(range(100))


@pytest.mark.parametrize("size", range(1, 9))
def test_prefetch_fills_its_buffer(size):
    """While the consumer waits, `size` elements are made ready, however cheap they are, and no more."""
    seen, made, expected = [], threading.Event(), 1 + size

    def note(x):
        seen.append(int(x))
        if x == expected:
            made.set()
        return x
    iterator = iter(tf.data.Dataset.range(100).map(lambda x: tf.numpy_function(note, [x], x.dtype)).prefetch(size))
    assert int(next(iterator)) == 0
    assert max(seen) < expected
    assert int(next(iterator)) == 1
    assert made.wait(60)
    assert [int(x) for x in iterator] == list(range(2, 100))


def test_datasets_are_elements():
    nested = tf.data.Dataset.from_tensors((tf.data.Dataset.range(4), [1, 2]))
    assert len(nested) == 1 and type(nested.element_spec[0]).__name__ == "DatasetSpec"
    flat = nested.flat_map(lambda numbers, rest: numbers.concatenate(tf.data.Dataset.from_tensor_slices(
        tf.cast(rest, tf.int64))))
    assert list(flat.as_numpy_iterator()) == [0, 1, 2, 3, 1, 2]
    only, = tf.data.Dataset.from_tensors(tf.data.Dataset.range(2))
    assert list(only.as_numpy_iterator()) == [0, 1]


def test_batches_without_rows_that_cannot_be_are_named():
    sparse = tf.data.Dataset.from_tensors(tf.sparse.SparseTensor([[0, 0]], [1], [4, 2]))
    ragged = tf.data.Dataset.from_tensors(tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1))
    for dataset, kind in ((sparse, "sparse"), (ragged, "ragged")):
        elements = iter(dataset.rebatch([1, 0, 1]))
        next(elements)
        with pytest.raises(tf.errors.InvalidArgumentError, match=kind):
            next(elements)


@pytest.mark.parametrize("options, expected", [
    ({}, ["b", "a", "c"]), ({"select_columns": ["c", "b"]}, ["b", "c"]), ({"label_name": "a"}, ["b", "c"]),
    ({"column_names": ["z", "y", "x"]}, ["z", "y", "x"]), ({"column_defaults": [0, 0.0, ""]}, ["b", "a", "c"]),
    ({"column_names": ["z", "y", "x"], "header": False}, ["z", "y", "x"])])
def test_columns_of_csv_files_are_in_the_files_order(tmp_path, options, expected):
    (tmp_path / "rows.csv").write_text("b,a,c\n1,2,3\n4,5,6\n")
    dataset = tf.data.experimental.make_csv_dataset(str(tmp_path / "*.csv"), 2, num_epochs=1, shuffle=False, **options)
    element = next(iter(dataset))
    columns = element[0] if "label_name" in options else element
    assert list(columns) == expected
    first = {"b": b"1", "a": b"2", "c": b"3"}
    if "column_names" not in options:
        assert [str(columns[key].numpy()[0]).removeprefix("b").strip("'").removesuffix(".0") for key in expected] == [
            first[key].decode() for key in expected]


def test_headers_of_csv_files_are_read_as_csv(tmp_path):
    (tmp_path / "rows.csv").write_text('"b x","a, y",c\n1,2,3\n')
    dataset = tf.data.experimental.make_csv_dataset(str(tmp_path / "rows.csv"), 1, num_epochs=1, shuffle=False)
    assert {key: value.numpy().tolist() for key, value in next(iter(dataset)).items()} == {
        "b x": [1], "a, y": [2], "c": [3]}


def test_one_dataset_zips_to_its_own_elements():
    pairs = tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4]))
    assert list(tf.data.Dataset.zip(pairs).as_numpy_iterator()) == [(1, 3), (2, 4)]
    assert list(tf.data.Dataset.zip((pairs,)).as_numpy_iterator()) == [((1, 3),), ((2, 4),)]
    inside = tf.data.Dataset.range(1).flat_map(lambda _: tf.data.Dataset.zip(pairs))
    assert list(inside.as_numpy_iterator()) == [(1, 3), (2, 4)]


def test_windows_have_sizes_of_python():
    made = tf.data.Dataset.range(6).group_by_window(lambda x: x % 2, lambda key, rows: rows.batch(2),
                                                    window_size_func=lambda key: 2)
    assert [batch.numpy().tolist() for batch in made] == [[0, 2], [1, 3], [4], [5]]


def test_windows_are_padded_by_their_key():
    def reduced(key, window):
        return window.padded_batch(2, padded_shapes=tf.convert_to_tensor([(key + 1) * 10]))
    rows = tf.data.Dataset.range(8, 13).map(lambda x: tf.fill([x], x))
    made = rows.group_by_window(lambda x: tf.cast(tf.shape(x)[0] // 10, tf.int64), reduced, window_size=2)
    assert [batch.shape.as_list() for batch in made] == [[2, 10], [2, 20], [1, 20]]


def test_missing_files_are_left_out_with_errors(tmp_path):
    (tmp_path / "rows").write_text("1\n2\n")
    paths = [str(tmp_path / name) for name in ("none", "rows", "none", "rows", "none")]
    for made in (tf.data.TextLineDataset(paths), tf.data.TextLineDataset(paths, num_parallel_reads=2),
                 tf.data.Dataset.from_tensor_slices(paths).interleave(tf.data.TextLineDataset, cycle_length=1)):
        rows = made.map(tf.strings.to_number).map(lambda x: 1 / x, num_parallel_calls=2).ignore_errors()
        assert sorted(float(row) for row in rows) == [0.5, 0.5, 1, 1]
    assert not list(tf.data.TFRecordDataset(paths[0]).ignore_errors())
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.data.TextLineDataset(paths))


@pytest.mark.parametrize("value, dtype", [(1.5, tf.int32), ([1, 2.5], tf.int64), (0, tf.bool),
                                          ("a", tf.bool), (None, tf.float32), (1j, tf.float32),
                                          (tf.constant(1.5), tf.int32), (tf.constant(1), tf.float32)])
def test_generators_of_dtypes_alone_do_not_cast(value, dtype):
    made = iter(tf.data.Dataset.from_generator(lambda: iter([value, np.array(1)]), dtype))
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(made)
    assert next(made).numpy() == 1


def test_generators_of_shapes_cast_as_numpy_does():
    def made(value, dtype):
        signature = tf.TensorSpec([], dtype)
        return next(iter(tf.data.Dataset.from_generator(lambda: iter([value]), output_signature=signature))).numpy()
    assert (made(1.5, tf.int32), made("a", tf.bool), made(0, tf.bool)) == (1, True, False)
    assert np.isnan(made(None, tf.float32))


def test_snapshots_have_shards_and_a_reader(tmp_path):
    made = tf.data.Dataset.range(6).snapshot(
        str(tmp_path), shard_func=lambda x: x % 2,
        reader_func=lambda shards: shards.interleave(lambda rows: rows, cycle_length=2, num_parallel_calls=2))
    for _ in range(2):
        assert list(made.as_numpy_iterator()) == [0, 1, 2, 3, 4, 5]


def test_a_header_in_another_encoding(tmp_path):
    path = str(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes("\u6f22,b\n1,\u5b57\n".encode("shift-jis"))
    read = tf.data.experimental.make_csv_dataset
    [row] = read(path, 1, num_epochs=1, shuffle=False, encoding="shift-jis")
    assert {name: value.numpy().tolist() for name, value in row.items()} == {"\u6f22": [1], "b": [b"\x8e\x9a"]}
    with pytest.raises(tf.errors.UnimplementedError, match="encoding"):
        read(path, 1, encoding="utf-16")
    with pytest.raises(ValueError, match="columns"):
        read(path, 1, column_names=["a", "b"], label_name="c")


def test_what_ends_a_reduction():
    with pytest.raises(tf.errors.InvalidArgumentError, match="classes"):
        tf.data.Dataset.range(5).reduce(0, lambda state, value: ())
    with pytest.raises(TypeError, match="dataset"):
        tf.data.experimental.get_single_element([1])
    with pytest.raises(ValueError, match=re.escape("(None, None)")):
        tf.data.Dataset.range(3).padded_batch(5, [-1, -1])
