"""Datasets for PyTorch, and PyTorch's as datasets. torch itself is imported by the first call that needs it.

    loader = leat.torch.DataLoader(torch_dataset, batch_size=32, shuffle=True, num_workers=8)    # threads, no processes
    loader = torch.utils.data.DataLoader(leat.torch.as_iterable_dataset(dataset), batch_size=None, num_workers=2)
"""

import functools
import math

import numpy as np

from leat import dtypes, nest
from leat.data import interchange
from leat.data.dataset import AUTOTUNE, Dataset
from leat.data.iterator import Iterator
from leat.tensor import Tensor, convert_to_tensor


def _torch():
    try:
        import torch
        import torch.utils.data
    except ImportError:
        raise ImportError("leat.torch needs the package torch; install it (pip install torch)") from None
    return torch


# ---- values ----

def to_torch(value, copy=True, pin=False):
    """A structure of leat's tensors as torch's; texts as bytes, arrays of them as lists, ragged values as lists.

    copy=False shares the memory, which must not be written to then. pin: in pinned memory, where there is a GPU.
    """
    torch = _torch()
    return nest.map_structure(lambda leaf: _to_torch(torch, leaf, copy, pin and torch.cuda.is_available()), value)


def _to_torch(torch, leaf, copy, pin):
    if leaf is None:
        return None
    if not isinstance(leaf, Tensor):
        return leaf.to_list() if hasattr(leaf, "to_list") else torch.sparse_coo_tensor(
            _to_torch(torch, leaf.indices, True, False).T, _to_torch(torch, leaf.values, copy, False),
            leaf.dense_shape.numpy().tolist())
    if leaf.dtype is dtypes.string:
        values = leaf.numpy()
        return values if leaf.ndim == 0 else values.tolist()
    if leaf.dtype is dtypes.variant:
        raise TypeError("a dataset within an element is no tensor of torch's; unbatch or flat_map it")
    if leaf.dtype is dtypes.bfloat16 or not copy:
        made = torch.from_dlpack(leaf)
        made = made.clone() if copy else made
    else:
        made = torch.from_numpy(np.array(leaf.numpy()))
    return made.pin_memory() if pin else made


def _of_torch(value):
    """A torch sample as a structure of leat's: numbers as wide as torch collates them, lists as tuples."""
    if isinstance(value, list):
        value = tuple(value)
    if nest.is_nested(value):
        return nest.map_structure(_of_torch, value)
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
    return IterableDataset


def as_iterable_dataset(dataset, copy=True):
    """A torch IterableDataset of a leat dataset; give it to a DataLoader with batch_size=None if it has batches.

    dataset: a Dataset, of which worker i of n gives every n-th element from the i-th on; or a function of (n, i) that
    makes the dataset of a worker, which can leave out early what it does not need (as by `shard` before `map`).
    copy: False shares memory with leat; then the tensors must not be written to.
    """
    if not isinstance(dataset, Dataset) and not callable(dataset):
        raise TypeError(f"as_iterable_dataset: expected a leat.data.Dataset or a function that makes one, found "
                        f"{type(dataset).__name__}")
    return _iterable_class()(dataset, copy)


class DataLoader:
    """Batches of a dataset as torch's tensors, with the keywords of ``torch.utils.data.DataLoader``.

    dataset: a torch Dataset (map-style or iterable), any object with len and [], or a leat Dataset. num_workers: how
    many threads of the pool ask for items at a time (-1: as many as help); there are no processes, so worker_init_fn,
    multiprocessing_context and persistent_workers have nothing to act on and are refused unless they are off.
    prefetch_factor: batches that are ready ahead (2). pin_memory acts where there is a GPU. Texts arrive as bytes.
    A collate_fn is called with a list of samples, on the thread that iterates.
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
        self._ahead = 2 if prefetch_factor is None else prefetch_factor
        self._shuffle = bool(shuffle)
        self._numbered = not isinstance(dataset, Dataset) and hasattr(dataset, "__getitem__") and hasattr(
            dataset, "__len__")
        if not self._numbered and (sampler is not None or batch_sampler is not None):
            raise ValueError("a sampler needs a dataset with len and []")
        if not self._numbered and shuffle:
            raise ValueError("DataLoader with IterableDataset: expected unspecified shuffle option, but got "
                             f"shuffle={shuffle}; shuffle the dataset itself")
        self._signature = None

    # ---- the pipeline ----

    def _calls(self):
        return None if self.num_workers == 0 else AUTOTUNE if self.num_workers < 0 else self.num_workers

    def _seed(self):
        """A new seed for each epoch, from torch's generator."""
        torch = _torch()
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))

    def _item(self, index):
        return _of_torch(self.dataset[int(index)])

    def _numbers(self):
        """The dataset of the items' numbers in the epoch's order."""
        if self.sampler is not None:
            from leat.specs import TensorSpec
            return interchange.from_iterable(lambda: iter(self.sampler), TensorSpec([], dtypes.int64))
        numbers = Dataset.range(len(self.dataset))
        return numbers.global_shuffle(seed=self._seed()) if self._shuffle else numbers

    def _samples(self):
        if isinstance(self.dataset, Dataset):
            return self.dataset
        if not self._numbered:
            return from_torch(self.dataset)
        if self._signature is None:
            if not len(self.dataset):
                return Dataset.range(0)
            self._signature = interchange.signature_of(self._item(0))
        return self._numbers().map(interchange.Fetch(self._item, self._signature), num_parallel_calls=self._calls(),
                                   deterministic=self.in_order)

    def _lists(self):
        """Lists of samples in torch's form, for a collate_fn or a batch_sampler."""
        if self.batch_sampler is not None:
            for numbers in self.batch_sampler:
                yield [self.dataset[int(number)] for number in numbers]
            return
        found = []
        for sample in self._samples():
            found.append(to_torch(sample))
            if len(found) == self.batch_size:
                yield found
                found = []
        if found and not self.drop_last:
            yield found

    def _batches(self):
        if self.batch_sampler is not None:
            for samples in self._lists():
                yield _collated([_of_torch(sample) for sample in samples])
            return
        dataset = self._samples()
        if self.batch_size is not None:
            dataset = dataset.batch(self.batch_size, drop_remainder=self.drop_last)
        with Iterator(dataset.prefetch(self._ahead) if self._ahead else dataset) as iterator:
            yield from iterator

    def __iter__(self):
        if self.collate_fn is not None:
            lists = self._lists() if self.batch_size is not None or self.batch_sampler is not None else map(
                to_torch, self._samples())
            for samples in lists:
                yield self._pinned(self.collate_fn(samples))
            return
        for batch in self._batches():
            yield _as_torch_nests(to_torch(batch, pin=self.pin_memory))

    def _pinned(self, value):
        torch = _torch()
        if not self.pin_memory or not torch.cuda.is_available():
            return value
        return torch.utils.data._utils.pin_memory.pin_memory(value)

    def __len__(self):
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        count = len(self.sampler if self.sampler is not None else self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


def _collated(samples):
    """One batch of samples that are structures of tensors."""
    return nest.map_structure(lambda *leaves: convert_to_tensor(np.stack([leaf.numpy() for leaf in leaves])), *samples)


def _as_torch_nests(value):
    """Plain tuples as lists, as torch collates them."""
    if type(value) is tuple:
        return [_as_torch_nests(item) for item in value]
    if isinstance(value, dict):
        return type(value)((key, _as_torch_nests(item)) for key, item in value.items())
    return value
