"""Datasets for PyTorch, and PyTorch's as datasets. torch itself is imported by the first call that needs it.

    loader = leat.torch.DataLoader(torch_dataset, batch_size=32, shuffle=True, num_workers=8)    # threads, no processes
    loader = torch.utils.data.DataLoader(leat.torch.as_iterable_dataset(dataset), batch_size=None, num_workers=2)
"""

import collections
import functools
import itertools
import math
import os

import numpy as np

from leat import dtypes, nest
from leat._core.later import public
from leat._core.tensor import Tensor, convert_to_tensor
from leat.data import interchange
from leat.data.dataset import Dataset
from leat.data.iterator import Iterator

__dir__ = public(globals())


def _torch():
    try:
        import torch
        import torch.utils.data
    except ModuleNotFoundError:
        raise ImportError("leat.torch needs the package torch; install it (pip install torch)") from None
    return torch


# ---- values ----

def to_torch(value, copy=True):
    """A structure of leat's tensors as torch's; texts as bytes, arrays of them as lists, ragged values as lists.

    copy=False shares the memory, which must not be written to then.
    """
    torch = _torch()
    return nest.map_structure(lambda leaf: _to_torch(torch, leaf, copy), value)


def _to_torch(torch, leaf, copy):
    if leaf is None:
        return None
    if not isinstance(leaf, Tensor):
        return leaf.to_list() if hasattr(leaf, "to_list") else torch.sparse_coo_tensor(
            _to_torch(torch, leaf.indices, True).T, _to_torch(torch, leaf.values, copy),
            leaf.dense_shape.numpy().tolist(), check_invariants=True)
    if leaf.dtype is dtypes.string:
        values = leaf.numpy()
        return values if leaf.ndim == 0 else values.tolist()
    if leaf.dtype is dtypes.variant:
        raise TypeError("a dataset within an element is no tensor of torch's; unbatch or flat_map it")
    if leaf.dtype is dtypes.bfloat16 or not copy:
        made = torch.from_dlpack(leaf)
        return made.clone() if copy else made
    return torch.from_numpy(np.array(leaf.numpy()))


def _of_torch(value):
    """A torch sample as a structure of leat's: numbers as wide as torch collates them, lists as tuples."""
    if isinstance(value, list):
        value = tuple(value)
    parts = nest._children(value)
    if parts is not None:
        return parts[1]([_of_torch(item) for item in parts[0]])
    if isinstance(value, bool):
        return convert_to_tensor(value)
    if isinstance(value, int):
        return convert_to_tensor(np.int64(value))
    return convert_to_tensor(np.float64(value)) if isinstance(value, float) else interchange.as_value(value)


def from_torch(dataset, output_signature=None, num_parallel_calls=None, name=None):
    """The dataset of a torch Dataset: map-style ones are asked by number, IterableDatasets iterated over.

    A sample may be any structure of tensors, arrays, numbers, texts and pictures; whole numbers become int64, others
    float64, as torch collates them. output_signature, num_parallel_calls: as ``leat.data.from_sequence``.
    """
    if hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
        return interchange.from_sequence(dataset, output_signature, num_parallel_calls, _of_torch, name)
    if not hasattr(dataset, "__iter__"):
        raise TypeError(f"from_torch: {type(dataset).__name__} has neither len() and [] nor iter()")
    return interchange.from_iterable(dataset, output_signature, _of_torch, name)


# ---- into torch ----

@functools.lru_cache(maxsize=None)
def _iterable_class():
    class IterableDataset(_torch().utils.data.IterableDataset):
        """A leat dataset as torch's IterableDataset: each worker of a DataLoader gives its part of the elements."""

        def __init__(self, source, copy):
            super().__init__()
            self._source, self._copy = source, copy

        def _dataset(self, shards, index):
            if not isinstance(self._source, Dataset):
                made = self._source(shards, index)
                if not isinstance(made, Dataset):
                    raise TypeError(f"the function of as_iterable_dataset returned {type(made).__name__}; expected a "
                                    "leat.data.Dataset")
                return made
            return self._source if shards == 1 else self._source.shard(shards, index)

        def __iter__(self):
            worker = _torch().utils.data.get_worker_info()
            dataset = self._dataset(1, 0) if worker is None else self._dataset(worker.num_workers, worker.id)
            with Iterator(dataset) as iterator:
                for value in iterator:
                    yield to_torch(value, self._copy)

        def __len__(self):
            return len(self._dataset(1, 0))

        def __reduce__(self):
            return as_iterable_dataset, (self._source, self._copy)
    return IterableDataset


def as_iterable_dataset(dataset, copy=True):
    """A torch IterableDataset of a leat dataset; give it to a DataLoader with batch_size=None if it has batches.

    dataset: a Dataset, of which worker i of n gives every n-th element from the i-th on; or a function of (n, i) that
    makes the dataset of a worker, which can leave out early what it does not need (as by `shard` before `map`).
    Workers that are spawned, as by default since Python 3.14, need the function, one of a module: it is sent to them.
    copy: False shares memory with leat; then the tensors must not be written to.
    """
    if not isinstance(dataset, Dataset) and not callable(dataset):
        raise TypeError(f"as_iterable_dataset: expected a leat.data.Dataset or a function that makes one, found "
                        f"{type(dataset).__name__}")
    return _iterable_class()(dataset, copy)


