"""Datasets from and to other packages; where torch or jax is missing, stand-ins that do what leat uses of them."""

import threading

import numpy as np
import pytest

import leat as tf

D = tf.data.Dataset


def values(dataset):
    return list(dataset.as_numpy_iterator())


# ---- sequences and iterables ----

class Pictures:
    """A map-style dataset of pictures of two sizes, which notes what it is asked for."""

    def __init__(self, count):
        self.count, self.asked, self.threads = count, [], set()

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if not 0 <= i < self.count:
            raise IndexError(f"there is no picture {i}")
        self.asked.append(i)
        self.threads.add(threading.get_ident())
        return {"picture": np.full((2, 2 + i % 2), i, np.uint8), "label": i, "name": f"p{i}"}


def test_sequences_are_asked_as_they_run(caplog):
    pictures = Pictures(1000)
    dataset = tf.data.from_sequence(pictures)
    assert len(dataset) == 1000 and pictures.asked == [0]
    assert dataset.element_spec == {"picture": tf.TensorSpec([None, None], tf.uint8),
                                    "label": tf.TensorSpec([], tf.int32), "name": tf.TensorSpec([], tf.string)}
    found = values(dataset.take(3))
    assert [row["picture"].shape for row in found] == [(2, 2), (2, 3), (2, 2)]
    assert [(row["label"], row["name"]) for row in found] == [(0, b"p0"), (1, b"p1"), (2, b"p2")]
    assert len(pictures.asked) < 200 and not caplog.records
    assert dataset.plan().startswith("map(map_func=Pictures, ")


def test_sequences_in_parallel_and_by_number():
    pictures = Pictures(64)
    dataset = tf.data.from_sequence(pictures, num_parallel_calls=4)
    assert [row["label"] for row in values(dataset)] == list(range(64))
    assert threading.get_ident() in pictures.threads and len(pictures.threads) > 1
    shuffled = tf.data.from_sequence(pictures).global_shuffle(seed=3)
    assert sorted(row["label"] for row in values(shuffled)) == list(range(64))
    assert tf.data.experimental.at(tf.data.from_sequence(pictures), 5)["name"].numpy() == b"p5"


def test_arrays_and_lists_are_sequences():
    rows = tf.data.from_sequence(np.arange(6, dtype=np.float64).reshape(3, 2))
    assert rows.element_spec == tf.TensorSpec([2], tf.float64)
    assert [row.tolist() for row in values(rows)] == [[0, 1], [2, 3], [4, 5]]
    assert values(tf.data.from_sequence([(1, 2.5), (3, 4.5)])) == [(1, 2.5), (3, 4.5)]


def test_sequences_refuse_and_fail():
    with pytest.raises(TypeError, match="set has no len.. and ..; use from_iterable"):
        tf.data.from_sequence({1, 2})
    with pytest.raises(ValueError, match="output_signature"):
        tf.data.from_sequence([])
    assert values(tf.data.from_sequence([], tf.TensorSpec([], tf.int64))) == []

    class Broken(Pictures):
        def __getitem__(self, i):
            if i == 2:
                raise KeyError("no picture 2")
            return super().__getitem__(i)
    with pytest.raises(KeyError, match="no picture 2"):
        values(tf.data.from_sequence(Broken(4)))
    with pytest.raises(TypeError):
        values(tf.data.from_sequence([1, "two"]))


def test_iterables_begin_anew():
    dataset = tf.data.from_iterable([1, 2, 3]).repeat(2)
    assert values(dataset) == [1, 2, 3, 1, 2, 3]

    def squares():
        yield from (i * i for i in range(4))
    assert values(tf.data.from_iterable(squares)) == [0, 1, 4, 9]
    with pytest.raises(ValueError, match="used up once only"):
        tf.data.from_iterable(squares())
    with pytest.raises(ValueError, match="there is no item"):
        tf.data.from_iterable(list)
    assert values(tf.data.from_iterable(list, tf.TensorSpec([], tf.int32))) == []


# ---- tables ----

