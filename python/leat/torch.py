"""Datasets for PyTorch, and PyTorch's as datasets. torch itself is imported by the first call that needs it.

    loader = leat.torch.DataLoader(torch_dataset, batch_size=32, shuffle=True, num_workers=8)    # threads, no processes
    loader = torch.utils.data.DataLoader(leat.torch.as_iterable_dataset(dataset), batch_size=None, num_workers=2)
"""

import functools
import math
import os

import numpy as np

from leat import dtypes, nest
from leat._core.later import public
from leat._core.tensor import Tensor, convert_to_tensor
from leat._exchange import loading
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


def _has_numbers(dataset):
    """Is it asked by number? torch's iterable datasets have [] as well, which fails."""
    return hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__") and not isinstance(
        dataset, _torch().utils.data.IterableDataset)


def from_torch(dataset, output_signature=None, num_parallel_calls=None, name=None):
    """The dataset of a torch Dataset: map-style ones are asked by number, IterableDatasets iterated over.

    A sample may be any structure of tensors, arrays, numbers, texts and pictures; whole numbers become int64, others
    float64, as torch collates them. output_signature, num_parallel_calls: as ``leat.data.from_sequence``.
    """
    if _has_numbers(dataset):
        return interchange.from_sequence(dataset, output_signature, num_parallel_calls, _of_torch, name)
    if not hasattr(dataset, "__iter__"):
        raise TypeError(f"from_torch: {type(dataset).__name__} has neither len() and [] nor iter()")
    return interchange.from_iterable(dataset, output_signature, _of_torch, name)


# ---- into torch ----

class _Elements:
    """Elements as torch's, and their place for loaders that ask for it, as torchdata's."""

    def __init__(self, dataset, copy):
        self._iterator, self._copy = Iterator(dataset), copy

    def __iter__(self):
        return self

    def __next__(self):
        return to_torch(next(self._iterator), self._copy)

    def state_dict(self):
        return {"iterator": _torch().from_numpy(np.frombuffer(self._iterator.save(), np.uint8).copy())}

    def load_state_dict(self, state):
        self._iterator.restore(bytes(state["iterator"].numpy()))


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
            return _Elements(dataset, self._copy)

        def __len__(self):
            return len(self._dataset(1, 0))

        def __reduce__(self):
            return as_iterable_dataset, (self._source, self._copy)
    return IterableDataset


