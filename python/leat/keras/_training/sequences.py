"""Data made in Python: batches by number (``keras.utils.PyDataset``), padded sequences, datasets cut in two."""

import itertools
import random
import warnings

import numpy as np

from leat import nest


class PyDataset:
    """Batches that Python makes, by their numbers (``keras.utils.PyDataset``, formerly ``Sequence``).

    A subclass has ``__getitem__(number)``, a tuple (x, y) or (x, y, sample weights), and ``__len__`` or `num_batches`,
    None for batches without end. With `workers` > 1 so many threads make batches ahead, at most `max_queue_size`;
    `use_multiprocessing` is accepted and makes threads, too.
    """

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self._workers, self._use_multiprocessing, self._max_queue_size = workers, use_multiprocessing, max_queue_size

    def _setting(self, name, default):
        if name not in self.__dict__ and not self.__dict__.get("_has_warned"):
            self._has_warned = True
            warnings.warn("Your `PyDataset` class should call `super().__init__(**kwargs)` in its constructor. "
                          "`**kwargs` can include `workers`, `use_multiprocessing`, `max_queue_size`. Do not pass "
                          "these arguments to `fit()`, as they will be ignored.", stacklevel=4)
        return self.__dict__.get(name, default)

    workers = property(lambda self: self._setting("_workers", 1),
                       lambda self, value: self.__dict__.__setitem__("_workers", value))
    use_multiprocessing = property(lambda self: self._setting("_use_multiprocessing", False),
                                   lambda self, value: self.__dict__.__setitem__("_use_multiprocessing", value))
    max_queue_size = property(lambda self: self._setting("_max_queue_size", 10),
                              lambda self, value: self.__dict__.__setitem__("_max_queue_size", value))

    def __getitem__(self, index):
        raise NotImplementedError

    def __iter__(self):
        try:
            count = self.num_batches
        except NotImplementedError:  # as many as are asked for
            count = None
        number = 0
        while count is None or number < count:
            yield self[number]
            number += 1

    @property
    def num_batches(self):
        """How many batches there are; None: without end."""
        if hasattr(self, "__len__"):
            return len(self)
        raise NotImplementedError("You need to implement the `num_batches` property:\n\n@property\ndef num_batches("
                                  "self):\n  return ...")

    def on_epoch_begin(self):
        """Called before each epoch."""

    def on_epoch_end(self):
        """Called after each epoch."""


def count_of(sequence):
    """The number of batches of a PyDataset or anything with numbered batches; None: without end. ValueError for 0."""
    count = sequence.num_batches if isinstance(sequence, PyDataset) else len(sequence)
    if count == 0:
        raise ValueError("The PyDataset has length 0")
    return count


def batches(sequence, shuffle):
    """Its batches, once."""
    order = _order(count_of(sequence), shuffle)
    workers = sequence.workers if isinstance(sequence, PyDataset) else 1
    return _made_ahead(sequence, order, workers) if workers > 1 else (sequence[number] for number in order)


def _order(count, shuffle):
    if count is None:
        return itertools.count()
    order = list(range(count))
    if shuffle:
        random.shuffle(order)
    return order