def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({
        "i": [1, 2, 3], "f": np.array([0.5, np.nan, 2], np.float32), "s": ["a", "bé", ""], "b": [True, False, True],
        "c": pandas.Categorical(["x", "y", "x"]), "t": pandas.to_datetime(["1970-01-01", "1970-01-02", "1970-01-03"]),
        "n": pandas.array([1, 2, 3], dtype="Int32")})
    rows = values(tf.data.from_pandas(frame))
    assert len(rows) == 3 and list(rows[0]) == list("ifsbctn")
    assert [row["i"] for row in rows] == [1, 2, 3] and rows[0]["i"].dtype == np.int64
    assert rows[0]["f"] == 0.5 and np.isnan(rows[1]["f"]) and rows[0]["f"].dtype == np.float32
    assert [row["s"] for row in rows] == [b"a", "bé".encode(), b""] and [row["c"] for row in rows] == [b"x", b"y", b"x"]
    assert [row["b"] for row in rows] == [True, False, True]
    assert [row["t"] for row in rows] == [0, 86400 * 10**9, 2 * 86400 * 10**9]
    assert [row["n"] for row in rows] == [1, 2, 3] and rows[0]["n"].dtype == np.int32
    assert list(values(tf.data.from_pandas(frame, ["s", "i"]))[0]) == ["s", "i"]
    assert values(tf.data.from_pandas(frame["i"])) == [1, 2, 3]
    with pytest.raises(ValueError, match="column 's' .* lacks values in 1 rows"):
        tf.data.from_pandas(pandas.DataFrame({"s": ["a", None]}))
    with pytest.raises(TypeError, match="column 'o' holds set"):
        tf.data.from_pandas(pandas.DataFrame({"o": [{1}, {2}]}))
    with pytest.raises(TypeError, match="expected a pandas DataFrame or Series, found list"):
        tf.data.from_pandas([1])


def table(pyarrow):
    return pyarrow.table({
        "i": pyarrow.chunked_array([[1, 2], [3]], type=pyarrow.int32()), "f": pyarrow.array([.5, 1.5, 2.5]),
        "s": ["a", "bé", ""], "b": [True, False, True], "l": [[1], [], [2, 3]],
        "v": pyarrow.array([[1., 2.], [3., 4.], [5., 6.]], type=pyarrow.list_(pyarrow.float32(), 2)),
        "d": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
        "t": pyarrow.array([0, 1, 2], type=pyarrow.timestamp("ms"))})


def check_rows(rows):
    assert [row["i"] for row in rows] == [1, 2, 3] and rows[0]["i"].dtype == np.int32
    assert [row["f"] for row in rows] == [.5, 1.5, 2.5] and [row["s"] for row in rows] == [b"a", "bé".encode(), b""]
    assert [row["b"] for row in rows] == [True, False, True] and [row["t"] for row in rows] == [0, 1, 2]
    assert [row["v"].tolist() for row in rows] == [[1, 2], [3, 4], [5, 6]]
    assert [row["d"] for row in rows] == [b"x", b"y", b"x"]
    assert [np.asarray(row["l"]).tolist() for row in rows] == [[1], [], [2, 3]]


def test_arrow_tables_and_files(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    made = table(pyarrow)
    check_rows(values(tf.data.from_arrow(made)))
    check_rows(values(tf.data.from_arrow(pyarrow.concat_tables([made.slice(2), made]).slice(1))))
    check_rows(values(tf.data.from_arrow(made.combine_chunks().to_batches()[0])))
    assert values(tf.data.from_arrow(pyarrow.array([4, 5]))) == [4, 5]
    assert list(values(tf.data.from_arrow(made, ["s"]))[0]) == ["s"]
    dense = made.drop_columns(["l"])
    reader = tf.data.from_arrow(pyarrow.RecordBatchReader.from_batches(dense.schema, dense.to_batches()))
    assert [row["i"] for row in values(reader)] == [1, 2, 3]
    with pytest.raises(ValueError, match="can be read once only"):
        values(reader)
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(dense, tmp_path / "a.parquet")
    rows = tf.data.from_arrow(parquet.ParquetFile(tmp_path / "a.parquet"), ["i", "s"], batch_size=2)
    assert [(row["i"], row["s"]) for row in values(rows)] == [(1, b"a"), (2, "bé".encode()), (3, b"")]
    assert len(values(rows)) == 3
    dataset = pytest.importorskip("pyarrow.dataset")
    rows = tf.data.from_arrow(dataset.dataset(tmp_path / "a.parquet"), batch_size=2)
    assert [row["f"] for row in values(rows)] == [.5, 1.5, 2.5]


def test_arrow_refuses():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="column 'x' .int64. lacks values in 1 rows"):
        tf.data.from_arrow(pyarrow.table({"x": [1, None]}))
    with pytest.raises(TypeError, match="column 'x' is of struct"):
        tf.data.from_arrow(pyarrow.table({"x": [{"a": 1}]}))
    with pytest.raises(ValueError, match="there is no column 'y'; found x"):
        tf.data.from_arrow(pyarrow.table({"x": [1]}), ["y"])
    with pytest.raises(TypeError, match="found list"):
        tf.data.from_arrow([1])