class DataLoader:
    """Batches of a dataset as torch's tensors, with the keywords of ``torch.utils.data.DataLoader``.

    dataset: a torch Dataset (map-style or iterable), any object with len and [], or a leat Dataset. Batches, their
    order and the use of `generator` are those of torch's loader. num_workers: how many threads fetch and collate
    batches (-1: one for each processor; those of an iterable dataset are read by one); there are no processes, so
    worker_init_fn, multiprocessing_context and persistent_workers have nothing to act on and are refused unless off.
    prefetch_factor: batches that are made ahead for each thread (2). pin_memory acts where there is a GPU. A collate_fn
    is called with a list of samples, on the thread that fetched them. A leat Dataset reads ahead by its own operators,
    and its texts arrive as bytes.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        for name, value in (("worker_init_fn", worker_init_fn), ("multiprocessing_context", multiprocessing_context)):
            if value is not None:
                raise ValueError(f"leat.torch.DataLoader has threads, no processes: leave {name} out")
        if timeout:
            raise ValueError("leat.torch.DataLoader waits for items as long as they take: leave timeout at 0")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                             "drop_last")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        self.dataset, self.sampler, self.batch_sampler = dataset, sampler, batch_sampler
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last, self.num_workers, self.collate_fn = drop_last, num_workers, collate_fn
        self.pin_memory, self.generator, self.in_order = pin_memory, generator, in_order
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self._shuffle = bool(shuffle)
        self._numbered = not isinstance(dataset, Dataset) and hasattr(dataset, "__getitem__") and hasattr(
            dataset, "__len__")
        if not self._numbered and (sampler is not None or batch_sampler is not None):
            raise ValueError("a sampler needs a dataset with len and []")
        if not self._numbered and shuffle:
            raise ValueError("DataLoader with IterableDataset: expected unspecified shuffle option, but got "
                             f"shuffle={shuffle}; shuffle the dataset itself")

    # ---- what is fetched ----

    def _numbers(self):
        """The items' numbers in the epoch's order, drawn from torch's generators as its loader draws them."""
        torch = _torch()
        torch.empty((), dtype=torch.int64).random_(generator=self.generator)  # the seed that its workers get
        if self.sampler is not None:
            return self.sampler
        if not self._shuffle:
            return range(len(self.dataset))
        return torch.utils.data.RandomSampler(self.dataset, generator=self.generator)

    def _fetches(self):
        """Functions that fetch and collate one batch each."""
        if not self._numbered:
            items = iter(self.dataset)
            while True:
                yield functools.partial(self._next, items)
        numbers = self._numbers() if self.batch_sampler is None else self.batch_sampler
        if self.batch_sampler is None and self.batch_size is not None:
            numbers = _lists(numbers, self.batch_size, self.drop_last)
        for number in numbers:
            yield functools.partial(self._fetch, number)

    def _fetch(self, numbers):
        return self._collate([self.dataset[number] for number in numbers] if isinstance(numbers, (list, tuple))
                             else self.dataset[numbers])

    def _next(self, items):
        """The next batch of an iterable dataset; _END behind the last."""
        if self.batch_size is None:
            sample = next(items, _END)
            return _END if sample is _END else self._collate(sample)
        samples = list(itertools.islice(items, self.batch_size))
        return self._collate(samples) if len(samples) == self.batch_size or samples and not self.drop_last else _END

    def _collate(self, samples):
        if self.collate_fn is not None:
            return self.collate_fn(samples)
        is_list = self.batch_size is not None or self.batch_sampler is not None
        data = _torch().utils.data
        return data.default_collate(samples) if is_list else data.default_convert(samples)

    # ---- how it is fetched ----

    def _fetched(self):
        """The batches in the order of torch's loader, made on threads where num_workers says so."""
        if self.num_workers == 0:
            return (fetch() for fetch in self._fetches())
        return self._on_threads()

    def _on_threads(self):
        import concurrent.futures
        workers = self.num_workers if self.num_workers > 0 else os.cpu_count() or 1
        executor = concurrent.futures.ThreadPoolExecutor(workers if self._numbered else 1, "leat-loader")
        fetches, running = self._fetches(), collections.deque()
        try:
            while True:
                for fetch in itertools.islice(fetches, workers * self.prefetch_factor - len(running)):
                    running.append(executor.submit(fetch))
                if not running:
                    return
                if not self.in_order:
                    done = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done
                    first = next(future for future in running if future in done)
                    running.remove(first)
                else:
                    first = running.popleft()
                yield first.result()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    def _of_leat(self):
        """The batches of a leat Dataset."""
        if self.collate_fn is not None:
            samples = map(to_torch, self.dataset)
            return map(self.collate_fn, samples if self.batch_size is None else _lists(
                samples, self.batch_size, self.drop_last))
        dataset = self.dataset
        if self.batch_size is not None:
            dataset = dataset.batch(self.batch_size, drop_remainder=self.drop_last)
        return (_as_torch_nests(to_torch(batch)) for batch in dataset.prefetch(self.prefetch_factor))

    def __iter__(self):
        torch = _torch()
        pins = self.pin_memory and torch.cuda.is_available()
        batches = self._of_leat() if isinstance(self.dataset, Dataset) else self._fetched()
        for batch in batches:
            if batch is _END:
                return
            yield torch.utils.data._utils.pin_memory.pin_memory(batch) if pins else batch

    def __len__(self):
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        count = len(self.sampler if self.sampler is not None else self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


_END = object()


def _lists(items, size, drop_last):
    """Items in lists of `size`; the last may be shorter."""
    items = iter(items)
    while found := list(itertools.islice(items, size)):
        if len(found) == size or not drop_last:
            yield found


def _as_torch_nests(value):
    """Plain tuples as lists, as torch collates them."""
    if type(value) is tuple:
        return [_as_torch_nests(item) for item in value]
    if isinstance(value, dict):
        return type(value)((key, _as_torch_nests(item)) for key, item in value.items())
    return value