def _made_ahead(sequence, order, workers):
    """The same, by threads."""
    import collections
    import concurrent.futures
    waiting, order = collections.deque(), iter(order)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        try:
            while True:
                while len(waiting) < max(sequence.max_queue_size, 1):
                    number = next(order, None)
                    if number is None:
                        break
                    waiting.append(pool.submit(sequence.__getitem__, number))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def checked(batch):
    """A batch of a PyDataset as a tuple or dictionary; an array is the input alone. ValueError for others."""
    if isinstance(batch, np.ndarray):
        batch = (batch,)
    if isinstance(batch, list):
        batch = tuple(batch)
    if isinstance(batch, dict) or isinstance(batch, tuple) and 1 <= len(batch) <= 3:
        return batch
    raise ValueError("PyDataset.__getitem__() must return a tuple or a dict. If a tuple, it must be ordered either "
                     "(input,) or (inputs, targets) or (inputs, targets, sample_weights). Received: "
                     f"{str(batch)[:100]}... of type {type(batch)}")


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Sequences as the rows of one array of `maxlen` columns (``keras.utils.pad_sequences``).

    `padding` and `truncating` say at which end, "pre" or "post", `value` is added and what is too much is cut off.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for one in sequences:
        if not hasattr(one, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {one!s}")
    for kind, name in ((truncating, "Truncating"), (padding, "Padding")):
        if kind not in ("pre", "post") and any(len(one) for one in sequences):
            raise ValueError(f'{name} type "{kind}" not understood')
    is_text = np.issubdtype(dtype, np.str_) or np.issubdtype(dtype, np.bytes_)
    if isinstance(value, str) and dtype is not object and not is_text:
        raise ValueError(f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set "
                         "`dtype=object` for variable length strings.")
    shape = next((np.asarray(one).shape[1:] for one in sequences if len(one)), ())
    length = max((len(one) for one in sequences), default=0) if maxlen is None else maxlen
    rows = np.full((len(sequences), length, *shape), value, dtype)
    for place, one in enumerate(sequences):
        part = np.asarray(one[-length:] if truncating == "pre" else one[:length], dtype) if len(one) else ()
        if len(part) == 0:
            continue
        if part.shape[1:] != shape:
            raise ValueError(f"Shape of sample {part.shape[1:]} of sequence at position {place} is different from "
                             f"expected shape {shape}")
        rows[place, slice(length - len(part), None) if padding == "pre" else slice(len(part))] = part
    return rows


# ---- split_dataset ----

def _sizes(left, right, total):
    for name, size in (("left_size", left), ("right_size", right)):
        if size is not None and type(size) not in (int, float):
            raise TypeError(f"Invalid `{name}` Type. Expected: int or float or None, Received: type({name})="
                            f"{type(size)}.")
    if left is None and right is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified. Received: left_size=None "
                         "and right_size=None")
    if left == 0 and right == 0:
        raise ValueError("Both `left_size` and `right_size` are zero. At least one of the split sizes must be "
                         "non-zero.")
    for name, size in (("left_size", left), ("right_size", right)):
        if size is not None and not 0 < size < (total if type(size) is int else 1):
            raise ValueError(f"`{name}` should be either a positive integer smaller than {total}, or a float within "
                             f"the range `[0, 1]`. Received: {name}={size}")
    if type(left) is type(right) is float and left + right > 1:
        raise ValueError("The sum of `left_size` and `right_size` is greater than 1. It must be less than or equal to "
                         "1.")
    left, right = (round(size * total) if type(size) is float else size for size in (left, right))
    left = total - right if left is None else left
    right = total - left if right is None else right
    if left + right > total:
        raise ValueError(f"The sum of `left_size` and `right_size` should be smaller than the {total}. Received: "
                         f"left_size + right_size = {left + right} and total_length = {total}")
    for size, name in ((left, "left"), (right, "right")):
        if size == 0:
            raise ValueError(f"With `dataset` of length={total}, `left_size`={left} and `right_size`={right}. "
                             f"Resulting {name} side of the dataset split will be empty. Adjust any of the "
                             "aforementioned parameters")
    return left, right


