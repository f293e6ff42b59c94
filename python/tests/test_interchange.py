"""Datasets from and to other packages; where torch or jax is missing, stand-ins that do what leat uses of them."""

import sys
import threading
import types

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

class FakeTorch(types.ModuleType):
    """As much of torch as leat.torch uses; its tensors are numpy arrays that can be pinned."""

    class Tensor(np.ndarray):
        pinned = False

        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return np.asarray(self)

        def pin_memory(self):
            made = self.view()
            made.pinned = True
            return made

        def clone(self):
            return self.copy()

        def random_(self, generator=None):
            return 7

    def __init__(self):
        super().__init__("torch")
        self.int64, self.worker = np.int64, None
        self.cuda = types.SimpleNamespace(is_available=lambda: False)
        self.utils = types.ModuleType("torch.utils")
        self.utils.data = types.ModuleType("torch.utils.data")
        self.utils.data.IterableDataset = type("IterableDataset", (), {})
        self.utils.data.get_worker_info = lambda: self.worker
        self.utils.data.RandomSampler = lambda data, generator=None: np.random.default_rng(7).permutation(len(data))
        self.utils.data.default_collate, self.utils.data.default_convert = self.collate, self.convert
        self.utils.data._utils = types.SimpleNamespace(pin_memory=types.SimpleNamespace(pin_memory=self.pin))

    def collate(self, samples):
        first = samples[0]
        if isinstance(first, dict):
            return {key: self.collate([sample[key] for sample in samples]) for key in first}
        if isinstance(first, (tuple, list)):
            return [self.collate(list(part)) for part in zip(*samples)]
        return samples if isinstance(first, str) else np.stack(samples).view(self.Tensor)

    def convert(self, sample):
        if isinstance(sample, (tuple, list)):
            return [self.convert(part) for part in sample]
        return sample.view(self.Tensor) if isinstance(sample, np.ndarray) else sample

    def pin(self, value):
        return [self.pin(part) for part in value] if isinstance(value, list) else value.pin_memory()

    def from_numpy(self, array):
        assert array.flags.writeable
        return array.view(self.Tensor)

    def from_dlpack(self, source):
        return np.from_dlpack(source).view(self.Tensor)

    def empty(self, shape, dtype):
        return np.empty(shape, dtype).view(self.Tensor)


@pytest.fixture
def torch(monkeypatch):
    """The real torch, or a stand-in where it is missing."""
    try:
        import torch as real
        import torch.utils.data  # noqa: F401
        return real
    except ImportError:
        made = FakeTorch()
        for name, module in (("torch", made), ("torch.utils", made.utils), ("torch.utils.data", made.utils.data)):
            monkeypatch.setitem(sys.modules, name, module)
        tf.torch._iterable_class.cache_clear()
        return made


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


class Samples:
    """A torch dataset of (tensor, number)."""

    def __init__(self, torch, count):
        self.torch, self.count = torch, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return [self.torch.from_numpy(np.full(2, i, np.float32)), i]


