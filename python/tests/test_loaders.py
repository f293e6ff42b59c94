"""leat.torch.DataLoader; where torch is missing, over a stand-in. python/frameworks compares it with torch's."""

import sys
import threading

import numpy as np
import pytest

import leat as tf
from torch_stand_in import FakeTorch, Samples, torch  # noqa: F401

D, DataLoader = tf.data.Dataset, tf.torch.DataLoader


@pytest.mark.parametrize("workers", [0, 2, -1])
def test_loaders_in_the_place_of_torchs(torch, workers):
    loader = DataLoader(Samples(torch, 7), batch_size=3, num_workers=workers)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert type(batches[0]) is list and isinstance(batches[0][0], torch.Tensor)
    assert [np.asarray(y).tolist() for _, y in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert np.asarray(batches[0][1]).dtype == np.int64 and np.asarray(batches[2][0]).tolist() == [[6, 6]]
    assert len(list(loader)) == 3  # the next epoch
    assert len(list(DataLoader(Samples(torch, 7), 3, drop_last=True))) == 2
    shuffled = [int(y) for _, y in DataLoader(Samples(torch, 50), None, shuffle=True, num_workers=workers)]
    assert sorted(shuffled) == list(range(50)) != shuffled


def test_loaders_with_samplers_and_collate_functions(torch):
    samples = Samples(torch, 7)
    assert [np.asarray(y).tolist() for _, y in DataLoader(samples, 2, sampler=[4, 2, 6])] == [[4, 2], [6]]
    by_lists = DataLoader(samples, batch_sampler=[[1, 2], [5]])
    assert [np.asarray(y).tolist() for _, y in by_lists] == [[1, 2], [5]] and len(by_lists) == 2
    sums = DataLoader(samples, 4, collate_fn=lambda rows: sum(int(y) for _, y in rows))
    assert list(sums) == [6, 15]
    assert [np.asarray(x).tolist() for x in DataLoader(D.range(5), 2)] == [[0, 1], [2, 3], [4]]
    assert list(DataLoader(Samples(torch, 0))) == []


def test_loaders_pin_memory_where_there_is_a_gpu(monkeypatch):
    made = FakeTorch()
    for name, module in (("torch", made), ("torch.utils", made.utils), ("torch.utils.data", made.utils.data)):
        monkeypatch.setitem(sys.modules, name, module)
    loader = DataLoader(Samples(made, 2), 2, pin_memory=True)
    assert not next(iter(loader))[0].pinned
    made.cuda.is_available = lambda: True
    assert next(iter(loader))[0].pinned and not next(iter(DataLoader(Samples(made, 2), 2)))[0].pinned


def test_loaders_hand_samples_on_as_they_are(torch):
    samples = [("a", 1, None), ("b", 2, {})]
    assert list(DataLoader(samples, 2, collate_fn=lambda rows: rows)) == [samples]
    assert list(DataLoader(["a", "b"], None)) == ["a", "b"]
    assert list(DataLoader(["a", "b", "c"], 2)) == [["a", "b"], ["c"]]
    for workers in (0, 2):
        with pytest.raises(KeyError, match="3"):
            list(DataLoader({0: 1, 1: 2, 2: 3, 4: 5}, sampler=[0, 1, 3], num_workers=workers))


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
    batches = iter(DataLoader(Slow(), None, num_workers=2, in_order=in_order))
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
        found = DataLoader(Stream(), 3, num_workers=workers)
        assert [np.asarray(x)[:, 0].tolist() for x in found] == [[0, 1, 2], [3, 4, 5], [6]]
        assert len(list(DataLoader(Stream(), 3, drop_last=True, num_workers=workers))) == 2
    assert [np.asarray(x).tolist() for x in DataLoader(Stream(), None)][6] == [6, 6]


@pytest.mark.parametrize("arguments, text", [
    (dict(timeout=3), "timeout"), (dict(timeout=-1, num_workers=1), "timeout"),
    (dict(num_workers=-2), "num_workers"),
    (dict(prefetch_factor=2), "prefetch_factor"),
    (dict(persistent_workers=True), "persistent_workers"),
    (dict(multiprocessing_context="fork"), "num_workers=0"),
    (dict(multiprocessing_context="threads", num_workers=1), "'threads'"),
    (dict(batch_size=0), "batch_size=0"),
    (dict(sampler=[1], shuffle=True), "sampler"),
    (dict(batch_sampler=[[1]], batch_size=3), "batch_sampler"),
    (dict(batch_size=None, drop_last=True), "batch_size=None"),
])
def test_loaders_refuse(torch, arguments, text):
    with pytest.raises(ValueError, match=text):
        DataLoader(Samples(torch, 3), **arguments)
    with pytest.raises(TypeError, match="multiprocessing_context=3"):
        DataLoader(Samples(torch, 3), multiprocessing_context=3, num_workers=1)


def test_loaders_are_what_they_were_made(torch):
    loader = DataLoader(Samples(torch, 3), 2, multiprocessing_context="spawn", num_workers=1)
    loader.note = "others may be set"
    with pytest.raises(ValueError, match="batch_size"):
        loader.batch_size = 3
    assert len(list(loader)) == 2


# ---- threads ----

class Numbered:
    """A dataset of numbers, which notes the threads that ask."""

    def __init__(self, count, wait=None):
        self.count, self.wait, self.threads = count, wait, set()

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        self.threads.add(threading.current_thread())
        if self.wait is not None:
            self.wait(i)
        return np.array([i])


@pytest.mark.parametrize("persistent", [False, True])
def test_threads_begin_with_their_function_and_may_stay(torch, persistent):
    begun, both = [], threading.Barrier(2, timeout=60)
    dataset = Numbered(8, lambda i: both.wait() if i < 2 else None)
    loader = DataLoader(dataset, None, num_workers=2, persistent_workers=persistent,
                        worker_init_fn=lambda number: begun.append((number, threading.current_thread())))
    for epoch in range(2):
        assert [int(x[0]) for x in loader] == list(range(8))
    assert sorted(number for number, _ in begun) == ([0, 1] if persistent else [0, 0, 1, 1])
    assert dataset.threads == {thread for _, thread in begun} and len(dataset.threads) == len(begun)


def test_what_a_threads_function_raises_arrives(torch):
    def fail(number):
        raise RuntimeError(f"camera{number}")
    with pytest.raises(RuntimeError, match="camera0"):
        list(DataLoader(Numbered(3), num_workers=1, worker_init_fn=fail))


def test_a_batch_that_takes_too_long_is_named(torch):
    go = threading.Event()
    batches = iter(DataLoader(Numbered(2, lambda i: go.wait(60)), num_workers=1, timeout=0.05))
    with pytest.raises(RuntimeError, match=r"0\.05"):
        next(batches)
    go.set()


def test_two_passes_at_a_time(torch):
    loader = DataLoader(Numbered(4), None, num_workers=2)
    assert [(int(a[0]), int(b[0])) for a, b in zip(loader, loader)] == [(i, i) for i in range(4)]


def test_loaders_go_on_behind_a_batch_that_failed(torch):
    def fail(i):
        if i == 1:
            raise KeyError(i)
    for workers in (0, 2):
        loader = DataLoader(Numbered(4, fail), None, num_workers=workers)
        batches = iter(loader)
        assert int(next(batches)[0]) == 0
        with pytest.raises(KeyError):
            next(batches)
        again = DataLoader(Numbered(4, fail), None)
        again.load_state_dict(loader.state_dict())
        assert [int(x[0]) for x in batches] == [int(x[0]) for x in again] == [2, 3]


# ---- places ----

def numbers(batches):
    return [np.asarray(x).ravel().tolist() for x in batches]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("more", [{}, {"shuffle": True}, {"drop_last": True}, {"sampler": [4, 9, 2, 5, 1]}], ids=str)
def test_loaders_go_on_where_a_state_was_taken(torch, more, workers):
    for taken in (0, 1, 2):
        loader = DataLoader(Numbered(11), 4 if "sampler" not in more else 2, num_workers=workers, **more)
        batches = iter(loader)
        begun = numbers(next(batches) for _ in range(taken))
        state = loader.state_dict()
        rest = numbers(batches)
        again = DataLoader(Numbered(11), loader.batch_size, num_workers=2 - workers, **more)
        again.load_state_dict(state)
        assert numbers(again) == rest and len(begun) == taken
        assert len(numbers(again)) == len(rest) + taken  # the epoch behind it is whole


def test_states_before_the_first_batch_and_none(torch):
    loader = DataLoader(Numbered(20), 4, shuffle=True)
    state = loader.state_dict()
    epoch = numbers(loader)
    again = DataLoader(Numbered(20), 4, shuffle=True)
    again.load_state_dict({})
    again.load_state_dict(state)
    assert numbers(again) == epoch != numbers(again)


def test_states_of_batches_that_come_in_any_order(torch):
    """The first batch is slow: those behind it were given before, and are not given again."""
    slow = threading.Event()
    loader = DataLoader(Numbered(8, lambda i: slow.wait(60) if i == 0 else None), None, num_workers=2, in_order=False)
    batches = iter(loader)
    found = [int(next(batches)[0]) for _ in range(3)]
    state = loader.state_dict()
    slow.set()
    assert found == [1, 2, 3] and (state["batches"], state["beyond"]) == (0, [1, 2, 3])
    again = DataLoader(Numbered(8), None)
    again.load_state_dict(state)
    assert [int(x[0]) for x in again] == [0, 4, 5, 6, 7]
    assert sorted(int(x[0]) for x in batches) == [0, 4, 5, 6, 7]


def test_samplers_with_places_are_asked_for_them(torch):
    class Sampler:
        def __init__(self):
            self.at, self.given = 0, []

        def __iter__(self):
            for i in range(self.at, 9):
                self.given.append(i)
                self.at = i + 1
                yield i

        def state_dict(self):
            return {"at": self.at}

        def load_state_dict(self, state):
            self.at = state["at"]
    for workers in (0, 2):
        loader = DataLoader(Numbered(9), 2, sampler=Sampler(), num_workers=workers)
        batches = iter(loader)
        next(batches), next(batches)
        again = DataLoader(Numbered(9), 2, sampler=Sampler())
        again.load_state_dict(loader.state_dict())
        assert numbers(again) == [[4, 5], [6, 7], [8]] and again.sampler.given == [4, 5, 6, 7, 8]


def test_places_in_leat_datasets(torch):
    def make():
        return DataLoader(D.range(20).shuffle(8, seed=4).map(lambda x: x + 1), 3)
    whole = make()
    epochs = [numbers(whole), numbers(whole)]
    loader = make()
    batches = iter(loader)
    assert numbers([next(batches), next(batches)]) == epochs[0][:2]
    again = make()
    again.load_state_dict(loader.state_dict())
    assert [numbers(again), numbers(again)] == [epochs[0][2:], epochs[1]] and epochs[0] != epochs[1]
    numbers(batches)
    again = make()
    again.load_state_dict(loader.state_dict())
    assert numbers(again) == epochs[1]


@pytest.mark.parametrize("change, text", [
    (dict(batch_size=3), "batch_size"), (dict(shuffle=True), "shuffle"),
    (dict(dataset=Numbered(9)), "items"), (dict(dataset=D.range(8)), "kind")], ids=str)
def test_states_of_other_loaders_are_refused(torch, change, text):
    state = DataLoader(Numbered(8), 2).state_dict()
    other = DataLoader(**{"dataset": Numbered(8), "batch_size": 2, **change})
    with pytest.raises(ValueError, match=text):
        other.load_state_dict(state)
    for wrong in ({"_num_yielded": 3}, [1], "state"):
        with pytest.raises(ValueError, match="DataLoader"):
            other.load_state_dict(wrong)


# ---- beside the real torch ----

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