def _batch_size(dataset):
    """Rows of a batch where the dataset's last step is batching; None."""
    if dataset._name not in ("Batch", "ParallelBatch"):
        return None
    first = next(iter(dataset), None)
    return None if first is None else int(nest.flatten(first)[0].shape[0])


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None, preferred_backend=None):
    """The first rows and the last rows of a dataset or of arrays, as two datasets (``keras.utils.split_dataset``).

    Sizes are numbers of rows, or parts of all between 0 and 1; one of them may be left out. The rows are in memory. A
    dataset that ends in `batch` is taken apart, and the two are batched as it was. TypeError and ValueError for what is
    no data, and for sizes that do not fit. `preferred_backend` changes nothing.
    """
    from leat.data import AUTOTUNE, Dataset
    size = None
    if isinstance(dataset, Dataset):
        size = _batch_size(dataset)
        source = dataset if size is None else dataset.unbatch()
        rows = list(source.as_numpy_iterator())
        wrap = None
    elif isinstance(dataset, np.ndarray):
        rows, wrap = list(dataset), None
    elif isinstance(dataset, (list, tuple)) and all(hasattr(one, "__len__") for one in dataset):
        arrays = [np.asarray(one) for one in dataset]
        if len({len(one) for one in arrays}) > 1:
            raise ValueError("Received a list/tuple of arrays of different lengths: "
                             f"{[len(one) for one in arrays]}")
        rows, wrap = list(zip(*arrays)), tuple
    else:
        raise TypeError(f"Unsupported dataset type: {type(dataset)}")
    left, right = _sizes(left_size, right_size, len(rows))
    if shuffle:
        random.seed(random.randint(0, int(1e6)) if seed is None else seed)
        random.shuffle(rows)
    made = []
    for part in (rows[:left], rows[-right:]):
        flat = [np.stack(leaves) for leaves in zip(*map(nest.flatten, part))]
        structure = nest.pack_sequence_as(part[0], flat)
        one = Dataset.from_tensor_slices(wrap(structure) if wrap else structure)
        made.append((one if size is None else one.batch(size)).prefetch(AUTOTUNE))
    return tuple(made)


# ---- windows of a series ----

def _check_series(count, start_index, end_index, steps):
    """ValueError for places and steps outside of a series of `count` rows."""
    for name, place in (("start_index", start_index), ("end_index", end_index)):
        if place and place < 0:
            raise ValueError(f"`{name}` must be 0 or greater, higher than 0 where it ends. Received: {name}={place}")
        if place and place >= count:
            raise ValueError(f"`{name}` must be lower than the length of the data. Received: {name}={place}, for data "
                             f"of length {count}")
    if start_index and end_index and end_index <= start_index:
        raise ValueError(f"`end_index` must be higher than `start_index`. Received: start_index={start_index}, and "
                         f"end_index={end_index}")
    for name, step in steps.items():
        if step <= 0:
            raise ValueError(f"`{name}` must be higher than 0. Received: {name}={step}")
        if step >= count:
            raise ValueError(f"`{name}` must be lower than the length of the data. Received: {name}={step}, for data "
                             f"of length {count}")


def timeseries_dataset_from_array(data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128,
                                  shuffle=False, seed=None, start_index=None, end_index=None, format="tf"):
    """Windows of `sequence_length` rows of a series, as a dataset (``keras.utils.timeseries_dataset_from_array``).

    Window i begins at row i * `sequence_stride` and takes every `sampling_rate`-th row; its target is the one of its
    first row. `batch_size` None: single windows. With equal seeds the order is Keras'. ValueError for steps and places
    that do not fit the data.
    """
    import leat as tf
    _check_series(len(data), start_index, end_index, {"sampling_rate": sampling_rate,
                                                      "sequence_stride": sequence_stride})
    if format != "tf":
        raise ValueError(f'`format` should be "tf". Received: format={format}')
    start, end = start_index or 0, len(data) if end_index is None else end_index
    count = end - start - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    begins = np.arange(0, count, sequence_stride, dtype="int32" if count < 2 ** 31 - 1 else "int64")
    if shuffle:
        seed = np.random.randint(1e6) if seed is None else seed
        np.random.RandomState(seed).shuffle(begins)
    rows = tf.convert_to_tensor(data[start:end])
    places = np.arange(0, sequence_length * sampling_rate, sampling_rate, dtype=begins.dtype)
    if targets is None:
        def window(begin):
            return tf.gather(rows, begin + places)
    else:
        wanted = tf.convert_to_tensor(targets[start:end])

        def window(begin):
            return tf.gather(rows, begin + places), tf.gather(wanted, begin)
    dataset = tf.data.Dataset.from_tensor_slices(begins).map(window, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    if shuffle:
        dataset = dataset.shuffle(1024 if batch_size is None else batch_size * 8, seed=seed)
    return dataset if batch_size is None else dataset.batch(batch_size)