@pytest.mark.parametrize("workers", [0, 2, -1])
def test_loaders_in_the_place_of_torchs(torch, workers):
    loader = tf.torch.DataLoader(Samples(torch, 7), batch_size=3, num_workers=workers)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert type(batches[0]) is list and isinstance(batches[0][0], torch.Tensor)
    assert [np.asarray(y).tolist() for _, y in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert np.asarray(batches[0][1]).dtype == np.int64 and np.asarray(batches[2][0]).tolist() == [[6, 6]]
    assert len(list(loader)) == 3  # the next epoch
    assert len(list(tf.torch.DataLoader(Samples(torch, 7), 3, drop_last=True))) == 2
    shuffled = [int(y) for _, y in tf.torch.DataLoader(Samples(torch, 50), None, shuffle=True, num_workers=workers)]
    assert sorted(shuffled) == list(range(50)) != shuffled


def test_loaders_with_samplers_and_collate_functions(torch):
    samples = Samples(torch, 7)
    assert [np.asarray(y).tolist() for _, y in tf.torch.DataLoader(samples, 2, sampler=[4, 2, 6])] == [[4, 2], [6]]
    by_lists = tf.torch.DataLoader(samples, batch_sampler=[[1, 2], [5]])
    assert [np.asarray(y).tolist() for _, y in by_lists] == [[1, 2], [5]] and len(by_lists) == 2
    sums = tf.torch.DataLoader(samples, 4, collate_fn=lambda rows: sum(int(y) for _, y in rows))
    assert list(sums) == [6, 15]
    assert [np.asarray(x).tolist() for x in tf.torch.DataLoader(D.range(5), 2)] == [[0, 1], [2, 3], [4]]
    assert list(tf.torch.DataLoader(Samples(torch, 0))) == []


def test_loaders_pin_memory_where_there_is_a_gpu(monkeypatch):
    made = FakeTorch()
    for name, module in (("torch", made), ("torch.utils", made.utils), ("torch.utils.data", made.utils.data)):
        monkeypatch.setitem(sys.modules, name, module)
    loader = tf.torch.DataLoader(Samples(made, 2), 2, pin_memory=True)
    assert not next(iter(loader))[0].pinned
    made.cuda.is_available = lambda: True
    assert next(iter(loader))[0].pinned and not next(iter(tf.torch.DataLoader(Samples(made, 2), 2)))[0].pinned


def test_loaders_hand_samples_on_as_they_are(torch):
    samples = [("a", 1, None), ("b", 2, {})]
    assert list(tf.torch.DataLoader(samples, 2, collate_fn=lambda rows: rows)) == [samples]
    assert list(tf.torch.DataLoader(["a", "b"], None)) == ["a", "b"]
    assert list(tf.torch.DataLoader(["a", "b", "c"], 2)) == [["a", "b"], ["c"]]
    for workers in (0, 2):
        with pytest.raises(KeyError, match="3"):
            list(tf.torch.DataLoader({0: 1, 1: 2, 2: 3, 4: 5}, sampler=[0, 1, 3], num_workers=workers))


@pytest.mark.parametrize("in_order", [True, False])
def test_loaders_fetch_ahead_on_their_threads(torch, in_order):
    """Two threads fetch at a time, at most two batches each are ahead, and a slow one is waited for only in order."""
    both, slow = threading.Barrier(2, timeout=60), threading.Event()
    fetched = []

    class Slow:
        def __len__(self):
            return 12

        def __getitem__(self, i):
            fetched.append(i)
            if i < 2:
                both.wait()
            if i == 0:
                assert slow.wait(60)
            return np.array([i])
    batches = iter(tf.torch.DataLoader(Slow(), None, num_workers=2, in_order=in_order))
    if in_order:
        slow.set()
        assert int(next(batches)[0]) == 0 and len(fetched) <= 5
    else:
        assert int(next(batches)[0]) == 1
        slow.set()
    assert sorted(int(value[0]) for value in batches) == [i for i in range(12) if i != (0 if in_order else 1)]


def test_iterable_datasets_of_torch_in_loaders(torch):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            yield from (np.full(2, i) for i in range(7))
    for workers in (0, 1, 3):
        found = tf.torch.DataLoader(Stream(), 3, num_workers=workers)
        assert [np.asarray(x)[:, 0].tolist() for x in found] == [[0, 1, 2], [3, 4, 5], [6]]
        assert len(list(tf.torch.DataLoader(Stream(), 3, drop_last=True, num_workers=workers))) == 2
    assert [np.asarray(x).tolist() for x in tf.torch.DataLoader(Stream(), None)][6] == [6, 6]


@pytest.mark.parametrize("arguments, text", [
    (dict(worker_init_fn=print), "worker_init_fn"),
    (dict(timeout=3), "timeout"),
    (dict(sampler=[1], shuffle=True), "sampler"),
    (dict(batch_sampler=[[1]], batch_size=3), "batch_sampler"),
    (dict(batch_size=None, drop_last=True), "batch_size=None"),
])
def test_loaders_refuse(torch, arguments, text):
    with pytest.raises(ValueError, match=text):
        tf.torch.DataLoader(Samples(torch, 3), **arguments)


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

class Mixed:
    """A torch dataset with every kind of value that torch collates."""

    def __len__(self):
        return 10

    def __getitem__(self, i):
        import torch
        return {"x": torch.full((3,), float(i)), "y": i, "text": f"n{i}", "f": i / 2, "pair": ([i, True], (i + 1,)),
                "array": np.arange(2, dtype=np.int16)}


def same_as_torch(one, other):
    import torch
    if isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype and torch.equal(one, other)
    elif isinstance(one, (dict, list, tuple)):
        assert type(one) is type(other) and len(one) == len(other)
        for key in one if isinstance(one, dict) else range(len(one)):
            same_as_torch(one[key], other[key])
    else:
        assert type(one) is type(other) and one == other


@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize("arguments", [
    dict(batch_size=3), dict(batch_size=3, drop_last=True), dict(batch_size=None), dict(batch_size=4, shuffle=True),
    dict(batch_size=2, sampler=[4, 2, 7]), dict(batch_sampler=[[1, 2], [5]]),
    dict(batch_size=3, collate_fn=lambda rows: [row["y"] for row in rows]), dict(batch_size=None, collate_fn=str)],
    ids=str)
def test_loaders_give_what_torchs_gives(arguments, workers):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from torch.utils import data
    epochs = []
    for loader, more in ((data.DataLoader, {}), (tf.torch.DataLoader, {"num_workers": workers})):
        made = loader(Mixed(), generator=torch.Generator().manual_seed(5), **more, **arguments)
        epochs.append([list(made), list(made)])
        assert len(made) == len(epochs[-1][0])
    same_as_torch(*epochs)


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
