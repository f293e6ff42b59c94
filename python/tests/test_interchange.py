"""Datasets from and to other packages; where torch or jax is missing, stand-ins that do what leat uses of them."""

import sys
import threading
import types

import numpy as np
import pytest

import leat as tf
from torch_stand_in import Samples, torch  # noqa: F401

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
    lists = tf.data.from_sequence([{"a": [1]}, {"a": [2, 3]}])
    assert lists.element_spec == {"a": tf.TensorSpec([None], tf.int32)}
    assert [row["a"].tolist() for row in values(lists)] == [[1], [2, 3]]
    assert [row.tolist() for row in values(tf.data.from_iterable([[1], [2, 3]]))] == [[1], [2, 3]]


def test_sequences_refuse_and_fail():
    with pytest.raises(TypeError, match="from_iterable"):
        tf.data.from_sequence({1, 2})
    with pytest.raises(ValueError, match="output_signature"):
        tf.data.from_sequence([])
    assert values(tf.data.from_sequence([], tf.TensorSpec([], tf.int64))) == []

    class Broken(Pictures):
        def __getitem__(self, i):
            if i == 2:
                raise KeyError("no picture 2")
            return super().__getitem__(i)
    with pytest.raises(KeyError, match="picture"):
        values(tf.data.from_sequence(Broken(4)))
    for item in ("two", 2.5):
        with pytest.raises(ValueError, match="int32"):
            values(tf.data.from_sequence([1, item]))
    assert values(tf.data.from_sequence([1, 2], tf.TensorSpec([], tf.uint8))) == [1, 2]
    with pytest.raises(ValueError, match="300"):
        values(tf.data.from_sequence([1, 300], tf.TensorSpec([], tf.uint8)))


def test_iterables_begin_anew():
    dataset = tf.data.from_iterable([1, 2, 3]).repeat(2)
    assert values(dataset) == [1, 2, 3, 1, 2, 3]

    def squares():
        yield from (i * i for i in range(4))
    assert values(tf.data.from_iterable(squares)) == [0, 1, 4, 9]
    with pytest.raises(ValueError, match="iterator"):
        tf.data.from_iterable(squares())
    with pytest.raises(ValueError, match="output_signature"):
        tf.data.from_iterable(list)
    assert values(tf.data.from_iterable(list, tf.TensorSpec([], tf.int32))) == []


@pytest.mark.parametrize("calls", [None, 2])
def test_texts_beside_rows_of_different_lengths(calls):
    """Bytes of a text live as long as its column, whatever shapes are beside it."""
    items = [{"text": f"text {i}", "row": np.arange(i % 3), "part": f"some part {i}"} for i in range(40)]
    spec = {"text": tf.TensorSpec([], tf.string), "row": tf.TensorSpec([None], tf.int64),
            "part": tf.TensorSpec([], tf.string)}
    for _ in range(50):
        dataset = tf.data.from_sequence(items, spec, num_parallel_calls=calls)
        dataset = dataset.map(lambda row: {**row, "part": tf.strings.substr(row["part"], 5, 100)})
        found = [(row["text"], row["part"]) for row in values(dataset)]
        assert found == [(b"text %d" % i, b"part %d" % i) for i in range(40)]


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
    with pytest.raises(ValueError, match="'s'"):
        tf.data.from_pandas(pandas.DataFrame({"s": ["a", None]}))
    with pytest.raises(TypeError, match="'o'"):
        tf.data.from_pandas(pandas.DataFrame({"o": [{1}, {2}]}))
    with pytest.raises(TypeError, match="list"):
        tf.data.from_pandas([1])


# ---- torch ----

def test_torch_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="torch"):
        tf.torch.to_torch(tf.constant(1))
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match="jax"):
        tf.jax.as_jax(D.range(3))


def test_iterable_datasets_for_torch(torch):
    made = tf.torch.as_iterable_dataset(D.range(7).map(lambda x: {"x": x, "y": (x * 2, tf.strings.as_string(x))}))
    assert isinstance(made, torch.utils.data.IterableDataset) and len(made) == 7
    rows = list(made)
    assert isinstance(rows[3]["x"], torch.Tensor) and int(rows[3]["x"]) == 3 and rows[3]["y"][1] == b"3"
    rows[3]["x"] += 1  # its own memory
    shared = list(tf.torch.as_iterable_dataset(D.from_tensors([1., 2.]), copy=False))
    assert np.asarray(shared[0]).tolist() == [1, 2]
    with pytest.raises(TypeError, match="list"):
        tf.torch.as_iterable_dataset([1])