def as_iterable_dataset(dataset, copy=True):
    """A torch IterableDataset of a leat dataset; give it to a DataLoader with batch_size=None if it has batches.

    torchdata's StatefulDataLoader saves the place of each worker in its elements, and goes on there.

    dataset: a Dataset, of which worker i of n gives every n-th element from the i-th on; or a function of (n, i) that
    makes the dataset of a worker, which can leave out early what it does not need (as by `shard` before `map`).
    Workers that are spawned, as by default since Python 3.14, need the function, one of a module: it is sent to them.
    copy: False shares memory with leat; then the tensors must not be written to.
    """
    if not isinstance(dataset, Dataset) and not callable(dataset):
        raise TypeError(f"as_iterable_dataset: expected a leat.data.Dataset or a function that makes one, found "
                        f"{type(dataset).__name__}")
    return _iterable_class()(dataset, copy)


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Batches of a dataset as torch's tensors, with the keywords of ``torch.utils.data.DataLoader``, and its place.

    dataset: a torch Dataset (map-style or iterable), any object with len and [], or a leat Dataset. Batches, their
    order and the use of `generator` are those of torch's loader. num_workers: how many threads fetch and collate
    batches (-1: one for each processor; those of an iterable dataset are read by one). There are no processes:
    worker_init_fn is called once on each thread, with its number, and the threads share the process's generators;
    multiprocessing_context is checked and decides nothing; persistent_workers keeps the threads between epochs.
    prefetch_factor: batches that are made ahead for each thread (2). timeout: of one batch, in seconds. pin_memory acts
    where there is a GPU. A collate_fn is called with a list of samples, on the thread that fetched them. A leat Dataset
    reads ahead by its own operators, and its texts arrive as bytes.
    memory_format: how tensors of four dimensions (five: torch.channels_last_3d) lie in memory, as torch.channels_last.
    channels_first: such tensors of a dataset whose channels are last, as leat's pictures, become views whose channels
    are first; they lie in memory as channels_last without a copy.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True, memory_format=None, channels_first=False):
        is_leat = isinstance(dataset, Dataset)
        self._numbered = not is_leat and _has_numbers(dataset)
        _check_workers(num_workers, timeout, None if is_leat else prefetch_factor, persistent_workers)
        _check_context(multiprocessing_context, num_workers)
        _check_samplers(self._numbered, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset, self.sampler, self.batch_sampler = dataset, sampler, batch_sampler
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last, self.num_workers, self.collate_fn = drop_last, num_workers, collate_fn
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.generator, self.in_order, self.timeout = generator, in_order, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.persistent_workers = persistent_workers
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.memory_format, self.channels_first = memory_format, channels_first
        self._shuffle = bool(shuffle)
        self._collate = _Collation(batch_size is not None or batch_sampler is not None, collate_fn, is_leat,
                                 memory_format, channels_first)
        workers = (os.cpu_count() or 1) if num_workers < 0 else num_workers
        self._ahead = workers * self.prefetch_factor
        self._open_threads = None if workers == 0 or is_leat else functools.partial(
            loading.Threads, workers if self._numbered else 1, worker_init_fn, persistent_workers, timeout)
        self._kept_threads = None
        self._pass, self._is_new, self._state = None, False, None
        self._is_made = True

    def __setattr__(self, name, value):
        if name in _FIXED and getattr(self, "_is_made", False):
            raise ValueError(f"{name} attribute should not be set after DataLoader is initialized")
        super().__setattr__(name, value)

    # ---- passes ----

    def _threads(self):
        if self._open_threads is None or not self.persistent_workers:
            return None if self._open_threads is None else self._open_threads()
        self._kept_threads = self._kept_threads or self._open_threads()
        return self._kept_threads

    def _make_pass(self, state):
        if isinstance(self.dataset, Dataset):
            return self._leat_pass(state)
        if not self._numbered:
            return loading.StreamPass(self.dataset, self.batch_size, self.drop_last, self._collate, self._threads(),
                                      self._ahead, state)
        fetch = functools.partial(_fetch, self.dataset, self._collate, self._collate.is_list)
        return loading.NumberedPass(self._order(state), fetch, self._threads(), self._ahead, self.in_order, state)

    def _order(self, state):
        """The items' numbers in the epoch's order, drawn from torch's generators as its loader draws them."""
        torch = _torch()
        start = {} if state is None else {key: state[key] for key in ("generator", "drawn_from") if key in state}
        if state is None:
            torch.empty((), dtype=torch.int64).random_(generator=self.generator)  # the seed that its workers get
        elif self.generator is not None:
            self.generator.set_state(start["generator"])
        if self.generator is not None:
            start["generator"] = self.generator.get_state()
        sampler = self.batch_sampler if self.batch_sampler is not None else self.sampler
        if sampler is None:
            sampler = torch.utils.data.RandomSampler(self.dataset, generator=self.generator) if self._shuffle else (
                range(len(self.dataset)))
        return loading.Order(torch, sampler, self.batch_size, self.drop_last, start)

    def _leat_pass(self, state):
        convert = functools.partial(_of_leat, layout=self._collate.layout)
        if self.collate_fn is not None:
            return loading.LeatPass(self.dataset, to_torch, self.batch_size, self.drop_last, self._collate, state)
        dataset = self.dataset
        if self.batch_size is not None:
            dataset = dataset.batch(self.batch_size, drop_remainder=self.drop_last)
        return loading.LeatPass(dataset.prefetch(self.prefetch_factor), convert, None, False, None, state)

    def _begin(self):
        """A pass: where a state says, else a new one."""
        state, self._state = self._state, None
        if state is not None and not state["finished"]:
            return self._make_pass(state)
        if state is not None and "generator" in state and self.generator is not None:
            self.generator.set_state(state["generator"])
        if state is not None and "iterator" in state:
            self._make_pass(state).close()  # what the next epoch draws comes behind this one's
        return self._make_pass(None)

    def __iter__(self):
        if not self._is_new or self._pass.finished:
            self._pass = self._begin()
        self._is_new = False
        torch = _torch()
        if self.pin_memory and torch.cuda.is_available():
            return map(torch.utils.data._utils.pin_memory.pin_memory, self._pass)
        return iter(self._pass)

    def __len__(self):
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        count = len(self.sampler if self.sampler is not None else self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)

    # ---- where it is ----

    def state_dict(self):
        """Where the newest pass over the loader is, for `load_state_dict`; torch.save writes it.

        As torchdata's StatefulDataLoader: it counts what the program was given, not what was fetched ahead; before
        the first pass it is the start of one, which the next `iter` then gives; behind the last batch it is the end of
        that epoch. Samplers and iterable datasets that have state_dict and load_state_dict, or whose iterators have,
        are asked for their places; others are gone through again.
        """
        if self._pass is None:
            self._pass, self._is_new = self._begin(), True
        state = self._pass.state()
        if self._pass.finished and self.generator is not None:
            state["generator"] = self.generator.get_state()
        if "iterator" in state:
            state["iterator"] = _torch().from_numpy(np.frombuffer(state["iterator"], np.uint8).copy())
        return {"leat_loader": 1, **self._sizes(), "finished": self._pass.finished, **state}

    def load_state_dict(self, state_dict):
        """The next pass goes on where `state_dict` was called: the same batches in the same order, whatever num_workers
        was. {} changes nothing. ValueError for a state of another loader."""
        if not state_dict:
            return
        if not isinstance(state_dict, dict) or state_dict.get("leat_loader") != 1:
            raise ValueError("load_state_dict: this is no state of a leat.torch.DataLoader of this version; give what "
                             "its state_dict() returned")
        for name, value in self._sizes().items():
            if state_dict.get(name) != value:
                raise ValueError(f"load_state_dict: the state is of a loader with {name} {state_dict.get(name)}; this "
                                 f"one has {value}. Make the loader as it was when its state was taken")
        self._state, self._pass, self._is_new = state_dict, None, False

    def _sizes(self):
        """What must be the same where a state is loaded."""
        kind = "leat" if isinstance(self.dataset, Dataset) else "numbers" if self._numbered else "stream"
        return {"kind": kind, "batch_size": self.batch_size, "drop_last": self.drop_last, "shuffle": self._shuffle,
                "items": len(self.dataset) if self._numbered else None}


# ---- what loaders refuse, in torch's words ----

def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < -1:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing."
                         "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if prefetch_factor == 0:
        raise ValueError("prefetch_factor is 0; expected 1 or more batches that each thread makes ahead")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if timeout and num_workers == 0:
        raise ValueError(f"timeout is {timeout} and num_workers 0; a batch that the program fetches by itself is "
                         "waited for as long as it takes: set num_workers > 0")


def _check_context(context, num_workers):
    if context is None:
        return
    import multiprocessing
    if num_workers == 0:
        raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                         f"got num_workers={num_workers}")
    valid = multiprocessing.get_all_start_methods()
    if isinstance(context, str) and context not in valid:
        raise ValueError(f"multiprocessing_context option should specify a valid start method in {valid!r}, but got "
                         f"multiprocessing_context={context!r}")
    if not isinstance(context, (str, multiprocessing.context.BaseContext)):
        raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                        f"start method, but got multiprocessing_context={context}")


