"""``keras.preprocessing.sequence``: windows of series, and pairs of words."""

import json
import random

import numpy as np

from leat.keras._training.sequences import PyDataset, pad_sequences  # noqa: F401


class TimeseriesGenerator(PyDataset):
    """Batches of windows of a series, each with the target behind it (``keras.preprocessing.sequence``'s class).

    `length` of a window, of which each `sampling_rate`-th value is taken; windows begin every `stride` values.
    ValueError where there is no window.
    """

    def __init__(self, data, targets, length, sampling_rate=1, stride=1, start_index=0, end_index=None, shuffle=False,
                 reverse=False, batch_size=128, **kwargs):
        super().__init__(**kwargs)
        if len(data) != len(targets):
            raise ValueError(f"Data and targets have to be of same length. Data length is {len(data)} while target "
                             f"length is {len(targets)}")
        self.data, self.targets, self.length, self.sampling_rate = data, targets, length, sampling_rate
        self.stride, self.start_index = stride, start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as "
                             "no part of the sequence would be left to be used as current step.")

    def __len__(self):
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index):
        if self.shuffle:
            ends = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            step = self.batch_size * self.stride
            first = self.start_index + step * index
            ends = np.arange(first, min(first + step, self.end_index + 1), self.stride)
        windows = np.array([self.data[end - self.length:end:self.sampling_rate] for end in ends])
        return windows[:, ::-1] if self.reverse else windows, np.array([self.targets[end] for end in ends])

    def get_config(self):
        """The arguments, series as JSON. TypeError for what JSON does not hold."""
        def text(name):
            values = getattr(self, name)
            try:
                return json.dumps(values.tolist() if isinstance(values, np.ndarray) else values)
            except TypeError as error:
                raise TypeError(f"{name.capitalize()} not JSON Serializable: {values}") from error
        names = ("length", "sampling_rate", "stride", "start_index", "end_index", "shuffle", "reverse", "batch_size")
        return {"data": text("data"), "targets": text("targets"), **{name: getattr(self, name) for name in names}}

    def to_json(self, **kwargs):
        """The configuration as JSON."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def make_sampling_table(size, sampling_factor=1e-5):
    """How probably the i-th most frequent word is taken, as word2vec does (Zipf's law says how frequent it is)."""
    rank = np.maximum(np.arange(size), 1)
    inverse = rank * (np.log(rank) + 0.577) + 0.5 - 1 / (12 * rank)
    return np.minimum(1.0, np.sqrt(sampling_factor * inverse))


def skipgrams(sequence, vocabulary_size, window_size=4, negative_samples=1.0, shuffle=True, categorical=False,
              sampling_table=None, seed=None):
    """(pairs of words, labels): 1 for those that stand near each other, 0 for words with drawn ones. Word 0 is none.

    Python's generator draws, as in Keras.
    """
    couples = []
    for place, word in enumerate(sequence):
        if not word or sampling_table is not None and sampling_table[word] < random.random():
            continue
        near = range(max(0, place - window_size), min(len(sequence), place + window_size + 1))
        couples += [[word, sequence[other]] for other in near if other != place and sequence[other]]
    labels = [[0, 1] if categorical else 1] * len(couples)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [couple[0] for couple in couples]
        random.shuffle(words)
        couples += [[words[number % len(words)], random.randint(1, vocabulary_size - 1)] for number in range(count)]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        seed = random.randint(0, int(10e6)) if seed is None else seed
        for one in (couples, labels):
            random.seed(seed)
            random.shuffle(one)
    return couples, labels