def test_workers_of_torch_share_the_elements(torch, monkeypatch):
    by_place = tf.torch.as_iterable_dataset(D.range(7))
    by_function = tf.torch.as_iterable_dataset(
        lambda count, index: D.range(7).shard(count, index).map(lambda x: x * 10))
    for worker, found in ((0, [0, 2, 4, 6]), (1, [1, 3, 5])):
        monkeypatch.setattr(torch.utils.data, "get_worker_info",
                            lambda worker=worker: types.SimpleNamespace(id=worker, num_workers=2))
        assert [int(x) for x in by_place] == found
        assert [int(x) for x in by_function] == [x * 10 for x in found]


def test_torchs_datasets_are_datasets(torch):
    dataset = tf.torch.from_torch(Samples(torch, 4), num_parallel_calls=2)
    assert dataset.element_spec == (tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int64))
    assert [(x.tolist(), y) for x, y in values(dataset)] == [([i, i], i) for i in range(4)]

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            yield from ({"a": i, "b": i / 2} for i in range(3))
    assert [(row["a"], row["b"]) for row in values(tf.torch.from_torch(Stream()))] == [(0, 0.), (1, .5), (2, 1.)]
    with pytest.raises(TypeError, match=r"\bint\b"):
        tf.torch.from_torch(3)


# ---- what needs the real torch or jax ----

@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64",
                                  "bfloat16", "uint16", "uint32", "uint64"])
def test_memory_shared_with_torch(name):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    source = torch.ones((2, 3), dtype=getattr(torch, name))
    made = tf.experimental.dlpack.from_dlpack(source)
    assert made.dtype.name == name and made.shape == [2, 3]
    for back in (torch.from_dlpack(made), torch.utils.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(made))):
        assert back.data_ptr() == source.data_ptr() and back.dtype == source.dtype
    copied = tf.constant(source)
    source[0, 0] = 0
    assert copied.dtype.name == name and np.asarray(copied).astype(np.int64).sum() == 6


def test_sparse_tensors_for_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    made = tf.torch.to_torch(tf.SparseTensor([[0, 1], [1, 0]], [5., 6.], [2, 2]))
    assert torch.equal(made.to_dense(), torch.tensor([[0., 5.], [6., 0.]]))


@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int16", "int32", "float16", "float32", "bfloat16", "uint16",
                                  "uint32"])
def test_memory_shared_with_jax(name):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    source = jax.numpy.ones((2, 3), dtype=name)
    made = tf.experimental.dlpack.from_dlpack(source.__dlpack__())
    assert made.dtype.name == name and str(jax.dlpack.from_dlpack(made).dtype) == name
    assert jax.dlpack.from_dlpack(made).unsafe_buffer_pointer() == source.unsafe_buffer_pointer()
    assert tf.convert_to_tensor(source).dtype.name == name


# ---- jax ----

@pytest.fixture
def jax(monkeypatch):
    """The real jax, or a stand-in where it is missing."""
    try:
        import jax as real
        return real
    except ImportError:
        made = types.ModuleType("jax")
        made.Array = np.ndarray
        made.device_put = lambda array, device=None: array
        monkeypatch.setitem(sys.modules, "jax", made)
        return made


def test_elements_as_jax_arrays(jax):
    dataset = D.range(10).map(lambda x: {"x": tf.cast(x, tf.float32), "y": (tf.cast(x, tf.int32),)}).batch(4)
    with tf.jax.as_jax(dataset) as batches:
        found = list(batches)
    assert isinstance(found[0]["x"], jax.Array) and found[0]["x"].dtype == np.float32
    assert [np.asarray(batch["y"][0]).tolist() for batch in found] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    fails = D.from_tensor_slices([1, 2, 0, 4]).map(lambda x: 8 // x)
    batches = tf.jax.as_jax(fails, buffer_size=3)
    assert [int(next(batches)), int(next(batches))] == [8, 4]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(batches)
    assert int(next(batches)) == 2
    with pytest.raises(StopIteration):
        next(batches)
    with pytest.raises(TypeError, match="string"):
        next(tf.jax.as_jax(D.from_tensors("a")))
    with pytest.raises(ValueError, match="buffer_size"):
        tf.jax.as_jax(dataset, buffer_size=0)