def _check_samplers(numbered, batch_size, shuffle, sampler, batch_sampler, drop_last):
    if not numbered:
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                                 f"{name}={value}; a sampler needs a dataset with len and [], and others shuffle "
                                 "by themselves")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                         "drop_last")
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_size is not None and (type(batch_size) is not int or batch_size <= 0):
        raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
    if batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


# ---- batches ----

def _fetch(dataset, collate, is_list, numbers):
    """A batch of the samples of these numbers; many at once where the dataset can."""
    if not is_list:
        return collate(dataset[numbers])
    many = getattr(dataset, "__getitems__", None)
    return collate(many(numbers) if many else [dataset[number] for number in numbers])


class _Collation:
    """Makes a batch of samples, or converts one, as torch's loader does; then lays it out."""

    def __init__(self, is_list, function, is_leat, memory_format, channels_first):
        self.is_list, self._function = is_list, function
        plain = memory_format is None and not channels_first
        self.layout = None if plain else functools.partial(_laid_out, memory_format=memory_format,
                                                           channels_first=channels_first)

    def __call__(self, samples):
        function = self._function
        if function is None:
            data = _torch().utils.data
            function = data.default_collate if self.is_list else data.default_convert
        batch = function(samples)
        return batch if self.layout is None else self.layout(batch)


def _laid_out(value, memory_format, channels_first):
    """A batch whose tensors of four and five dimensions lie in memory as asked."""
    torch = _torch()
    if isinstance(value, torch.Tensor):
        if channels_first and value.dim() in (4, 5):
            value = value.movedim(-1, 1)
        wanted = {torch.channels_last: 4, torch.channels_last_3d: 5}.get(memory_format, value.dim())
        return value if memory_format is None or value.dim() != wanted else value.contiguous(
            memory_format=memory_format)
    if isinstance(value, dict):
        return type(value)({key: _laid_out(item, memory_format, channels_first) for key, item in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_laid_out(item, memory_format, channels_first) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)([_laid_out(item, memory_format, channels_first) for item in value])
    return value


def _of_leat(element, layout):
    """An element of a leat Dataset as torch collates it."""
    batch = _as_torch_nests(to_torch(element))
    return batch if layout is None else layout(batch)


def _as_torch_nests(value):
    """Plain tuples as lists, as torch collates them."""
    if type(value) is tuple:
        return [_as_torch_nests(item) for item in value]
    if isinstance(value, dict):
        return type(value)((key, _as_torch_nests(item)) for key, item in value.items())
    return value
