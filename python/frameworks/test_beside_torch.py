"""leat.torch.DataLoader beside torch's loader and torchdata's StatefulDataLoader."""

import io

import numpy as np
import pytest
import torch
from torch.utils import data
from torch.utils.data.distributed import DistributedSampler
from torchdata.stateful_dataloader import StatefulDataLoader
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

import leat as tf
from test_loaders import same_as_torch

D, DataLoader = tf.data.Dataset, tf.torch.DataLoader


class Squares(data.Dataset):
    """Map-style."""

    def __init__(self, count=23):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return torch.tensor([i, i * i]), f"n{i}"


class Stream(data.IterableDataset):
    """Iterable; goes through its samples again to find a place."""

    def __iter__(self):
        yield from (torch.tensor(i) for i in range(23))


class Telling(data.IterableDataset):
    """Iterable, with a place of its own; nothing before it is read again."""

    def __init__(self):
        self.at, self.read = 0, []

    def __iter__(self):
        while self.at < 23:
            self.at += 1
            self.read.append(self.at)
            yield torch.tensor(self.at)
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def plain(batches):
    """Batches as lists of numbers."""
    return [np.asarray(batch[0] if isinstance(batch, list) else batch).tolist() for batch in batches]


def through_a_file(state):
    """A state as torch.save writes it and torch.load reads it without running code."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def sampler_kinds():
    """{name: what makes the keywords of a loader of Squares(23)}"""
    def seeded(seed=3):
        return torch.Generator().manual_seed(seed)

    def distributed(rank=1, **more):
        made = DistributedSampler(Squares(), num_replicas=2, rank=rank, seed=5, **more)
        made.set_epoch(4)
        return made
    return {
        "in order": lambda: dict(batch_size=4), "single samples": lambda: dict(batch_size=None),
        "shuffled": lambda: dict(batch_size=4, shuffle=True),
        "shuffled by a generator": lambda: dict(batch_size=4, shuffle=True, generator=seeded()),
        "whole batches": lambda: dict(batch_size=4, shuffle=True, drop_last=True),
        "a random sampler": lambda: dict(batch_size=3, sampler=data.RandomSampler(Squares(), generator=seeded())),
        "a random sampler of torch's generator": lambda: dict(batch_size=3, sampler=data.RandomSampler(Squares())),
        "with replacement": lambda: dict(batch_size=3, sampler=data.RandomSampler(
            Squares(), replacement=True, num_samples=50)),
        "weights": lambda: dict(batch_size=3, sampler=data.WeightedRandomSampler(range(1, 24), 30)),
        "a subset": lambda: dict(batch_size=3, sampler=data.SubsetRandomSampler(range(5, 20))),
        "batches of a sampler": lambda: dict(batch_sampler=data.BatchSampler(
            data.RandomSampler(Squares(), generator=seeded()), 5, False)),
        "a list": lambda: dict(batch_size=2, sampler=[4, 2, 7, 1, 1]),
        "a distributed sampler": lambda: dict(batch_size=3, sampler=distributed()),
        "a distributed sampler in order": lambda: dict(batch_size=3, sampler=distributed(0, shuffle=False)),
        "torchdata's": lambda: dict(batch_size=3, sampler=StatefulDistributedSampler(
            Squares(), num_replicas=2, rank=1, seed=5)),
    }


@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize("kind", sampler_kinds())
def test_loaders_go_on_where_a_state_was_taken(kind, workers):
    more = sampler_kinds()[kind]
    torch.manual_seed(11)
    epoch = plain(data.DataLoader(Squares(), **more()))
    for taken in (0, 1, 3, len(epoch) - 1, len(epoch)):
        torch.manual_seed(11)
        loader = DataLoader(Squares(), num_workers=workers, **more())
        batches = iter(loader)
        begun = plain(next(batches) for _ in range(taken))
        state = through_a_file(loader.state_dict())
        assert begun == epoch[:taken] and begun + plain(batches) == epoch
        torch.manual_seed(99)
        generator = torch.get_rng_state()
        again = DataLoader(Squares(), num_workers=3 - workers, **more())
        again.load_state_dict(state)
        assert plain(again) == epoch[taken:]
        assert torch.equal(generator, torch.get_rng_state()) or "generator" in kind or taken == 0, taken


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["in order", "a distributed sampler", "a list",
                                  "batches of a sampler"])
def test_states_go_on_as_those_of_torchdata(kind, workers):
    """What both loaders give behind a state, and in the epoch behind that one."""
    more, found = sampler_kinds()[kind], []
    for loader, arguments in ((StatefulDataLoader, {}), (DataLoader, {"num_workers": workers})):
        first = loader(Squares(), **arguments, **more())
        batches = iter(first)
        [next(batches) for _ in range(2)]
        state = first.state_dict()
        second = loader(Squares(), **arguments, **more())
        second.load_state_dict(state)
        found.append([plain(second), plain(second)])
    assert found[0] == found[1] and found[0][0]


def test_the_epoch_behind_a_finished_one_is_the_next():
    def make():
        return DataLoader(Squares(), 4, shuffle=True, generator=torch.Generator().manual_seed(3), num_workers=2)
    whole = make()
    epochs = [plain(whole) for _ in range(3)]
    assert epochs[0] != epochs[1]
    loader = make()
    assert plain(loader) == epochs[0]
    again = make()
    again.load_state_dict(loader.state_dict())
    assert plain(again) == epochs[1] and plain(again) == epochs[2]
    # In the middle of the second epoch; the third is the third's, too.
    batches = iter(loader)
    next(batches)
    again = make()
    again.load_state_dict(loader.state_dict())
    assert plain(again) == epochs[1][1:] and plain(again) == epochs[2]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("size", [None, 4])
@pytest.mark.parametrize("make", [Stream, Telling])
def test_streams_go_on(make, size, workers):
    epoch = plain(data.DataLoader(make(), size))
    for taken in (0, 1, 4, len(epoch)):
        loader = DataLoader(make(), size, num_workers=workers)
        batches = iter(loader)
        begun = plain(next(batches) for _ in range(taken))
        state = through_a_file(loader.state_dict())
        assert begun + plain(batches) == epoch
        again = DataLoader(make(), size, num_workers=2 - workers)
        again.load_state_dict(state)
        assert plain(again) == epoch[taken:]
        if make is Telling and taken == 4:
            assert again.dataset.read[0] == 4 * (size or 1) + 1


@pytest.mark.parametrize("collate", [None, torch.stack])
def test_leat_datasets_go_on(collate):
    def make(seed=7):
        return DataLoader(D.range(23).shuffle(10, seed=seed), 4, collate_fn=collate)
    whole = make()
    epochs = [plain(whole) for _ in range(3)]
    assert epochs[0] != epochs[1]
    loader = make()
    batches = iter(loader)
    assert plain(next(batches) for _ in range(2)) == epochs[0][:2]
    again = make()
    again.load_state_dict(through_a_file(loader.state_dict()))
    assert [plain(again) for _ in range(3)] == [epochs[0][2:], *epochs[1:]]
    assert plain(batches) == epochs[0][2:]
    again = make()
    again.load_state_dict(loader.state_dict())
    assert plain(again) == epochs[1]


class Many(Squares):
    """Gives many samples at once."""

    def __getitems__(self, numbers):
        return [self[i] for i in reversed(numbers)]


class Rows(data.Dataset):
    """Takes what numpy takes."""

    def __len__(self):
        return 9

    def __getitem__(self, i):
        return torch.arange(27).reshape(9, 3)[i]


class WithLength(Stream):
    """Iterable, of a length that is known."""

    def __len__(self):
        return 23


def neighbours():
    """{name: what makes the arguments of a loader}"""
    x, y = torch.arange(20.).reshape(10, 2), torch.arange(10)
    pairs = data.TensorDataset(x, y)
    return {
        "many at once": lambda: (Many(), 4), "many at once, shuffled": lambda: (Many(), 4, True),
        "lists of numbers": lambda: (Rows(), None, None, data.BatchSampler(data.SequentialSampler(Rows()), 4, False)),
        "batches of tuples": lambda: (Rows(), 1, None, None, [(1, 2), (3,)]),
        "slices": lambda: (Rows(), None, None, [slice(0, 3), slice(3, 9)]),
        "tensors": lambda: (pairs, 3), "a subset": lambda: (data.Subset(pairs, [4, 2, 8]), 2),
        "a split": lambda: (data.random_split(pairs, [6, 4], torch.Generator().manual_seed(1))[1], 3),
        "one behind the other": lambda: (data.ConcatDataset([pairs, data.Subset(pairs, [1])]), 4, True),
        "streams": lambda: (data.ChainDataset([Stream(), Stream()]), 7), "a length": lambda: (WithLength(), 5),
        "a list": lambda: ([1, 2.5, 3], 2), "a dictionary": lambda: ({0: "a", 1: "b"}, 2),
        "texts": lambda: (["a"] * 3, 2),
        "named tuples": lambda: ([torch.return_types.max((torch.ones(2), torch.zeros(2)))] * 3, 2),
        "booleans and none of them": lambda: ([True, False], 1), "no samples": lambda: ([], 2),
        "numpy": lambda: ([np.ones(3, np.int8), np.zeros(3, np.int8)], 2), "complex": lambda: ([1 + 2j], 1),
        "different shapes": lambda: ([torch.ones(2), torch.ones(3)], 2), "what has no tensor": lambda: ([object()], 1),
        "a number that is not there": lambda: (Rows(), 2, None, [3, 99]), "None": lambda: ([None, None], 2),
    }


def outcome(loader):
    """The batches and the length, or the kinds of exceptions."""
    found = []
    batches = iter(loader)
    while True:
        try:
            found.append(next(batches))
        except StopIteration:
            break
        except Exception as error:
            found.append(type(error))
            if len(found) > 30 or found[-2:-1] == found[-1:]:
                break
    try:
        return found, len(loader)
    except TypeError as error:
        return found, type(error)


def test_streams_that_have_a_length_are_no_sequences():
    assert [int(x) for x in tf.torch.from_torch(WithLength())] == list(range(23))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", neighbours())
def test_neighbours_do_as_with_torchs_loader(kind, workers):
    results = []
    for make, more in ((data.DataLoader, {}), (DataLoader, {"num_workers": workers})):
        torch.manual_seed(5)
        results.append(outcome(make(*neighbours()[kind](), **more)))
    same_as_torch(*map(list, results))


@pytest.mark.parametrize("workers", [0, 2])
def test_torchdatas_loader_goes_on_in_a_leat_dataset(workers):
    def make():
        rows = D.range(40).shuffle(10, seed=2).map(lambda x: x * 2).batch(2)
        return StatefulDataLoader(tf.torch.as_iterable_dataset(rows), batch_size=None, num_workers=workers,
                                  multiprocessing_context="fork" if workers else None)
    whole = plain(make())
    for taken in (0, 1, 7, 20):
        loader = make()
        batches = iter(loader)
        assert plain(next(batches) for _ in range(taken)) == whole[:taken]
        state = loader.state_dict()
        again = make()
        again.load_state_dict(state)
        assert plain(again) == whole[taken:]
    assert sorted(sum(whole, [])) == list(range(0, 80, 2))


@pytest.mark.parametrize("arguments", [
    dict(num_workers=-2), dict(timeout=-1), dict(prefetch_factor=3), dict(prefetch_factor=-1, num_workers=1),
    dict(persistent_workers=True), dict(multiprocessing_context="fork"), dict(sampler=[1], shuffle=True),
    dict(multiprocessing_context="thread", num_workers=2), dict(multiprocessing_context=3, num_workers=2),
    dict(batch_sampler=[[1]], batch_size=3), dict(batch_size=None, drop_last=True), dict(batch_size=0),
    dict(batch_size=-1)], ids=str)
@pytest.mark.parametrize("make", [Squares, Stream])
def test_loaders_refuse_what_torchs_does(make, arguments):
    with pytest.raises((ValueError, TypeError)) as expected:
        data.DataLoader(make(), **arguments)
    with pytest.raises(expected.type) as found:
        DataLoader(make(), **arguments)
    assert str(found.value).startswith(str(expected.value))


def test_pictures_lie_as_asked():
    pictures = np.arange(4 * 5 * 6 * 3, dtype=np.float32).reshape(4, 5, 6, 3)
    batch, = DataLoader(D.from_tensor_slices((pictures, [0, 1, 2, 3])), 4, channels_first=True)
    x, y = batch
    assert x.shape == (4, 3, 5, 6) and x.is_contiguous(memory_format=torch.channels_last) and y.shape == (4,)
    assert np.array_equal(np.asarray(x), pictures.transpose(0, 3, 1, 2))
    first = torch.utils.data.TensorDataset(torch.from_numpy(pictures).permute(0, 3, 1, 2).contiguous(), torch.arange(4))
    for workers in (0, 2):
        (x, y), = DataLoader(first, 4, memory_format=torch.channels_last, num_workers=workers)
        assert x.shape == (4, 3, 5, 6) and x.stride() == (90, 1, 18, 3)
        assert np.array_equal(np.asarray(x), pictures.transpose(0, 3, 1, 2))
    plain_batch, = DataLoader(first, 4)
    assert plain_batch[0].stride() == (90, 30, 6, 1)
    volumes = D.from_tensors(np.ones((2, 3, 4, 5), np.float32))
    x, = DataLoader(volumes, 1, channels_first=True, memory_format=torch.channels_last_3d)
    assert x.shape == (1, 5, 2, 3, 4) and x.is_contiguous(memory_format=torch.channels_last_3d)
